"""Gzip by several threads: one member, and the same bytes for every number of threads."""

import gzip
import random
import threading
import zlib

import pytest

from fastlsh.io import open_output, streams

PIECE = 1 << 16


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(streams, "_PIECE", PIECE)


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 77])
def test_one_member_for_every_number_of_threads(tmp_path, size):
    data = random.Random(size).choices(b"etaoin shrdlu\n", k=size)
    data = bytes(data)
    found = set()
    for threads in (1, 2, 5):
        draw = random.Random(threads)
        with open_output(str(tmp_path / "a.gz"), "gz", threads) as file:
            start = 0
            while start < size:
                stop = start + draw.choice([1, 7_000, 2 * PIECE])
                file.write(memoryview(data)[start:stop])
                start = stop
        found.add((tmp_path / "a.gz").read_bytes())
    (code,) = found
    assert gzip.decompress(code) == data
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert member.decompress(code) == data
    assert member.eof
    assert member.unused_data == b""


def test_a_piece_refers_to_the_one_before(tmp_path):
    noise = random.Random(0).randbytes(1 << 14)
    data = noise * (2 * PIECE // len(noise))
    with open_output(str(tmp_path / "a.gz"), "gz") as file:
        file.write(data)
    # Without that, the noise would be there once for each piece.
    assert (tmp_path / "a.gz").stat().st_size < len(gzip.compress(data, 6)) + 100


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_raised_at_once_and_leaves_no_thread(tmp_path, threads):
    before = threading.active_count()

    def write():
        with open_output(str(tmp_path / "a.gz"), "gz", threads) as file:
            file.write(bytes(3 * PIECE))
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert threading.active_count() == before
