"""X as an operator: every product with the rows of a linear machine.

- :mod:`~maxmargin.design.row`: one row: x·w, w += c·x, for one w or all classes.
- :mod:`~maxmargin.design.products`: compiled loops over many rows; parts of vectors.
- :mod:`~maxmargin.design.operator`: the design matrix: Xw, X'u, X'DXv, XX'.
- :mod:`~maxmargin.design.hessian`: X'DX and its Cholesky factor.
- :mod:`~maxmargin.design.outputs`: decision values Xw + b of new rows.
"""
