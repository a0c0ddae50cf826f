"""Tells whether the tests see small mistakes: ``python tests/mutants.py [FILE...]``.

Each mistake of ``mutants.txt`` is made alone in a copy of the sources, and the tests of that file
run on it: those of the default run and, if these pass, those of ``.ci/run``. Exits with 1 if a
mistake passes both: then a test is missing. FILE are parts of the names of sources; kernels are
rebuilt, for one instruction set.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "build" / "mutants"
SPOILED = COPY / "spoiled"
COPIED = ("src", "tests", "bench", "docs", "examples", "setup.py", "pyproject.toml", "README.md")
PATIENCE = 90
"""Seconds; what takes longer, and ten times as long as without a mistake, does not end."""


class Selection(NamedTuple):
    """Which of the tests of a source run, and with how many examples."""

    options: list[str]
    variables: dict[str, str]


BY_DEFAULT = Selection([], {})
BY_CI = Selection(["-m", "not slow"], {"FASTLSH_EXAMPLES": "75", "FASTLSH_DAMAGED": "500"})
"""As in `.ci/run`."""

NO_TESTS = 5
"""What pytest exits with if no test is selected: then none fails."""


class Group(NamedTuple):
    """The mistakes in a file."""

    source: str
    tests: list[str]
    changes: list[tuple[str, str]]
    """What is replaced by what."""


def groups():
    """Read the list: a source, its tests, and mistakes as in a diff."""
    found = []
    lines = (ROOT / "tests" / "mutants.txt").read_text(encoding="utf-8").splitlines()
    old, new = [], []
    for line in [*lines, ""]:
        if line[:2] in ("- ", "+ ") or line in ("-", "+"):
            (old if line[0] == "-" else new).append(line[2:])
            continue
        if old:
            found[-1].changes.append(("\n".join(old) + "\n", "".join(f"{each}\n" for each in new)))
            old, new = [], []
        if line.startswith("src/"):
            source, tests = line.split(": ")
            found.append(Group(source, tests.split(), []))
    return found


def make_copy():
    """Copy the sources, with kernels that are compiled quickly and for one instruction set."""
    if SPOILED.exists():  # a run was ended while a kernel had a mistake
        shutil.rmtree(COPY / "build")
        SPOILED.unlink()
    for name in COPIED:
        source, target = ROOT / name, COPY / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy2(source, target)
    setup = COPY / "setup.py"
    setup.write_text(setup.read_text().replace('"-O3"', '"-O1"'))
    stamps = COPY / "stamps"  # what did not change since the last run is not built again
    stamps.mkdir(exist_ok=True)
    for path in [setup, *(COPY / "src").rglob("_kernels/**/*.p*")]:
        kept = stamps / str(path.relative_to(COPY)).replace("/", "-")
        if kept.exists() and kept.read_bytes() == path.read_bytes():
            os.utime(path, ns=(kept.stat().st_atime_ns, kept.stat().st_mtime_ns))
        else:
            path.touch()
            shutil.copy2(path, kept)


def environment():
    """Return the environment of the copy."""
    return {
        **os.environ,
        "PYTHONPATH": str(COPY / "src"),
        "FASTLSH_BUILD": "baseline",
        "FASTLSH_ISA": "baseline",
    }


def build():
    """Build what changed; return whether the compilers took it."""
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(
        command, cwd=COPY, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode == 0


def passes(tests, selection, patience):
    """Return whether the selected tests pass."""
    more = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *selection.options]
    command = [sys.executable, "-m", "pytest", *more, *tests]
    variables = {**environment(), **selection.variables}
    try:
        done = subprocess.run(
            command, cwd=COPY, env=variables, capture_output=True, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, NO_TESTS)


def unseen(group, changes, selection):
    """Make each of some mistakes of a group; return those that the selected tests do not see."""
    if not changes:
        return []
    path = COPY / group.source
    sound = path.read_text()
    is_kernel = not group.source.endswith(".py")
    start = time.monotonic()
    if not passes(group.tests, selection, 1200):
        sys.exit(f"{group.source}: the tests fail without any mistake: {' '.join(group.tests)}")
    patience = PATIENCE + 10 * (time.monotonic() - start)
    found = []
    if is_kernel:
        SPOILED.touch()
    for old, new in changes:
        if sound.count(old) != 1:
            sys.exit(f"{group.source}: is there {sound.count(old)} times: {old}")
        path.write_text(sound.replace(old, new))
        try:
            if is_kernel and not build():
                sys.exit(f"{group.source}: cannot be built with {new}")
            if passes(group.tests, selection, patience):
                found.append((old, new))
        finally:
            path.write_text(sound)
    if is_kernel:
        if not build():
            sys.exit("the kernels cannot be built")
        SPOILED.unlink()
    return found


def check(group):
    """Tell which mistakes of a group are seen; return how many by default, by CI only, and not."""
    start = time.monotonic()
    late = unseen(group, group.changes, BY_DEFAULT)
    never = unseen(group, late, BY_CI)
    print(f"{group.source} ({time.monotonic() - start:.0f} s)")
    for change in group.changes:
        how = "not seen" if change in never else "seen by .ci/run only"
        print(f"{how if change in late else 'seen by default'}:")
        for sign, lines in zip("-+", change, strict=True):
            print(indent(lines, f"{sign} "), end="")
    sys.stdout.flush()
    return len(group.changes) - len(late), len(late) - len(never), len(never)


def main():
    """Run."""
    wanted = "|".join(map(re.escape, sys.argv[1:]))
    COPY.mkdir(parents=True, exist_ok=True)
    make_copy()
    if not build():
        sys.exit("the kernels cannot be built")
    chosen = [group for group in groups() if re.search(wanted, group.source)]
    if not chosen:
        sys.exit("no source has such a name")
    counts = [check(group) for group in chosen]
    by_default, by_ci, never = (sum(column) for column in zip(*counts, strict=True))
    print(f"{by_default} seen by default, {by_ci} by .ci/run only, {never} not seen")
    return bool(never)


if __name__ == "__main__":
    sys.exit(main())
