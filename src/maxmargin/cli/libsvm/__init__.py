"""LIBSVM's three programs, with their flags, files and output.

- :mod:`~maxmargin.cli.libsvm.frame`: what they share.
- :mod:`~maxmargin.cli.libsvm.train`, :mod:`~maxmargin.cli.libsvm.predict`,
  :mod:`~maxmargin.cli.libsvm.scale`: the programs.
"""
