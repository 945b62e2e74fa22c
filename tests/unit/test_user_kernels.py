"""``@maxmargin.kernel``: compiled, never stale, picklable, and plain about what fails."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import joblib
import numba
import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.errors import InputError, InputTypeError
from maxmargin.kernels import FunctionKernel, Linear, kernel
from maxmargin.kernels.factory import cross_values, expansion, training_gram
from maxmargin.parallel import Workers

ROOT = Path(__file__).resolve().parents[2]
ALONE = Workers(1)
TABLE: dict[str, float] = {}


def product_of(x, z):
    """The dot product, plus one."""
    total = 1.0
    for k in range(x.size):
        total += x[k] * z[k]
    return total


decorated = kernel(product_of)


@kernel
def importable(x, z):
    return 2.0 * x[0] * z[0]


def local(factor):
    @kernel
    def scaled(x, z):
        return factor * x[0] * z[0]

    return scaled


def data(n=40, d=3, seed=0):
    return np.random.default_rng(seed).random((n, d))


def python(code, *arguments, cwd=None):
    """Standard output of ``code`` in a new interpreter."""
    env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- what it is -------------------------------------------------------------------------


def test_a_decorated_function_keeps_what_people_know():
    assert isinstance(decorated, FunctionKernel)
    assert decorated.function is product_of
    assert decorated.__name__ == repr(decorated) == "product_of"
    assert decorated.__doc__ == "The dot product, plus one."
    assert repr(2.0 * decorated + Linear()) == "2.0 * product_of + Linear()"
    assert decorated.function(np.ones(2), np.ones(2)) == 3.0


def test_functions_under_numba_are_taken_as_they_are():
    k = kernel(numba.njit(product_of))
    assert k.function is product_of
    np.testing.assert_allclose(k(data()), data() @ data().T + 1.0)


def test_functions_may_use_numpy_helpers_defaults_and_whole_numbers():
    @numba.njit
    def helper(a):
        return a * a

    forms = {
        "numpy": (lambda x, z: np.exp(-((x - z) ** 2).sum()), 1.0),
        "dot": (lambda x, z: x @ z, None),
        "helper": (lambda x, z: helper(x[0] * z[0]), None),
        "default": (lambda x, z, c=2.0: c * x[0] * z[0], None),
        "integer": (lambda x, z: 1, None),
        "boolean": (lambda x, z: x[0] == z[0], None),
    }
    A = data(n=6)
    for name, (function, _) in forms.items():
        expected = np.array([[float(function(x, z)) for z in A] for x in A])
        np.testing.assert_allclose(kernel(function)(A), expected, err_msg=name)


def test_sparse_rows_are_written_out():
    S = sp.random(50, 300, density=0.1, random_state=0, format="csr")
    np.testing.assert_array_equal(decorated(S), decorated(S.toarray()))
    gram = training_gram(decorated, S, workers=ALONE)
    dense = training_gram(decorated, S.toarray(), workers=ALONE)
    np.testing.assert_array_equal(gram.diagonal(), dense.diagonal())


def test_many_features_and_many_rows_go_through_in_blocks():
    A = data(n=5, d=70_000)  # fewer columns at a time than there are rows
    np.testing.assert_allclose(decorated(A), A @ A.T + 1.0, rtol=1e-12)
    B = data(n=1100, d=2)
    np.testing.assert_allclose(decorated(B), B @ B.T + 1.0, rtol=1e-12)


def test_grams_are_symmetric_though_the_function_rounds_otherwise():
    @kernel
    def uneven(x, z):
        return (x[0] * 0.1 + x[1] * 0.7) * 3.3 * (z[0] * 0.1 + z[1] * 0.7) + 1e-3

    X = data(n=300)
    K = uneven(X)
    assert not np.array_equal(K, K.T)  # the function itself is not symmetric in its bits
    gram = training_gram(uneven, X, workers=ALONE)
    out, everyone = np.empty((300, 300)), np.arange(300)
    gram.block(everyone, everyone, out)
    np.testing.assert_array_equal(out, out.T)
    part, some = gram.narrowed(everyone[::-1].copy()), np.arange(20)
    few = np.empty((20, 300))
    part.block(some, everyone, few)
    np.testing.assert_array_equal(few, out[::-1, ::-1][:20])


# --- speed ------------------------------------------------------------------------------


def test_native_speed():
    A = data(n=300, d=20)
    start = time.perf_counter()
    slow = np.array([[product_of(x, z) for z in A] for x in A])
    python_time = time.perf_counter() - start
    coef = np.ones((1, 300))
    np.testing.assert_allclose(
        cross_values(decorated, A, A, workers=ALONE), slow, rtol=1e-12
    )
    expansion(decorated, A, A, coef, workers=ALONE)  # compiled now
    for run in (
        lambda: cross_values(decorated, A, A, workers=ALONE),
        lambda: expansion(decorated, A, A, coef, workers=ALONE),
    ):
        best = np.inf
        for _ in range(5):
            start = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - start)
        assert best < python_time / 20.0


def test_it_is_compiled_once():
    k = local(3.0)
    k(data())
    first = k._built
    with_threads = [threading.Thread(target=k, args=(data(),)) for _ in range(3)]
    for one in with_threads:
        one.start()
    for one in with_threads:
        one.join()
    assert k._built is first


# --- never stale ------------------------------------------------------------------------


def test_a_new_definition_of_the_same_name_is_a_new_kernel():
    names = {"kernel": kernel}
    exec("@kernel\ndef k(x, z): return 1.0 * x[0] * z[0]", names)
    first = names["k"]
    one = first(data())
    exec("@kernel\ndef k(x, z): return 5.0 * x[0] * z[0]", names)
    np.testing.assert_allclose(names["k"](data()), 5.0 * one)
    np.testing.assert_array_equal(first(data()), one)
    assert names["k"] != first


def test_the_same_code_with_another_global_is_a_new_kernel():
    source = compile("@kernel\ndef k(x, z): return G * x[0] * z[0]", "cell", "exec")
    names = {"kernel": kernel, "G": 1.0}
    exec(source, names)
    first = names["k"]
    one = first(data())
    names["G"] = 7.0
    np.testing.assert_array_equal(first(data()), one)  # that of its compilation
    exec(source, names)
    np.testing.assert_allclose(names["k"](data()), 7.0 * one)
    assert names["k"] != first


def test_edits_on_disk_are_seen_by_the_next_process(tmp_path):
    run = """
        import numpy as np, mine
        print(mine.k(np.array([[1.0]]))[0, 0])
    """
    helper, main = tmp_path / "helper.py", tmp_path / "mine.py"
    main.write_text(
        "from maxmargin.kernels import kernel\nfrom helper import part\n"
        "@kernel\ndef k(x, z): return part(x[0] * z[0])\n"
    )
    for factor in (2.0, 3.0):  # Numba's own cache would miss an edit of the helper
        helper.write_text(
            f"import numba\n@numba.njit\ndef part(a): return {factor} * a\n"
        )
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + textwrap.dedent(
            run
        )
        assert float(python(code)) == factor
    main.write_text(main.read_text().replace("part(x[0] * z[0])", "10.0 + x[0] * z[0]"))
    assert float(python(code)) == 11.0


# --- pickling ---------------------------------------------------------------------------


def test_importable_kernels_are_pickled_by_reference():
    assert pickle.loads(pickle.dumps(importable)) is importable
    assert b"cloudpickle" not in pickle.dumps(importable)
    assert copy.deepcopy(importable) is importable


def test_others_are_pickled_by_value():
    k = local(4.0)
    same = pickle.loads(pickle.dumps(k))
    assert same is not k
    assert same == k
    assert hash(same) == hash(k)
    np.testing.assert_array_equal(same(data()), k(data()))
    assert pickle.loads(pickle.dumps(k)) is same  # compiled once, not for every task
    assert local(4.0) != k


def test_a_name_that_is_taken_by_another_kernel_is_no_reference(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "importable", local(9.0))
    same = pickle.loads(pickle.dumps(_original))
    np.testing.assert_array_equal(same(data()), _original(data()))


_original = importable


def test_pickles_by_value_open_in_another_process(tmp_path):
    path = tmp_path / "kernel.pkl"
    path.write_bytes(pickle.dumps(3.0 * local(4.0) + Linear()))
    out = python(
        """
        import pickle, sys
        k = pickle.loads(open(sys.argv[1], "rb").read())
        print(repr(k), k([[2.0]])[0, 0], sep="|")
        """,
        path,
        cwd=tmp_path,
    )
    text, value = out.strip().split("|")
    assert text == "3.0 * scaled + Linear()"
    assert float(value) == 52.0


def test_kernels_of_a_script_open_in_another_process(tmp_path):
    path = tmp_path / "kernel.pkl"
    python(
        """
        import pickle, sys
        from maxmargin.kernels import kernel
        FACTOR = 6.0
        @kernel
        def mine(x, z): return FACTOR * x[0] * z[0]
        open(sys.argv[1], "wb").write(pickle.dumps(mine))
        """,
        path,
    )
    k = pickle.loads(path.read_bytes())
    assert k([[2.0]])[0, 0] == 24.0


def test_loky_workers_evaluate_them():
    k = local(2.5)
    A = data(n=8)
    with joblib.parallel_config("loky", n_jobs=2):
        values = joblib.Parallel()(joblib.delayed(k)(A) for _ in range(3))
    for one in values:
        np.testing.assert_array_equal(one, k(A))


def test_a_reference_that_no_longer_is_a_kernel_is_named(tmp_path):
    module = tmp_path / "gone.py"
    module.write_text(
        "from maxmargin.kernels import kernel\n@kernel\ndef k(x, z): return x[0] * z[0]\n"
    )
    start = f"import sys, pickle; sys.path.insert(0, {str(tmp_path)!r})\n"
    path = tmp_path / "k.pkl"
    python(start + f"import gone; open({str(path)!r}, 'wb').write(pickle.dumps(gone.k))")
    module.write_text("k = 3\n")
    out = python(
        start + "try:\n"
        f"    pickle.loads(open({str(path)!r}, 'rb').read())\n"
        "except TypeError as error:\n    print(error)"
    )
    assert "gone.k is 3, no longer a kernel" in out


# --- what fails -------------------------------------------------------------------------


def uses_a_dict(x, z):
    return TABLE["a"] * x[0]


def calls_python(x, z):
    return product_of(x, z)


def writes(x, z):
    x[0] = 1.0
    return z[0]


def knows_no_name(x, z):
    return x[0] * nowhere  # noqa: F821


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (uses_a_dict, r"global name 'TABLE'.*\(line \d+ of .*test_user_kernels.py\)"),
        (calls_python, "global name 'product_of'"),
        (writes, "it writes into x or z"),
        (knows_no_name, "name 'nowhere' is not defined"),
    ],
)
def test_what_numba_cannot_compile_is_said_in_a_sentence(function, reason):
    k = kernel(function)
    for use in (
        lambda: k(data()),
        lambda: k.diagonal(data()),
        lambda: training_gram(k, data(), workers=ALONE),
        lambda: (k + Linear())(data()),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            use()
        text = str(caught.value)
        assert text.startswith(f"kernel {function.__name__} cannot be compiled: ")
        assert "\n" not in text
        assert "or pass an undecorated function k(A, B)" in text
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, z: x * z, "returns array"),
        (lambda x, z: None, "returns none"),
        (lambda x, z: 1j, "returns complex128"),
        (lambda x, z: x[7] * z[7], "IndexError for two rows of 3 features"),
        (lambda x, z: np.log(x[0] - 2.0), "NaN or infinity"),
        (lambda x, z: x[0] / (z[0] * 0.0), "NaN or infinity"),
    ],
)
def test_values_that_are_none(function, reason):
    for use in (
        kernel(function),
        kernel(function) + Linear(),
        lambda A: training_gram(kernel(function), A, workers=ALONE).diagonal(),
    ):
        with pytest.raises(InputError, match=reason):
            use(data())


def test_nan_in_a_product_is_noticed():
    @kernel
    def sometimes(x, z):
        return np.sqrt(x[0] * z[0] - 0.5) if x[0] * z[0] < 0.01 else 1.0

    A = data(n=100) + 0.2
    assert sometimes(A).all()
    A[77] = 0.01
    coef = np.ones((1, 100))
    with pytest.raises(InputError, match="NaN or infinity"):
        expansion(sometimes, A, A, coef, workers=ALONE)


def test_asymmetric_functions_are_refused_for_training():
    k = kernel(lambda x, z: x[0] - z[0])
    with pytest.raises(InputError, match="is asymmetric"):
        training_gram(k, data(), workers=ALONE)


def test_errors_of_the_function_itself_come_through():
    @kernel
    def strict(x, z):
        if x[0] > 0.9:
            raise ValueError("too large")
        return x[0] * z[0]

    A = np.linspace(0.1, 1.0, 10).reshape(-1, 1)
    with pytest.raises(ValueError, match="too large"):
        strict(A)


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (len, "expected a Python function"),
        (3, "expected a Python function"),
        (Linear(), "expected a Python function"),
        (lambda x: 1.0, "function of two rows"),
        (lambda x, z, c: 1.0, "function of two rows"),
    ],
)
def test_what_cannot_be_decorated(thing, reason):
    with pytest.raises(InputTypeError, match=reason):
        kernel(thing)
