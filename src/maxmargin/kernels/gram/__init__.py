"""Kernel matrices for solvers: rows and columns on demand, never all of K.

- :mod:`~maxmargin.kernels.gram.contract`: what a solver may ask of a kernel matrix.
- :mod:`~maxmargin.kernels.gram.tiles`: values from dot products, compiled.
- :mod:`~maxmargin.kernels.gram.dot_products`: kernels of dot products.
- :mod:`~maxmargin.kernels.gram.pair_tiles`: values from pairs of rows, compiled.
- :mod:`~maxmargin.kernels.gram.row_pairs`: kernels of pairs of rows.
- :mod:`~maxmargin.kernels.gram.composite`: sums and products of kernels.
- :mod:`~maxmargin.kernels.gram.table`: precomputed matrices and Python functions.
- :mod:`~maxmargin.kernels.gram.row_cache`: rows that are kept in memory.
- :mod:`~maxmargin.kernels.gram.mirror`: half of a symmetric matrix from the other.
- :mod:`~maxmargin.kernels.gram.class_tables`: values shared by pairs of classes.
- :mod:`~maxmargin.kernels.gram.copies`: equal rows, computed once.
- :mod:`~maxmargin.kernels.gram.plus_constant`: K + 1.
"""
