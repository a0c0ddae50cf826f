"""The jobs of continuous integration."""

import re
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).parents[1] / ".github" / "workflows" / "ci.yml"
if not WORKFLOW.is_file():
    pytest.skip("from the sdist, which has no workflows", allow_module_level=True)


def test_the_gate_waits_for_every_other_job():
    text = WORKFLOW.read_text(encoding="utf-8").partition("\njobs:\n")[2]
    others, _, gate = text.partition("\n  gate:\n")
    jobs = re.findall(r"^  ([\w-]+):$", others, re.MULTILINE)
    assert len(jobs) > 10
    needs = gate.partition("    needs:\n")[2].partition("    runs-on:")[0]
    assert re.findall(r"^      - ([\w-]+)$", needs, re.MULTILINE) == jobs
    assert not re.search(r"^  [\w-]+:$", gate, re.MULTILINE), "a job behind the gate"
