r"""Mercer's condition: eigenvalues show whether k is a kernel, and of which features.

k is a dot product of features exactly when, for any rows x₁ … xₙ and numbers c₁ … cₙ,

.. math:: \sum_{ij} c_i c_j\,k(x_i, x_j) = c^\top K c \ge 0

(Mercer 1909; Aronszajn 1950), so when no matrix K has a negative eigenvalue. A negative
one proves the contrary, with its eigenvector as c. Where there is none, S1's eigenvector
map :math:`v^{(i)}_k = e^{(k)}_i\sqrt{λ_k}` has :math:`K_{ij} = v^{(i)}·v^{(j)}`. S1
writes the condition as :math:`K_{ij} \ge 0`; it is about :math:`c^\top K c`, not about
entries, which may have any sign.

Eigenvalues of a matrix with rounded entries are known to some n·ε·λ_max (Weyl: none
moves by more than the norm of the error). Below 8·n·ε·λ_max, with ε the precision in
which K was made and λ_max the largest |λ|, one counts as 0; the 8 stands for the
roundings within one kernel value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.maths.matrix import kernel_matrix
from maxmargin.kernels.outside import Precomputed

if TYPE_CHECKING:
    from maxmargin._arrays import Matrix, Vector
    from maxmargin.kernels.maths.matrix import KernelMatrix

_ROUNDINGS = 8.0  # rounding: of a kernel value: dot product, power or exp, cancellation


class MercerVerdict(NamedTuple):
    r"""Whether a kernel is one on given rows; ``print`` says it in words.

    Attributes
    ----------
    semidefinite : bool
        K is symmetric and has no eigenvalue below −threshold.
    smallest : float
        The smallest eigenvalue (of the symmetric part of K).
    direction : ndarray of shape (n,)
        Its eigenvector c, of length 1: cᵀKc = smallest. Where that is negative, no
        features have such a combination of rows. The largest |cᵢ| is positive.
    eigenvalues : ndarray of shape (n,)
        All of them, ascending.
    asymmetry : float
        The largest |k(x, z) − k(z, x)|.
    symmetric : bool
        Whether that is noise: at most 10⁻⁶ (float32: 10⁻⁴) of the largest |k|.
    threshold : float
        8·n·ε·λ_max: the largest change of an eigenvalue by rounding.
    kernel : str
        Its name.
    """

    semidefinite: bool
    smallest: float
    direction: Vector
    eigenvalues: Vector
    asymmetry: float
    symmetric: bool
    threshold: float
    kernel: str

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        if not self.symmetric:
            return "not symmetric"
        return "positive semi-definite" if self.semidefinite else "not semi-definite"

    def __bool__(self) -> bool:
        return self.semidefinite

    def __str__(self) -> str:
        n = self.eigenvalues.size
        what = f"{self.kernel} on {n} row{'s' * (n > 1)}: {self.headline}."
        if not self.symmetric:
            what += (
                f" k(x, z) and k(z, x) differ by up to {self.asymmetry:.3g}; a kernel "
                "has k(x, z) = k(z, x). What follows is of (K + Kᵀ)/2."
            )
        what += (
            f" The smallest eigenvalue is {self.smallest:.3g}, the largest "
            f"{self.eigenvalues[-1]:.3g}; rounding explains ±{self.threshold:.2g}."
        )
        if self.smallest < -self.threshold:
            return what + (
                f" With c = {self._combination()}, Σ cᵢcⱼ·k(xᵢ, xⱼ) = "
                f"{self.smallest:.3g} would be the squared length of Σ cᵢφ(xᵢ): there "
                "are no such features φ."
            )
        if not self.symmetric:
            return what
        return what + (
            " On these rows the values are dot products of features (eigenvector_map); "
            "other rows may show otherwise."
        )

    def _combination(self) -> str:
        order = np.argsort(-np.abs(self.direction), kind="stable")[:3]
        parts = [f"{self.direction[i]:+.3f} at row {i}" for i in order.tolist()]
        return ", ".join(parts) + (", …" if self.direction.size > len(parts) else "")


def mercer(
    kernel: Any,
    X: Any,
    *,
    degree: int = 3,
    gamma: float | str = "scale",
    coef0: float = 0.0,
) -> MercerVerdict:
    """Mercer's condition on given rows: cᵀKc ≥ 0 for every c, or the c that breaks it.

    A negative eigenvalue disproves a kernel; that there is none on these rows proves
    nothing about others. Cost: n²/2 kernel values and about 10n³ operations.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel object (also one of ``@maxmargin.kernel``), a name as in
        ``SVC(kernel=…)`` ("precomputed": X is the matrix itself), or a function
        k(A, B) of blocks of rows.
    X : array-like or sparse matrix of shape (n, d)
        At most 5000 rows.
    degree, gamma, coef0
        For names, as in ``SVC``.

    Returns
    -------
    MercerVerdict

    Examples
    --------
    >>> from maxmargin.kernels import Sigmoid, mercer
    >>> verdict = mercer(Sigmoid(1.0, -1.0), [[0.0], [1.0]])
    >>> verdict.semidefinite, round(verdict.smallest, 4)
    (False, -1.2323)
    >>> verdict.direction.round(3)
    array([0.851, 0.526])
    """
    return judge(kernel_matrix(kernel, X, degree=degree, gamma=gamma, coef0=coef0))


def judge(matrix: KernelMatrix) -> MercerVerdict:
    """The verdict on a kernel matrix."""
    K, asymmetry, symmetric = _symmetrised(matrix)
    eigenvalues, vectors = np.linalg.eigh(K)
    c = vectors[:, :1]
    threshold = _threshold(eigenvalues, matrix.eps)
    smallest = float(eigenvalues[0])
    return MercerVerdict(
        semidefinite=bool(symmetric and smallest >= -threshold),
        smallest=smallest,
        direction=(c * _signs(c)).ravel(),
        eigenvalues=eigenvalues,
        asymmetry=asymmetry,
        symmetric=symmetric,
        threshold=threshold,
        kernel=matrix.name,
    )


def eigenvector_map(
    K: Any,
    X: Any = None,
    *,
    degree: int = 3,
    gamma: float | str = "scale",
    coef0: float = 0.0,
) -> Matrix:
    r"""Features of n points whose dot products are K: V with V·Vᵀ = K.

    Row i is the point :math:`v^{(i)}_k = e^{(k)}_i\sqrt{λ_k}` (S1), its columns in the
    order of falling eigenvalues. Eigenvalues that rounding explains (at most 8·n·ε·λ_max)
    are left out, so V has as many columns as K has rank. Cost: about 10n³ operations.

    Parameters
    ----------
    K : array-like of shape (n, n), or a kernel
        A kernel matrix; or with X, any kernel that :func:`mercer` takes.
    X : array-like or sparse matrix of shape (n, d), optional
        At most 5000 rows.
    degree, gamma, coef0
        For names of kernels, as in ``SVC``.

    Returns
    -------
    ndarray of shape (n, rank), float64

    Raises
    ------
    InputError
        If K is not symmetric, or has a negative eigenvalue.

    Examples
    --------
    >>> from maxmargin.kernels import eigenvector_map
    >>> V = eigenvector_map([[2.0, 0.0, 2.0], [0.0, 9.0, 0.0], [2.0, 0.0, 2.0]])
    >>> V.round(3) + 0.0
    array([[0.   , 1.414],
           [3.   , 0.   ],
           [0.   , 1.414]])
    """
    if X is None:
        if isinstance(K, Kernel | str) or callable(K):
            msg = (
                f"eigenvector_map({K!r}): a kernel needs rows; give them as X, or a "
                "kernel matrix alone"
            )
            raise InputTypeError(msg)
        K, X = Precomputed(), K
    matrix = kernel_matrix(K, X, degree=degree, gamma=gamma, coef0=coef0)
    values, asymmetry, symmetric = _symmetrised(matrix)
    if not symmetric:
        msg = (
            f"the kernel matrix is not symmetric: K[i, j] and K[j, i] differ by up to "
            f"{asymmetry:.3g}; give (K + K.T) / 2 if that is noise"
        )
        raise InputError(msg)
    eigenvalues, vectors = np.linalg.eigh(values)
    threshold = _threshold(eigenvalues, matrix.eps)
    if eigenvalues[0] < -threshold:
        msg = (
            f"the matrix of kernel {matrix.name} has the eigenvalue {eigenvalues[0]:.6g} "
            f"(rounding explains only {-threshold:.2g}), so no real features have it as "
            "their dot products; mercer(kernel, X) names the rows that show it"
        )
        raise InputError(msg)
    kept = np.flatnonzero(eigenvalues > threshold)[::-1]
    V = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    return np.ascontiguousarray(V * _signs(V))


def _symmetrised(matrix: KernelMatrix) -> tuple[Matrix, float, bool]:
    """(K + Kᵀ)/2, the largest |K − Kᵀ|, and whether that is noise."""
    K = matrix.values
    asymmetry = float(np.abs(K - K.T).max())
    allowed = (1e-4 if matrix.eps > 1e-8 else 1e-6) * float(np.abs(K).max())
    return 0.5 * K + 0.5 * K.T, asymmetry, asymmetry <= allowed


def _threshold(eigenvalues: Vector, eps: float) -> float:
    largest = float(np.abs(eigenvalues[[0, -1]]).max())
    return _ROUNDINGS * eigenvalues.size * eps * largest


def _signs(V: Matrix) -> Vector:
    """±1 for every column, such that its largest entry becomes positive.

    Eigenvectors have no sign of their own; LAPACK's differs between machines.
    """
    if V.shape[1] == 0:
        return np.ones(0)
    largest = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return np.where(largest < 0.0, -1.0, 1.0)
