"""Indexes in SQLite: refused, or opened, asked and added to; never a crash.

The input says where a sound file is changed.
"""

from chosen import Chosen, changed, folder

from fastlsh import Index, Shingler
from targets.index_file import TEXTS

FOLDER = folder()
PATH = FOLDER / "index.db"


def whole(verify):
    how = {"num_perm": 16, "bands": 4, "rows": 2, "shingler": Shingler(size=3), "verify": verify}
    path = FOLDER / f"{verify}.db"
    with Index.open(path, 0.5, **how) as index:
        index.insert_many(list("abcdef"), TEXTS)
        index.remove("c")
    return path.read_bytes()


FILES = [whole("exact"), whole("signature")]


def one_input(data):
    given = Chosen(data)
    code = changed(given, given.one(FILES), [1, 2, 4, 8, 16])
    for ending in ("", "-wal", "-shm", "-journal"):
        FOLDER.joinpath(f"index.db{ending}").unlink(missing_ok=True)
    PATH.write_bytes(code)
    try:
        with Index.open(PATH, threads=1) as index:
            index.query_many(TEXTS)
            index.insert("new", "the quick brown fix")
            index.query("the quick brown fox")
            index.remove("a")
    except (ValueError, OSError, KeyError) as error:
        assert isinstance(error, KeyError) or "index" in str(error), error
