"""LIBSVM's model text: what is refused, what comes back, and what has no place in it."""

import io
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    SVC,
    SVDD,
    SVR,
    InputError,
    LinearSVC,
    NuSVC,
    kernels,
)
from maxmargin.errors import InputTypeError, ModelFileError
from maxmargin.libsvm.prediction import decisions, predict
from maxmargin.libsvm.problem import rows_of
from maxmargin.persist.libsvm_model import (
    LibsvmModel,
    from_estimator,
    read_libsvm_model,
    to_estimator,
    write_libsvm_model,
)

HEAD = {
    "svm_type": "c_svc",
    "kernel_type": "rbf",
    "gamma": "0.5",
    "nr_class": "2",
    "total_sv": "3",
    "rho": "0.25",
    "label": "1 -1",
    "nr_sv": "1 2",
}
VECTORS = ["1 1:0.5 3:-1e-3 ", "-0.5 2:1 ", "-0.5 "]


def text(vectors=VECTORS, *, drop=(), **changes):
    head = {**HEAD, **changes}
    lines = [f"{k} {v}" for k, v in head.items() if k not in drop and v is not None]
    return "\n".join([*lines, "SV", *vectors, ""]).encode()


def bytes_of(model):
    stream = io.BytesIO()
    write_libsvm_model(model, stream)
    return stream.getvalue()


def test_a_model_is_read_as_it_stands():
    model = read_libsvm_model(text(probA="-1.5", probB="0.1"))
    assert (model.svm_type, model.kernel_type) == ("c_svc", "rbf")
    assert (model.gamma, model.nr_class, model.total_sv) == (0.5, 2, 3)
    assert (model.n_features, model.has_probabilities) == (3, True)
    assert model.label.tolist() == [1, -1]
    assert model.nr_sv.tolist() == [1, 2]
    assert model.sv_coef.tolist() == [[1.0, -0.5, -0.5]]
    assert model.SV.toarray().tolist() == [[0.5, 0, -1e-3], [0, 1, 0], [0, 0, 0]]


def test_ends_of_lines_and_spaces_are_of_no_matter():
    model = read_libsvm_model(text())
    for other in (
        text().replace(b"\n", b"\r\n"),
        text().replace(b" 3:", b"\t  3:"),
        text().rstrip(b" \n"),
        text() + b"\n \n",
    ):
        assert bytes_of(read_libsvm_model(other)) == bytes_of(model)


