"""From signatures to band keys, buckets and candidate pairs."""

from fastlsh.buckets.candidates import candidate_blocks, candidate_pairs, pair_keys
from fastlsh.buckets.families import Neighbours, neighbours
from fastlsh.buckets.keys import (
    MAX_DOCUMENTS,
    band_keys,
    check_bands,
    check_signatures,
    empty_documents,
)
from fastlsh.buckets.links import Linker, Links, link_bands

__all__ = [
    "MAX_DOCUMENTS",
    "Linker",
    "Links",
    "Neighbours",
    "band_keys",
    "candidate_blocks",
    "candidate_pairs",
    "check_bands",
    "check_signatures",
    "empty_documents",
    "link_bands",
    "neighbours",
    "pair_keys",
]
