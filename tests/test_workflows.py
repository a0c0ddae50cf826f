"""The jobs of continuous integration."""

import re
from pathlib import Path

import pytest

WORKFLOWS = Path(__file__).parents[1] / ".github" / "workflows"
if not WORKFLOWS.is_dir():
    pytest.skip("from the sdist, which has no workflows", allow_module_level=True)


def test_the_gate_waits_for_every_other_job():
    text = (WORKFLOWS / "ci.yml").read_text(encoding="utf-8").partition("\njobs:\n")[2]
    others, _, gate = text.partition("\n  gate:\n")
    jobs = re.findall(r"^  ([\w-]+):$", others, re.MULTILINE)
    assert len(jobs) > 10
    needs = gate.partition("    needs:\n")[2].partition("    runs-on:")[0]
    assert re.findall(r"^      - ([\w-]+)$", needs, re.MULTILINE) == jobs
    assert not re.search(r"^  [\w-]+:$", gate, re.MULTILINE), "a job behind the gate"


def test_the_gate_of_the_wheels_waits_for_all_that_is_built():
    text = (WORKFLOWS / "wheels.yml").read_text(encoding="utf-8").partition("\njobs:\n")[2]
    before, _, gate = text.partition("\n  wheels-gate:\n")
    jobs = re.findall(r"^  ([\w-]+):$", before, re.MULTILINE)
    assert jobs == ["changes", "sdist", "wheels", "sbom"]
    assert f"    needs: [{', '.join(jobs)}]\n" in gate
    for job in jobs[1:]:
        assert f"needs.{job}.result" in gate


def test_the_linter_names_the_wheels_as_the_workflow_builds_them():
    """The same version of cibuildwheel reads the settings, and every runner's platform is tried."""
    text = (WORKFLOWS / "wheels.yml").read_text(encoding="utf-8")
    (built,) = re.findall(r"pypa/cibuildwheel@\w+ # v(\S+)", text)
    root = WORKFLOWS.parents[1]
    required = (root / ".ci" / "lint-requirements.txt").read_text(encoding="utf-8").splitlines()
    assert f"cibuildwheel=={built}" in required
    (runners,) = re.findall(r"^        os: \[(.*macos.*)\]$", text, re.MULTILINE)
    lint = (root / ".ci" / "lint").read_text(encoding="utf-8")
    (platforms,) = re.findall(r"^for platform in (.*); do$", lint, re.MULTILINE)
    assert len(platforms.split()) == len(runners.split(", "))
