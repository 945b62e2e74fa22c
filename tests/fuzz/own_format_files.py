"""Files of the own format taken apart and put together, for tests that alter them."""

import io
import json
import warnings
import zipfile

import numpy as np

from maxmargin import SVC, LinearSVC, PegasosClassifier
from maxmargin.kernels import RBF, Linear

HEADER = "header.json"


def parts(raw):
    """The entries of a file, by name, and its header as JSON."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return entries, json.loads(entries[HEADER])


def packed(entries, *, compression=zipfile.ZIP_STORED):
    """A zip of (name, bytes) pairs, with right checksums whatever they hold."""
    pairs = list(entries.items()) if isinstance(entries, dict) else list(entries)
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(target, "w", compression) as archive:
            for name, content in pairs:
                about = name
                if isinstance(name, str):
                    about = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
                    about.compress_type = compression
                archive.writestr(about, content)
    return target.getvalue()


def with_header(raw, change):
    """The file with another header: what ``change`` makes of it."""
    entries, content = parts(raw)
    changed = change(content)
    content = content if changed is None else changed
    entries[HEADER] = json.dumps(content).encode()
    return packed(entries)


def points(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0.0).astype(int) + (X[:, 1] > 1.0)
    return X, y


def machines():
    """Fitted machines whose files have every kind of array and value."""
    X, y = points()
    kernel = RBF(sigma=1.5) + 0.5 * Linear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pegasos, which stops early
        return [
            SVC(kernel=kernel, probability=True, calibration="isotonic").fit(X, y),
            SVC(gamma=0.5, random_state=np.random.RandomState(3)).fit(X, y),
            LinearSVC().fit(X, np.array(["a", "b", "c"])[y]),
            PegasosClassifier(max_iter=3).fit(X, y),
        ]
