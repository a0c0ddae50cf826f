"""From signatures to band keys, buckets, families and candidate pairs."""

from fastlsh.candidates.families import Neighbours, neighbours
from fastlsh.candidates.keys import (
    MAX_DOCUMENTS,
    band_keys,
    check_bands,
    check_signatures,
    empty_documents,
)
from fastlsh.candidates.links import Linker, Links, link_bands
from fastlsh.candidates.pair_codes import Keyed, joined_blocks, with_copies
from fastlsh.candidates.pairs import candidate_blocks, candidate_pairs, pair_keys

__all__ = [
    "MAX_DOCUMENTS",
    "Keyed",
    "Linker",
    "Links",
    "Neighbours",
    "band_keys",
    "candidate_blocks",
    "candidate_pairs",
    "check_bands",
    "check_signatures",
    "empty_documents",
    "joined_blocks",
    "link_bands",
    "neighbours",
    "pair_keys",
    "with_copies",
]
