"""A `Report` as HTML."""

from bench.conformance.data import Finding, ReportData, Verdict
from fastlsh.html import described, escaped, whole_page

PAGE = """
body { max-width: 62rem; padding: 1rem clamp(.75rem, 4vw, 2.5rem) 4rem; }
dl { gap: .2rem 1.5rem; grid-template-columns: fit-content(45%) 1fr; }
dt { color: var(--faint); }
.checks { border-collapse: collapse; width: 100%; }
.checks th, .checks td { border-top: 1px solid var(--faint); padding: .35rem .75rem .35rem 0;
  text-align: left; vertical-align: top; }
.checks th { font-weight: normal; white-space: nowrap; }
.passed { background: var(--mark); }
.failed, .error { background: var(--only); font-weight: 600; }
.none { color: var(--faint); }
""".strip()

CLASSES = {Verdict.NOT_APPLICABLE: "none"}


def as_body(report: ReportData) -> str:
    """Return the report for inside a page."""
    verdict = "conforms" if report.conforms else "does not conform"
    rows = [
        ("pairs in each measurement", f"{report.trials:,}"),
        ("seed of the documents", str(report.seed)),
        ("false alarms, at most", f"{report.false_alarm:g} for each check"),
        ("time", f"{report.seconds:.1f} s"),
    ]
    checks = "\n".join(map(_row, report.findings))
    return f"""<h1><bdi>{escaped(report.library)}</bdi>: {verdict}</h1>
{described(rows)}
<table class="checks">
{checks}
</table>"""


def _row(finding: Finding) -> str:
    kind = CLASSES.get(finding.verdict, finding.verdict.value)
    return (
        f'<tr><th scope="row">{escaped(finding.check)}</th>'
        f'<td><span class="{kind}">{finding.verdict}</span></td>'
        f"<td><bdi>{escaped(finding.text)}</bdi></td></tr>"
    )


def as_page(report: ReportData) -> str:
    """Return `Report.to_html`."""
    return whole_page(f"Conformance of {report.library}", PAGE, as_body(report))
