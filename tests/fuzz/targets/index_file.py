"""Index files, the one-file form: refused, or opened and asked; never a crash.

The input says where a sound file is changed. Mapped, nothing but the header is checked, so that
what is damaged behind it reaches the kernels; with the checksum of the header made to fit, what
is damaged in it reaches what reads it.
"""

import struct
import zlib
from contextlib import suppress

from chosen import Chosen, changed, folder

from fastlsh import Index, Shingler

FOLDER = folder()
PATH = FOLDER / "index"
TEXTS = ["the quick brown fox", "the quick brown fax", "jumps over", "jumps over it", "", "ö𝄞 dog"]
START = struct.Struct("<8sIIQ")


def whole(verify, ids):
    index = Index(0.5, num_perm=16, bands=4, rows=2, verify=verify, shingler=Shingler(size=3))
    index.insert_many(ids, TEXTS)
    index.remove(ids[2])
    index.save(PATH)
    return PATH.read_bytes()


FILES = [
    whole(verify, ids)
    for verify in ("exact", "signature")
    for ids in (list("abcdef"), list(range(6)), [b"%d" % i for i in range(6)])
]


def damaged(given):
    code = changed(given, given.one(FILES), [1, 4, 8, 8, 16])
    magic, version, checksum, length = START.unpack_from(code)
    if given.flag() and length < len(code):
        checksum = zlib.crc32(code[START.size : START.size + length])
        START.pack_into(code, 0, magic, version, checksum, length)
    return code[: len(code) - given.one([0, 0, 0, given.number(200)])]


def one_input(data):
    given = Chosen(data)
    PATH.write_bytes(damaged(given))
    for mmap in (False, True):
        try:
            index = Index.load(PATH, mmap=mmap, threads=1)
        except ValueError as error:
            assert "index" in str(error), error
            continue
        asked(index)


def asked(index):
    questions = [
        lambda: index.query_many(TEXTS),
        lambda: index.query("the quick brown fox"),
        lambda: "a" in index,
        lambda: 3 in index,
        lambda: index.signature("b"),
        lambda: index.signature(1),
    ]
    for question in questions:
        with suppress(ValueError, KeyError, TypeError):
            question()
