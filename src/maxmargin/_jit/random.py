"""Random numbers without hidden state, for compiled loops that can be resumed."""

from __future__ import annotations

import numpy as np

from maxmargin._jit import njit


def uniform(seed, step):
    """Return a uniform number in [0, 1) for a step: SplitMix64 of the counter.

    G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014.
    """
    # step + 1: the hash of 0 is 0
    z = np.uint64(seed) + np.uint64(step + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-53


uniform = njit(uniform)


def shuffle(order, size, seed, epoch):
    """Shuffle the first ``size`` entries; the order depends on seed and epoch alone.

    R. A. Fisher and F. Yates, 1938.
    """
    for k in range(size - 1, 0, -1):
        other = int(uniform(seed + epoch, k) * (k + 1))
        order[k], order[other] = order[other], order[k]


shuffle = njit(shuffle)
