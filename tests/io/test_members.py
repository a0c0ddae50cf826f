"""Compressed files of several members: damage behind the first one is an error, never a loss."""

import bz2
import gzip
import json
import lzma

import pytest

from combinations import covering
from fastlsh import InputError
from fastlsh.io import read

pyarrow = pytest.importorskip("pyarrow")

COMPRESS = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pyarrow.compress(data, "zstd", asbytes=True),
}


def rows(first, n=20):
    return "".join(json.dumps({"text": f"row {first + i}"}) + "\n" for i in range(n)).encode()


def texts_of(path, content):
    path.write_bytes(content)
    collection = read([str(path)])
    return [text.decode() if isinstance(text, bytes) else str(text) for text in collection.texts]


EXPECTED = [f"row {i}" for i in range(60)]


@pytest.fixture(params=COMPRESS)
def suffix(request):
    return request.param


@pytest.fixture
def members(suffix):
    return [COMPRESS[suffix](rows(first)) for first in (0, 20, 40)]


@pytest.fixture
def path(tmp_path, suffix):
    return tmp_path / f"in.jsonl.{suffix}"


def test_members_are_read_one_after_the_other(path, members):
    assert texts_of(path, b"".join(members)) == EXPECTED


def test_members_without_content(path, suffix, members):
    empty = COMPRESS[suffix](b"")
    assert texts_of(path, empty + members[0] + empty + empty + members[1] + empty) == EXPECTED[:40]
    assert texts_of(path, empty + empty) == []


def test_a_row_that_goes_on_in_the_next_member(path, suffix):
    data = rows(0)
    content = b"".join(COMPRESS[suffix](data[i : i + 7]) for i in range(0, len(data), 7))
    assert texts_of(path, content) == EXPECTED[:20]


@pytest.mark.parametrize(("member", "offset"), covering([1, 2], [0, 1, 2, 3, 4, 5, -1, -2, -3, -4]))
def test_a_flipped_bit_loses_no_row(path, members, member, offset):
    damaged = bytearray(members[member])
    for bit in (0, 3, 7):
        damaged[offset] ^= 1 << bit
        content = b"".join([*members[:member], bytes(damaged), *members[member + 1 :]])
        damaged[offset] ^= 1 << bit
        try:
            found = texts_of(path, content)
        except InputError as error:
            assert error.path == str(path)  # noqa: PT017  (either is right)
        else:
            assert found == EXPECTED  # the byte means nothing: the operating system in a .gz


def test_a_member_cut_short(path, members):
    for length in (1, 2, 5, len(members[1]) // 2, len(members[1]) - 1):
        with pytest.raises(InputError) as caught:
            texts_of(path, members[0] + members[1][:length])
        assert caught.value.path == str(path)


@pytest.mark.parametrize("garbage", [b"x", b"{}", b"\n", b"BZ", b"\xfd7z", b"garbage" * 20_000])
def test_anything_else_behind_the_last_member(path, members, garbage):
    with pytest.raises(InputError) as caught:
        texts_of(path, members[0] + garbage)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("nulls", [0, 4, 8, 200_000])
def test_the_padding_of_xz(tmp_path, nulls):
    one, two = lzma.compress(rows(0)), lzma.compress(rows(20))
    path = tmp_path / "in.jsonl.xz"
    assert texts_of(path, one + bytes(nulls) + two + bytes(nulls)) == EXPECTED[:40]


@pytest.mark.parametrize("nulls", [1, 3, 65_539])
def test_a_padding_that_xz_does_not_allow(tmp_path, nulls):
    one, two = lzma.compress(rows(0)), lzma.compress(rows(20))
    for content in (one + bytes(nulls) + two, one + bytes(nulls)):
        with pytest.raises(InputError, match=f"{nulls} null bytes follow a member"):
            texts_of(tmp_path / "in.jsonl.xz", content)


def test_null_bytes_are_no_padding_of_bz2(tmp_path):
    with pytest.raises(InputError):
        texts_of(tmp_path / "in.jsonl.bz2", bz2.compress(rows(0)) + bytes(8))
