"""The sections on who conforms to the theory, and what those do who do not."""

from collections.abc import Iterator
from typing import Any

from bench.report.records import Records, is_ours, named, results, table

VERDICTS = ("passed", "failed", "error", "not applicable")


def verdicts(records: Records) -> Iterator[str]:
    """Yield how many checks each library passed, and which it did not."""
    found = results(records, "conformance")
    if not found:
        return
    versions = records["conformance"]["versions"]
    rows = []
    for name, report in found.items():
        by_verdict = {verdict: checks(report, verdict) for verdict in VERDICTS}
        failed = ", ".join(by_verdict["failed"] + by_verdict["error"])
        counts = [str(len(by_verdict[v])) for v in ("passed", "not applicable")]
        rows.append([library(name, versions), *counts, failed or "none"])
    yield from table(["library", "passed", "not applicable", "failed"], rows)
    some = next(iter(found.values()))
    judged = sum(len(checks(r, "passed")) + len(checks(r, "failed")) for r in found.values())
    yield (
        f"{some['trials']:,} pairs for each measurement, seed {some['seed']}. A correct library "
        f"fails a check by accident with a probability of at most {some['false alarm']:g}; the "
        f"probability that any of the {judged}"
        " verdicts here is such an accident is at most "
        f"{some['false alarm'] * sum(len(r['findings']) for r in found.values()):.1g}."
    )
    yield ""


def facts(records: Records) -> Iterator[str]:
    """Yield what was measured where a check failed, each with the command that shows it."""
    for name, report in results(records, "conformance").items():
        wrong = [f for f in report["findings"] if f["verdict"] in ("failed", "error")]
        if not wrong:
            continue
        yield f"### {library(name, records['conformance']['versions']).replace('**', '')}"
        yield ""
        yield "```sh"
        yield f'python -m bench conformance --only "{name}"'
        yield "```"
        yield ""
        yield from (f"* {finding['check']}: {finding['text']}." for finding in wrong)
        yield ""


def lost_updates(records: Records) -> Iterator[str]:
    """Yield what becomes of sets in another order, in each build of FastSketchLSH."""
    found = results(records, "lost_updates")
    if not found:
        return
    rows = []
    for build, by_size in found.items():
        for size, counts in by_size.items():
            of = counts["sets"]
            rows.append(
                [
                    build,
                    size,
                    f"{counts['differ in another order']:,} of {of:,}",
                    f"{counts['mean estimate']:.4f} ({counts['lowest estimate']:.4f})",
                    f"{counts['differ from the installed one']:,} of {of:,}",
                ]
            )
    head = ["build", "elements", "differ from themselves in another order",
            "mean estimate (lowest)", "differ from the installed build"]  # fmt: skip
    yield from table(head, rows)


def checks(report: dict[str, Any], verdict: str) -> list[str]:
    """Return the names of the checks with this verdict."""
    return [f["check"] for f in report["findings"] if f["verdict"] == verdict]


def library(name: str, versions: dict[str, str]) -> str:
    """Return the name with the version; ours in bold."""
    if name.startswith("fastlsh"):
        return f"**{name}**" if not is_ours(name) else named(name, {})
    return named(name, versions)
