"""What a deduplication did, as one page."""

from fastlsh.reporting.write import check_report, report

__all__ = ["check_report", "report"]
