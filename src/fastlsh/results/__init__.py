"""What the main functions return."""

from fastlsh.results.cluster_counts import ClusterCounts, RemovedDocuments, check_labels, stays
from fastlsh.results.contamination import Boilerplate, Contamination, NotSearched
from fastlsh.results.deduplication import Deduplication, Proofs
from fastlsh.results.lines import LineDeduplication, SpanDeduplication, piece_name
from fastlsh.results.overlap import Overlap
from fastlsh.results.pairs import Matches, Pairs, components_of, count_in_pairs
from fastlsh.results.table import CountedResult as CountedResult

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
    "RemovedDocuments",
    "SpanDeduplication",
    "check_labels",
    "components_of",
    "count_in_pairs",
    "piece_name",
    "stays",
]
