"""Fuzz the reader of LIBSVM's text with libFuzzer, through atheris.

    python tests/fuzz/fuzz_svmlight.py -runs=1000000 [libFuzzer's options, a corpus]

The first byte of an input chooses options and the size of chunks; the rest is the text.
Compiled code tells the fuzzer nothing about where it has been, so the branches of the
obvious reader in ``svmlight_reference``, which every input also goes through, lead the
way; the Python parts of ours are instrumented as well. Compiled code runs with bounds
checks: an access outside of an array is an IndexError here, and so a finding.

What was found interesting is kept in ``.cache/fuzz/svmlight``, where the next run begins.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".cache" / "fuzz"
CHUNKS = (1 << 20, 8, 1, 30)
N_FEATURES = (None, None, 5, 2**40)
COMPILED = ("_decimals", "_svmlight_parse", "_svmlight_write")
SEEDS = (
    b"\x00+1 1:0.5 3:2e-3\n-1 2:-1 # c\n",
    b"\x01 1 qid:3 0:.5\r\n\r\n2 1:1.\n",
    b"\x022 2147483648:1\n# c\n\n3 1:17976931348623159000000e290",
    b"\x053 1:0.1000000000000000055511151231257827\t9223372036854775807:1E+5\n",
    b"\x031,2 1:nan 2:inf\n1 0:1 -3:1 3:4:5 :1 1: a:1\n",
)
WORDS = (
    *("1 1:1\\x0a", " 2:", " qid:7", "#", "\\x0d\\x0a", "1e999", "e-400", "nan", "inf"),
    *("9223372036854775807:", "9223372036854775808:", "2147483647:", "2147483648:"),
    *("9007199254740993", "2.2250738585072011e-308", "\\x00", "\\x1f\\x8b\\x08", "0x1p3"),
)


def one_input(data: bytes) -> None:
    """Read one text both ways, cut as the first byte says."""
    from tests.fuzz.svmlight_check import check

    from maxmargin.data_files import svmlight

    choice, text = (data[0], data[1:]) if data else (0, b"")
    svmlight._CHUNK = CHUNKS[choice >> 1 & 3]
    n_features = N_FEATURES[choice >> 3 & 3]
    check(text, zero_based=bool(choice & 1), n_features=n_features)


def corpus() -> Path:
    """A folder that begins with the seeds."""
    folder = HOME / "svmlight"
    folder.mkdir(parents=True, exist_ok=True)
    for count, seed in enumerate(SEEDS):
        (folder / f"seed{count}").write_bytes(seed)
    return folder


def dictionary() -> Path:
    """libFuzzer's file of words that are worth a try."""
    path = HOME / "svmlight.dict"
    path.write_text("".join(f'"{word}"\n' for word in WORDS), encoding="ascii")
    return path


def main() -> None:
    """Run libFuzzer with the options given."""
    import atheris

    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from tests.numba_cache import digest

    os.environ["NUMBA_BOUNDSCHECK"] = "1"
    # Code with bounds checks has a cache of its own: Numba's does not tell it apart.
    os.environ["NUMBA_CACHE_DIR"] = str(HOME / f"numba-{digest(ROOT / 'src')}")
    with atheris.instrument_imports(
        include=["maxmargin.data_files", "tests.fuzz"],
        exclude=[f"maxmargin.data_files.{name}" for name in COMPILED],
    ):
        import tests.fuzz.svmlight_check  # noqa: F401
    for seed in SEEDS:
        one_input(seed)  # compiles, which must not count as a hang
    options = ["-max_len=200", "-timeout=20", "-rss_limit_mb=3000"]
    folder, words = corpus(), dictionary()
    given = sys.argv[1:]
    if all(one.startswith("-") for one in given):
        given.append(str(folder))
    atheris.Setup([sys.argv[0], *options, f"-dict={words}", *given], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
