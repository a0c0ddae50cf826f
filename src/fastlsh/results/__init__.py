"""What the main functions return."""

from fastlsh.results.cluster_counts import ClusterCounts, Removals, check_labels, stays
from fastlsh.results.contamination import Boilerplate, Contamination, NotSearched
from fastlsh.results.deduplication import Deduplication
from fastlsh.results.lines import LineDeduplication, SpanDeduplication
from fastlsh.results.matches import Matches
from fastlsh.results.overlap import Overlap
from fastlsh.results.pairs import Pairs, components_of, count_in_pairs
from fastlsh.results.proofs import Proofs
from fastlsh.results.table import Removal as Removal

__all__ = [
    "Boilerplate",
    "ClusterCounts",
    "Contamination",
    "Deduplication",
    "LineDeduplication",
    "Matches",
    "NotSearched",
    "Overlap",
    "Pairs",
    "Proofs",
    "Removals",
    "SpanDeduplication",
    "check_labels",
    "components_of",
    "count_in_pairs",
    "stays",
]
