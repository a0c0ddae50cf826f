"""CSV, TSV, JSON lines and plain text: rows, or an error that names the file.

What is read without an error is read again to the same texts: with bad rows skipped, and whether
the file is compressed or not.
"""

import gzip

from chosen import Chosen
from scratch import folder

from fastlsh.io import InputError, read

FOLDER = folder()
ENCODINGS = ["utf-8", "utf-8", "utf-16", "latin-1", "cp1252", "utf-8-sig"]


def one_input(data):
    given = Chosen(data)
    form = given.one(["jsonl", "csv", "tsv", "txt"])
    how = {"encoding": given.one(ENCODINGS)}
    if form in ("csv", "tsv"):
        how |= {"header": given.flag(), "quotes": given.flag()}
        how["delimiter"] = given.one([None, None, ";", "|", "\t"])
    if form == "txt":
        how["split"] = given.one([None, "lines", "paragraphs"])
    if form == "jsonl":
        how["tokens"] = given.number(4) == 3
    code = given.rest()
    texts = texts_of(FOLDER / f"a.{form}", code, how)
    skipped = texts_of(FOLDER / f"a.{form}", code, how, on_error="skip")
    zipped = texts_of(FOLDER / f"a.{form}.gz", gzip.compress(code, 1), how)
    assert zipped == texts
    assert texts is None or skipped == texts


def texts_of(path, code, how, **more):
    path.write_bytes(code)
    try:
        return list(read(path, threads=1, **how, **more).texts)
    except InputError as error:
        assert path.name in str(error), error
        return None
