"""Runs datasketch's own tests on fastlsh.compat.datasketch: ``python tests/upstream.py``.

They are only in its git repository, so they are cloned from there, or read from a checkout that
you have (``--source``); none is kept here. ``datasketch`` and its modules are ours while they run,
with ``--original`` the installed datasketch. Exit status: 0 all pass, 1 some fail, 2 the tests
could not be obtained.
"""

import argparse
import contextlib
import importlib
import os
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

REPOSITORY = "https://github.com/ekzhu/datasketch"
REF = "v2.0.0"
FILES = (
    "test_minhash.py",
    "test_minhash_schemes.py",
    "test_lean_minhash.py",
    "test_weighted_minhash.py",
    "test_lsh.py",
    "test_lshforest.py",
    "test_lshensemble.py",
)


class ObtainError(Exception):
    """The tests could not be had."""


class Count:
    """A pytest plugin that counts outcomes."""

    def __init__(self) -> None:
        self.outcomes = {"passed": 0, "failed": 0, "skipped": 0}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self.outcomes[report.outcome] += 1

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes["failed"] += 1


def obtain(source, ref, folder):
    """Return the checkout with the tests, cloned into `folder` unless `source` is given."""
    if source is None:
        command = ["git", "clone", "--quiet", "--depth", "1", "--branch", ref, REPOSITORY, folder]
        try:
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, timeout=300,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ObtainError(f"git: {error}") from error
        if done.returncode:
            raise ObtainError(f"{' '.join(command[:-1])}: {done.stderr.strip()}")
        source = folder
    checkout = Path(source).resolve()
    checkout = checkout.parent if checkout.name == "test" else checkout
    if not (checkout / "test" / "utils.py").is_file():
        raise ObtainError(f"{checkout} has no test/utils.py")
    return checkout


def substitute():
    """Make ``import datasketch`` and ``import datasketch.x`` find ours."""
    ours = importlib.import_module("fastlsh.compat.datasketch")
    sys.modules["datasketch"] = ours
    for module in pkgutil.iter_modules(ours.__path__):
        sys.modules[f"datasketch.{module.name}"] = importlib.import_module(
            f"{ours.__name__}.{module.name}"
        )


def run(checkout, names, arguments):
    """Run test files of the checkout; return the count of outcomes."""
    paths = [checkout / "test" / name for name in names]
    for path in paths:
        if not path.is_file():
            print(f"upstream: {path.name} is not in this version", file=sys.stderr)
    sys.path.insert(0, str(checkout))  # their `test` comes before the standard library's
    count = Count()
    options = [
        "-q",
        "--continue-on-collection-errors",
        "-c",
        os.devnull,
        f"--rootdir={checkout}",
        "-p",
        "no:cacheprovider",
    ]
    with contextlib.chdir(checkout) if hasattr(contextlib, "chdir") else contextlib.nullcontext():
        found = [str(path) for path in paths if path.is_file()]
        pytest.main([*options, *found, *arguments], plugins=[count])
    return count.outcomes


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", help="a checkout of datasketch instead of a clone")
    parser.add_argument("--ref", default=REF, help=f"the tag to clone (default {REF})")
    parser.add_argument("--original", action="store_true", help="run on the installed datasketch")
    parser.add_argument("--files", nargs="*", default=FILES, help="which test files")
    options, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            checkout = obtain(options.source, options.ref, folder)
        except ObtainError as error:
            print(f"upstream: cannot obtain datasketch's tests: {error}", file=sys.stderr)
            print("upstream: nothing was tested; give a checkout with --source", file=sys.stderr)
            return 2
        if not options.original:
            substitute()
        outcomes = run(checkout, options.files, arguments)
    total = outcomes["passed"] + outcomes["failed"]
    subject = "datasketch" if options.original else "fastlsh.compat.datasketch"
    print(
        f"upstream: {subject}: {outcomes['passed']} of {total} passed, "
        f"{outcomes['skipped']} skipped"
    )
    return 1 if outcomes["failed"] or not total else 0


if __name__ == "__main__":
    sys.exit(main())
