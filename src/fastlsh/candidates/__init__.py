"""From signatures to band keys, buckets, families and candidate pairs."""

from fastlsh.candidates.families import (
    Families,
    between,
    find_families,
    find_families_by_size,
    keys_by_size,
    keys_of_one_band,
)
from fastlsh.candidates.keys import (
    MAX_DOCUMENTS,
    RowBlocks,
    band_keys,
    check_signatures,
    empty_documents,
)
from fastlsh.candidates.links import Linker, Links, keys_apart, link_bands, repeated
from fastlsh.candidates.pairs import (
    CodedPairs,
    candidate_blocks,
    candidate_pairs,
    pair_codes,
    split_codes,
)

__all__ = [
    "MAX_DOCUMENTS",
    "CodedPairs",
    "Families",
    "Linker",
    "Links",
    "RowBlocks",
    "band_keys",
    "between",
    "candidate_blocks",
    "candidate_pairs",
    "check_signatures",
    "empty_documents",
    "find_families",
    "find_families_by_size",
    "keys_apart",
    "keys_by_size",
    "keys_of_one_band",
    "link_bands",
    "pair_codes",
    "repeated",
    "split_codes",
]
