"""Judges each library by `bench.conformance`, in a process of its own.

Every verdict follows from fixed seeds: who runs this again gets the same. Which values each library
has is compared with the results that are there, if they are of the same version.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import RESULTS, common, conformance
from bench.common.machine import versions
from bench.peers.adapters import ADAPTERS, adapter, is_installed

TRIALS = 1000  # as by default
TIMEOUT = 300.0
AGAIN = "same values again"


def judged(name: str, trials: int, recorded: str | None, page: str | None) -> dict[str, Any]:
    """Return the report on one library; written as a page, if there is a name for it."""
    report = conformance.check(adapter(name), trials=trials, recorded=recorded, timeout=TIMEOUT)
    if page:
        Path(page).write_text(report.to_html(), encoding="utf-8")
    return report.to_dict()


def recorded_values(path: Path | None) -> dict[str, str]:
    """Return the digests of earlier results, of the versions that are installed."""
    if not path or not path.is_file():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    now, then = versions(), record["versions"]
    found = {}
    for name, report in record["results"].items():
        library = name.partition(",")[0].partition(".")[0].lower()
        for finding in report["findings"]:
            if finding["check"] == AGAIN and now.get(library) == then.get(library):
                found[name] = str(finding["numbers"].get("digest", "")) or None
    return {name: digest for name, digest in found.items() if digest}


def all_judged(options: Namespace, recorded: dict[str, str]) -> dict[str, Any]:
    """Return the reports on all libraries that are installed, or on those that are named."""
    results = {}
    for name in options.only or ADAPTERS:
        if not is_installed(name):
            print(f"{name} is not installed: left out", file=sys.stderr)
            continue
        page = options.html / f"{name.replace(', ', '-')}.html" if options.html else None
        trials = 100 if options.quick else TRIALS
        try:
            results[name] = common.call(
                judged, name, trials, recorded.get(name), page and str(page.resolve())
            )
        except RuntimeError as error:  # the process ended, by whatever the library did
            results[name] = ended(name, trials, str(error).splitlines()[-1])
        verdict = "conforms" if results[name]["conforms"] else "does not conform"
        print(f"{name}: {verdict}, {results[name]['seconds']:.0f} s", flush=True)
    return results


def ended(name: str, trials: int, said: str) -> dict[str, Any]:
    """Return the report on a library that ends its process."""
    findings = [
        conformance.Finding(check, conformance.Verdict.ERROR, f"the process ended: {said}", {})
        for check in conformance.CHECKS
    ]
    return conformance.Report(name, tuple(findings), trials, 0, 0.0, 0.0).to_dict()


def main(arguments: Sequence[str]) -> None:
    """Judge and write results/conformance.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(ADAPTERS),
                        help="; ".join(ADAPTERS))  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FOLDER", help="write a page for each")
    options = parser.parse_args(arguments)
    if options.html:
        options.html.mkdir(parents=True, exist_ok=True)
    old = common.target("conformance", options, RESULTS)
    results = all_judged(options, recorded_values(old))
    if options.only:
        shown(results)  # of a part nothing is kept
    else:
        path = common.target("conformance", options, None if options.quick else RESULTS)
        if path:
            common.save(path, "conformance", options, results)


def shown(results: dict[str, Any]) -> None:
    """Print each finding."""
    for name, report in results.items():
        print(f"\n{name}")
        for finding in report["findings"]:
            print(f"  {finding['check']}: {finding['verdict']}; {finding['text']}")
