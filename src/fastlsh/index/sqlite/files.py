"""Making the file of an index, and opening it."""

import contextlib
import errno
import json
import os
import secrets
import sqlite3
import struct
import tempfile
from collections.abc import Iterator

from fastlsh.index.settings import Settings
from fastlsh.index.sqlite import rows
from fastlsh.index.sqlite.connection import (
    APPLICATION,
    NUMBER_BITS,
    VERSION,
    VERSION_BITS,
    Connection,
    header_of,
    named_errors,
)
from fastlsh.index.sqlite.records import COMPRESSED, FULL, records_of
from fastlsh.index.sqlite.store import SqliteStore
from fastlsh.index.storage import DATABASE, MAGIC, Expected, parameters_of, saved_settings

PAGE_SIZES = {FULL: 8192, COMPRESSED: 65536}
"""In small pages, compressed texts of a few hundred bytes or more leave much room unused."""

CONTENTS_OF_LOG = struct.pack("=I", 3007000)
"""How a file with the ending -shm starts."""

SCHEMA = """
CREATE TABLE parameters (json TEXT NOT NULL, checksum INTEGER);
CREATE TABLE state (next INTEGER, flushed INTEGER, documents INTEGER, runs INTEGER,
                    removals INTEGER, page INTEGER, gone INTEGER, checksum INTEGER);
CREATE TABLE texts (kind TEXT NOT NULL, dictionary BLOB NOT NULL, checksum INTEGER);
CREATE TABLE documents (number INTEGER PRIMARY KEY, id NOT NULL, seal INTEGER, signature BLOB,
                        content BLOB);
CREATE UNIQUE INDEX ids ON documents (id);
CREATE TABLE runs (first INTEGER PRIMARY KEY, last INTEGER, page INTEGER, pages BLOB, least BLOB,
                   checksum INTEGER);
CREATE TABLE pages (page INTEGER PRIMARY KEY, entries BLOB, checksum INTEGER);
CREATE TABLE removed (number INTEGER PRIMARY KEY);
CREATE TABLE counted (json TEXT NOT NULL, checksum INTEGER);
CREATE TABLE counts (number INTEGER PRIMARY KEY, json TEXT NOT NULL, checksum INTEGER);
CREATE TABLE sources (number INTEGER, source INTEGER, checksum INTEGER,
                      PRIMARY KEY (number, source)) WITHOUT ROWID;
CREATE TABLE outputs (folder TEXT NOT NULL, run TEXT NOT NULL);
"""


def create(path: str, settings: Settings) -> None:
    """Create an empty index, in full or not at all, unless another process has just created it."""
    try:
        with appearing(path, settings):
            pass
    except FileExistsError:
        if not os.path.exists(path):
            raise


@contextlib.contextmanager
def appearing(path: str, settings: Settings) -> Iterator[SqliteStore]:
    """Fill an index under a temporary path, which gets its name at the end of the block.

    FileExistsError if `path` exists.
    """
    from fastlsh.io import give_name  # a third of the time of `import fastlsh`

    path = os.path.realpath(path)  # a link may lead to a path that does not exist yet
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    check_free(path)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder) as temporary:
        made = os.path.join(temporary, name)
        try:
            with filling(made, settings) as store:
                yield store
        except OSError as error:
            if error.filename == made:
                error.filename = path
            raise
        with open(made, "rb+") as file:
            os.fsync(file.fileno())
        give_name(made, path)


def check_free(path: str) -> None:
    """Raise FileExistsError if a new database at a path would not be the only one of its name.

    SQLite takes a log beside a database for the end of this database, whichever it belongs to. A
    log without entries, which stays when a database was only read, is removed.
    """
    from fastlsh.io import database_files  # a third of the time of `import fastlsh`

    check_name(path)
    beside = [file for file in database_files(path) if os.path.lexists(file)]
    if os.path.exists(path):  # a link to nothing may become one to a new index
        raise FileExistsError(errno.EEXIST, "it exists already", path)
    for file in beside:
        if not _is_without_entries(file):
            reason = (
                "another database of this name, which is gone, has left it, and a new one would"
                " take over its entries: delete it, move it to that database, or give another path"
            )
            raise FileExistsError(errno.EEXIST, reason, file)
    for file in beside:
        os.unlink(file)


