"""A run that is killed at a certain event: python crash.py FUNCTION EVENT KEYWORDS_AS_JSON.

The keywords are those of the function; of "command" they are its words, and "sizes" of budgets.

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
    name, event, keywords = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    sizes = keywords.pop("sizes", OF_PASSAGES if name == "deduplicate_span_files" else {})
    events = count_events(event, sizes)
    if name == "command":
        sys.exit(main(keywords["words"]))
    getattr(fastlsh, name)(**keywords)
    print(events())
