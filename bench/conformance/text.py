"""A `Report` as plain text."""

from bench.conformance.data import ReportData
from fastlsh.html import replaced, shortened


def one_line(text: str, most: int) -> str:
    """Return a text of others as one line of at most so many characters that does nothing."""
    return shortened(replaced(text.replace("\n", " "), "[{}]".format), most)


def as_table(report: ReportData) -> str:
    """Return one line that says the whole, and one for each check."""
    width = max(len(finding.check) for finding in report.findings)
    verdict = "conforms" if report.conforms else "does not conform"
    lines = [
        f"{finding.check:<{width}}  {finding.verdict:<14}  {one_line(finding.text, 400)}".rstrip()
        for finding in report.findings
    ]
    return "\n".join([f"{one_line(report.library, 100)}: {verdict}", "", *lines])
