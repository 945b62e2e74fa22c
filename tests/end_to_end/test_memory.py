"""Memory: cache_size is a promise, files stay on disk, and inputs stay as they are.

Peaks are taken by watching a process of its own from outside, and count what it
allocated (resident minus shared pages): pages of a mapped file belong to the file.
"""

import hashlib
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import scipy.sparse as sp
from tests import data

from maxmargin import SVC

MB = 1 << 20

PRELUDE = """
import sys, warnings
import numpy as np
from tests import data
from maxmargin import SVC, certify

def measured(function):
    print("begin", flush=True)
    sys.stdin.readline()
    result = function()
    print("end", flush=True)
    sys.stdin.readline()
    return result
"""

watched = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="counts pages as Linux does"),
]


def allocated(process) -> int:
    found = process.memory_info()
    return found.rss - found.shared


def growth(body: str, *arguments: str) -> tuple[float, list[str]]:
    """Peak in MB of ``measured(…)`` over what there was before; what was printed."""
    psutil = pytest.importorskip("psutil")
    data.find("libsvm/letter.scale")  # where there are none, the test is skipped here
    paths = [str(data.ROOT), str(data.ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(body), *arguments],
        cwd=data.ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "begin\n"
        process = psutil.Process(child.pid)
        before = peak = allocated(process)
        child.stdin.write("\n")
        child.stdin.flush()
        os.set_blocking(child.stdout.fileno(), False)
        deadline = time.monotonic() + 300.0
        while child.stdout.readline() != "end\n":
            assert child.poll() is None
            assert time.monotonic() < deadline
            peak = max(peak, allocated(process))
            time.sleep(0.002)
        os.set_blocking(child.stdout.fileno(), True)
        said, _ = child.communicate("\n", timeout=300)
        assert child.returncode == 0
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    return (peak - before) / MB, said.splitlines()


class TestPeak:
    pytestmark = watched

    @pytest.mark.parametrize("cache_size", [200, 20])
    @pytest.mark.parametrize("layout", ["dense", "sparse"])
    def test_cache_size_is_kept(self, cache_size, layout):
        body = """
            cache_size, layout = int(sys.argv[1]), sys.argv[2]
            X, y, *_ = data.a9a()
            X = X.toarray() if layout == "dense" else X
            machine = SVC(C=1.0, gamma=1 / 32, cache_size=cache_size)
            machine.fit(X[:400], y[:400])  # compiles
            measured(lambda: machine.fit(X, y))
            print(machine.fit_status_, certify(machine, X, y).violation)
        """
        peak, said = growth(body, str(cache_size), layout)
        print(f"a9a {layout}, cache_size={cache_size}: {peak:.0f} MB")
        status, violation = said[0].split()
        assert status == "0"
        assert float(violation) <= 1e-3
        assert peak <= cache_size + 100

    def test_a_large_fit_with_a_small_cache(self):
        body = """
            X, y, *_ = data.covtype_binary(50_000)
            machine = SVC(C=10.0, gamma=8.0, cache_size=200)
            machine.fit(X[:3000], y[:3000])  # compiles
            measured(lambda: machine.fit(X, y))
            print(machine.fit_status_, certify(machine, X, y).violation)
        """
        peak, said = growth(body)
        print(f"covtype 50k, cache_size=200: {peak:.0f} MB")
        status, violation = said[0].split()
        assert status == "0"
        assert float(violation) <= 1e-3
        assert peak <= 200 + 300

    def test_hashed_words_take_little_beside_the_cache(self):
        body = """
            from scipy import sparse
            rng = np.random.default_rng(0)
            n, d, each = 3000, 2**18, 60
            columns = np.sort(rng.integers(0, d, (n, each)), axis=1).ravel()
            values = np.abs(rng.standard_normal(n * each)) / each**0.5
            X = sparse.csr_matrix((values, columns, np.arange(0, n * each + 1, each)),
                                  shape=(n, d))
            X.sum_duplicates()
            y = rng.integers(0, 2, n)
            machine = SVC(gamma=1.0, cache_size=50, n_jobs=2)
            machine.fit(X[:1500], y[:1500])  # compiles; its scratch is given back
            measured(lambda: machine.fit(X, y))
            print(machine.fit_status_)
        """
        peak, said = growth(body)
        print(f"3,000 rows of 2^18 columns, cache_size=50: {peak:.0f} MB")
        assert said == ["0"]
        assert peak <= 50 + 300

    def test_many_classes_share_the_cache(self):
        body = """
            X, y, *_ = data.letter()
            machine = SVC(C=16.0, gamma=4.0, cache_size=50)
            machine.fit(X[:400], y[:400])
            measured(lambda: machine.fit(X, y))
            print(machine.fit_status_)
        """
        peak, said = growth(body)
        print(f"letter, cache_size=50: {peak:.0f} MB")
        assert said == ["0"]
        assert peak <= 50 + 100

    def test_a_mapped_file_stays_on_disk(self, tmp_path):
        X, y, *_ = data.mnist(60_000)
        np.save(tmp_path / "X.npy", X)
        np.save(tmp_path / "y.npy", np.where(y < 5, -1, 1))
        body = """
            folder = sys.argv[1]
            X, y = np.load(f"{folder}/X.npy", mmap_mode="r"), np.load(f"{folder}/y.npy")
            assert X.dtype == np.float32
            warnings.simplefilter("ignore")
            machine = SVC(C=10.0, gamma=0.02, cache_size=20, time_limit=3.0)
            machine.fit(np.array(X[:400]), y[:400])
            measured(lambda: machine.fit(X, y))
            print(machine.support_vectors_.dtype, machine.support_vectors_.nbytes)
        """
        peak, said = growth(body, str(tmp_path))
        dtype, vectors = said[0].split()
        print(f"mnist from a file of {X.nbytes / MB:.0f} MB: {peak:.0f} MB")
        assert dtype == "float32"
        assert peak <= 20 + int(vectors) / MB + 60
        assert peak <= 0.75 * X.nbytes / MB  # which no copy would keep


def digest(*arrays) -> str:
    total = hashlib.sha256()
    for array in arrays:
        total.update(f"{array.dtype} {array.shape} {array.strides}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def unsorted(X):
    """The same matrix, the entries of every row in reverse order."""
    X = sp.csr_matrix(X)
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    other = sp.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)
    assert not other.has_sorted_indices
    return other


def wide(X):
    """The same matrix with 64-bit indices."""
    X = sp.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


LAYOUTS = {
    "float64": lambda X: X.copy(),
    "float32": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "CSR": sp.csr_matrix,
    "CSR unsorted": unsorted,
    "CSR of 64 bits": wide,
    "CSC": sp.csc_matrix,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_nothing_that_is_passed_is_changed(layout, kernel):
    X, y = data.libsvm("heart_scale")
    X, y = LAYOUTS[layout](X.toarray()), y.copy()
    weight = np.linspace(0.0, 2.0, len(y))
    class_weight = {-1.0: 1.0, 1.0: 2.0}

    def state():
        parts = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        return digest(*parts, y, weight)

    before = state()
    machine = SVC(kernel=kernel, class_weight=class_weight)
    machine.fit(X, y, sample_weight=weight)
    machine.predict(X)
    machine.decision_function(X)
    assert state() == before
    assert class_weight == {-1.0: 1.0, 1.0: 2.0}
    # The machine keeps rows of its own: spoiling X afterwards does it no harm.
    wanted = machine.decision_function(data.libsvm("heart_scale")[0])
    (X.data if sp.issparse(X) else X)[:] = 7.0
    again = machine.decision_function(data.libsvm("heart_scale")[0])
    np.testing.assert_array_equal(again, wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_read_only_inputs_are_enough(layout):
    X, y = data.libsvm("heart_scale")
    X, y, weight = LAYOUTS[layout](X.toarray()), y.copy(), np.ones(len(y))
    for part in (
        *((X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)),
        y,
        weight,
    ):
        part.flags.writeable = False
    machine = SVC().fit(X, y, sample_weight=weight)
    assert machine.score(X, y) > 0.8
