"""Files of the own format taken apart and put together, for tests that alter them."""

import io
import json
import tempfile
import warnings
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from maxmargin import SVC, LinearSVC, PegasosClassifier
from maxmargin.errors import InputError
from maxmargin.kernels import RBF, Linear
from maxmargin.persist import own_format, save

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


def saved(estimator):
    """The bytes of a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.maxmargin"
        save(estimator, path)
        return path.read_bytes()


def loaded(raw):
    """The model of a file's bytes; what ``load`` does, without a file."""
    with own_format._reported("<bytes>"):
        return own_format._loaded(io.BytesIO(raw), None)[0]


def used(model, X):
    """Everything that can be asked of a model; refusals are answers.

    Anything but an InputError is a bug, and so is an answer that is not finite.
    """
    for name in ("decision_function", "predict", "predict_proba"):
        try:
            answer = getattr(model, name)(X)
        except (InputError, NotFittedError, AttributeError) as refusal:
            if type(refusal) is AttributeError and name != "predict_proba":
                raise
        else:
            assert len(answer) == len(X)


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


def shallow(record):
    return {one.name: getattr(record, one.name) for one in fields(record)}


def same(a, b):
    """Equality of values to the bit, types included."""
    assert type(a) is type(b), (type(a), type(b))
    if isinstance(a, np.ndarray) and a.dtype.kind != "O":
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.flags.forc:  # what is scattered becomes C order
            assert a.flags.c_contiguous == b.flags.c_contiguous
        assert a.tobytes() == b.tobytes()
        assert b.flags.writeable
    elif isinstance(a, np.ndarray):
        assert a.shape == b.shape
        same(a.ravel().tolist(), b.ravel().tolist())
    elif sp.issparse(a):
        assert a.shape == b.shape
        for name in ("data", "indices", "indptr"):
            same(getattr(a, name), getattr(b, name))
    elif isinstance(a, np.random.RandomState):
        same(a.get_state(legacy=False), b.get_state(legacy=False))
    elif isinstance(a, np.random.Generator):
        same(a.bit_generator.state, b.bit_generator.state)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif isinstance(a, float | np.floating):
        assert np.float64(a).tobytes() == np.float64(b).tobytes()
    elif is_dataclass(a):
        same(shallow(a), shallow(b))
    elif hasattr(a, "get_params"):
        left, right = dict(vars(a)), dict(vars(b))
        left.pop("_stop_words_id", None)
        same(left, {key: right.pop(key) for key in left})
        assert not right
    else:
        assert a == b
