"""What an index saves has the byte order of its machine, and is refused by one with the other."""

import json
import struct
import sys
from binascii import crc32
from functools import partial

import pytest

from fastlsh import Index, Shingler
from fastlsh.index import storage

TEXTS = [
    "", "one byte for each", "ā two for each, all of them are", "ten characters", "\0" * 30,
    "😀 four for each, even these", "日本語の文章である日本語の文章", "", "one byte for each!",
]  # fmt: skip
ORDER = "<" if sys.byteorder == "little" else ">"
"""For `struct`."""
OTHER = "big" if sys.byteorder == "little" else "little"

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


def made(way):
    index = Index(0.6, **WAYS[way])
    index.insert_many(list(map(str, range(len(TEXTS)))), TEXTS)
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


def packed(text):
    """Return a packed text as docs/index-format.md has it."""
    if not text:
        return b""
    units = list(map(ord, text))
    width = 1 if max(units) < 1 << 8 else 2 if max(units) < 1 << 16 else 4
    code = struct.pack(f"{ORDER}{len(text)}{' BH I'[width]}", *units)
    return struct.pack(f"{ORDER}Q", len(text) << 8 | width) + code + bytes(-len(code) % 8)


def test_packed_texts_are_what_the_page_says(tmp_path):
    made("texts").save(tmp_path / "index")
    arrays = arrays_of(tmp_path / "index")
    assert arrays["contents"] == (f"{ORDER}u8", b"".join(packed(text) for text in TEXTS))
    assert {dtype[0] for dtype, _ in arrays.values()} == {ORDER, "|"}


@pytest.mark.skipif(sys.byteorder != "little", reason="recorded on a little-endian machine")
@pytest.mark.parametrize("way", WAYS)
def test_files_are_the_same_on_machines_of_one_byte_order(way, tmp_path):
    made(way).save(tmp_path / "index")
    code = b"".join(code for _, code in arrays_of(tmp_path / "index").values())
    assert (len(code), crc32(code)) == SAVED[way]


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("kind", ["loaded", "mapped", "sqlite", "redis"])
def test_an_index_of_the_other_byte_order_is_refused(kind, there, request, tmp_path, monkeypatch):
    """It comes from such a machine, or this one is of the other byte order than its own."""
    order, own = (OTHER, sys.byteorder) if there else (sys.byteorder, OTHER)
    place = str(tmp_path / "index")
    if kind == "redis":
        place = f"{request.getfixturevalue('redis_address').removesuffix('/0')}#saved-{order}"
    index = made("texts")
    monkeypatch.setattr(storage, "BYTE_ORDER", order)
    (index.save if kind in ("loaded", "mapped") else index.copy_to)(place)
    mapped = partial(Index.load, mmap=True)
    opened = {"loaded": Index.load, "mapped": mapped}.get(kind, Index.open)
    monkeypatch.setattr(storage, "BYTE_ORDER", own)
    said = f"the numbers of the index are {order}-endian, and those of this machine {own}-endian: "
    with pytest.raises(ValueError, match=f"{said}build the index anew on this machine") as error:
        opened(place)
    assert str(error.value).startswith(f"{place}: the numbers")
