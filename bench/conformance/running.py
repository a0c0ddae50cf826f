"""`check` judges a library and returns a `Report`; `Fastlsh` is the adapter for fastlsh."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench.conformance.checks import CHECKS, FALSE_ALARM
from bench.conformance.lab import AnswerError, Lab
from fastlsh import LSHParams, MinHasher, band_keys, estimate_jaccard
from fastlsh.arguments import check_integer

Verdict = Literal["passed", "failed", "error", "not applicable"]
"""The verdict of a check.

failed: the numbers contradict the theory. error: the library raised an exception, or gave an
answer of the wrong shape or type. not applicable: the adapter does not have the part.
"""


@dataclass(frozen=True)
class Finding:
    """The verdict of one check, with the measurement and the limit in a sentence."""

    check: str
    verdict: Verdict
    text: str


@dataclass(frozen=True)
class Report:
    """All findings on one library; ``print()`` shows a table.

    Attributes
    ----------
    library : str
        The name of the adapter.
    findings : tuple of Finding
        In the order of `CHECKS`.
    trials, seed : int
        How many pairs each measurement had, and the seed of the documents.
    false_alarm : float
        The probability, at most, that one check fails a sound library.
    """

    library: str
    findings: tuple[Finding, ...]
    trials: int
    seed: int
    false_alarm: float = FALSE_ALARM

    @property
    def conforms(self) -> bool:
        """Whether no check failed, none met an error and at least one passed."""
        verdicts = {finding.verdict for finding in self.findings}
        return "passed" in verdicts and not verdicts & {"failed", "error"}

    def __getitem__(self, check: str) -> Finding:
        """Return the finding of a check by its name; KeyError if it was not made."""
        return {finding.check: finding for finding in self.findings}[check]

    def __str__(self) -> str:
        verdict = "conforms" if self.conforms else "does not conform"
        lines = [f"{row.check:<20}  {row.verdict:<14}  {row.text}" for row in self.findings]
        return "\n".join([f"{self.library}: {verdict}", "", *map(str.rstrip, lines)])


def check(
    adapter: Any, *, checks: Iterable[str] = tuple(CHECKS), trials: int = 1000, seed: int = 0
) -> Report:
    """Judge a MinHash library by what theory promises.

    The documents come from a fixed seed, so a library gets the same verdict every time. A sound
    library fails a check with a probability of at most `Report.false_alarm`, 1e-5.

    Parameters
    ----------
    adapter
        The library, as `bench.conformance` describes it. `Fastlsh` is one.
    checks
        Names of `CHECKS`; by default all.
    trials
        How many pairs of documents each measurement has, at least 100. To detect a fault that is
        ten times as small, 100 times as many are needed.
    seed
        Of the documents, from 0 on.

    Returns
    -------
    Report
        One `Finding` for each check. A check whose part the adapter does not have is "not
        applicable". Exceptions of the library are findings, too.

    Raises
    ------
    TypeError
        The adapter has no name, no `shingle_size`, or neither signatures nor estimates.
    ValueError
        A check is unknown, or a number is out of range.
    """
    names = list(checks)
    unknown = [name for name in names if name not in CHECKS]
    if unknown or not names:
        raise ValueError(f"checks must be of {', '.join(CHECKS)}; got {unknown or 'none'}")
    trials, seed = check_integer(trials, "trials"), check_integer(seed, "seed")
    lab = Lab(adapter, trials, seed)
    findings = tuple(Finding(name, *_verdict(lab, name)) for name in names)
    return Report(adapter.name, findings, trials, seed)


def _verdict(lab: Lab, name: str) -> tuple[Verdict, str]:
    run, *needs = CHECKS[name]
    missing = [part for part in needs if lab.parts.isdisjoint(part.split(" or "))]
    if missing:
        return "not applicable", f"the adapter has no {' and no '.join(missing)}"
    try:
        passed, text = run(lab)
    except Exception as error:
        raised = "" if isinstance(error, AnswerError) else f"raises {type(error).__name__}: "
        return "error", f"{raised}{error}"
    return "passed" if passed else "failed", text


class Fastlsh:
    """The adapter for a `MinHasher`: its signatures of texts, the band keys, the candidates.

    Parameters
    ----------
    hasher
        Its shingler must use characters as units, and must not normalise texts.
    params
        Bands and rows; by default 16 bands of num_perm // 16 rows.
    name
        For the report.
    """

    def __init__(
        self, hasher: MinHasher, params: LSHParams | None = None, *, name: str | None = None
    ) -> None:
        if hasher.shingler.unit != "char":
            raise ValueError(f"the unit must be char, got {hasher.shingler.unit}")
        self.hasher, self.name = hasher, name or f"fastlsh, {hasher.scheme}"
        self.shingle_size: int | None = hasher.shingler.size
        self.num_perm = k = hasher.num_perm
        self.params = params or LSHParams(min(16, k), max(k // 16, 1))
        self.bands, self.rows = self.params.bands, self.params.rows

    def signatures(self, documents: Sequence[str]) -> NDArray[np.uint32]:
        """Return `MinHasher.signatures`."""
        return self.hasher.signatures(documents)

    def estimates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return `estimate_jaccard`."""
        places = np.arange(len(left))
        return estimate_jaccard(self.signatures([*left, *right]), (places, places + len(left)))

    def band_keys(self, signatures: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Return `band_keys`, a row for each document."""
        return band_keys(signatures, self.params).T

    def candidates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether a key is equal; the key of an empty document, 0, never is."""
        ours, theirs = (self.band_keys(self.signatures(texts)) for texts in (left, right))
        return np.asarray(((ours == theirs) & (ours != 0)).any(axis=1))
