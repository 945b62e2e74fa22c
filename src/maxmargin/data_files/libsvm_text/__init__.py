"""The parts of LIBSVM's data text.

- :mod:`~maxmargin.data_files.libsvm_text.parse`: bytes to numbers, compiled.
- :mod:`~maxmargin.data_files.libsvm_text.decimals`: digits to floats and back, exactly.
- :mod:`~maxmargin.data_files.libsvm_text.reasons`: what is wrong with a line.
- :mod:`~maxmargin.data_files.libsvm_text.write`: rows to text.
"""
