"""Runs on each engine: in memory, on disk, and in stages and parts, as many processes work."""

import os
import random
import shutil
from functools import partial

from fastlsh import decontaminate_files, near_duplicate_files, overlap_files
from fastlsh.files.run.stages import OF_DECONTAMINATION, OF_PAIRS, OF_ROWS, STAGES, WHOLE
from killed_runs import run
from running import at_once
from shards import contents

ENGINES = ("memory", "disk", "stages")
STAGES_OF = {
    near_duplicate_files: OF_PAIRS, overlap_files: OF_PAIRS, decontaminate_files: OF_DECONTAMINATION
}  # fmt: skip
"""The stages of each job; all others have those of a search that writes rows."""
OF_THE_ENGINE = ("engine", "reason", "outputs", "seconds")
"""What results of two engines may differ in."""


def stages_of(function, group=None):
    """Return the stages of a job; those that join the rows of a group come first."""
    return (*(OF_ROWS if group else ()), *STAGES_OF.get(function, STAGES))


def in_parts(function, keywords, of, order=lambda parts: parts, stages=None):
    """Run all stages, or these, each in parts; return the result of the last one."""
    if stages is None:
        stages = stages_of(function, keywords.get("group"))
    result = None
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


def run_with(engine, function, *arguments, work, **keywords):
    """Run a job in memory, on disk, or in stages of two parts each: "stages"."""
    keywords = {"memory": "300M", "threads": 1, **keywords}
    if engine == "stages":
        stages = stages_of(function, keywords.get("group"))
        return in_parts(partial(function, *arguments), {**keywords, "work": work}, 2, stages=stages)
    if function is decontaminate_files:  # which works on disk if it has a work directory
        return function(*arguments, work=work if engine == "disk" else None, **keywords)
    return function(*arguments, engine=engine, work=work, **keywords)


def both_engines(function, folder, inputs, output, *tables, engines=ENGINES[:2], **keywords):
    """Run a job in memory and on disk; return the result and the bytes of what both have written.

    Its tables are the options of the same name, without the suffix. Other engines can be named.
    """
    found = []
    for engine in engines:
        place, work = folder / engine, folder / f"{engine}.work"
        place.mkdir(parents=True, exist_ok=True)
        paths = {name.partition(".")[0]: place / name for name in tables}
        paths["output"] = None if output is None else f"{place}/{output}"
        result = run_with(engine, function, inputs, work=work, **paths, **keywords)
        assert engine == "stages" or getattr(result, "engine", engine) == engine
        counts = {name: value for name, value in vars(result).items() if name not in OF_THE_ENGINE}
        if "overlap" in counts:  # whose counts are arrays
            counts |= {name: str(value) for name, value in vars(counts.pop("overlap")).items()}
        found.append((counts, contents(place)))
        assert found[-1] == found[0], engine
        assert (os.listdir(work) if work.exists() else []) == ["finished.json"] * (
            engine == "stages"
        )
        shutil.rmtree(work, ignore_errors=True)
    return result, found[0][1]


def each_stage_at_once(function, keywords):
    """Run each stage three times at the same moment; none of these runs may fail."""
    for stage in stages_of(function, keywords.get("group")):
        at_once(*[partial(function, **keywords, stage=stage)] * 3)


def killed_until_done(function, keywords, kills, folder, expected, tries=3):
    """Kill parts at random events, some in each stage, and do each stage to its end.

    Until so many were killed.
    """
    draw = random.Random(kills)
    killed = 0
    while killed < kills:
        for stage in stages_of(function, keywords.get("group")):
            for _ in range(tries if killed < kills else 0):
                part = None if stage in WHOLE else (draw.randint(1, 2), 2)
                more = {"stage": stage, "part": part}
                killed += run(function, draw.randint(1, 20), {**keywords, **more}) is None
            in_parts(function, keywords, 2, stages=[stage])
        assert contents(folder) == expected
        left = os.listdir(keywords["work"])
        assert left == ["finished.json"], left
        shutil.rmtree(keywords["work"])
        for path in folder.rglob("*.*"):
            path.unlink()
