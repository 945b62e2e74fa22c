"""Atheris against the reader of LIBSVM's model files.

    python tests/fuzz/fuzz_libsvm_model.py -runs=1000000 [corpus folder]

Nothing but ModelFileError, with a line number, may come out of it; and what is accepted
must come back to the same bytes after it was written and read. Without a corpus, the
mutations start from the models of :data:`SEEDS`.
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

SEEDS = [
    b"svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\n"
    b"label 1 -1\nprobA -1.5\nprobB 0.1\nnr_sv 1 2\nSV\n1 1:0.5 3:-1e-3 \n"
    b"-0.5 2:1 \n-0.5 \n",
    b"svm_type nu_svc\nkernel_type polynomial\ndegree 3\ngamma 1\ncoef0 0\nnr_class 3\n"
    b"total_sv 3\nrho 1 2 3\nlabel 3 7 -2\nnr_sv 1 1 1\nSV\n1 2 1:1 \n"
    b"-1 0 2:2 \n0 -2 4:1 \n",
    b"svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\n"
    b"prob_density_marks 0 1 2 3 4 5 6 7 8 9\nSV\n1 1:1 \n",
    b"svm_type epsilon_svr\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho -1\n"
    b"probA 0.5\nSV\n1 0:1 \n-1 0:4 \n",
    b"svm_type nu_svr\nkernel_type sigmoid\ngamma 0.1\ncoef0 -1\nnr_class 2\ntotal_sv 0\n"
    b"rho 2.5\nSV\n",
]


def written(write: Any, model: Any) -> bytes:
    stream = io.BytesIO()
    write(model, stream)
    return stream.getvalue()


def check(error: Any) -> None:
    assert error.path == "fuzz"
    assert error.line >= 0
    assert str(error).isprintable()
    assert len(str(error)) < 400


def main() -> None:
    # Not at the top: who collects tests need not have it, nor be instrumented by it.
    import atheris

    with atheris.instrument_imports(include=["maxmargin.persist"]):
        from maxmargin.persist.libsvm_files.reader import read_libsvm_model
        from maxmargin.persist.libsvm_files.writer import write_libsvm_model
    from maxmargin.errors import ModelFileError

    def one_input(data: bytes) -> None:
        try:
            model = read_libsvm_model(data, name="fuzz")
        except ModelFileError as error:
            check(error)
            return
        text = written(write_libsvm_model, model)
        assert written(write_libsvm_model, read_libsvm_model(text)) == text

    arguments = sys.argv
    if not [word for word in arguments[1:] if not word.startswith("-")]:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-libsvm-"))
        for number, seed in enumerate(SEEDS):
            (folder / f"seed{number}").write_bytes(seed)
        arguments = [*arguments, str(folder)]
    atheris.Setup(arguments, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
