"""Row formats and plain text: rows, or an error that names the file.

Three in eight inputs are read again, to the same texts: cut into small blocks, compressed, or with
bad rows skipped.
"""

import gzip

from held import held

from fastlsh.io import InputError, read

ENCODINGS = ["utf-8", "utf-8", "utf-16", "latin-1", "cp1252", "utf-8-sig"]


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
