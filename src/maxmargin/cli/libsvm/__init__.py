"""LIBSVM's three programs, with their flags, files and output.

- :mod:`~maxmargin.cli.libsvm.frame`: the start and the end of each, and its files.
- :mod:`~maxmargin.cli.libsvm.train`: ``svm-train``.
- :mod:`~maxmargin.cli.libsvm.predict`: ``svm-predict``.
- :mod:`~maxmargin.cli.libsvm.scale`: ``svm-scale``.
"""
