"""Runs mattilyra/lsh's own tests against `fastlsh.compat.lsh`, unmodified.

    python tests/upstream_lsh.py                # clones its repository at the version we follow
    python tests/upstream_lsh.py FOLDER         # or takes a copy of the repository
    python tests/upstream_lsh.py --strict ...   # with its defects

Nothing of it is kept here. The exit status is pytest's; 77 if the tests could not be obtained.
"""

import argparse
import functools
import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

REPOSITORY = "https://github.com/mattilyra/LSH"
COMMIT = "a57069bfb70f4b620d47931f81966b5a73c1b480"
TESTS = Path("lsh/test/test_cache.py")
NOT_OBTAINED = 77


def obtain(folder):
    """Clone the repository into `folder`; return the tests' file, or None and say why."""
    if shutil.which("git") is None:
        print("cannot obtain the tests: there is no git", file=sys.stderr)
        return None
    for command in (["clone", "--quiet", REPOSITORY, folder],
                    ["-C", folder, "checkout", "--quiet", COMMIT]):  # fmt: skip
        done = subprocess.run(["git", *map(str, command)], capture_output=True, text=True)
        if done.returncode:
            print(f"cannot obtain the tests: {done.stderr.strip()}", file=sys.stderr)
            return None
    return folder / TESTS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="a copy of the repository")
    parser.add_argument("--strict", action="store_true", help="reproduce lsh's defects")
    options = parser.parse_args()
    ours = importlib.import_module("fastlsh.compat.lsh")
    if options.strict:
        ours.minhash.MinHasher = functools.partial(ours.minhash.MinHasher, strict=True)
    sys.modules["lsh"] = ours
    for name in ours.__all__:
        sys.modules[f"lsh.{name}"] = getattr(ours, name)
    with tempfile.TemporaryDirectory() as scratch:
        tests = options.folder / TESTS if options.folder else obtain(Path(scratch, "lsh"))
        if tests is None or not tests.is_file():
            print(f"not run: {tests} is not there", file=sys.stderr)
            return NOT_OBTAINED
        # Alone in a folder, so that the lsh beside it is not what is imported.
        alone = Path(scratch, "tests", TESTS.name)
        alone.parent.mkdir()
        shutil.copy(tests, alone)
        status = pytest.main(
            ["-q", "-p", "no:cacheprovider", f"--rootdir={alone.parent}", str(alone)]
        )
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
