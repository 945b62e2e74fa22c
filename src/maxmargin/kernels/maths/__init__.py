"""The mathematics of kernels: feature maps written out, and Mercer's condition tested.

- :mod:`~maxmargin.kernels.maths.feature_map`: φ with φ(x)·φ(z) = k(x, z).
- :mod:`~maxmargin.kernels.maths.dot_series`: kernels as power series of x·z.
- :mod:`~maxmargin.kernels.maths.mercer`: the eigenvalues of K, and the map they give.
- :mod:`~maxmargin.kernels.maths.matrix`: K as an array, for any kernel.
"""
