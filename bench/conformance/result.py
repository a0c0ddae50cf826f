"""`Report`: what the checks found."""

from dataclasses import dataclass
from typing import Any

from bench.conformance.data import Finding, ReportData
from bench.conformance.page import as_body, as_page
from bench.conformance.text import as_table


@dataclass(frozen=True)
class Report(ReportData):
    """All findings on one library; ``print()`` shows a table, a notebook a page.

    Attributes
    ----------
    library : str
        The name of the adapter.
    findings : tuple of Finding
        In the order of `bench.conformance.CHECKS`.
    trials : int
        How many pairs each measurement had.
    seed : int
        Of the documents.
    false_alarm : float
        The probability, at most, that one check fails a sound library.
    seconds : float
        How long it took.
    """

    def __getitem__(self, check: str) -> Finding:
        """Return the finding of a check by its name; KeyError if it was not made."""
        for finding in self.findings:
            if finding.check == check:
                return finding
        raise KeyError(check)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "library": self.library,
            "conforms": self.conforms,
            "trials": self.trials,
            "seed": self.seed,
            "false alarm": self.false_alarm,
            "seconds": round(self.seconds, 2),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_html(self) -> str:
        """Return the report as a page of HTML that loads nothing and runs nothing."""
        return as_page(self)

    def _repr_html_(self) -> str:
        return as_body(self)

    def __str__(self) -> str:
        return as_table(self)
