"""Runs in stages and parts, as many processes work on them."""

import os
import random
import shutil
import threading
from pathlib import Path

from fastlsh.files.run.manifest import STAGES, WHOLE
from killed_runs import run
from shards import contents


def in_parts(function, keywords, of, order=lambda parts: parts, stages=STAGES):
    """Run all stages, each in parts; return the result of the last one."""
    for stage in stages:
        for number in order([1] if stage in WHOLE else range(1, of + 1)):
            part = None if stage in WHOLE else (number, of)
            result = function(**keywords, stage=stage, part=part)
    return result


def each_stage_at_once(function, keywords, stages):
    """Run each stage three times at the same moment; none of these runs may fail."""
    for stage in stages:
        failed = []

        def run(stage=stage, failed=failed):
            try:
                function(**keywords, stage=stage)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, (stage, failed)


def killed_until_done(function, keywords, stages, kills, folder, expected, tries=3):
    """Kill parts at random events, some in each stage, and do each stage to its end.

    Until so many were killed.
    """
    draw = random.Random(kills)
    plain = {name: str(v) if isinstance(v, Path) else v for name, v in keywords.items()}
    killed = 0
    while killed < kills:
        for stage in stages:
            for _ in range(tries if killed < kills else 0):
                part = None if stage in WHOLE else (draw.randint(1, 2), 2)
                more = {"stage": stage, "part": part}
                killed += run(draw.randint(1, 20), {**plain, **more}) is None
            in_parts(function, keywords, 2, stages=[stage])
        assert contents(folder) == expected
        left = os.listdir(plain["work"])
        assert left == ["finished.json"], left
        shutil.rmtree(plain["work"])
        for path in folder.rglob("*.*"):
            path.unlink()
