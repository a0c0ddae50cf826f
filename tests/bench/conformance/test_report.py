"""The report: as text, as a page, as values."""

import json
import re

from bench import conformance
from bench.conformance import Fastlsh, Finding, Report, Verdict
from fastlsh import MinHasher

EVIL = "<script>alert(1)</script>\x1b[2J\u202e\nx"
FINDINGS = (
    Finding("bias", Verdict.FAILED, EVIL, {"z": 9.5}),
    Finding("S-curve", Verdict.NOT_APPLICABLE, "the adapter has no candidates", {}),
)


def report(*findings, library=EVIL):
    return Report(library, findings, 1000, 0, 1e-5, 1.25)


def test_text_of_others_does_nothing():
    found = report(*FINDINGS)
    page = found.to_html()
    assert "<script" not in page
    assert "\x1b" not in page + str(found)
    assert "\u202e" not in page + str(found)
    assert len(str(found).splitlines()) == 2 + len(FINDINGS)
    assert found._repr_html_() in page


def test_verdicts_decide():
    passed = Finding("bias", Verdict.PASSED, "fine", {})
    error = Finding("bias", Verdict.ERROR, "raises", {})
    assert report(passed, FINDINGS[1]).conforms
    assert not report(passed, FINDINGS[0]).conforms
    assert not report(passed, error).conforms
    assert not report(FINDINGS[1]).conforms


def test_one_finding_by_its_name():
    assert report(*FINDINGS)["S-curve"] is FINDINGS[1]


def test_values_for_json():
    found = conformance.check(Fastlsh(MinHasher(threads=1)), trials=100)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["library"] == "fastlsh, affine32"
    assert values["conforms"] is True
    assert [each["check"] for each in values["findings"]] == list(conformance.CHECKS)
    assert re.fullmatch("[0-9a-f]{16}", found["same values again"].numbers["digest"])


def test_the_verdict_is_the_same_every_time():
    adapter = Fastlsh(MinHasher(threads=1))
    first, second = (conformance.check(adapter, trials=100) for _ in range(2))
    assert first.findings == second.findings
