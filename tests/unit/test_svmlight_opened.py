"""Bytes of files: unpacked, bounded, and never a broken stream's word for it."""

import bz2
import gzip
import io
import lzma
import os
import sys
import tracemalloc

import pytest

from maxmargin.data_files.opened import open_bytes
from maxmargin.data_files.svmlight import read_svmlight
from maxmargin.errors import DataFileError, InputError, ModelFileError

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
KINDS = pytest.mark.parametrize("extension", PACK)
TEXT = b"1 1:0.5 3:2\n-1 2:1e-3\n" * 50_000


def refused(source, said, **options):
    with pytest.raises(DataFileError, match=said) as caught:
        open_bytes(source, **options)
    assert caught.value.line == 0
    return caught.value


@KINDS
def test_packed(tmp_path, extension):
    packed = PACK[extension](TEXT)
    path = tmp_path / f"data{extension.upper()}"
    path.write_bytes(packed)
    assert open_bytes(path) == TEXT
    assert open_bytes(packed) == TEXT
    assert open_bytes(io.BytesIO(packed)) == TEXT
    twice = packed + PACK[extension](b"5 9:9\n")
    assert open_bytes(twice) == TEXT + b"5 9:9\n"
    assert open_bytes(twice + b"\0" * 512) == TEXT + b"5 9:9\n"  # a tape's padding


@KINDS
def test_cut_off(tmp_path, extension):
    packed = PACK[extension](TEXT)
    path = tmp_path / f"data{extension}"
    for size in (5, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:size])
        refused(path, "is cut off")
    path.write_bytes(b"")
    refused(path, "is empty")


@KINDS
def test_damaged(tmp_path, extension):
    packed = bytearray(PACK[extension](TEXT))
    path = tmp_path / f"data{extension}"
    for place in (len(packed) // 2, len(packed) - 6):
        wrong = packed.copy()
        wrong[place] ^= 0x55
        path.write_bytes(wrong)
        with pytest.raises(DataFileError, match=r"damaged|cut off"):
            open_bytes(path)
    path.write_bytes(packed + b"rubbish")
    refused(path, "is damaged|is cut off")
    path.write_bytes(TEXT)
    refused(path, f"is damaged, or no {extension} file")


@KINDS
def test_bombs_are_stopped(extension):
    bomb = PACK[extension](bytes(60_000_000))
    assert len(bomb) < 100_000
    tracemalloc.start()
    try:
        refused(bomb, "more than 10000000 bytes", limit=10_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


def test_an_xz_that_asks_for_memory():
    # "1 1:1" whose header claims a dictionary of 1 GiB.
    claims = bytes.fromhex(
        "fd377a585a000004e6d6b44602002101240000005e1fc7f90100053120313a310a000000"
        "6c07ddccd787f60800011e06c12fa41d1fb6f37d010000000004595a"
    )
    assert lzma.decompress(claims) == b"1 1:1\n"
    refused(claims, "is damaged, or no .xz file: Memory")


def test_limit(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT)
    for source in (lambda: path, lambda: TEXT, lambda: io.BytesIO(TEXT)):
        assert open_bytes(source(), limit=len(TEXT)) == TEXT
        refused(source(), "more than", limit=len(TEXT) - 1)
    with pytest.raises(DataFileError, match="more than 100 bytes"):
        read_svmlight(path, limit=100)


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
def test_devices_and_pipes():
    refused("/dev/zero", "more than 5000000 bytes", limit=5_000_000)
    assert open_bytes("/dev/null") == b""
    reading, writing = os.pipe()
    os.write(writing, gzip.compress(TEXT[:220]))
    os.close(writing)
    with open(reading, "rb", buffering=0) as pipe:
        assert open_bytes(pipe) == TEXT[:220]
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with open(reading, "rb", buffering=0) as pipe, open(writing, "wb"):
        refused(pipe, "does not wait")


def test_what_is_left_of_an_open_file(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT)
    with open(path, "rb") as file:
        file.read(22)
        assert open_bytes(file) == TEXT[22:]


def test_names(tmp_path):
    assert refused(tmp_path / "none.txt", "No such file").path.endswith("none.txt")
    assert refused(tmp_path, "cannot be read").path == str(tmp_path)
    assert refused(b"ab", "more", limit=1).path == "<bytes>"
    assert refused(io.BytesIO(b"ab"), "more", limit=1).path == "<stream>"
    assert refused(b"ab", "more", limit=1, name="<stdin>").path == "<stdin>"
    with pytest.raises(InputError, match="mode 'rb'"):
        open_bytes(io.StringIO("1 1:1"))


def test_the_class_of_errors(tmp_path):
    """Those of a model's file have their own, with the same words."""
    packed = tmp_path / "m.gz"
    packed.write_bytes(gzip.compress(TEXT)[:50])
    for source, said, limit in (
        (tmp_path / "none", "cannot be read: No such file", None),
        (TEXT, "more than 9 bytes", 9),
        (packed, "is cut off", None),
    ):
        with pytest.raises(ModelFileError, match=said) as caught:
            open_bytes(source, limit=limit, name="m", error=ModelFileError)
        assert (caught.value.path, caught.value.line) == ("m", 0)


def test_no_memory_is_said_of_the_file():
    class Endless:
        def read(self, size):
            raise MemoryError

    assert refused(Endless(), "memory that this process", name="e").path == "e"


def test_words_that_begin_like_a_packed_stream():
    assert open_bytes(b"BZhigh,BZlow\n1,2\n") == b"BZhigh,BZlow\n1,2\n"
