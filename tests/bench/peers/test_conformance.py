"""Every installed library has an adapter that works, and what goes wrong is a result."""

import json
from argparse import Namespace

import pytest

from bench.common.machine import versions
from bench.conformance import Verdict, check
from bench.peers import conformance as judge
from bench.peers.adapters import ADAPTERS, adapter, is_installed
from bench.report.conformance import facts, verdicts

OPTIONS = {"only": None, "html": None, "quick": True}


ALONE = {"FastSketchLSH, AVX-512 emulated"}
"""Whose library is another build of one that is loaded here."""


@pytest.mark.parametrize(
    "name", [name for name in ADAPTERS if name not in ALONE and is_installed(name)]
)
def test_an_adapter_answers(name):
    found = adapter(name)
    assert found.name == name
    report = check(found, checks=["same values again", "short documents"], trials=100)
    assert Verdict.ERROR not in {finding.verdict for finding in report.findings}, report


@pytest.mark.parametrize("name", sorted(ALONE))
def test_updates_that_a_library_loses_are_found(name):
    if not is_installed(name):
        pytest.skip("not built: docs/conformance.md says how")
    results = judge.all_judged(Namespace(**OPTIONS | {"only": [name]}), {})
    verdicts = {f["check"]: f["verdict"] for f in results[name]["findings"]}
    assert verdicts["order and repetition"] == verdicts["union is minimum"] == "failed"


def test_it_writes_what_the_report_reads(tmp_path):
    options = Namespace(**OPTIONS | {"only": ["fastlsh, affine32"], "html": tmp_path})
    results = judge.all_judged(options, {"fastlsh, affine32": "253eb97de2b69eb2"})
    assert results["fastlsh, affine32"]["conforms"]
    assert "conforms" in (tmp_path / "fastlsh-affine32.html").read_text(encoding="utf-8")
    path = tmp_path / "conformance.json"
    record = {"versions": versions(), "results": results}
    path.write_text(json.dumps(record), encoding="utf-8")
    assert judge.recorded_values(path) == {"fastlsh, affine32": "253eb97de2b69eb2"}
    path.write_text(json.dumps(record | {"versions": {"fastlsh": "0"}}), encoding="utf-8")
    assert judge.recorded_values(path) == {}
    assert judge.recorded_values(tmp_path / "none") == {}
    lines = "\n".join(verdicts({"conformance": record}))
    assert "| **fastlsh, affine32** | 15 | 1 | none |" in lines
    assert list(facts({"conformance": record})) == []


def test_a_library_that_ends_its_process_is_a_result(monkeypatch):
    def end(*_):
        raise RuntimeError("it failed:\nFatal Python error: Segmentation fault")

    monkeypatch.setattr(judge.common, "call", end)
    options = Namespace(**OPTIONS | {"only": ["fastlsh, fss"]})
    results = judge.all_judged(options, {})
    assert not results["fastlsh, fss"]["conforms"]
    lines = list(facts({"conformance": {"results": results, "versions": {}}}))
    assert 'python -m bench conformance --only "fastlsh, fss"' in lines
    assert any("Segmentation fault" in line for line in lines)
