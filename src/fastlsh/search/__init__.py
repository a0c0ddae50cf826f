"""The answer in memory: all near-duplicate pairs, or a collection without them."""

from fastlsh.search.advice import long_shingles as long_shingles
from fastlsh.search.advice import warn_of_long_shingles as warn_of_long_shingles
from fastlsh.search.advice import warn_of_needless_comparisons as warn_of_needless_comparisons
from fastlsh.search.advice import warn_of_short_documents as warn_of_short_documents
from fastlsh.search.advice import warn_of_short_passages as warn_of_short_passages
from fastlsh.search.contamination_params import DEFAULT_SHINGLER as DEFAULT_SHINGLER
from fastlsh.search.contamination_params import ContaminationKeywords as ContaminationKeywords
from fastlsh.search.contamination_params import ContaminationParams as ContaminationParams
from fastlsh.search.decontamination import DecontaminationKeywords as DecontaminationKeywords
from fastlsh.search.decontamination import Items as Items
from fastlsh.search.decontamination import boilerplate_of as boilerplate_of
from fastlsh.search.decontamination import cuts_of as cuts_of
from fastlsh.search.decontamination import decontaminate
from fastlsh.search.decontamination import found_in_texts as found_in_texts
from fastlsh.search.decontamination import grams_of_items as grams_of_items
from fastlsh.search.decontamination import items_in as items_in
from fastlsh.search.decontamination import most_contained as most_contained
from fastlsh.search.decontamination import not_searched as not_searched
from fastlsh.search.decontamination import without_boilerplate as without_boilerplate
from fastlsh.search.deduplication import deduplicate, deduplicate_texts
from fastlsh.search.exact_join import exact_codes, exact_pairs
from fastlsh.search.lines import deduplicate_lines, deduplicate_lines_of_texts
from fastlsh.search.matching import check_best as check_best
from fastlsh.search.matching import check_countable as check_countable
from fastlsh.search.matching import check_data_sets as check_data_sets
from fastlsh.search.matching import matches, matches_of_texts, overlap, overlap_of_texts
from fastlsh.search.pairs import near_duplicates, pairs_of_texts
from fastlsh.search.spans import CutCollections, cut_passages, deduplicate_spans
from fastlsh.search.spans import check_length as check_length

__all__ = [
    "CutCollections",
    "cut_passages",
    "decontaminate",
    "deduplicate",
    "deduplicate_lines",
    "deduplicate_lines_of_texts",
    "deduplicate_spans",
    "deduplicate_texts",
    "exact_codes",
    "exact_pairs",
    "matches",
    "matches_of_texts",
    "near_duplicates",
    "overlap",
    "overlap_of_texts",
    "pairs_of_texts",
]
