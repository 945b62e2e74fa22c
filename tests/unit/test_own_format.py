"""Saved and loaded, a model is the same to the bit, whatever it is made of."""

import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from tests.fuzz.own_format_files import same, with_header

import maxmargin
from maxmargin import kernels, solvers
from maxmargin.errors import InputError, InputTypeError, ModelFileError
from maxmargin.persist import data_hash, header, load, save
from maxmargin.solvers.linear import LINEAR_SOLVERS

MACHINES = {
    "SVC": maxmargin.SVC(),
    "SVC-ovr": maxmargin.SVC(multi_class="ovr", kernel="poly", coef0=1.0),
    "SVC-joint": maxmargin.SVC(multi_class="crammer_singer"),
    "SVC-sigmoid": maxmargin.SVC(probability=True, random_state=0),
    "SVC-isotonic": maxmargin.SVC(
        probability=True, calibration="isotonic", random_state=np.random.RandomState(1)
    ),
    "SVC-linear": maxmargin.SVC(kernel="linear", class_weight={0: 2.0, "b": 1}),
    "NuSVC": maxmargin.NuSVC(nu=0.2, probability=True, random_state=0),
    "SVR": maxmargin.SVR(C=2.0),
    "NuSVR": maxmargin.NuSVR(),
    "OneClassSVM": maxmargin.OneClassSVM(nu=0.3),
    "SVDD": maxmargin.SVDD(nu=0.3),
    "LinearSVC": maxmargin.LinearSVC(),
    "LinearSVC-joint": maxmargin.LinearSVC(multi_class="crammer_singer", random_state=0),
    "LinearSVR": maxmargin.LinearSVR(),
    "PegasosClassifier": maxmargin.PegasosClassifier(max_iter=5, random_state=0),
    "AveragedSGDClassifier": maxmargin.AveragedSGDClassifier(max_iter=5, random_state=0),
}
METHODS = ("predict", "decision_function", "predict_proba", "score_samples")


def data(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n, d)))
    X[X < 0.4] = 0.0
    codes = (X[:, 0] > 0.7).astype(int) + (X[:, 1] > 1.0)
    return X, codes


def prepared(machine, X, codes):
    """The labels that a machine wants."""
    if isinstance(machine, maxmargin.SVC) and isinstance(machine.class_weight, dict):
        return np.array([0, "b", "c"], dtype=object)[codes].astype(str)
    if "SVR" in type(machine).__name__:
        return X @ np.arange(X.shape[1]) + codes
    return codes


def fitted(machine, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", maxmargin.ConvergenceWarning)
        return machine.fit(X, y)


def round_trip(estimator, tmp_path, **more):
    path = tmp_path / "model.maxmargin"
    save(estimator, path)
    return load(path, **more)


def same_answers(a, b, X):
    for name in METHODS:
        if hasattr(a, name):
            assert getattr(a, name)(X).tobytes() == getattr(b, name)(X).tobytes(), name


# --- machines ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("form", ["dense", "csr_matrix", "csr_array"])
@pytest.mark.parametrize("name", MACHINES)
def test_machines(name, form, dtype, tmp_path):
    X, codes = data()
    machine = clone(MACHINES[name])
    y = prepared(machine, X, codes)
    X = X.astype(dtype) if form == "dense" else getattr(sp, form)(X.astype(dtype))
    fitted(machine, X, y)
    again = round_trip(machine, tmp_path)
    same(machine, again)
    same_answers(machine, again, X)
    assert str(again.certificate_) == str(machine.certificate_)


@pytest.mark.parametrize("name", MACHINES)
def test_unfitted(name, tmp_path):
    same(MACHINES[name], round_trip(MACHINES[name], tmp_path))


@pytest.mark.parametrize("name", MACHINES)
def test_a_fit_goes_on_from_the_file(name, tmp_path):
    X, codes = data()
    machine = clone(MACHINES[name]).set_params(max_iter=2, warm_start=True)
    y = prepared(machine, X, codes)
    again = round_trip(fitted(machine, X, y), tmp_path)
    fitted(machine.set_params(max_iter=20), X, y)
    fitted(again.set_params(max_iter=20), X, y)
    same_answers(machine, again, X)
    assert again.certificate_.dual == machine.certificate_.dual
    if hasattr(machine, "partial_fit"):
        machine.partial_fit(X, y)
        same_answers(machine, again.partial_fit(X, y), X)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1]])
