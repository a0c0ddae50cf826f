"""The parts of an index in memory: documents, their ids, arrays of tables, queries."""

from fastlsh.index.memory.arrays import (
    Bytes,
    array_pieces,
    contents_of,
    filled_tables,
    mapped_tables,
    new_tables,
)
from fastlsh.index.memory.documents import IndexDocuments, check_contents, joined_documents
from fastlsh.index.memory.ids import KINDS, Ids, StoredIds
from fastlsh.index.memory.queries import QueryThreads
from fastlsh.index.memory.texts import PackedTexts, packed

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
