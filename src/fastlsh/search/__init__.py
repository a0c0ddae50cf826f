"""The answer in memory: all near-duplicate pairs, or a collection without them."""

from fastlsh.search.deduplication import deduplicate
from fastlsh.search.exact_join import exact_codes, exact_pairs
from fastlsh.search.lines import deduplicate_lines
from fastlsh.search.pairs import near_duplicates
from fastlsh.search.short_shingles import warn_of_short_shingles as warn_of_short_shingles

__all__ = ["deduplicate", "deduplicate_lines", "exact_codes", "exact_pairs", "near_duplicates"]
