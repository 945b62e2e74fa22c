"""The parts of LIBSVM's model text.

- :mod:`~maxmargin.persist.libsvm_files.layout`: a model as LIBSVM arranges it.
- :mod:`~maxmargin.persist.libsvm_files.reader`: text to numbers.
- :mod:`~maxmargin.persist.libsvm_files.writer`: numbers to text, to the bit.
- :mod:`~maxmargin.persist.libsvm_files.machines`: machines to numbers and back.
"""
