r"""Feature maps written out: columns φ(x) whose dot products are kernel values.

By the multinomial theorem,

.. math:: (x·z)^j = \sum_{|k| = j} \frac{j!}{k_1!\cdots k_d!} \prod_i x_i^{k_i} z_i^{k_i},

so every series :math:`\sum_j a_j (x·z)^j` with :math:`a_j \ge 0`
(:mod:`~maxmargin.kernels.maths.dot_series`) is a dot product of the features
:math:`φ_k(x) = \sqrt{a_{|k|}\,|k|!/\prod_i k_i!}\,\prod_i x_i^{k_i}`. Of (x·z + 1)² in
the plane they are S0's [1, √2·x₁, √2·x₂, x₁², √2·x₁x₂, x₂²]; of a polynomial of degree
p with coef0 > 0 there are C(d + p, p). Those of the Gaussian are S1's
:math:`e^{-γ\|x\|^2} (2γ)^{j/2} \prod_i x_i^{k_i}/\sqrt{k_i!}`, without end; the map keeps
j ≤ order.

S1 counts the monomials of 100 pixels up to degree 3 as :math:`\binom{10^3}{3} - 1`; its
own figure 176 850 is C(103, 3) − 1, without the constant.
"""

from __future__ import annotations

import math
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InputError, InputTypeError, NumericalError
from maxmargin.kernels.algebra import Kernel
from maxmargin.kernels.dot_products import RBF
from maxmargin.kernels.inputs import checked_rows
from maxmargin.kernels.maths.dot_series import (
    POSSIBLE,
    remainder,
    series_of,
    unit_of,
)
from maxmargin.kernels.parameters import whole

if TYPE_CHECKING:
    from maxmargin._arrays import Index, Matrix, Vector

_LARGEST = 10**6  # policy: components; φ of a thousand rows would take 8 GB beyond
_VALUES = 1 << 21  # policy: values of monomials of one degree worked on at a time: 16 MB
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def feature_map(kernel: Kernel, n_features: int, order: int | None = None) -> FeatureMap:
    """φ with φ(x)·φ(z) = k(x, z), as a function of rows.

    Parameters
    ----------
    kernel : Kernel
        ``Linear()``, ``Polynomial(degree, coef0, gamma)`` with coef0 ≥ 0,
        ``RBF(gamma=…)``, and sums, products, positive multiples and powers of these.
    n_features : int
        Features d of a row x.
    order : int, optional
        Degree at which each Gaussian is cut off, from 0 to 170; for kernels that hold
        one, and for no others. :meth:`FeatureMap.error_bound` bounds the error. It
        grows with γ‖x‖·‖z‖, so rows should be centred first, which leaves a Gaussian
        as it is.

    Returns
    -------
    FeatureMap

    Raises
    ------
    InputError
        For other kernels, and for maps of more than a million components.

    Examples
    --------
    >>> from maxmargin.kernels import Polynomial, feature_map
    >>> phi = feature_map(Polynomial(2), n_features=2)
    >>> phi.names
    ('1', '√2·x1', '√2·x2', 'x1²', '√2·x1·x2', 'x2²')
    >>> Z = phi([[1.0, 2.0], [3.0, -1.0]])
    >>> (Z @ Z.T).round(9)
    array([[ 36.,   4.],
           [  4., 121.]])
    >>> Polynomial(2)([[1.0, 2.0], [3.0, -1.0]])
    array([[ 36.,   4.],
           [  4., 121.]])
    """
    return FeatureMap(kernel, n_features, order)


