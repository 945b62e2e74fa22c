"""X as the matrix of a linear machine: every product with its rows.

- :mod:`~maxmargin.design.operator`: the design matrix, Xw and X'u.
- :mod:`~maxmargin.design.vectors`: sums and products of vectors, in one pass.
- :mod:`~maxmargin.design.some_rows`: Xw and X'u for a subset of the rows.
- :mod:`~maxmargin.design.class_rows`: the same for all classes at once.
- :mod:`~maxmargin.design.hessian`: X'DX.
- :mod:`~maxmargin.design.factor`: its Cholesky factor.
- :mod:`~maxmargin.design.outputs`: decision values Xw + b of new rows.
"""