def test_labels(labels, tmp_path):
    X, codes = data()
    y = np.array(labels)[np.minimum(codes, 1)]
    machine = maxmargin.SVC().fit(X, y)
    same(machine, round_trip(machine, tmp_path))


def test_labels_of_objects(tmp_path):
    X, codes = data()
    machine = maxmargin.SVC().fit(X, np.array(["no", "ja", "da"], dtype=object)[codes])
    again = round_trip(machine, tmp_path)
    same(machine, again)
    assert again.predict(X).dtype == object


def test_frames_keep_their_names(tmp_path):
    X, codes = data()
    frame = pd.DataFrame(X, columns=["a", "β", "c c", "d"])
    machine = maxmargin.SVC().fit(frame, codes)
    again = round_trip(machine, tmp_path)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    same_answers(machine, again, frame)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["β", "a", "c c", "d"]])
    assert header(tmp_path / "model.maxmargin")["feature_names"] == list(frame.columns)


def test_precomputed(tmp_path):
    X, codes = data()
    K = X @ X.T
    for kernel in ("precomputed", kernels.Precomputed()):
        machine = maxmargin.SVC(kernel=kernel).fit(K, codes)
        again = round_trip(machine, tmp_path)
        same(machine, again)
        same_answers(machine, again, K)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.RBF(sigma=0.3),
        kernels.RBF(gamma=0.3),
        kernels.Polynomial(2, coef0=0.1, gamma=1 / 3),
        kernels.Sigmoid(0.1, -0.2),
        kernels.Laplacian(0.7),
        kernels.ChiSquared(0.7),
        (0.1 * kernels.Linear() + kernels.RBF(sigma=2.0)) ** 2 * kernels.Laplacian(0.2),
    ],
    ids=repr,
)
def test_kernel_objects(kernel, tmp_path):
    X, codes = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", maxmargin.IndefiniteKernelWarning)
        machine = maxmargin.SVC(kernel=kernel).fit(X, codes)
    again = round_trip(machine, tmp_path)
    assert again.kernel == kernel
    assert repr(again.kernel) == repr(kernel)
    same_answers(machine, again, X)


@pytest.mark.parametrize(
    ("machine", "solver"),
    [
        *[
            (maxmargin.SVC, kind())
            for kind in (
                solvers.Chunking, solvers.Decomposition, solvers.PlattSmo,
                solvers.QuadraticProgram, solvers.SimpleSmo, solvers.Smo,
                solvers.ThroughWeights, solvers.WorkingSetSmo, solvers.Pegasos,
                solvers.CoordinateAscent, solvers.CrammerSinger,
            )
        ],
        (maxmargin.SVC, solvers.Decomposition(q=6, tol=1e-5)),
        *[
            (maxmargin.LinearSVC, LINEAR_SOLVERS.load(entry.title)())
            for entry in LINEAR_SOLVERS
        ],
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)  # fmt: skip
def test_solvers(machine, solver, tmp_path):
    again = round_trip(machine(solver=solver), tmp_path)
    assert type(again.solver) is type(solver)
    assert again.solver == solver


# --- functions as kernels ---------------------------------------------------------------


def blocks(A, B):
    return np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2)


@maxmargin.kernel
def intersection(x, z):
    total = 0.0
    for k in range(x.size):
        total += min(x[k], z[k])
    return total


