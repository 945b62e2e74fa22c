"""Columns of a table, as numbers.

- :mod:`~maxmargin.data_files.columns.cells`: text to numbers and missing values.
- :mod:`~maxmargin.data_files.columns.target`: the column to predict.
- :mod:`~maxmargin.data_files.columns.encoder`: words to numbers.
"""