class FeatureMap:
    """φ of a kernel; made by :func:`feature_map`.

    Components are in the order of their degree, and of their factors within a degree.

    Attributes
    ----------
    kernel, n_features, order
        As given.
    n_components : int
        D, the length of φ(x).
    exact : bool
        Whether φ(x)·φ(z) is k(x, z) but for rounding; False for a Gaussian, whose
        series was cut off.
    """

    def __init__(self, kernel: Kernel, n_features: int, order: int | None = None) -> None:
        if not isinstance(kernel, Kernel):
            msg = (
                f"feature_map({kernel!r}): expected a kernel object of "
                f"maxmargin.kernels; possible are {POSSIBLE}"
            )
            raise InputTypeError(msg)
        self.kernel = kernel
        if hasattr(n_features, "shape"):
            msg = (
                f"n_features is an array of shape {n_features.shape}: give the number of "
                "features, such as X.shape[1], and the rows to the map: phi(X)"
            )
            raise InputTypeError(msg)
        self.n_features = whole("feature_map", "n_features", n_features)
        self.exact = not any(isinstance(one, RBF) for one in kernel.leaves)
        self.order = _checked_order(kernel, order, exact=self.exact)
        self._unit = unit_of(kernel)
        series = series_of(kernel, self.order or 0, self._unit)
        self._terms = [_Term(gamma, a) for gamma, a in series.items()]
        self.n_components = sum(_count(self.n_features, a) for _, a in self._terms)
        top = max(a.size - 1 for _, a in self._terms)
        formed = math.comb(self.n_features + top, top)  # those left out are on the way
        if max(self.n_components, formed) > _LARGEST:
            msg = (
                f"the feature map of {kernel!r} for {n_features} features has "
                f"{self.n_components} components, made of {formed} monomials up to "
                f"degree {top}; at most {_LARGEST} are made: reduce degree, order or "
                "features, or use the kernel itself, which needs none of them"
            )
            raise InputError(msg)
        self._levels = _levels(self.n_features, top)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else f"truncated at degree {self.order}"
        return (
            f"<feature map of {self.kernel!r}: {self.n_features} features → "
            f"{self.n_components} components, {kind}>"
        )

    def __call__(self, X: Any) -> Matrix:
        """φ of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_components), float64
            Dense also for sparse X.
        """
        rows = self._rows(X, "X")
        out = np.empty((rows.shape[0], self.n_components))
        widest = max(level.ways.size for level in self._levels)
        step = max(1, _VALUES // widest)
        for start in range(0, rows.shape[0], step):
            some = rows[start : start + step]
            some = some.toarray() if sp.issparse(some) else some
            with np.errstate(over="ignore", invalid="ignore"):  # looked for below
                self._fill(some.astype(np.float64), out[start : start + step])
        if not np.isfinite(out).all():
            msg = (
                f"the feature map of {self.kernel!r} overflows float64 on these rows; "
                "scale the features (StandardScaler) or reduce gamma and degree"
            )
            raise NumericalError(msg)
        return out

    def error_bound(self, X: Any, Z: Any = None) -> Matrix:
        """Bounds on |φ(x)·φ(z) − k(x, z)| before rounding, for every pair of rows.

        The Taylor remainder of exp (:mod:`~maxmargin.kernels.maths.dot_series`); exact
        for a Gaussian where x·z ≥ 0, so in particular for k(x, x). Zeros for exact maps.

        Parameters
        ----------
        X, Z : array-like or sparse matrix of shape (n, n_features), (m, n_features)
            Rows; without Z, those of X with themselves.

        Returns
        -------
        ndarray of shape (n, m), float64
        """
        left = self._rows(X, "X").astype(np.float64)
        right = left if Z is None else self._rows(Z, "Z").astype(np.float64)
        dots = left @ right.T
        dots = dots.toarray() if sp.issparse(dots) else dots
        with np.errstate(over="ignore", invalid="ignore"):  # inf is a bound too
            bounds = remainder(
                self.kernel, self.order or 0, dots, _norms(left), _norms(right)
            )
        return np.zeros_like(dots) if self.exact else bounds.error

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every component as a formula, such as ``"√2·x1·x2"``; x1 is the first."""
        monomials: list[tuple[int, ...]] = [()]
        by_degree = [monomials]
        for level in self._levels[1:]:
            steps = zip(level.parent.tolist(), level.feature.tolist(), strict=True)
            monomials = [(*monomials[parent], feature) for parent, feature in steps]
            by_degree.append(monomials)
        found = []
        for gamma, a in self._terms:
            for j in np.flatnonzero(a):
                unit = np.sqrt(self._unit) ** int(j)
                weights = np.sqrt(a[j] * self._levels[j].ways) * unit
                some = zip(by_degree[j], weights.tolist(), strict=True)
                found += [_name(factors, weight, gamma) for factors, weight in some]
        return tuple(found)

    # --- within ---------------------------------------------------------------------

    def _rows(self, X: Any, name: str) -> Any:
        rows = checked_rows(X, name)
        if rows.shape[1] != self.n_features:
            msg = (
                f"{name} has {rows.shape[1]} features, but this feature map was made "
                f"for {self.n_features}; make one with n_features={rows.shape[1]}"
            )
            raise InputError(msg)
        return rows

    def _fill(self, X: Matrix, out: Matrix) -> None:
        """φ of dense rows; monomials of one degree are made of those one below."""
        scaled = (np.sqrt(self._unit) * X).T
        norms = _norms(X)
        end = 0
        for gamma, a in self._terms:
            # The damping enters in equal parts, one a degree: the whole of it would
            # vanish, and the monomials overflow, for rows far out.
            top = a.size - 1
            part = -gamma * norms / max(1, top)
            damped = np.exp(part) * scaled
            values = np.ones((1, X.shape[0]))
            for j, level in enumerate(self._levels[: top + 1]):
                if j > 0:
                    values = values[level.parent] * damped[level.feature]
                if a[j] > 0.0:
                    weights = np.sqrt(a[j] * level.ways)
                    rest = np.exp(part * (max(1, top) - j))
                    start, end = end, end + level.ways.size
                    out[:, start:end] = (values * weights[:, None] * rest).T


class _Term(NamedTuple):
    """Damping γ, and the coefficients of (unit·x·z)^j."""

    gamma: float
    a: Vector


class _Level(NamedTuple):
    """The monomials of one degree: each is one of the degree below times a feature.

    ``ways`` is |k|!/Πkᵢ!, the orders in which its factors can be written.
    """

    parent: Index
    feature: Index
    ways: Vector


def _levels(d: int, top: int) -> list[_Level]:
    """Every monomial once: a factor is never before the last one of its parent."""
    nothing = np.zeros(1, dtype=np.intp)
    levels = [_Level(nothing, nothing, np.ones(1))]
    often = np.zeros(1)  # the last factor occurs in each
    for degree in range(1, top + 1):
        last, ways = levels[-1].feature, levels[-1].ways
        children = d - last
        parent = np.repeat(np.arange(last.size), children)
        first = np.repeat(np.cumsum(children) - children, children)
        ahead = np.arange(parent.size) - first
        often = np.where(ahead == 0, often[parent] + 1.0, 1.0)
        # Whole numbers, exact below 2⁵³: dividing comes last.
        levels.append(_Level(parent, last[parent] + ahead, ways[parent] * degree / often))
    return levels


def _count(d: int, a: Vector) -> int:
    """Monomials in d features of the degrees whose coefficient is not 0."""
    return sum(math.comb(d + int(j) - 1, int(j)) for j in np.flatnonzero(a))


def _norms(X: Any) -> Vector:
    squares = X.multiply(X) if sp.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _checked_order(kernel: Kernel, order: int | None, *, exact: bool) -> int | None:
    if exact:
        if order is not None:
            msg = (
                f"feature_map({kernel!r}, order={order!r}): this kernel has an exact "
                "map, order is for the Gaussian; leave it out"
            )
            raise InputError(msg)
        return None
    if order is None:
        msg = (
            f"feature_map({kernel!r}): the Gaussian has infinitely many features; give "
            "the degree at which to stop, for instance order=6"
        )
        raise InputError(msg)
    if not isinstance(order, Integral) or isinstance(order, bool):
        msg = f"feature_map(order={order!r}): order must be an integer of at least 0"
        raise InputTypeError(msg)
    if order < 0:
        msg = f"feature_map(order={order!r}): order must be at least 0"
        raise InputError(msg)
    return int(order)


def _name(factors: tuple[int, ...], weight: float, gamma: float) -> str:
    """weight·exp(−gamma‖x‖²)·Π x, with roots of whole numbers where there are any."""
    front, back = _root(weight)
    parts = [front] if front else []
    if gamma > 0.0:
        parts.append(f"exp(−{gamma:.6g}·‖x‖²)")
    for feature in dict.fromkeys(factors):
        power = factors.count(feature)
        raised = str(power).translate(_RAISED) if power > 1 else ""
        parts.append(f"x{feature + 1}{raised}")
    return ("·".join(parts) or "1") + back


def _root(weight: float) -> tuple[str, str]:
    """The text before and after a monomial for its weight."""
    if 1e-3 < weight < 1e3:  # roots of larger numbers say less than their digits
        for value, before, root in ((weight**2, "", "√"), (weight**-2, "/", "/√")):
            number = round(value)
            if number > 0 and math.isclose(value, number, rel_tol=1e-12):
                side = math.isqrt(number)
                text = f"{before}{side}" if side**2 == number else f"{root}{number}"
                text = "" if number == 1 else text
                return ("", text) if before else (text, "")
    return f"{weight:.4g}", ""