@pytest.mark.parametrize(
    ("kernel", "name", "given"),
    [
        (blocks, "blocks", blocks),
        (intersection, "intersection", intersection),
        (intersection, "intersection", intersection.function),
        (intersection + kernels.Linear(), "intersection", {"intersection": intersection}),
    ],
    ids=["blocks", "decorated", "scalar", "sum"],
)
def test_functions_are_saved_by_name(kernel, name, given, tmp_path):
    X, codes = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", maxmargin.IndefiniteKernelWarning)
        machine = maxmargin.SVC(kernel=kernel).fit(X, codes)
    path = tmp_path / "model.maxmargin"
    save(machine, path)
    same_answers(machine, load(path, kernel=given), X)
    with pytest.raises(ModelFileError, match=f"function '{name}'.*load.path, kernel="):
        load(path)
    with pytest.raises(ModelFileError, match="the name only"):
        load(path, kernel={"another": given} if callable(given) else {})


def test_functions_of_the_wrong_kind(tmp_path):
    path = tmp_path / "model.maxmargin"
    save(maxmargin.SVC(), path)
    with pytest.raises(InputError, match="its kernel is no function"):
        load(path, kernel=blocks)
    for wrong in (3, kernels.RBF, {"f": 3}):
        with pytest.raises(InputTypeError, match="give a function"):
            load(path, kernel=wrong)


def test_rows_that_are_no_vectors(tmp_path):
    def overlap(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    X, y = ["abc", "abd", "xyz", "xyw"], [0, 0, 1, 1]
    machine = maxmargin.SVC(kernel=overlap).fit(X, y)
    again = round_trip(machine, tmp_path, kernel=overlap)
    same(machine, again)
    assert again.predict(X).tolist() == y


# --- pipelines --------------------------------------------------------------------------


def mixed(n=60):
    X, codes = data(n)
    frame = pd.DataFrame(X[:, :2], columns=["x", "y"])
    frame.loc[::7, "x"] = np.nan
    frame["colour"] = np.array(["red", "green", "blue", "red"])[np.arange(n) % 4]
    frame["size"] = np.array(["S", "M", "L"])[codes]
    return frame, codes


@pytest.mark.parametrize("sparse_output", [False, True])
def test_columns_of_every_kind(sparse_output, tmp_path):
    frame, codes = mixed()
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numbers", numbers, frame.columns[:1]),
            (
                "colour",
                OneHotEncoder(
                    min_frequency=16,
                    handle_unknown="infrequent_if_exist",
                    sparse_output=sparse_output,
                ),
                make_column_selector(pattern="colour", dtype_exclude=np.number),
            ),
            ("size", OrdinalEncoder(categories=[["S", "M", "L"]]), ["size"]),
            ("rest", "drop", slice(0, 0)),
        ],
        remainder="passthrough",
        sparse_threshold=1.0 if sparse_output else 0.0,
    )
    model = Pipeline([("columns", columns), ("svc", maxmargin.SVC(probability=True))])
    model.fit(frame, codes)
    again = round_trip(model, tmp_path)
    same_answers(model, again, frame)
    same(model[-1], again[-1])
    told = header(tmp_path / "model.maxmargin")
    assert told["class"] == "maxmargin.SVC"
    names = [step["name"] for step in told["steps"]]
    assert names[:3] == ["columns", "columns.numbers", "columns.numbers.simpleimputer"]
    assert told["feature_names"] == list(frame.columns)


DENSE_ONLY = [
    StandardScaler(), MinMaxScaler((-1, 1)), RobustScaler(), PCA(2), PCA("mle"),
]  # fmt: skip
ANY_ROWS = [
    MaxAbsScaler(), Normalizer("l1"), TruncatedSVD(2, random_state=0), TfidfTransformer(),
    StandardScaler(with_mean=False), SimpleImputer(strategy="most_frequent"),
    FunctionTransformer(), "passthrough",
]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "form"),
    [(step, np.asarray) for step in DENSE_ONLY + ANY_ROWS]
    + [(step, sp.csr_array) for step in ANY_ROWS],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_steps(step, form, tmp_path):
    X, codes = data()
    model = make_pipeline(step, maxmargin.LinearSVC()).fit(form(X), codes)
    again = round_trip(model, tmp_path)
    same(model, again)
    same_answers(model, again, form(X))