def check_name(path: str) -> None:
    """Raise ValueError if SQLite gives such a name to a file beside a database."""
    from fastlsh.io import DATABASE_ENDINGS  # a third of the time of `import fastlsh`

    if path.endswith(DATABASE_ENDINGS):
        reason = f"an index cannot have a name that ends in {', '.join(DATABASE_ENDINGS)}, because"
        raise ValueError(f"{path}: {reason} SQLite gives such names to its own files")


def check_closed(path: str) -> None:
    """Raise an error unless an index in one file can take the place of what is at a path."""
    from fastlsh.io import database_files  # a third of the time of `import fastlsh`

    check_name(path)
    with contextlib.suppress(sqlite3.Error):
        if any(map(os.path.lexists, database_files(path))) and header_of(path):
            reason = "it is a database that is in use or was not closed: save to another path"
            raise FileExistsError(errno.EEXIST, reason, path)


def _is_without_entries(path: str) -> bool:
    """Whether this is an empty log, or the table of contents that SQLite keeps of one."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) in (b"", CONTENTS_OF_LOG)


@contextlib.contextmanager
def filling(path: str, settings: Settings, texts: str = FULL) -> Iterator[SqliteStore]:
    """Create an index at a temporary path, without a log: if the block fails, it is of no use."""
    parameters = json.dumps(parameters_of(settings))
    with named_errors(path, 0):
        made = sqlite3.connect(path, isolation_level=None)
        try:
            made.execute(f"PRAGMA page_size = {PAGE_SIZES[texts]}")
            made.execute(f"PRAGMA application_id = {APPLICATION}")
            number = secrets.randbits(NUMBER_BITS) << VERSION_BITS
            made.execute(f"PRAGMA user_version = {number | VERSION}")
            made.executescript(SCHEMA)
            for table, row in (
                ("parameters", [parameters]), ("texts", [texts, b""]), ("counted", [""]),
                ("state", [0] * 7),
            ):  # fmt: skip
                values = ",".join("?" * len(row))
                made.execute(
                    f"INSERT INTO {table} VALUES ({values},?)", [*row, rows.checksum_of(row)]
                )
        finally:
            made.close()
        connection = Connection(path, False, 0.0, durable=False)
        try:
            yield SqliteStore(connection, records_of(settings, texts, b""))
            connection.get().execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()


def is_index(path: str) -> bool:
    """Whether the path is an index; ValueError, with the reason, if it is another file."""
    if not os.path.exists(path):
        return False
    reason = None
    try:
        is_short = os.path.getsize(path) < 100  # SQLite may take it for an empty database
        version, application = (0, 0) if is_short else header_of(path)
    except sqlite3.Error:  # then no connection has it open, either: see `header_of`
        with open(path, "rb") as file:
            start = file.read(len(DATABASE))
        if start.startswith(MAGIC):
            made_by = f"Index.load({path!r}).copy_to(...)"
            reason = f"it is an index in one file: {made_by} makes one of it"
        elif start != DATABASE:
            reason = "it is not an index of fastlsh"
    else:
        version &= (1 << VERSION_BITS) - 1
        if is_short:
            reason = "it is not an index of fastlsh"
        elif application != APPLICATION:
            reason = "it is another SQLite database, not an index of fastlsh"
        elif version != VERSION:
            reason = f"format version {version} is unknown, version {VERSION} is read"
    if reason is not None:
        raise ValueError(f"{path}: {reason}")
    return True


def open_existing(path: str, expected: Expected) -> SqliteStore:
    """Open an index, after checking its parameters."""
    connection = Connection(path, expected.read_only, expected.wait)
    with contextlib.ExitStack() as stack:
        stack.callback(connection.close)
        with named_errors(path, expected.wait):
            (code,) = rows.only_row(connection.get(), "parameters", "its parameters are")
            kind, dictionary = rows.only_row(connection.get(), "texts", "how it holds texts is")
            if not expected.read_only:
                connection.execute_at_once("BEGIN IMMEDIATE")
                connection.get().execute("ROLLBACK")
            settings = saved_settings(code, path, expected)
            if kind == "none":
                raise ValueError(
                    f"{path}: the index keeps no texts, which is not supported any more: build the"
                    ' index anew with index_texts="compressed" (--texts compressed)'
                )
            records = records_of(settings, kind, dictionary)
        stack.pop_all()
    return SqliteStore(connection, records)
