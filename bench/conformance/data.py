"""What a `Report` consists of: plain data, which all that shows it takes."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

Numbers = dict[str, float | int | str]


class Verdict(str, Enum):
    """What a check says of a library.

    FAILED: the numbers contradict the theory. ERROR: the library raised an exception, gave an
    answer of the wrong shape, or none. NOT_APPLICABLE: the adapter does not have the part, so
    nothing is known about it.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_APPLICABLE = "not applicable"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes
    ----------
    check : str
        Its name.
    verdict : Verdict
        What it says.
    text : str
        What was measured, and the limit, in a sentence.
    numbers : dict
        The same for programs: what was measured, what the limit was.
    """

    check: str
    verdict: Verdict
    text: str
    numbers: Numbers

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"check": self.check, "verdict": self.verdict.value, "text": self.text,
                "numbers": self.numbers}  # fmt: skip


@dataclass(frozen=True)
class ReportData:
    """The fields of a `Report`, where each is described, and what follows from them."""

    library: str
    findings: tuple[Finding, ...]
    trials: int
    seed: int
    false_alarm: float
    seconds: float

    @property
    def conforms(self) -> bool:
        """Whether no check failed, none met an error and at least one passed."""
        verdicts = {finding.verdict for finding in self.findings}
        return Verdict.PASSED in verdicts and not verdicts & {Verdict.FAILED, Verdict.ERROR}
