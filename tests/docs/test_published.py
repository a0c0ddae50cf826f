"""What is done with the repository elsewhere: on the package index, and by the jobs of CI."""

import importlib.util
import re
import sys

import pytest

from fastlsh import __version__
from pages import ROOT

SCRIPT = ROOT / ".ci" / "published.py"
WORKFLOWS = ROOT / ".github" / "workflows"
ADDRESS = "https://host.example/owner/name"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="from the sdist, which is published")


@pytest.fixture(scope="module")
def published():
    spec = importlib.util.spec_from_file_location("published", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_link_of_the_readme_is_absolute(published):
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    after = published.readme(before, ADDRESS, "v1")
    targets = re.findall(r"\]\(([^)\s]+)\)", after)
    assert len(targets) > 20
    assert all(re.match("https://|#", target) for target in targets)
    assert f"({ADDRESS}/actions/workflows/ci.yml/badge.svg)" in after
    assert f"({ADDRESS}/raw/v1/docs/images/how-path.svg)" in after
    for path in re.findall(rf"{ADDRESS}/(?:raw|blob)/v1/([^)#]+)", after):
        assert (ROOT / path).exists(), path
    assert published.readme(after, ADDRESS, "v1") == after


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", text, re.MULTILINE) == [__version__]


def test_the_addresses_are_in_the_metadata(published, tmp_path):
    for name in ("README.md", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    published.main(f"{ADDRESS}/", "v1", tmp_path)
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    if sys.version_info >= (3, 11):
        import tomllib

        urls = tomllib.loads(text)["project"]["urls"]
        assert urls["Source"] == ADDRESS
        assert urls["Changelog"] == f"{ADDRESS}/blob/v1/CHANGELOG.md"
        for path in re.findall(f"{ADDRESS}/blob/v1/(.+)", "\n".join(urls.values())):
            assert (ROOT / path).is_file(), path
    with pytest.raises(SystemExit, match=r"project\.urls"):
        published.project(text, ADDRESS, "v1")


# --- the jobs of continuous integration


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
    required = (ROOT / ".ci" / "lint-requirements.txt").read_text(encoding="utf-8").splitlines()
    assert f"cibuildwheel=={built}" in required
    (runners,) = re.findall(r"^        os: \[(.*macos.*)\]$", text, re.MULTILINE)
    lint = (ROOT / ".ci" / "lint").read_text(encoding="utf-8")
    (platforms,) = re.findall(r"^for platform in (.*); do$", lint, re.MULTILINE)
    assert len(platforms.split()) == len(runners.split(", "))
