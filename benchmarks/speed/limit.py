"""The time of the unavoidable work: every kernel value K[all, support vectors], once.

Nobody can know the decision values of the training rows, which optimality asks for,
without them. One against one, the rows of a class meet the vectors of the pairs it is in
and no others: of the time for all values, only the share that pairs need is counted.
Float32 on every core, the values used up as they are made (summed), by the
faster of two ways: products of blocks by BLAS followed by NumPy's exp, one thread a core;
and this library's own tiles, which are also the way for CSR rows.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["blas", "measure", "needed_share", "tiles"]

ROWS, COLUMNS = 256, 1024  # of a block: 1 MB of values


def blas(X: np.ndarray, support: np.ndarray, gamma: float) -> Callable[[], np.ndarray]:
    """Σ_j K[i, j] over the support vectors, by GEMM and exp."""
    from maxmargin.parallel import Workers

    work = np.asarray(X, np.float32) - X.mean(axis=0, dtype=np.float64).astype(np.float32)
    vectors = work[support]
    norms = -gamma * np.einsum("ij,ij->i", work, work)
    vector_norms = norms[support]
    scaled = np.float32(2.0 * gamma) * vectors
    sums = np.zeros(len(work), np.float32)

    def slab(start: int, stop: int) -> None:
        block = np.empty((ROWS, COLUMNS), np.float32)
        for a in range(start, stop, ROWS):
            rows = slice(a, min(stop, a + ROWS))
            for b in range(0, len(vectors), COLUMNS):
                cols = slice(b, b + COLUMNS)
                size = rows.stop - rows.start, len(vectors[cols])
                K = block.ravel()[: size[0] * size[1]].reshape(size)
                np.matmul(work[rows], scaled[cols].T, out=K)
                K += vector_norms[cols]
                K += norms[rows, None]
                np.exp(K, out=K)
                sums[rows] += K.sum(axis=1)

    def once() -> np.ndarray:
        sums[:] = 0.0
        with Workers(None) as workers, threadpool_limits(1, user_api="blas"):
            workers.spread(slab, len(work), ROWS)
        return sums

    return once


def tiles(X: Any, support: np.ndarray, gamma: float) -> Callable[[], np.ndarray]:
    """The same by this library's tiles."""
    from maxmargin.kernels import RBF
    from maxmargin.kernels.gram.dot_products import VectorGram
    from maxmargin.parallel import Workers

    n = X.shape[0]
    workers = Workers(None)
    gram = VectorGram(RBF(gamma=gamma), X, workers)
    everyone, columns = np.arange(n), support.astype(np.intp)
    coef = np.ones(columns.size)

    def once() -> np.ndarray:
        sums = np.zeros(n)
        with workers:
            gram.apply(everyone, columns, coef, sums, np.dtype(np.float32))
        return sums

    return once


def needed_share(model: Any, y: np.ndarray) -> float:
    """Of all values between rows and support vectors, the share that is needed."""
    classes = getattr(model, "classes_", ())
    if len(classes) <= 2:
        return 1.0
    sizes = np.array([np.count_nonzero(y == one) for one in classes])
    coef = model.dual_coef_
    coef = coef.toarray() if sp.issparse(coef) else coef
    own = np.repeat(np.arange(sizes.size), model.n_support_)
    needed = sizes[own].astype(float)
    for line in range(coef.shape[0]):  # of class c, lines are the others in their order
        others = np.where(line < own, line, line + 1)
        needed += np.where(coef[line] != 0.0, sizes[others], 0)
    return float(needed.sum() / (sizes.sum() * own.size))


def measure(
    X: Any, support: np.ndarray, gamma: float, repeat: int, share: float = 1.0
) -> dict[str, Any]:
    """Median seconds of the faster way times the share of it, and which it was."""
    ways = {"tiles": tiles} if sp.issparse(X) else {"BLAS": blas, "tiles": tiles}
    seconds = {}
    for name, make in ways.items():
        once = make(X, support, gamma)
        runs = []
        for _ in range(repeat + 1):  # the first warms up
            began = time.perf_counter()
            once()
            runs.append(time.perf_counter() - began)
        seconds[name] = float(np.median(runs[1:]))
    best = min(seconds, key=seconds.__getitem__)
    return {
        "seconds": share * seconds[best],
        "share": share,
        "way": best,
        "ways": seconds,
    }
