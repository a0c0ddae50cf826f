"""Runs in stages and parts, as many processes work on them."""

import os
import random
import shutil
from functools import partial
from pathlib import Path

from fastlsh.files.run.stages import STAGES, WHOLE
from killed_runs import run
from running import at_once
from shards import contents


def in_parts(function, keywords, of, order=lambda parts: parts, stages=STAGES):
    """Run all stages, each in parts; return the result of the last one."""
    for stage in stages:
        for number in order([1] if stage in WHOLE else range(1, of + 1)):
            part = None if stage in WHOLE else (number, of)
            result = function(**keywords, stage=stage, part=part)
    return result


def any_order(seed):
    """Return a function that shuffles parts, and has one of them twice."""
    draw = random.Random(seed)

    def order(parts):
        often = [*parts, draw.choice(list(parts))]
        draw.shuffle(often)
        return often

    return order


def done_before(function, keywords, done):
    """Run some parts of three of some stages: (stage, *numbers), None for a stage that is whole."""
    for stage, *numbers in done:
        for number in numbers:
            function(**keywords, stage=stage, part=None if number is None else (number, 3))


def run_with(engine, function, *arguments, work, stages=STAGES, **keywords):
    """Run a job in memory, on disk, or in stages of two parts each: "stages"."""
    keywords = {"memory": "300M", "threads": 1, **keywords}
    if engine != "stages":
        return function(*arguments, engine=engine, work=work, **keywords)
    return in_parts(partial(function, *arguments), {**keywords, "work": work}, 2, stages=stages)


def both_engines(function, folder, inputs, output, *tables, **keywords):
    """Run a job in memory and on disk; return the result and the bytes of what both have written.

    Its tables are the options of the same name, without the suffix.
    """
    found = []
    for engine in ("memory", "disk"):
        place = folder / engine
        place.mkdir(exist_ok=True)
        paths = {name.partition(".")[0]: place / name for name in tables}
        result = function(
            inputs, f"{place}/{output}", engine=engine, work=folder / "work",
            **{"memory": "300M", "threads": 1, **paths, **keywords},
        )  # fmt: skip
        assert result.engine == engine
        counts = {name: value for name, value in vars(result).items() if name not in OF_THE_ENGINE}
        found.append((counts, contents(place)))
    assert found[0] == found[1]
    assert not (folder / "work").exists()
    return result, found[1][1]


OF_THE_ENGINE = ("engine", "reason", "outputs", "seconds")


def each_stage_at_once(function, keywords, stages):
    """Run each stage three times at the same moment; none of these runs may fail."""
    for stage in stages:
        at_once(*[partial(function, **keywords, stage=stage)] * 3)


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
