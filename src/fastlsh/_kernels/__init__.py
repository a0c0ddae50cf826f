"""The compiled kernels, in the best build for this machine.

They know bytes, code points, offsets and arrays of uint32 and uint64, and nothing of the rest of
fastlsh. Chosen once, at import; ``FASTLSH_ISA=baseline|avx2|avx512`` forces a build. All builds
give the same bits.
"""

import importlib
import os
from typing import TYPE_CHECKING

from fastlsh._kernels.candidates._candidates import (
    chain_depths,
    emit_pairs,
    families,
    link,
    roots,
    unite,
)
from fastlsh._kernels.common._cpu import instruction_sets
from fastlsh._kernels.common._locks import Hold, Transaction
from fastlsh._kernels.compat._datasketch import KeyBuckets, mt19937
from fastlsh._kernels.index._ids import answer_lists, find_id, link_ids
from fastlsh._kernels.sets._exact_join import SetJoin, invert, numbers_of
from fastlsh._kernels.sets._numbers import Numbers, pack_numbers
from fastlsh._kernels.text._normal import Normaliser
from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh._kernels.text._texts import (
    ArrowColumn,
    Spans,
    arrow_stream,
    cut_pieces,
    merged,
    pack_texts,
    packed_sizes,
    remainders,
    spans_of_ids,
    spans_of_list,
    spans_of_packed,
    windows_of,
)


def _choose() -> str:
    names = instruction_sets()
    if not names:
        raise ImportError("fastlsh needs a processor with x86-64-v2 (SSE4.2, POPCNT; since 2009)")
    forced = os.environ.get("FASTLSH_ISA") or names[-1]
    if forced not in names:
        raise ImportError(f"FASTLSH_ISA={forced} is not available here: {', '.join(names)}")
    return forced


isa = _choose()
if TYPE_CHECKING:
    from fastlsh._kernels.api import _baseline as _best
else:
    try:
        _best = importlib.import_module(f"fastlsh._kernels.api._{isa}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"the compiled module fastlsh._kernels.api._{isa}, which suits this processor, is "
            "missing: reinstall fastlsh, or set FASTLSH_ISA=baseline to use the other one"
        ) from error
AFFINE32 = _best.AFFINE32
AFFINE64 = _best.AFFINE64
ALPHANUMERIC = _best.ALPHANUMERIC
ASCII_ALPHANUMERIC = _best.ASCII_ALPHANUMERIC
BY_CONTAINMENT = _best.BY_CONTAINMENT
BY_SETS = _best.BY_SETS
BY_SIGNATURE = _best.BY_SIGNATURE
BY_TEXTS = _best.BY_TEXTS
CHARACTERS = _best.CHARACTERS
FSS = _best.FSS
LEGACY = _best.LEGACY
NOT_VERIFIED = _best.NOT_VERIFIED
PRIME61 = _best.PRIME61
REMEMBERED = _best.REMEMBERED
ROUNDS = _best.ROUNDS
TOKEN_IDS = _best.TOKEN_IDS
WITH_EMPTY = _best.WITH_EMPTY
WORDS = _best.WORDS
BandTables = _best.BandTables
Keeper = _best.Keeper
Permutations = _best.Permutations
TextReader = _best.TextReader
agreement = _best.agreement
band_keys = _best.band_keys
called_hashes = _best.called_hashes
hash_signatures = _best.hash_signatures
murmur_minima = _best.murmur_minima
number_jaccard = _best.number_jaccard
set_jaccard = _best.set_jaccard
sha1_hashes = _best.sha1_hashes
shingle_sets = _best.shingle_sets
signatures = _best.signatures
text_hashes = _best.text_hashes
token_hashes = _best.token_hashes
token_signatures = _best.token_signatures
word_places = _best.word_places

__all__ = [
    "AFFINE32",
    "AFFINE64",
    "ALPHANUMERIC",
    "ASCII_ALPHANUMERIC",
    "BY_CONTAINMENT",
    "BY_SETS",
    "BY_SIGNATURE",
    "BY_TEXTS",
    "CHARACTERS",
    "FSS",
    "LEGACY",
    "NOT_VERIFIED",
    "PRIME61",
    "REMEMBERED",
    "ROUNDS",
    "TOKEN_IDS",
    "WITH_EMPTY",
    "WORDS",
    "ArrowColumn",
    "BandTables",
    "Hold",
    "Keeper",
    "KeyBuckets",
    "Normaliser",
    "Numbers",
    "Permutations",
    "SetJoin",
    "ShinglePlan",
    "Spans",
    "TextReader",
    "Transaction",
    "agreement",
    "answer_lists",
    "arrow_stream",
    "band_keys",
    "called_hashes",
    "chain_depths",
    "cut_pieces",
    "emit_pairs",
    "families",
    "find_id",
    "hash_signatures",
    "instruction_sets",
    "invert",
    "isa",
    "link",
    "link_ids",
    "merged",
    "mt19937",
    "murmur_minima",
    "number_jaccard",
    "numbers_of",
    "pack_numbers",
    "pack_texts",
    "packed_sizes",
    "remainders",
    "roots",
    "set_jaccard",
    "sha1_hashes",
    "shingle_sets",
    "signatures",
    "spans_of_ids",
    "spans_of_list",
    "spans_of_packed",
    "text_hashes",
    "token_hashes",
    "token_signatures",
    "unite",
    "windows_of",
    "word_places",
]
