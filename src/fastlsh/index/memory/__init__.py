"""The parts of an index in memory: documents, their ids, arrays of tables, queries."""

from fastlsh.index.memory.documents import (
    KINDS,
    Bytes,
    Ids,
    IndexDocuments,
    PackedTexts,
    StoredIds,
    array_pieces,
    check_contents,
    contents_of,
    filled_tables,
    joined_documents,
    mapped_tables,
    new_tables,
    packed,
)
from fastlsh.index.memory.queries import QueryThreads

__all__ = [
    "KINDS",
    "Bytes",
    "Ids",
    "IndexDocuments",
    "PackedTexts",
    "QueryThreads",
    "StoredIds",
    "array_pieces",
    "check_contents",
    "contents_of",
    "filled_tables",
    "joined_documents",
    "mapped_tables",
    "new_tables",
    "packed",
]
