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
from fastlsh.index.memory.ids import Ids
from fastlsh.index.memory.packed_texts import PackedTexts, packed
from fastlsh.index.memory.queries import QueryThreads
from fastlsh.index.memory.stored_ids import KINDS, StoredIds

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
