"""Runs the own tests of a library on our drop-in module for it, unmodified.

    python tests/upstream.py datasketch                    # clones the version that we follow
    python tests/upstream.py lsh --source FOLDER           # or takes a copy of the repository
    python tests/upstream.py datasketch --original         # on the library that is installed
    python tests/upstream.py lsh --strict                  # with the defects of lsh

Their tests are only in their repositories; nothing of them is kept here. Other arguments go
to pytest. Exit status: 0 all pass, 1 some fail, 2 the tests could not be obtained.
"""

import argparse
import functools
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest


class Library(NamedTuple):
    """Where the tests of a library are."""

    repository: str
    version: str
    folder: str
    files: tuple[str, ...]


LIBRARIES = {
    "datasketch": Library("https://github.com/ekzhu/datasketch", "v2.0.0", "test", (
        "test_minhash.py", "test_minhash_schemes.py", "test_lean_minhash.py",
        "test_weighted_minhash.py", "test_lsh.py", "test_lshforest.py", "test_lshensemble.py",
    )),
    "lsh": Library("https://github.com/mattilyra/LSH", "a57069bfb70f4b620d47931f81966b5a73c1b480",
                   "lsh/test", ("test_cache.py",)),
}  # fmt: skip


def obtain(library, folder):
    """Clone the repository into a folder; return whether that worked."""
    try:
        for command in (["clone", "--quiet", library.repository, folder],
                        ["-C", folder, "checkout", "--quiet", library.version]):  # fmt: skip
            subprocess.run(
                ["git", *map(str, command)], check=True, timeout=300,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
            )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        print(f"upstream: {error}", file=sys.stderr)
        return False
    return True


def substitute(name, strict):
    """Make imports of a library and of its modules find ours."""
    ours = importlib.import_module(f"fastlsh.compat.{name}")
    if strict:
        ours.minhash.MinHasher = functools.partial(ours.minhash.MinHasher, strict=True)
    sys.modules[name] = ours
    for module in pkgutil.iter_modules(ours.__path__):
        inner = importlib.import_module(f"{ours.__name__}.{module.name}")
        sys.modules[f"{name}.{module.name}"] = inner


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("--source", type=Path, help="a copy of the repository instead of a clone")
    parser.add_argument("--original", action="store_true", help="run on the installed library")
    parser.add_argument("--strict", action="store_true", help="reproduce the defects of lsh")
    options, arguments = parser.parse_known_args()
    library = LIBRARIES[options.library]
    with tempfile.TemporaryDirectory() as scratch:
        source = options.source or Path(scratch, "source")
        obtained = options.source is not None or obtain(library, source)
        if not obtained or not (source / library.folder).is_dir():
            print(f"upstream: {source / library.folder} is not there", file=sys.stderr)
            return 2
        # Away from the library beside them, so that it is not what is imported.
        alone = Path(scratch, "alone")
        shutil.copytree(source / library.folder, alone / "test")
        if not options.original:
            substitute(options.library, options.strict)
        sys.path.insert(0, str(alone))  # their `test` comes before the standard library's
        os.chdir(alone)
        how = ["-q", "--continue-on-collection-errors", "-c", os.devnull, f"--rootdir={alone}"]
        paths = [alone / "test" / name for name in library.files]
        for path in paths:
            if not path.is_file():
                print(f"upstream: {path.name} is not in this version", file=sys.stderr)
        found = [str(path) for path in paths if path.is_file()]
        status = pytest.main([*how, "-p", "no:cacheprovider", *found, *arguments])
        os.chdir(Path(__file__).parent)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
