"""Whatever stands in a model file, nothing but ModelFileError comes out of its reader."""

import io

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from maxmargin.errors import InputError, ModelFileError
from maxmargin.libsvm.prediction import predict
from maxmargin.libsvm.problem import rows_of
from maxmargin.persist.libsvm_files.layout import KERNEL_TYPES, SVM_TYPES, LibsvmModel
from maxmargin.persist.libsvm_model import (
    from_estimator,
    read_libsvm_model,
    to_estimator,
    write_libsvm_model,
)

quick = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e6, 1e6)


def bytes_of(model):
    stream = io.BytesIO()
    write_libsvm_model(model, stream)
    return stream.getvalue()


def arrays(elements, *shape):
    size = int(np.prod(shape))
    return st.lists(elements, min_size=size, max_size=size).map(
        lambda values: np.array(values, np.float64).reshape(shape)
    )


@st.composite
def models(draw, elements=numbers):
    """Any model that a file can hold."""
    kind, kernel = draw(st.sampled_from(SVM_TYPES)), draw(st.sampled_from(KERNEL_TYPES))
    classifies = kind in ("c_svc", "nu_svc")
    k = draw(st.integers(2, 4)) if classifies else 2
    counts = draw(st.lists(st.integers(0, 3), min_size=k, max_size=k))
    n, pairs, width = sum(counts), k * (k - 1) // 2, draw(st.integers(1, 5))
    labels = st.lists(st.integers(-5, 99), min_size=k, max_size=k, unique=True)
    serials = st.lists(st.integers(1, 2**31 - 1), min_size=n, max_size=n)
    precomputed = kernel == "precomputed"
    likely = draw(st.booleans())
    regresses = kind.endswith("svr")
    SV = sp.csr_matrix((n, 0)) if precomputed else draw(arrays(elements, n, width))
    return LibsvmModel(
        svm_type=kind,
        kernel_type=kernel,
        rho=draw(arrays(elements, pairs)),
        sv_coef=draw(arrays(elements, k - 1, n)),
        SV=sp.csr_matrix(SV),
        serial=np.array(draw(serials), np.int64) if precomputed else None,
        degree=draw(st.integers(0, 5)) if kernel == "polynomial" else 3,
        gamma=abs(draw(elements)) if kernel in ("polynomial", "rbf", "sigmoid") else 0.0,
        coef0=draw(elements) if kernel in ("polynomial", "sigmoid") else 0.0,
        label=np.array(draw(labels)) if classifies else None,
        nr_sv=np.array(counts) if classifies else None,
        probA=draw(arrays(elements, pairs)) if likely and kind != "one_class" else None,
        probB=draw(arrays(elements, pairs)) if likely and classifies else None,
        prob_density_marks=(
            draw(arrays(elements, 10))
            if likely and not classifies and not regresses
            else None
        ),
    )


@quick
@given(models())
def test_every_model_comes_back_to_the_bit(model):
    text = bytes_of(model)
    again = read_libsvm_model(text)
    assert bytes_of(again) == text
    for name in ("rho", "sv_coef", "probA", "probB", "prob_density_marks"):
        first, second = getattr(model, name), getattr(again, name)
        assert (first is None) == (second is None)
        if first is not None:
            assert first.tobytes() == second.tobytes()
    width = again.SV.shape[1]
    assert_array_equal(model.SV.toarray()[:, :width], again.SV.toarray())
    assert not model.SV.toarray()[:, width:].any()


@quick
@given(models())
def test_machines_come_back_to_the_bit(model):
    machine = to_estimator(model)
    assert bytes_of(from_estimator(machine, labels=model.label)) == bytes_of(model)


@settings(quick, max_examples=60)
@given(models(moderate), arrays(moderate, 3, 4))
def test_a_model_predicts_or_says_why_not(model, x):
    wide = np.column_stack([[1, 2, 3], x]) if model.serial is not None else x
    try:
        rows = rows_of(wide, is_kernel=model.serial is not None)
        found = predict(model, rows, probability=model.has_probabilities)
    except InputError:  # the kernel overflows, or the rows are too short
        return
    assert found.labels.shape == (3,)
    if model.classifies:
        assert set(found.labels) <= set(model.label.tolist())


def attempt(data):
    try:
        model = read_libsvm_model(data, name="f")
    except ModelFileError as error:
        assert 0 <= error.line <= data.count(b"\n") + 1  # noqa: PT017 - and nothing else
        return
    assert bytes_of(read_libsvm_model(bytes_of(model))) == bytes_of(model)


@quick
@given(models(moderate), st.data())
def test_damaged_models(model, data):
    text = bytearray(bytes_of(model))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        until = at + data.draw(st.integers(0, 6))
        alphabet = st.sampled_from(b"0123456789-+.:eE \n\t\r\x00\xffnaifSV_")
        text[at:until] = bytes(data.draw(st.lists(alphabet, max_size=6)))
    attempt(bytes(text))


@quick
@given(models(moderate), st.data())
def test_lines_moved_dropped_and_doubled(model, data):
    lines = bytes_of(model).split(b"\n")
    chosen = st.lists(st.sampled_from(lines), max_size=len(lines) + 2)
    attempt(b"\n".join(data.draw(st.one_of(st.permutations(lines), chosen))))


@quick
@given(models(moderate), st.data())
def test_cut_anywhere(model, data):
    text = bytes_of(model)
    attempt(text[: data.draw(st.integers(0, len(text)))])


@quick
@given(st.binary(max_size=200))
def test_any_bytes(data):
    attempt(data)
    attempt(b"svm_type c_svc\n" + data)
