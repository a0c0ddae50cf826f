"""What a deduplication did, as one page."""

from fastlsh.reporting.counts import RunCounts
from fastlsh.reporting.lines import LineRun, line_run, report_lines
from fastlsh.reporting.repeated import Passage, removals
from fastlsh.reporting.write import check_report, report, report_largest_clusters

__all__ = [
    "LineRun",
    "Passage",
    "RunCounts",
    "check_report",
    "line_run",
    "removals",
    "report",
    "report_largest_clusters",
    "report_lines",
]