REFUSED = {
    # name: (file, line, what the message says)
    "empty": (b"", 0, "ends without its SV"),
    "binary": (bytes(range(256)), 1, "no model of LIBSVM"),
    "data": (b"1 1:2 2:3\n", 1, "no model of LIBSVM"),
    "pickle": (b"\x80\x04\x95", 1, "no model of LIBSVM"),
    "type": (text(svm_type="d_svc"), 1, "unknown SVM type 'd_svc'; known are c_svc, nu"),
    "kernel": (text(kernel_type="wavelet"), 2, "unknown kernel 'wavelet'; known are lin"),
    "keyword": (text(gemma="1"), 9, "unknown keyword 'gemma'; a model has svm_type"),
    "twice": (b"svm_type c_svc\nsvm_type c_svc\n", 2, "svm_type for a second time"),
    "two values": (text(gamma="1 2"), 3, "gamma has 2 values and needs one"),
    "no value": (text(gamma=""), 3, "gamma has 0 values and needs one"),
    "no svm_type value": (b"svm_type\n", 1, "svm_type has 0 values"),
    "empty line": (text().replace(b"gamma", b"\ngamma"), 3, "an empty line"),
    "nan": (text(gamma="nan"), 3, "gamma 'nan' must be a finite number"),
    "infinite": (text(rho="inf"), 6, "rho 'inf' must be a finite number"),
    "overflow": (text(rho="1e999"), 6, "rho '1e999' must be a finite number"),
    "underscore": (text(rho="1_0"), 6, "rho '1_0' must be a finite number"),
    "hexadecimal": (text(rho="0x1p3"), 6, "must be a finite number"),
    "gamma": (text(gamma="-1"), 3, "gamma must be at least 0"),
    "degree": (text(kernel_type="polynomial", degree="-3", coef0="0"), 9, "degree '-3'"),
    "no gamma": (text(drop=["gamma"]), 8, "no gamma, which the rbf kernel needs"),
    "no coef0": (text(kernel_type="sigmoid"), 9, "no coef0, which the sigmoid"),
    "no rho": (text(drop=["rho"]), 8, "no rho"),
    "no total": (text(drop=["total_sv"]), 8, "no total_sv"),
    "no label": (text(drop=["label"]), 8, "no label, which c_svc needs"),
    "no nr_sv": (text(drop=["nr_sv"]), 8, "no nr_sv, which c_svc needs"),
    "no classes": (text(drop=["nr_class"]), 8, "no nr_class"),
    "one class": (text(nr_class="1"), 4, "less than two classes"),
    "three classes of a regression": (
        text(svm_type="nu_svr", nr_class="3", drop=["label", "nr_sv"]),
        4,
        "nu_svr always has 2",
    ),
    "classes": (text(nr_class="2000000000"), 4, "more than this file can hold"),
    "vectors": (text(total_sv="1000000000"), 5, "total_sv 1000000000 is more than the"),
    "10^12 vectors": (text(total_sv="1000000000000"), 5, "must be a whole number from 0"),
    "negative vectors": (text(total_sv="-3"), 5, "total_sv '-3' must be a whole number"),
    "fractional vectors": (text(total_sv="3.0"), 5, "total_sv '3.0' must be a whole"),
    "a number too long": (text(total_sv="9" * 5000), 5, "total_sv '999"),
    "rho": (text(rho="1 2 3"), 6, "rho has 3 values, not the 1 of 2 classes"),
    "labels": (text(label="1 -1 2"), 7, "label has 3 values"),
    "same labels": (text(label="1 1"), 7, "a label stands there twice"),
    "label": (text(label="1 4294967296"), 7, "label '4294967296' must be a whole"),
    "word label": (text(label="yes no"), 7, "label 'yes' must be a whole number"),
    "nr_sv": (text(nr_sv="1 1"), 8, "nr_sv adds up to 2, where total_sv is 3"),
    "negative nr_sv": (text(nr_sv="4 -1"), 8, "nr_sv '-1' must be a whole number"),
    "probA": (text(probA="1"), 10, "probA and probB belong together"),
    "probAs": (text(probA="1 2", probB="1"), 9, "probA has 2 values"),
    "marks": (text(prob_density_marks="1 2"), 9, "does not belong to c_svc"),
    "nine marks": (
        text(
            svm_type="one_class",
            prob_density_marks="1 2 3 4 5 6 7 8 9",
            drop=["label", "nr_sv"],
        ),
        7,
        "prob_density_marks has 9 values",
    ),
    "labels of a regression": (text(svm_type="nu_svr"), 7, "does not belong to nu_svr"),
    "no SV": (text().split(b"SV\n")[0], 8, "ends without its SV section"),
    "cut": (text()[:-6], 11, "ends after 2 of 3 support vectors"),
    "cut in a line": (text()[:-10], 11, "'2' is not index:value"),
    "cut in a header": (text(total_sv="4", nr_sv="2 2"), 12, "ends after 3 of 4"),
    "rubbish": (text() + b"1 1:1\n", 13, "something follows the last of 3"),
    "no coefficient": (text(["1:1", *VECTORS[1:]]), 10, "coefficient '1:1' is not"),
    "word coefficient": (text(["x 1:1", *VECTORS[1:]]), 10, "coefficient 'x' is not"),
    "nan coefficient": (text(["nan 1:1", *VECTORS[1:]]), 10, "coefficient 'nan' is not"),
    "huge coefficient": (text(["1e999 1:1", *VECTORS[1:]]), 10, "too large for float64"),
    "blank line": (
        text(["", *VECTORS[1:]]),
        10,
        "0 coefficients, where 2 classes need 1",
    ),
    "two coefficients": (text(["1 2 1:1", *VECTORS[1:]]), 10, "'2' is not index:value"),
    "nan value": (text(["1 1:nan", *VECTORS[1:]]), 10, "'1:nan' is not index:value"),
    "no index": (text(["1 :1", *VECTORS[1:]]), 10, "':1' is not index:value"),
    "no value behind": (text(["1 1:", *VECTORS[1:]]), 10, "'1:' is not index:value"),
    "index 0": (
        text(["1 0:1", *VECTORS[1:]]),
        10,
        "indices lie between 1 and 2147483647",
    ),
    "negative index": (
        text(["1 -2:1", *VECTORS[1:]]),
        10,
        "index '-2:1' must be a plain",
    ),
    "huge index": (
        text(["1 2147483648:1", *VECTORS[1:]]),
        10,
        "lie between 1 and 214748",
    ),
    "huger index": (text([f"1 {'9' * 30}:1", *VECTORS[1:]]), 10, "is not index:value"),
    "descending": (text(["1 3:1 2:1", *VECTORS[1:]]), 10, "index 2 after 3; indices asc"),
    "duplicate": (text(["1 2:1 2:1", *VECTORS[1:]]), 10, "index 2 after 2; indices asc"),
    "form feed": (
        text(["1 1:1\x0c2:1", *VECTORS[1:]]),
        10,
        "separated by blanks or tabs",
    ),
    "serial": (
        text(kernel_type="precomputed", drop=["gamma"]),
        9,
        "a support vector of a precomputed kernel is '0:serial'",
    ),
    "fractional serial": (
        text(["1 0:1.5", "-1 0:2", "1 0:3"], kernel_type="precomputed"),
        10,
        "'0:serial', its number",
    ),
    "terminal codes": (text(svm_type="\x1b[31m"), 1, "unknown SVM type '\\x1b[31m'"),
}


