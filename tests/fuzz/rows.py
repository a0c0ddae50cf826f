"""Row formats and plain text: rows, or an error that names the file.

Three in eight inputs are read again, to the same texts: cut into small blocks, compressed, or with
bad rows skipped.
"""

import gzip
import io
from contextlib import contextmanager

from fastlsh.io import InputError, filesystems, read, reading
from fastlsh.io.blocks.reading import read_blocks
from fastlsh.io.filesystems import Identity
from fastlsh.io.sources import Source

ENCODINGS = ["utf-8", "utf-8", "utf-16", "latin-1", "cp1252", "utf-8-sig"]


@contextmanager
def held(path, code, form, compression=None, block=1 << 16):
    """Let `read` find these bytes, which nobody writes, under a path; cut blocks of so many."""
    known = Identity(len(code), 0, 0)
    instead = {
        (filesystems, "open_raw"): lambda _path: io.BufferedReader(io.BytesIO(code)),
        (filesystems, "is_regular"): lambda _path: True,
        (filesystems, "identity"): lambda _path: known,
        (reading, "files_to_read"): lambda _inputs, options, **_how: [
            Source(path, form, compression, options)
        ],
        (reading, "read_blocks"): lambda source, **how: read_blocks(source, block, **how),
    }
    real = {place: getattr(*place) for place in instead}
    try:
        for place, function in instead.items():
            setattr(*place, function)
        yield
    finally:
        for place, function in real.items():
            setattr(*place, function)


def read_rows(form, given, how):
    """Read what is left of an input as a file of this format."""
    how["encoding"] = given.one(ENCODINGS)
    way = given.number(8)
    block = 1 + given.number(64)
    code = given.rest()
    block += len(code) // 4  # a block costs as much as a hundred short rows
    texts = texts_of(form, code, how)
    if way == 0:
        again = texts_of(form, code, how, on_error="skip")
        assert texts is None or again == texts
    elif way == 1:
        assert texts_of(form, gzip.compress(code, 1), how, compression="gz") == texts
    elif way == 2:
        assert texts_of(form, code, how, block=block) == texts


def texts_of(form, code, how, on_error="fail", **cutting):
    with held(f"a.{form}", code, form, **cutting):
        try:
            return list(read(f"a.{form}", threads=1, on_error=on_error, **how).texts)
        except InputError as error:
            assert error.path == f"a.{form}", error
            return None
