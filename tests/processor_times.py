"""The processor time of each test: where it goes, and which tests take too long to run by default.

With ``FASTLSH_TIMES=FILE``, a run of pytest writes the seconds of each test to that file
(`tests/conftest.py` loads this module as a plugin)::

    python tests/processor_times.py FILE          # prints the seconds of each folder and test
    python tests/processor_times.py --limit FILE  # fails if a test always takes too long
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

MOST = 1.0
"""The seconds that a test of the default run may take, on a quiet machine of the usual speed."""
QUIET = 0.1
"""The seconds that `fixed_work` takes on such a machine."""
AGAIN = 4
"""How many times a test that took too long runs once more before it is refused."""
FILE = "FASTLSH_TIMES"
NAME = "processor_time"
START = pytest.StashKey[float]()
seconds: dict[str, float] = {}


def spent():
    """Return the processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[START] = spent()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add the time to the last report of a test: reports are what other processes send."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append((NAME, spent() - item.stash[START]))
    return report


def pytest_runtest_logreport(report):
    if report.when == "teardown":
        seconds[report.nodeid] = dict(report.user_properties)[NAME]


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        Path(os.environ[FILE]).write_text(json.dumps(seconds))


def longer(times, slowness=1.0):
    """Return the tests that take more than they may on a machine that is so many times slower."""
    return {test: taken for test, taken in times.items() if taken > MOST * slowness}


def fixed_work():
    """Return the processor time of a piece of Python that is always the same."""
    start, lengths = time.process_time(), {}
    for number in range(400_000):
        text = str(number * number % 9973)
        lengths[text] = lengths.get(text, 0) + len(text)
    return time.process_time() - start


def slowness():
    """Return how many times slower than usual this machine is now: other work beside slows it."""
    return max(1.0, statistics.median(fixed_work() for _ in range(5)) / QUIET)


def of_folders(times):
    """Return lines: for each folder of tests its seconds, its tests, and how many are long."""
    sums, tests, long = Counter(), Counter(), Counter()
    for test, taken in times.items():
        parts = test.partition("::")[0].split("/")
        folder = "/".join(parts[:2]) if len(parts) > 2 else "tests/*.py"
        sums[folder] += taken
        tests[folder] += 1
        long[folder] += taken > MOST
    yield f"| folder | seconds | tests | above {MOST:g} s |"
    yield "|---|---:|---:|---:|"
    for folder, taken in [*sums.most_common(), ("all", sum(times.values()))]:
        whole = folder == "all"
        count, above = (len(times), len(longer(times))) if whole else (tests[folder], long[folder])
        yield f"| {folder} | {taken:.1f} | {count:,} | {above} |"


def again(names):
    """Run some tests once more, in one process; return their times."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "times.json")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *names]
        subprocess.run(command, env={**os.environ, FILE: str(path)}, check=True)
        return json.loads(path.read_text())


def too_long(times):
    """Return the tests that take too long in the run and whenever they run again.

    Other work on a machine only ever adds to a time, so one short time is enough for a test.
    """
    long = longer(times)
    for _ in range(AGAIN):
        if not long:
            break
        before = slowness()
        times = again(list(long))
        still = longer(times, max(before, slowness()))
        long = {test: min(long[test], taken) for test, taken in still.items() if test in long}
    return long


def main():
    """Print the times, or hold them against the limit."""
    limit, (name,) = "--limit" in sys.argv, [each for each in sys.argv[1:] if each[0] != "-"]
    times = json.loads(Path(name).read_text())
    print(*of_folders(times), sep="\n")
    if not limit:
        for test in sorted(times, key=times.__getitem__, reverse=True)[:100]:
            print(f"{times[test]:8.2f}  {test}")
        return 0
    long = too_long(times)
    for test, taken in long.items():
        print(
            f"{test} takes {taken:.2f} s of processor time: make it shorter, or mark it exhaustive"
        )
    return bool(long)


if __name__ == "__main__":
    sys.exit(main())