@pytest.mark.parametrize("kind", [CountVectorizer, TfidfVectorizer])
def test_text(kind, tmp_path):
    texts = ["the cat sat", "a dog ran", "cats and dogs", "the dog sat down"] * 5
    y = np.array(["cat", "dog", "both", "dog"] * 5)
    stops = frozenset({"the", "a", "and"})
    model = make_pipeline(
        kind(stop_words=list(stops), ngram_range=(1, 2)), maxmargin.SVC(kernel="linear")
    )
    model.fit(texts, y)
    again = round_trip(model, tmp_path)
    same(model, again)
    same_answers(model, again, [*texts, "something else"])


def test_a_scaler_or_encoder_alone(tmp_path):
    coder = LabelEncoder().fit(["b", "a", "b"])
    again = round_trip(coder, tmp_path)
    assert again.transform(["b", "a"]).tolist() == [1, 0]


def test_output_settings_are_kept(tmp_path):
    X, _ = data()
    scaler = StandardScaler().set_output(transform="pandas").fit(X)
    assert isinstance(round_trip(scaler, tmp_path).transform(X), pd.DataFrame)


def test_a_table_encoder(tmp_path):
    encoder = pytest.importorskip("maxmargin.data_files.columns.encoder").TableEncoder(
        "mean"
    )
    frame, codes = mixed()
    same(encoder, round_trip(encoder, tmp_path))
    model = make_pipeline(encoder, StandardScaler(), maxmargin.SVC()).fit(frame, codes)
    again = round_trip(model, tmp_path)
    same(model, again)
    same_answers(model, again, frame)

    def alters(name, to):
        def change(content):
            steps = content["model"]["object"]["params"]["steps"]
            steps[0]["tuple"][1]["object"]["attributes"][name] = to

        return change

    raw = (tmp_path / "model.maxmargin").read_bytes()
    for name, wrong in [("kinds_", []), ("categories_", [1, 2, 3, 4]), ("fills_", "x")]:
        (tmp_path / "m").write_bytes(with_header(raw, alters(name, wrong)))
        with pytest.raises(ModelFileError, match="does not know every column"):
            load(tmp_path / "m")


# --- what is left behind ----------------------------------------------------------------


def test_callbacks_are_not_saved(tmp_path):
    X, codes = data()
    machine = maxmargin.SVC(callbacks=[maxmargin.observers.History()]).fit(X, codes)
    with pytest.warns(UserWarning, match="callbacks of SVC cannot be saved"):
        save(machine, tmp_path / "m.maxmargin")
    again = load(tmp_path / "m.maxmargin")
    assert again.callbacks is None
    assert machine.callbacks is not None
    same_answers(machine, again, X)


def test_a_cache_folder_is_not_saved(tmp_path):
    model = Pipeline([("svc", maxmargin.SVC())], memory=str(tmp_path))
    with pytest.warns(UserWarning, match="memory"):
        assert round_trip(model, tmp_path).memory is None


def test_a_history_can_be_kept(tmp_path):
    X, codes = data()
    history = maxmargin.observers.History()
    machine = maxmargin.SVC(callbacks=history).fit(X, np.minimum(codes, 1))
    machine.callbacks = None
    machine.history_ = history
    again = round_trip(machine, tmp_path)
    assert again.history_["dual"] == history["dual"]
    again.set_params(callbacks=again.history_).fit(X, np.minimum(codes, 1))


# --- files ------------------------------------------------------------------------------


