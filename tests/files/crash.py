"""A run that is killed at a certain event: python crash.py EVENT KEYWORDS_AS_JSON.

Or a command in a process of its own, with small budgets: `small`.
"""

import json
import os
import signal
import sys

import numpy as np

import fastlsh
from fastlsh.cli import main
from fastlsh.files.run import workdir
from shards import OF_PASSAGES, small_budget

EVENTS = ["replace", "fsync", "truncate", "unlink"]


class Patches:
    """Sets attributes as pytest's monkeypatch does, for good."""

    setattr = staticmethod(setattr)


def count_events(last, sizes):
    """Kill this process just before its event number `last`; say how many there were."""
    seen = 0

    def counted(original):
        def call(*arguments, **keywords):
            nonlocal seen
            seen += 1
            if seen == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **keywords)

        return call

    synchronise = workdir.synchronise
    small_budget(Patches(), **sizes)
    workdir.synchronise = synchronise
    for name in EVENTS:
        setattr(os, name, counted(getattr(os, name)))
    np.save = counted(np.save)
    return lambda: seen


def small():
    """Run a command with small budgets, and a disk that is waited for."""
    synchronise = workdir.synchronise
    small_budget(Patches())
    workdir.synchronise = synchronise
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    keywords = json.loads(sys.argv[2])
    events = count_events(int(sys.argv[1]), OF_PASSAGES if "join" in keywords else {})
    if "shingler" in keywords:
        keywords["shingler"] = fastlsh.Shingler(**keywords["shingler"])
    run = fastlsh.deduplicate_files
    if "by" in keywords:
        run = fastlsh.deduplicate_line_files
    elif "evals" in keywords:
        run = fastlsh.decontaminate_files
    elif "join" in keywords:
        run = fastlsh.deduplicate_span_files
    result = run(**keywords)
    removed = result.dropped if run is fastlsh.decontaminate_files else result.n_removed
    print(json.dumps([events(), removed]))
