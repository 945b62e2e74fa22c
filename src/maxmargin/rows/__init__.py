"""The rows of X, as compiled code reads them.

- :mod:`~maxmargin.rows.records`: dense and CSR rows behind one interface; their spread.
- :mod:`~maxmargin.rows.compress`: dense rows that are mostly zeros become CSR.
- :mod:`~maxmargin.rows.duplicates`: finds the rows of X that are equal.
"""