def test_the_header_says_what_there_is(tmp_path):
    X, codes = data()
    path = tmp_path / "model.maxmargin"
    model = make_pipeline(MinMaxScaler((0, 2)), maxmargin.SVC(C=np.inf, gamma=0.5))
    model.set_params(svc__C=3.0).fit(X, codes)
    save(model, str(path), data_hash=data_hash(X, codes))
    told = header(path)
    certificate = model[-1].certificate_
    assert (told["format"], told["format_version"]) == ("maxmargin model", 1)
    assert told["versions"]["maxmargin"] == maxmargin.__version__
    assert told["versions"]["numpy"] == np.__version__
    assert told["created"].endswith("+00:00")
    assert told["data_hash"] == data_hash(sp.csr_matrix(X), codes)
    assert told["class"] == "maxmargin.SVC"
    assert told["parameters"]["C"] == 3.0
    assert told["certificate"]["primal"] == certificate.primal
    assert told["certificate"]["stop"] == certificate.stop
    assert told["certificate"]["n_problems"] == 3
    assert told["certificate"]["ok"] is True
    assert told["n_support_vectors"] == model[-1].n_support_.tolist()
    assert told["classes"] == ["0", "1", "2"]
    assert told["n_features"] == 4
    assert told["steps"] == [
        {
            "name": "minmaxscaler",
            "class": "sklearn.preprocessing.MinMaxScaler",
            "parameters": {"feature_range": "(0, 2)"},
        }
    ]
    assert told["n_bytes"] > 0
    json.dumps(told)


def test_the_header_of_an_unfitted_machine(tmp_path):
    save(maxmargin.SVC(C=np.inf), tmp_path / "m")
    told = header(tmp_path / "m")
    assert told["certificate"] is told["classes"] is told["n_features"] is None
    assert told["parameters"]["C"] == "inf"


def test_equal_models_have_equal_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    X, codes = data()
    machine = maxmargin.SVC(random_state=np.random.RandomState(0)).fit(X, codes)
    files = [tmp_path / "a", tmp_path / "b"]
    for path in files:
        save(machine, path)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert header(files[0])["created"] == "2023-11-14T22:13:20+00:00"
    again = load(files[0])
    save(again, files[1])
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_is_shown_of_parameters(tmp_path):
    random = np.random.RandomState(0)
    save(maxmargin.SVC(kernel=blocks, random_state=random, C=10**20), tmp_path / "m")
    told = header(tmp_path / "m")["parameters"]
    assert told["kernel"] == "blocks"
    assert told["random_state"] == "RandomState(MT19937)"
    assert told["C"] == "100000000000000000000"


@pytest.mark.parametrize(
    "model",
    [
        Pipeline([("scale", StandardScaler()), ("nothing", "passthrough")]),
        Pipeline([("inner", Pipeline([("svc", maxmargin.SVC())]))]),
    ],
    ids=["passthrough", "inside"],
)
def test_odd_pipelines(model, tmp_path):
    same(model, round_trip(model, tmp_path))
    kind = header(tmp_path / "model.maxmargin")["class"]
    assert kind in ("sklearn.pipeline.Pipeline", "maxmargin.SVC")


def test_any_zip_and_numpy_can_read_the_arrays(tmp_path):
    X, codes = data()
    machine = maxmargin.SVC().fit(X, codes)
    path = tmp_path / "m.maxmargin"
    save(machine, path)
    with np.load(path) as entries:
        arrays = [entries[name] for name in entries.files if name != "header.json"]
    assert any(np.array_equal(one, machine.support_vectors_) for one in arrays)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "header.json"


