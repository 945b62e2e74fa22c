"""The parts of LIBSVM's data text.

- :mod:`~maxmargin.data_files.libsvm_text.decimals`: digits to floats and back, exactly.
- :mod:`~maxmargin.data_files.libsvm_text.parse`: bytes to numbers, compiled.
- :mod:`~maxmargin.data_files.libsvm_text.reasons`: the fault of a line, in words.
- :mod:`~maxmargin.data_files.libsvm_text.write`: rows to text.
"""
