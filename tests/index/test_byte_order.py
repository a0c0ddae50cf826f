"""What an index saves is as documented, in the byte order of its machine; others refuse it."""

import json
import struct
import sys
from binascii import crc32
from functools import partial

import numpy as np
import pytest

import oracle
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


def parts_of(path):
    """Read a file as docs/index-format.md has it: its header, and types and bytes by name."""
    data = path.read_bytes()
    magic, version, checksum, length = struct.unpack_from("<8sIIQ", data)
    assert (magic, version) == (b"\x89fastlsh", 1)
    assert checksum == crc32(data[24 : 24 + length])
    assert (24 + length) % 64 == 0
    header = json.loads(data[24 : 24 + length])
    found = {}
    for entry in header["arrays"]:
        start = 24 + length + entry["offset"]
        code = data[start : start + entry["size"]]
        assert start % 64 == 0
        assert crc32(code) == entry["crc32"]
        found[entry["name"]] = entry["dtype"], code
    return header, found


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
    _, arrays = parts_of(tmp_path / "index")
    assert arrays["contents"] == (f"{ORDER}u8", b"".join(packed(text) for text in TEXTS))
    assert {dtype[0] for dtype, _ in arrays.values()} == {ORDER, "|"}


def test_one_document_is_where_the_page_says(tmp_path):
    index = Index(0.8, num_perm=8, bands=2, rows=4, verify="signature")
    row = np.arange(8, dtype=np.uint32)
    index.insert(77, signature=row)
    index.save(tmp_path / "index")
    header, found = parts_of(tmp_path / "index")
    arrays = {name: np.frombuffer(code, dtype) for name, (dtype, code) in found.items()}
    (shape,) = (entry["shape"] for entry in header["arrays"] if entry["name"] == "signatures")
    assert arrays["signatures"].reshape(shape).tolist() == [row.tolist()]
    assert found["id_bytes"][1] == (77).to_bytes(8, "little")
    tables = np.split(arrays["slots"], np.cumsum(header["sizes"]["slots"])[:-1])
    for band, slots in enumerate(tables):
        tag = oracle.band_key(row[4 * band : 4 * band + 4].tolist(), band) >> 32
        expected = np.zeros(len(slots), np.uint64)
        expected[tag * len(slots) >> 32] = tag << 32 | 1
        assert slots.tolist() == expected.tolist()
    h = ((8 + 1) ^ 77) * 0xD6E8FEB86659FD93 & oracle.M64
    tag = oracle.fmix64(h ^ h >> 32) >> 32
    table = arrays["id_table"]
    assert table[tag * len(table) >> 32] == tag << 32 | 1
    assert np.count_nonzero(table) == 1


@pytest.mark.skipif(sys.byteorder != "little", reason="recorded on a little-endian machine")
@pytest.mark.parametrize("way", WAYS)
def test_files_are_the_same_on_machines_of_one_byte_order(way, tmp_path):
    made(way).save(tmp_path / "index")
    _, arrays = parts_of(tmp_path / "index")
    code = b"".join(code for _, code in arrays.values())
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
