"""An index in memory: documents by number, their tables, and their ids."""

from fastlsh.index.memory.documents import Documents, joined_documents
from fastlsh.index.memory.ids import Ids
from fastlsh.index.memory.packed_texts import PackedTexts, packed
from fastlsh.index.memory.stored_ids import KINDS, StoredIds
from fastlsh.index.memory.tables import SPARE, USED_WHEN_COMPACT, Tables

__all__ = [
    "KINDS",
    "SPARE",
    "USED_WHEN_COMPACT",
    "Documents",
    "Ids",
    "PackedTexts",
    "StoredIds",
    "Tables",
    "joined_documents",
    "packed",
]
