"""Kernel matrices, as solvers ask them: rows and columns on demand, never all of K.

- :mod:`~maxmargin.kernels.gram.contract`: what a solver may ask of a kernel matrix.
- :mod:`~maxmargin.kernels.gram.tiles`: blocks of dot products, compiled.
- :mod:`~maxmargin.kernels.gram.dot_products`: kernels that are functions of x·z.
- :mod:`~maxmargin.kernels.gram.row_pairs`: kernels that are functions of two rows.
- :mod:`~maxmargin.kernels.gram.composite`: sums and products of kernels.
- :mod:`~maxmargin.kernels.gram.table`: precomputed matrices and Python functions.
- :mod:`~maxmargin.kernels.gram.row_cache`: rows that are kept in memory.
- :mod:`~maxmargin.kernels.gram.mirror`: half of a symmetric matrix from the other.
- :mod:`~maxmargin.kernels.gram.class_tables`: what pairs of classes share.
- :mod:`~maxmargin.kernels.gram.copies`: equal rows, computed once.
- :mod:`~maxmargin.kernels.gram.plus_constant`: K + 1.
- :mod:`~maxmargin.kernels.gram.twins`: every point twice.
"""
