"""The rows of X, as compiled code reads them.

- :mod:`~maxmargin.rows.records`: dense and CSR rows behind one interface.
- :mod:`~maxmargin.rows.compress`: dense rows that are mostly zeros, as CSR.
- :mod:`~maxmargin.rows.duplicates`: which rows of X are equal.
"""
