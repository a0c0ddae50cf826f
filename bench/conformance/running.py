"""`check`: every check that a library has the parts for, one after the other."""

from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from bench.conformance import banding, estimates, sets
from bench.conformance.adapter import Adapter
from bench.conformance.data import Finding, Verdict
from bench.conformance.estimates import Outcome
from bench.conformance.guard import AdapterError, HangError
from bench.conformance.lab import Lab
from bench.conformance.limits import FALSE_ALARM
from bench.conformance.result import Report
from fastlsh.arguments import check_integer, check_number


class _Check(NamedTuple):
    run: Callable[..., Outcome]
    needs: tuple[str, ...]
    """Parts; of "a or b" one of the two."""


_ANY: tuple[str, ...] = ()
_SIGNATURES = ("signatures",)
_KEYS = ("signatures", "band_keys")
_CHECKS = {
    "bias": _Check(estimates.bias, _ANY),
    "variance": _Check(estimates.variance, _ANY),
    "each value": _Check(estimates.each_value, _SIGNATURES),
    "independent values": _Check(estimates.independent_values, _SIGNATURES),
    "order and repetition": _Check(sets.order_and_repetition, _ANY),
    "union is minimum": _Check(sets.union_is_minimum, _SIGNATURES),
    "empty documents": _Check(sets.empty, ("candidates or estimates",)),
    "short documents": _Check(sets.short, _ANY),
    "same values again": _Check(sets.repeatable, _SIGNATURES),
    "recorded values": _Check(sets.recorded, _SIGNATURES),
    "threads": _Check(sets.threads, _SIGNATURES),
    "independent bands": _Check(banding.independent_bands, _KEYS),
    "band key collisions": _Check(banding.key_collisions, _KEYS),
    "band key avalanche": _Check(banding.avalanche, _KEYS),
    "S-curve": _Check(banding.s_curve, ("candidates",)),
    "filter": _Check(banding.filter_drops, ("filtered",)),
}
CHECKS = tuple(_CHECKS)
"""The names of the checks."""


def check(
    adapter: Adapter,
    *,
    checks: Iterable[str] | None = None,
    trials: int = 1000,
    seed: int = 0,
    recorded: str | None = None,
    timeout: float = 60.0,
) -> Report:
    """Judge a MinHash library by what theory promises.

    The documents come from a fixed seed, so a library gets the same verdict every time. A sound
    library fails a check with a probability of at most `Report.false_alarm`, 1e-5.

    Parameters
    ----------
    adapter
        The library: see `Adapter`. `Fastlsh` is one.
    checks
        Names of `CHECKS`; by default all.
    trials
        How many pairs of documents each measurement has, at least 100. To detect a fault that is
        ten times as small, 100 times as many are needed.
    seed
        Of the documents, from 0 on.
    recorded
        The digest from the finding "same values again" of an earlier report, to check that the
        values are still the same.
    timeout
        Seconds that one call may take; the check "threads" allows more for all of its calls. A
        library that hangs is not asked again. One that hangs while it holds the GIL can only be
        checked in a process of its own.

    Returns
    -------
    Report
        One `Finding` for each check. A check whose part the adapter does not have is "not
        applicable". Exceptions of the library, and answers of the wrong shape or type, are
        findings, too.

    Raises
    ------
    TypeError
        The adapter has no name, no `shingle_size`, or neither signatures nor estimates, or it is
        a class. Or an argument has another type.
    ValueError
        A check is unknown, or a number is out of range.

    Examples
    --------
    >>> from fastlsh import MinHasher, conformance
    >>> report = conformance.check(conformance.Fastlsh(MinHasher()), checks=["union is minimum"])
    >>> report.conforms
    True
    """
    names = _names(checks)
    trials = check_integer(trials, "trials")
    seed = check_integer(seed, "seed")
    if not check_number(timeout, "timeout") > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if recorded is not None and not isinstance(recorded, str):
        raise TypeError(f"recorded must be a str, got {type(recorded).__name__}")
    begin = perf_counter()
    lab = Lab(adapter, trials, seed, timeout)
    findings: list[Finding] = []
    hangs = False
    for name in names:
        if hangs:
            text = "not asked: the library did not answer before"
            findings.append(Finding(name, Verdict.ERROR, text, {}))
            continue
        finding, hangs = _found(lab, name, recorded)
        findings.append(finding)
    seconds = perf_counter() - begin
    return Report(adapter.name, tuple(findings), trials, seed, FALSE_ALARM, seconds)


def _names(checks: Iterable[str] | None) -> tuple[str, ...]:
    if checks is None:
        return CHECKS
    if not isinstance(checks, Iterable):
        raise TypeError(f"checks must be names, got {checks!r}")
    names = [checks] if isinstance(checks, str) else list(checks)
    unknown = [name for name in names if name not in _CHECKS]
    if unknown or not names:
        raise ValueError(f"checks must be of {', '.join(CHECKS)}; got {unknown or 'none'}")
    return tuple(name for name in CHECKS if name in names)


def _found(lab: Lab, name: str, recorded: str | None) -> tuple[Finding, bool]:
    """Return the finding, and whether the library hangs."""
    run, needs = _CHECKS[name]
    missing = [part for part in needs if lab.parts.isdisjoint(part.split(" or "))]
    if missing:
        text = f"the adapter has no {' and no '.join(missing)}"
        return Finding(name, Verdict.NOT_APPLICABLE, text, {}), False
    if name == "recorded values":
        if recorded is None:
            return Finding(name, Verdict.NOT_APPLICABLE, "nothing was recorded", {}), False
        run = partial(run, digest=recorded)
    try:
        passed, text, numbers = run(lab)
    except AdapterError as error:
        return Finding(name, Verdict.ERROR, str(error), {}), isinstance(error, HangError)
    verdict = Verdict.PASSED if passed else Verdict.FAILED
    plain: dict[str, Any] = {key: _plain(value) for key, value in numbers.items()}
    return Finding(name, verdict, text, plain), False


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int) else float(f"{value:.4g}")