def test_files_of_more_than_four_gigabytes_are_laid_out_so(tmp_path, monkeypatch):
    """Zip64, from 100 bytes and two entries on instead of 4 GiB and 65,535."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    X, codes = data()
    machine = maxmargin.SVC().fit(X, codes)
    same(machine, round_trip(machine, tmp_path))
    raw = (tmp_path / "model.maxmargin").read_bytes()
    assert b"PK\x06\x06" in raw
    assert b"PK\x06\x07" in raw


def test_a_model_of_another_process(tmp_path):
    """Files hold no addresses, ids or hashes of this process."""
    X, codes = data()
    path = tmp_path / "m.maxmargin"
    machine = maxmargin.SVC(probability=True).fit(X, codes)
    save(machine, path)
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np, maxmargin.persist as p; "
        "folder = sys.argv[1]; X = np.load(folder + '/X.npy'); "
        "np.save(folder + '/P.npy', p.load(folder + '/m.maxmargin').predict_proba(X))"
    )
    source = Path(maxmargin.__file__).resolve().parents[1]
    env = os.environ | {"PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=env, check=True)
    expected = machine.predict_proba(X)
    assert np.load(tmp_path / "P.npy").tobytes() == expected.tobytes()


def test_importing_persist_is_light():
    code = (
        "import sys, maxmargin.persist.own_format; "
        "heavy = {'numba', 'maxmargin.estimators.machine', 'maxmargin.solvers.base'}; "
        "print(sorted(heavy & sys.modules.keys()))"
    )
    source = Path(maxmargin.__file__).resolve().parents[1]
    env = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"


def test_a_pipeline_of_another_scikit_learn_is_announced(tmp_path, monkeypatch):
    X, codes = data()
    path = tmp_path / "m.maxmargin"
    save(make_pipeline(StandardScaler(), maxmargin.SVC()).fit(X, codes), path)

    def older(content):
        content["versions"]["scikit-learn"] = "1.2.3"

    path.write_bytes(with_header(path.read_bytes(), older))
    with pytest.warns(UserWarning, match=r"fitted by scikit-learn 1\.2\.3 and this is"):
        load(path)
    save(maxmargin.SVC().fit(X, codes), path)
    path.write_bytes(with_header(path.read_bytes(), older))
    load(path)  # machines of ours do not depend on it


# --- what cannot be saved ---------------------------------------------------------------


class Own(maxmargin.SVC):
    pass


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (Own(), "Own is neither"),
        (maxmargin.SVC, "give a machine"),
        (3, "give a machine"),
        (
            make_pipeline(FunctionTransformer(np.log1p), maxmargin.SVC()),
            r"Pipeline.steps\[0\]\[1\].func is a function, and functions are not saved",
        ),
        (
            make_pipeline(CountVectorizer(tokenizer=str.split), maxmargin.SVC()),
            "tokenizer is a function",
        ),
        (maxmargin.SVC(C=1 + 2j), "SVC.C is a builtins.complex"),
        (maxmargin.SVC(class_weight={0: np.array([1j])}), "dtype complex128"),
        (maxmargin.SVC(gamma=np.longdouble(1)), "dtype (float128|longdouble)"),
        (
            maxmargin.SVC(C=np.ma.masked_array([1.0])),
            "MaskedArray, which cannot be saved",
        ),
        (maxmargin.SVC(C=sp.coo_array((2, 2))), "CSR and CSC can be saved"),
        (maxmargin.SVC(C=object()), "builtins.object, which cannot be saved"),
        (make_pipeline(Own()), "Own, which cannot be saved"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_refusals(thing, said, tmp_path):
    with pytest.raises(InputTypeError, match=said):
        save(thing, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_what_holds_itself_is_refused(tmp_path):
    weights = {}
    weights[0] = weights
    with pytest.raises(InputError, match="nested there, or one holds itself"):
        save(maxmargin.SVC(class_weight=weights), tmp_path / "m")


def test_methods_are_not_hidden(tmp_path):
    machine = maxmargin.SVC()
    machine.predict = 3
    with pytest.raises(InputError, match=r"SVC.predict hides what SVC has"):
        save(machine, tmp_path / "m")


def test_a_file_asks_for_no_thousand_jobs(tmp_path):
    with pytest.raises(InputError, match=r"SVC\.n_jobs=5000: a file may ask for 1024"):
        save(maxmargin.SVC(n_jobs=5000), tmp_path / "m")


@pytest.mark.parametrize("wrong", ["abc", 3, "A" * 64, "é" * 64])
def test_a_hash_is_a_hash(wrong, tmp_path):
    with pytest.raises(InputError, match="data_hash="):
        save(maxmargin.SVC(), tmp_path / "m", data_hash=wrong)


def test_too_many_words(tmp_path, monkeypatch):
    from maxmargin.persist import own_format

    monkeypatch.setattr(own_format, "LONGEST_HEADER", 1000)
    with pytest.raises(InputError, match="names, categories and words take"):
        save(maxmargin.SVC(), tmp_path / "m")
