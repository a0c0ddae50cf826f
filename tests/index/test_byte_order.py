"""Files and databases are the same on machines with the other byte order, which is forged here.

On a machine whose numbers are already the other way round than in files, what is forged is that
they are not.
"""

import json
import sqlite3
import struct
import sys
from binascii import crc32

import numpy as np
import pytest

from fastlsh import Index, Shingler
from fastlsh.index import byte_order

TEXTS = [
    "", "one byte for each", "ā two for each, all of them are", "ten characters", "\0" * 30,
    "😀 four for each, even these", "日本語の文章である日本語の文章", "", "one byte for each!",
]  # fmt: skip
NATIVE, OTHER = ("<", ">") if sys.byteorder == "little" else (">", "<")
"""How numbers are in memory, and how they then are in a forged file, for `struct`."""

WAYS = {
    "texts": {},
    "bytes": {"shingler": Shingler("byte", 5)},
    "sets": {"shingler": Shingler("word", 1, tokenizer=str.split)},
    "signatures": {"verify": "signature"},
}

SAVED = {
    "texts": (10477, 93381899),
    "bytes": (10381, 2814119223),
    "sets": (10325, 248788026),
    "signatures": (10037, 1351004472),
}
"""Length and CRC-32 of all arrays in the files of these indexes."""


@pytest.fixture
def forged(monkeypatch):
    monkeypatch.setattr(byte_order, "SWAPPED", not byte_order.SWAPPED)


def made(way, ids=str, place=None):
    index = Index.open(place, 0.6, **WAYS[way]) if place else Index(0.6, **WAYS[way])
    index.insert_many(list(map(ids, range(len(TEXTS)))), TEXTS)
    return index


def arrays_of(path):
    """Return the arrays of a file by name: their type and bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data, 16)
    header = json.loads(data[24 : 24 + length])
    found = {}
    for entry in header["arrays"]:
        first = 24 + length + entry["offset"]
        found[entry["name"]] = entry["dtype"], data[first : first + entry["size"]]
    return found


def packed(text, order):
    """Return a packed text as docs/index-format.md has it, but in any byte order."""
    if not text:
        return b""
    units = list(text if isinstance(text, bytes) else map(ord, text))
    width = 1 if max(units) < 1 << 8 else 2 if max(units) < 1 << 16 else 4
    code = struct.pack(f"{order}{len(text)}{' BH I'[width]}", *units)
    return struct.pack(f"{order}Q", len(text) << 8 | width) + code + bytes(-len(code) % 8)


def test_packed_texts_are_what_the_page_says(tmp_path):
    made("texts").save(tmp_path / "index")
    _, stored = arrays_of(tmp_path / "index")["contents"]
    assert stored == b"".join(packed(text, "<") for text in TEXTS)


@pytest.mark.parametrize("way", WAYS)
def test_files_are_the_same_everywhere(way, tmp_path):
    """On whatever machine this runs, these are the numbers of the first one."""
    made(way).save(tmp_path / "index")
    code = b"".join(code for _, code in arrays_of(tmp_path / "index").values())
    assert (len(code), crc32(code)) == SAVED[way]


@pytest.mark.parametrize("ids", [str, int])
@pytest.mark.parametrize("way", WAYS)
def test_each_number_is_turned(way, ids, tmp_path, monkeypatch):
    index = made(way, ids)
    index.save(tmp_path / "here")
    monkeypatch.setattr(byte_order, "SWAPPED", not byte_order.SWAPPED)
    index.save(tmp_path / "there")
    here, there = arrays_of(tmp_path / "here"), arrays_of(tmp_path / "there")
    assert here.keys() == there.keys()
    for name, (dtype, code) in here.items():
        expected = np.frombuffer(code, dtype).byteswap().tobytes()
        if name == "contents" and way != "sets":
            texts = TEXTS if way == "texts" else [text.encode() for text in TEXTS]
            expected = b"".join(packed(text, ">") for text in texts)
        assert there[name] == (dtype, expected), name


@pytest.mark.parametrize("ids", [str, int, lambda d: b"%d" % d])
@pytest.mark.parametrize("way", WAYS)
def test_there_and_back(way, ids, tmp_path, forged):
    index = made(way, ids)
    index.save(tmp_path / "index")
    options = {"shingler": WAYS[way]["shingler"]} if way == "sets" else {}
    loaded = Index.load(tmp_path / "index", **options)
    assert list(loaded) == list(index)
    assert loaded.query_many(TEXTS) == index.query_many(TEXTS)
    assert all((loaded.signature(name) == index.signature(name)).all() for name in index)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "index").read_bytes()


def test_pieces_may_end_anywhere(monkeypatch):
    """Texts go on in the next piece, with the width of the one before."""
    monkeypatch.setattr(byte_order, "SWAPPED", True)
    words = np.frombuffer(b"".join(packed(text, NATIVE) for text in TEXTS), np.uint64)
    ends = np.cumsum([0, *(len(packed(text, NATIVE)) // 8 for text in TEXTS)])
    expected = b"".join(packed(text, OTHER) for text in TEXTS)
    for size in (1, 2, 3, 5, len(words)):
        pieces = [words[i : i + size].view(np.uint8) for i in range(0, len(words), size)]
        saved = byte_order.swapped_pieces(pieces, 8, stored=False, text_offsets=ends)
        turned = b"".join(piece.tobytes() for piece in saved)
        assert turned == expected
        back = byte_order.swapped_pieces(
            [np.frombuffer(turned, np.uint8)], 8, stored=True, text_offsets=ends
        )
        assert b"".join(piece.tobytes() for piece in back) == words.tobytes()


@pytest.mark.parametrize("offsets", [[5, 0], [-9, 2], [0, 2**62], [7, 7]])
def test_damaged_offsets_do_no_harm(offsets, forged):
    pieces = byte_order.swapped_pieces(
        [np.arange(32, dtype=np.uint8)], 8, stored=True, text_offsets=np.array(offsets, np.int64)
    )
    assert len(list(pieces)) == 1


def test_what_cannot_be_mapped_is_refused(tmp_path, monkeypatch):
    made("texts").save(tmp_path / "index")
    monkeypatch.setattr(byte_order, "SWAPPED", True)
    with pytest.raises(ValueError, match=r"index: .* little-endian.* load the index without mmap"):
        Index.load(tmp_path / "index", mmap=True)


def test_contents_in_sqlite(tmp_path, forged):
    index = made("texts", place=tmp_path / "index.sqlite")
    expected = made("texts").query_many(TEXTS)
    assert index.query_many(TEXTS) == expected
    index.close()
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        stored = [row[0] for row in connection.execute("SELECT content FROM documents")]
    connection.close()
    assert stored == [packed(text, ">") for text in TEXTS]
    with Index.open(tmp_path / "index.sqlite") as again:
        assert again.query_many(TEXTS) == expected
