"""Names that writer and reader of values share."""

from __future__ import annotations

import numpy as np

DEEPEST = 100  # values within values
MOST_JOBS = 1024  # joblib starts as many processes as n_jobs says

# Types that a parameter may be, such as dtype=np.float64 of scikit-learn's encoders.
TYPES = {
    "bool": bool,
    "bytes": bytes,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    **{
        f"numpy.{kind.__name__}": kind
        for kind in (
            np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
            np.uint32, np.uint64, np.float16, np.float32, np.float64, np.str_, np.bytes_,
            np.object_, np.datetime64, np.timedelta64, np.number, np.integer,
            np.signedinteger, np.unsignedinteger, np.floating, np.inexact, np.generic,
            np.character, np.flexible,
        )
    },
}  # fmt: skip

MODULES = {"numpy.random": np.random}

# Attributes that mean nothing in another process: where an object lay in memory, and who
# was watching; a cache folder is read by pickle, so a file may not name one.
NOT_SAVED = {
    "_stop_words_id": "",
    "_watched": "",
    "_sklearn_version": "",
    "_skl_callbacks": "scikit-learn's callbacks",
    "callbacks": "callbacks",
    "memory": "the cache (memory)",
}
