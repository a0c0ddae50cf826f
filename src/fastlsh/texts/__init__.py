"""Texts: the forms in which they come, behind one interface, and what a text is a set of."""

from fastlsh.texts.forms import (
    Gathered,
    Hashing,
    as_texts,
    gather_tokens,
    ids_of_words,
    joined_texts,
    plain_strings,
    tokens_batch,
)
from fastlsh.texts.ignored import IgnoredShingles
from fastlsh.texts.origins import (
    check_traceable,
    counts_originals,
    inner_spans,
    original_spans,
    splits_characters,
    texts_without_spans,
)
from fastlsh.texts.pieces import Pieces, Texts, lengths_of, pieces_of, texts_without
from fastlsh.texts.shingler import UNIT, Shingler, check_shingler, with_key
from fastlsh.texts.steps import shingle_set_steps
from fastlsh.texts.token_ids import TokenIds, TokenizerFile
from fastlsh.texts.word_units import UnitTexts, WordPieces, unit_counts, unsteady

__all__ = [
    "UNIT",
    "Gathered",
    "Hashing",
    "IgnoredShingles",
    "Pieces",
    "Shingler",
    "Texts",
    "TokenIds",
    "TokenizerFile",
    "UnitTexts",
    "WordPieces",
    "as_texts",
    "check_shingler",
    "check_traceable",
    "counts_originals",
    "gather_tokens",
    "ids_of_words",
    "inner_spans",
    "joined_texts",
    "lengths_of",
    "original_spans",
    "pieces_of",
    "plain_strings",
    "shingle_set_steps",
    "splits_characters",
    "texts_without",
    "texts_without_spans",
    "tokens_batch",
    "unit_counts",
    "unsteady",
    "with_key",
]
