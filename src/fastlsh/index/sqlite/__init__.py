"""An index on disk, in SQLite: docs/index-format.md."""

from fastlsh.index.sqlite.files import (
    appearing,
    check_closed,
    check_free,
    create,
    filling,
    open_existing,
)
from fastlsh.index.sqlite.records import COMPRESSED, FULL
from fastlsh.index.sqlite.store import SqliteStore

__all__ = [
    "COMPRESSED",
    "FULL",
    "SqliteStore",
    "appearing",
    "check_closed",
    "check_free",
    "create",
    "filling",
    "open_existing",
]
