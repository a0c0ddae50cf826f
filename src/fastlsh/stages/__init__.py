"""The stages of every search, for those who bring their own engine.

Functions of columns and arrays, which know nothing of where texts come from and where answers go:

    sign_batch -> (sort) -> link_sorted -> UnionFind -> (gather) -> decide_part, find_pairs_of_part

Every decision is made inside one family, so the answer for a collection is the union of the
answers for its parts, however an engine cuts it: to the bit what `deduplicate` and
`near_duplicates` answer, which call the same code. What an engine adds is the sort and the gather;
docs/engines.md shows one. Nothing here keeps a Python object for each document, and what goes from
stage to stage are integers.

Other rooms of fastlsh also take from here what is not in ``__all__``; that may change at any time.
"""

from fastlsh.parameters import SearchParams
from fastlsh.stages.answers import Part as Part
from fastlsh.stages.answers import PartDecisions, PartPairs, decide_part, find_pairs_of_part
from fastlsh.stages.answers import decide as decide
from fastlsh.stages.answers import find_crossing as find_crossing
from fastlsh.stages.answers import find_pairs as find_pairs
from fastlsh.stages.batches import SignedBatch, sign_batch
from fastlsh.stages.batches import sign_with_steps as sign_with_steps
from fastlsh.stages.common import Sample as Sample
from fastlsh.stages.common import ignoring_common as ignoring_common
from fastlsh.stages.contamination import Containments as Containments
from fastlsh.stages.contamination import Matches as Matches
from fastlsh.stages.contamination import Tally as Tally
from fastlsh.stages.contamination import cut_around as cut_around
from fastlsh.stages.contamination import found_in as found_in
from fastlsh.stages.contamination import matches_in as matches_in
from fastlsh.stages.contamination import touching as touching
from fastlsh.stages.copies import groups_of as groups_of
from fastlsh.stages.copies import groups_of_both as groups_of_both
from fastlsh.stages.copies import second_texts as second_texts
from fastlsh.stages.copies import with_copies as with_copies
from fastlsh.stages.decisions import KEEP as KEEP
from fastlsh.stages.decisions import check_keep as check_keep
from fastlsh.stages.decisions import check_priority as check_priority
from fastlsh.stages.decisions import priority_order as priority_order
from fastlsh.stages.gram_table import BOILERPLATE as BOILERPLATE
from fastlsh.stages.gram_table import SHARED as SHARED
from fastlsh.stages.gram_table import SHORT as SHORT
from fastlsh.stages.gram_table import ItemGrams as ItemGrams
from fastlsh.stages.gram_table import item_grams as item_grams
from fastlsh.stages.linking import FamilyTable, LinkState, NumberLinks, UnionFind, link_sorted
from fastlsh.stages.overlap import MOST_DATA_SETS as MOST_DATA_SETS
from fastlsh.stages.overlap import Shared as Shared
from fastlsh.stages.overlap import added_up as added_up
from fastlsh.stages.overlap import characters_of as characters_of
from fastlsh.stages.overlap import shared_counts as shared_counts
from fastlsh.stages.passage_cuts import CutKeywords as CutKeywords
from fastlsh.stages.passage_cuts import CutRules as CutRules
from fastlsh.stages.passage_cuts import CutTexts as CutTexts
from fastlsh.stages.passage_cuts import cut_rows as cut_rows
from fastlsh.stages.passage_cuts import cut_texts as cut_texts
from fastlsh.stages.passage_cuts import cuts_of as cuts_of
from fastlsh.stages.passage_cuts import kept_units as kept_units
from fastlsh.stages.passage_cuts import moved_rows as moved_rows
from fastlsh.stages.passage_cuts import removed_spans as removed_spans
from fastlsh.stages.passage_cuts import too_short as too_short
from fastlsh.stages.passage_cuts import united_matches as united_matches
from fastlsh.stages.passage_cuts import whole_matches as whole_matches
from fastlsh.stages.passage_cuts import with_gaps as with_gaps
from fastlsh.stages.passage_cuts import without_common as without_common
from fastlsh.stages.passages import Anchors as Anchors
from fastlsh.stages.passages import anchors_of as anchors_of
from fastlsh.stages.passages import repeated_contexts as repeated_contexts
from fastlsh.stages.passages import repeated_passages as repeated_passages
from fastlsh.stages.passages import unit_anchors as unit_anchors
from fastlsh.stages.pieces import check_window as check_window
from fastlsh.stages.pieces import decide_pieces as decide_pieces
from fastlsh.stages.pieces import piece_params as piece_params
from fastlsh.stages.pieces import sign_pieces as sign_pieces
from fastlsh.stages.signing import Signed as Signed
from fastlsh.stages.signing import hasher_for as hasher_for
from fastlsh.stages.signing import part_of as part_of
from fastlsh.stages.signing import sign as sign
from fastlsh.stages.verification import verified_pairs as verified_pairs

__all__ = [
    "FamilyTable",
    "LinkState",
    "NumberLinks",
    "PartDecisions",
    "PartPairs",
    "SearchParams",
    "SignedBatch",
    "UnionFind",
    "decide_part",
    "find_pairs_of_part",
    "link_sorted",
    "sign_batch",
]