@pytest.mark.parametrize(("given", "line", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_line(given, line, said):
    with pytest.raises(ModelFileError) as caught:
        read_libsvm_model(given, name="some.model")
    assert caught.value.line == line, str(caught.value)
    assert said in caught.value.reason
    where = f"some.model:{line}: " if line else "some.model: "
    assert str(caught.value).startswith(where)
    assert str(caught.value).isprintable()


def test_a_count_is_refused_before_memory_is_asked_for():
    tracemalloc.start()
    for given in (text(total_sv="2147483647", nr_sv="1 2147483646"),
                  text(nr_class="2147483647")):  # fmt: skip
        with pytest.raises(ModelFileError, match=r"more than"):
            read_libsvm_model(given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


def test_a_huge_index_costs_no_memory():
    model = read_libsvm_model(text(["1 7:1 2147483647:2", *VECTORS[1:]]))
    assert model.n_features == 2147483647
    rows = rows_of([{7: 1.0, 2147483646: 3.0}, {2147483647: 2.0}], is_kernel=False)
    found = decisions(model, rows)[:, 0]
    near = np.exp(-0.5 * np.array([4 + 9, 1]))
    far = np.exp(-0.5 * np.array([1 + 9, 4])), np.exp(-0.5 * np.array([1 + 9 + 1, 4 + 1]))
    assert_allclose(found, near - 0.5 * far[1] - 0.5 * far[0] - 0.25, rtol=1e-12)


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(ModelFileError, match=r"nowhere\.model: cannot be read"):
        read_libsvm_model(tmp_path / "nowhere.model")
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_libsvm_model(tmp_path)


def test_files_streams_and_bytes_are_one(tmp_path):
    path = tmp_path / "a.model"
    path.write_bytes(text())
    expected = bytes_of(read_libsvm_model(text()))
    assert bytes_of(read_libsvm_model(path)) == expected
    assert bytes_of(read_libsvm_model(str(path))) == expected
    with path.open("rb") as stream:
        assert bytes_of(read_libsvm_model(stream)) == expected


def test_writing_replaces_only_when_complete(tmp_path, monkeypatch):
    path = tmp_path / "a.model"
    model = read_libsvm_model(text())
    write_libsvm_model(model, path)
    before = path.read_bytes()

    def broken(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="No space"):
        write_libsvm_model(model, path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.model"]


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.model", tmp_path / "link.model"
    real.write_text("old")
    link.symlink_to(real)
    write_libsvm_model(read_libsvm_model(text()), link)
    assert link.is_symlink()
    assert real.read_bytes().startswith(b"svm_type")


def test_several_may_write_one_file(tmp_path):
    model = read_libsvm_model(text())
    path = tmp_path / "a.model"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: write_libsvm_model(model, path), range(40)))
    assert path.read_bytes() == bytes_of(model)
    assert [one.name for one in tmp_path.iterdir()] == ["a.model"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_stay(tmp_path):
    path = tmp_path / "a.model"
    path.touch(mode=0o600)
    write_libsvm_model(read_libsvm_model(text()), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("m" * 250)
    write_libsvm_model(read_libsvm_model(text()), path)
    assert read_libsvm_model(path).total_sv == 3


@pytest.mark.parametrize("extension", [".gz", ".bz2", ".xz"])
def test_packed_by_its_name(tmp_path, extension):
    path = tmp_path / f"a.model{extension}"
    write_libsvm_model(read_libsvm_model(text()), path)
    assert not path.read_bytes().startswith(b"svm_type")
    assert bytes_of(read_libsvm_model(path)) == bytes_of(read_libsvm_model(text()))


@pytest.mark.skipif(os.name != "posix", reason="a device of POSIX")
def test_no_more_is_read_than_a_model_can_be(monkeypatch):
    monkeypatch.setattr("maxmargin.persist.libsvm_files.reader._LONGEST", 5_000_000)
    with pytest.raises(ModelFileError, match="/dev/zero: holds more than 5000000 bytes"):
        read_libsvm_model("/dev/zero")


def test_what_is_no_binary_file_is_the_callers_mistake():
    with pytest.raises(InputTypeError, match="opened as text; open it with mode 'rb'"):
        read_libsvm_model(io.StringIO(text().decode()))
    with pytest.raises(InputTypeError, match="neither a path"):
        read_libsvm_model(3)
    with pytest.raises(InputTypeError, match="neither a path"):
        write_libsvm_model(read_libsvm_model(text()), 3)


def test_a_long_word_is_shown_in_short():
    with pytest.raises(ModelFileError) as caught:
        read_libsvm_model(text(svm_type="x" * 1_000_000))
    assert len(caught.value.reason) < 150


def test_digits_come_back():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 4000, dtype=np.uint64)
    values = bits.view(np.float64)
    values = np.concatenate([values[np.isfinite(values)], [0.0, -0.0, 5e-324, 1e308]])
    values = values[: values.size // 2 * 2]
    model = LibsvmModel(
        svm_type="epsilon_svr",
        kernel_type="rbf",
        gamma=float(np.abs(values[0])),
        rho=values[1:2],
        sv_coef=values[: values.size // 2].reshape(1, -1),
        SV=sp.csr_matrix(values[values.size // 2 :].reshape(-1, 1)),
    )
    again = read_libsvm_model(bytes_of(model))
    for name in ("sv_coef", "rho", "gamma"):
        first, second = (np.asarray(getattr(m, name)) for m in (model, again))
        assert_array_equal(first.view(np.uint64), second.view(np.uint64))
    assert_array_equal(model.SV.toarray(), again.SV.toarray())


def test_what_is_not_finite_is_not_written():
    model = read_libsvm_model(text())
    model.rho[0] = np.nan
    with pytest.raises(InputError, match="rho of the model is not finite"):
        bytes_of(model)


# --- machines -------------------------------------------------------------------------

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [-2.0, 0.5], [-3.0, 1.0]])
Y = np.array([5, 5, 1, 1, 9, 9])


def test_orders_of_labels_are_ways_and_back():
    machine = SVC(kernel="linear", probability=True, random_state=0)
    many = np.repeat(X, 6, axis=0) + np.random.default_rng(0).normal(size=(36, 2))
    machine.fit(many, np.repeat(Y, 6))
    model = from_estimator(machine)
    assert model.label.tolist() == [1, 5, 9]
    expected = machine.set_params(decision_function_shape="ovo").decision_function(many)
    column = {(1, 5): 0, (1, 9): 1, (5, 9): 2}
    for order in ([1, 9, 5], [5, 1, 9], [5, 9, 1], [9, 1, 5], [9, 5, 1]):
        other = from_estimator(machine, labels=order)
        assert other.label.tolist() == order
        assert bytes_of(other.reordered([1, 5, 9])) == bytes_of(model)
        rows = rows_of(many, is_kernel=False)
        found = decisions(other, rows)
        pairs = [(order[0], order[1]), (order[0], order[2]), (order[1], order[2])]
        for at, (a, b) in enumerate(pairs):
            sign = 1.0 if a < b else -1.0
            assert_allclose(
                found[:, at], sign * expected[:, column[min(a, b), max(a, b)]], atol=1e-12
            )
        likely = predict(other, rows, probability=True)
        place = [[1, 5, 9].index(label) for label in order]
        assert_allclose(likely.values, machine.predict_proba(many)[:, place], atol=1e-12)


def test_labels_of_another_model_are_refused():
    model = read_libsvm_model(text())
    with pytest.raises(InputError, match=r"labels \[1, 2\] are not those of the model"):
        model.reordered([1, 2])


def test_scale_becomes_the_number():
    machine = SVC(gamma="scale").fit(X, Y)
    model = from_estimator(machine)
    assert model.gamma == machine.gamma_ > 0
    assert to_estimator(model).gamma == machine.gamma_


def test_kernel_objects_that_libsvm_has():
    for kernel, expected in (
        (kernels.Linear(), ("linear", 3, 0.0, 0.0)),
        (kernels.Polynomial(degree=2, coef0=1.0, gamma=0.5), ("polynomial", 2, 0.5, 1.0)),
        (kernels.RBF(gamma=0.25), ("rbf", 3, 0.25, 0.0)),
    ):
        machine = SVC(kernel=kernel).fit(X, Y)
        model = from_estimator(machine)
        assert (model.kernel_type, model.degree, model.gamma, model.coef0) == expected
        back = to_estimator(read_libsvm_model(bytes_of(model)), n_features=2)
        assert_array_equal(back.predict(X), machine.predict(X))


def test_without_intercept():
    machine = SVC(kernel="linear", fit_intercept=False).fit(X[:4], Y[:4])
    model = from_estimator(machine)
    assert model.rho.tolist() == [0.0]
    assert_allclose(
        to_estimator(model).decision_function(X), machine.decision_function(X), atol=1e-14
    )


def test_no_support_vectors_at_all():
    machine = SVR(epsilon=100.0).fit(X, Y)
    model = read_libsvm_model(bytes_of(from_estimator(machine)))
    assert model.total_sv == 0
    back = to_estimator(model, n_features=2)
    assert_array_equal(back.predict(X), machine.predict(X))


def test_more_features_than_the_support_vectors_use():
    wide = np.column_stack([X, np.zeros(6)])
    machine = SVC().fit(wide, Y)
    model = read_libsvm_model(bytes_of(from_estimator(machine)))
    assert model.n_features == 2
    assert to_estimator(model, n_features=3).n_features_in_ == 3
    assert_array_equal(
        to_estimator(model, n_features=3).predict(wide), machine.predict(wide)
    )


def fitted(machine, y=Y):
    return machine.fit(X, y)


def isotonic():
    many = np.repeat(X, 5, axis=0)
    machine = SVC(probability=True, calibration="isotonic", random_state=0)
    return machine.fit(many, np.repeat(Y, 5))


NO_PLACE = {
    "squared": (lambda: fitted(SVC(loss="squared_hinge")), "loss='squared_hinge'"),
    "rest": (lambda: fitted(SVC(multi_class="ovr")), "multi_class='ovr' with 3 classes"),
    "joint": (lambda: fitted(SVC(multi_class="crammer_singer")), "crammer_singer"),
    "isotonic": (isotonic, "calibration='isotonic'"),
    "words": (lambda: fitted(SVC(), np.array(list("aabbcc"))), "the label 'a'"),
    "fractions": (lambda: fitted(SVC(), Y.astype(str)), "the label '1'"),
    "long labels": (lambda: fitted(SVC(), Y * 2**40), "the label 1099511627776"),
    "laplacian": (
        lambda: fitted(SVC(kernel=kernels.Laplacian(1.0))),
        "kernel=Laplacian(",
    ),
    "sum": (
        lambda: fitted(SVC(kernel=kernels.Linear() + kernels.RBF(gamma=1.0))),
        "kern",
    ),
    "function": (lambda: fitted(SVC(kernel=lambda A, B: A @ B.T)), "kernel=<function"),
    "SVDD": (lambda: fitted(SVDD()), "SVDD, which is none of SVC, NuSVC,"),
    "LinearSVC": (lambda: fitted(LinearSVC()), "SVC(kernel='linear')"),
    "pipeline": (
        lambda: fitted(make_pipeline(StandardScaler(), SVC())),
        "Pipeline, which",
    ),
}


@pytest.mark.parametrize(("make", "said"), NO_PLACE.values(), ids=NO_PLACE.keys())
def test_what_has_no_place_names_the_way_out(make, said):
    with pytest.raises(InputError) as caught:
        from_estimator(make())
    assert said in str(caught.value)
    assert "maxmargin.save(estimator, 'name.maxmargin')" in str(caught.value)


def test_two_classes_against_the_rest_are_a_pair():
    machine = SVC(multi_class="ovr").fit(X[:4], Y[:4])
    back = to_estimator(from_estimator(machine))
    assert_array_equal(back.predict(X), machine.predict(X))


def test_whole_floats_and_booleans_are_labels():
    assert from_estimator(fitted(SVC(), Y.astype(float))).label.tolist() == [1, 5, 9]
    assert from_estimator(SVC().fit(X, Y > 4)).label.tolist() == [0, 1]


def test_what_is_not_fitted_is_not_converted():
    with pytest.raises(NotFittedError):
        from_estimator(NuSVC())


def test_the_scale_of_errors_and_marks_stay(tmp_path):
    given = text(svm_type="epsilon_svr", probA="0.125", drop=["label", "nr_sv"])
    machine = to_estimator(read_libsvm_model(given))
    assert machine.probA_.tolist() == [0.125]
    assert b"probA 0.125\n" in bytes_of(from_estimator(machine))
    marks = " ".join(str(one) for one in range(10))
    given = text(svm_type="one_class", prob_density_marks=marks, drop=["label", "nr_sv"])
    machine = to_estimator(read_libsvm_model(given))
    assert f"prob_density_marks {marks}\n".encode() in bytes_of(from_estimator(machine))
