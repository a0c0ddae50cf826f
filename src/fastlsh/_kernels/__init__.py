"""The compiled kernels.

They know bytes, code points, offsets and arrays of uint32 and uint64, and nothing of the rest of
fastlsh. Loops that gain from newer instructions exist once for each instruction set; which ones are
called is chosen once, at import, and ``FASTLSH_ISA=baseline|avx2|avx512`` forces a choice. All of
them give the same bits.
"""

import importlib
import os

from fastlsh._kernels.candidates._candidates import (
    chain_depths,
    emit_pairs,
    families,
    link,
    roots,
    share_first,
    unite,
)
from fastlsh._kernels.common._locks import Hold, Transaction
from fastlsh._kernels.compat._compat import (
    KeyBuckets,
    Permutations,
    called_hashes,
    murmur_minima,
    sha1_hashes,
)
from fastlsh._kernels.grams._grams import GramTable, extend_grams, hash_grams, repeat_grams
from fastlsh._kernels.greedy._keeper import REMEMBERED, Keeper
from fastlsh._kernels.index._index import (
    BandTables,
    TextReader,
    answer_lists,
    find_id,
    link_ids,
)
from fastlsh._kernels.json._json import (
    ABSENT,
    COLUMNS,
    INTEGER,
    LONG_REAL,
    MOST_JOIN,
    MOST_KEYS,
    MOST_ROLES,
    NULL_VALUE,
    PADDING,
    REAL,
    REFUSED,
    STRING,
    TOKEN,
    chosen_lines,
    delimited_fields,
    element_bounds,
    element_lines,
    json_lines,
    json_strings,
    line_bounds,
    lines_with_tails,
    object_ends,
    value_places,
)
from fastlsh._kernels.loops._chosen import instruction_sets, use_loops
from fastlsh._kernels.minhash._signatures import (
    AFFINE32,
    AFFINE64,
    FSS,
    LEGACY,
    PRIME61,
    ROUNDS,
    band_keys,
    hash_signatures,
    signatures,
    token_signatures,
)
from fastlsh._kernels.passages._passages import (
    cuts,
    repeats,
    winnow,
    word_hashes,
    word_numbers,
)
from fastlsh._kernels.sets._sets import (
    BY_CONTAINMENT,
    BY_SETS,
    BY_SIGNATURE,
    BY_TEXTS,
    NOT_VERIFIED,
    Numbers,
    SetJoin,
    agreement,
    invert,
    number_jaccard,
    numbers_of,
    pack_numbers,
    set_jaccard,
    shingle_sets,
)
from fastlsh._kernels.text._normal import Normaliser
from fastlsh._kernels.text._plans import (
    ALPHANUMERIC,
    ASCII_ALPHANUMERIC,
    CHARACTERS,
    TOKEN_IDS,
    UNICODE_WORDS,
    WITH_EMPTY,
    WORDS,
    ShinglePlan,
    text_hashes,
    token_hashes,
    word_counts,
    word_places,
)
from fastlsh._kernels.text._texts import (
    ArrowColumn,
    Spans,
    TextColumn,
    TextColumns,
    arrow_stream,
    column_of,
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
try:
    use_loops(importlib.import_module(f"fastlsh._kernels.loops._{isa}").LOOPS)
except ModuleNotFoundError as error:
    raise ImportError(
        f"the compiled module fastlsh._kernels.loops._{isa}, which suits this processor, is "
        "missing: reinstall fastlsh, or set FASTLSH_ISA=baseline to use the other one"
    ) from error

__all__ = [
    "ABSENT",
    "AFFINE32",
    "AFFINE64",
    "ALPHANUMERIC",
    "ASCII_ALPHANUMERIC",
    "BY_CONTAINMENT",
    "BY_SETS",
    "BY_SIGNATURE",
    "BY_TEXTS",
    "CHARACTERS",
    "COLUMNS",
    "FSS",
    "INTEGER",
    "LEGACY",
    "LONG_REAL",
    "MOST_JOIN",
    "MOST_KEYS",
    "MOST_ROLES",
    "NOT_VERIFIED",
    "NULL_VALUE",
    "PADDING",
    "PRIME61",
    "REAL",
    "REFUSED",
    "REMEMBERED",
    "ROUNDS",
    "STRING",
    "TOKEN",
    "TOKEN_IDS",
    "UNICODE_WORDS",
    "WITH_EMPTY",
    "WORDS",
    "ArrowColumn",
    "BandTables",
    "GramTable",
    "Hold",
    "Keeper",
    "KeyBuckets",
    "Normaliser",
    "Numbers",
    "Permutations",
    "SetJoin",
    "ShinglePlan",
    "Spans",
    "TextColumn",
    "TextColumns",
    "TextReader",
    "Transaction",
    "agreement",
    "answer_lists",
    "arrow_stream",
    "band_keys",
    "called_hashes",
    "chain_depths",
    "chosen_lines",
    "column_of",
    "cut_pieces",
    "cuts",
    "delimited_fields",
    "element_bounds",
    "element_lines",
    "emit_pairs",
    "extend_grams",
    "families",
    "find_id",
    "hash_grams",
    "hash_signatures",
    "instruction_sets",
    "invert",
    "isa",
    "json_lines",
    "json_strings",
    "line_bounds",
    "lines_with_tails",
    "link",
    "link_ids",
    "merged",
    "murmur_minima",
    "number_jaccard",
    "numbers_of",
    "object_ends",
    "pack_numbers",
    "pack_texts",
    "packed_sizes",
    "remainders",
    "repeat_grams",
    "repeats",
    "roots",
    "set_jaccard",
    "sha1_hashes",
    "share_first",
    "shingle_sets",
    "signatures",
    "spans_of_ids",
    "spans_of_list",
    "spans_of_packed",
    "text_hashes",
    "token_hashes",
    "token_signatures",
    "unite",
    "use_loops",
    "value_places",
    "windows_of",
    "winnow",
    "word_counts",
    "word_hashes",
    "word_numbers",
    "word_places",
]
