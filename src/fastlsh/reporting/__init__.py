"""What a deduplication did, as one page."""

from fastlsh.reporting.audit import audit_page
from fastlsh.reporting.documents import Collections, ReportedDocuments, RunCounts
from fastlsh.reporting.frame import About
from fastlsh.reporting.lines import LineRun, line_run, lines_page
from fastlsh.reporting.overlap import overlap_page
from fastlsh.reporting.pairs import PairFiles, pairs_page
from fastlsh.reporting.passages import PassageRun, passages_page
from fastlsh.reporting.removals import Excerpt, Passage, PieceRemovals
from fastlsh.reporting.write import check_report, largest_clusters_page, report, report_page

__all__ = [
    "About",
    "Collections",
    "Excerpt",
    "LineRun",
    "PairFiles",
    "Passage",
    "PassageRun",
    "PieceRemovals",
    "ReportedDocuments",
    "RunCounts",
    "audit_page",
    "check_report",
    "largest_clusters_page",
    "line_run",
    "lines_page",
    "overlap_page",
    "pairs_page",
    "passages_page",
    "report",
    "report_page",
]
