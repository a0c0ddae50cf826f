"""A work directory that was damaged between two runs: the right answer, or an error that names it.

A run is stopped in each stage. Then one of its files is changed, shortened, lengthened, removed, or
replaced by another one, and the same run goes on.
"""

import errno
import os
import random
import shutil

import numpy as np
import pytest

import killed_runs
from combinations import covering, every, often
from fastlsh import InputError, deduplicate_files, deduplicate_line_files, deduplicate_span_files
from fastlsh.files.disk import decide, gather, link, sign
from fastlsh.files.run import ownership
from fastlsh.files.run.stages import STAGES
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.files.tasks import dedup as on_disk
from fastlsh.io import rows as rewriting
from in_stages import in_parts
from killed_runs import stopped_in, written
from shards import OF_PASSAGES, rows_of, small_budget, write_shards

STOPS = {
    "signing": (sign, "sign_batch", 4),
    "linking": (link, "link_sorted", 12),
    "gathering": (gather, "_pieces", 5),
    "deciding": (decide, "decide_part", 1),
    "answer": (on_disk, "answer_of_all_parts", 0),
    "writing": (rewriting, "_written", 1),
}


def prepared(folder, monkeypatch, function=deduplicate_files, seed=3, **more):
    """Write a collection; return the keywords of a run on disk, and what it must write."""
    small_budget(monkeypatch, texts=400, rows=64)
    monkeypatch.setattr(link, "EVERY", 0.0)
    folder.mkdir(exist_ok=True)
    more = {"threshold": 0.7, "threads": 1, **more}
    inputs = write_shards(folder, rows_of(seed, 32), 3)
    keywords, expected = killed_runs.prepared(function, folder, inputs=inputs, **more)
    return {**keywords, "work": folder / "work"}, expected


def stopped(folder, monkeypatch, stage, seed=3):
    """Stop a run in a stage; return its arguments, and what it would have written."""
    keywords, expected = prepared(folder, monkeypatch, seed=seed)
    stopped_in(monkeypatch, *STOPS[stage], deduplicate_files, **keywords)
    return keywords, expected


def flipped(code, place):
    return code[:place] + bytes([code[place] ^ 0x10]) + code[place + 1 :]


DAMAGES = {
    "first byte": lambda code, _: flipped(code, 0) if code else b"x",
    "some byte": lambda code, draw: flipped(code, draw.randrange(len(code))) if code else b"x",
    "last byte": lambda code, _: flipped(code, len(code) - 1) if code else b"x",
    "one byte less": lambda code, _: code[:-1] if code else b"x",
    "half": lambda code, _: code[: len(code) // 2] if code else b"x",
    "empty": lambda code, _: b"" if code else b"x",
    "longer": lambda code, _: code + b"\0",
    "twice": lambda code, _: code + code if code else b"x",
}


def damage(path, kind, draw, other):
    """Change a file; return False if nothing has changed."""
    code = path.read_bytes()
    if kind in ("removed", "a directory"):
        path.unlink()
        if kind == "a directory":
            path.mkdir()
        return True
    if kind == "swapped":
        same = [each for each in path.parent.iterdir() if each.is_file() and each != path]
        new = draw.choice(same).read_bytes() if same else code
    elif kind == "other run":
        new = other.read_bytes() if other.exists() else code
    else:
        new = DAMAGES[kind](code, draw)
    path.write_bytes(new)
    return new != code


def goes_on(folder, keywords, expected):
    """Run on; the answer is right, or an error names a file of the work directory."""
    try:
        deduplicate_files(**keywords)
    except InputError as error:
        line = str(error)
        assert line.startswith(str(keywords["work"])), line
        if "not a work directory" in line:  # there is no manifest: whose files these are is unknown
            shutil.rmtree(keywords["work"])
        else:
            assert "restart=True" in line, line
        deduplicate_files(**keywords, restart=True)
    assert written(folder) == expected


@pytest.mark.parametrize("stage", every(6, STOPS, 3))
@pytest.mark.parametrize("tries", often(3, 10, 100_000))
def test_damage(tmp_path, monkeypatch, stage, tries):
    other = tmp_path / "other"
    stopped(other, monkeypatch, stage, seed=4)
    keywords, expected = stopped(tmp_path, monkeypatch, stage)
    work, sound = tmp_path / "work", tmp_path / "sound"
    work.rename(sound)
    out, early = tmp_path / "out", tmp_path / "early"
    out.rename(early)
    names = [path.relative_to(sound) for path in sound.rglob("*") if path.is_file()]
    cases = [
        (name, kind)
        for name in sorted(names)
        for kind in (*DAMAGES, "removed", "a directory", "swapped", "other run")
        if str(name) != "lock"
    ]
    draw = random.Random(0)
    done = 0
    for name, kind in draw.sample(cases, min(tries, len(cases))):
        for place, copy in ((work, sound), (out, early)):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(copy, place)
        if damage(work / name, kind, draw, other / "work" / name):
            done += 1
            goes_on(tmp_path, keywords, expected)
    assert done > min(tries, len(cases)) // 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("now", every(2, ["missing", "a file"]))
@pytest.mark.parametrize("stage", every(3, ["gathering", "deciding", "writing"]))
def test_a_directory_that_is_none(tmp_path, monkeypatch, stage, now):
    keywords, expected = stopped(tmp_path, monkeypatch, stage)
    work, sound = tmp_path / "work", tmp_path / "sound"
    work.rename(sound)
    for folder in sorted(path.name for path in sound.iterdir() if path.is_dir()):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(sound, work)
        shutil.rmtree(work / folder)
        if now == "a file":
            (work / folder).write_bytes(b"x")
        goes_on(tmp_path, keywords, expected)


NAMED = [
    (
        deduplicate_files, {}, STOPS["deciding"], ("last byte", "half"),
        ("texts", "rows", "stretches.npy"),
    ),
    (
        deduplicate_line_files, {"threshold": 1.0}, (rewriting, "_written", 0),
        ("some byte", "half"), ("ids.bounds.npy", "ids.json", "pieces.npy"),
    ),
]  # fmt: skip
"""A job, how it is done, where it is stopped, damages, and files that it needs then."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("function", "more", "stop", "kinds", "names"), NAMED)
def test_a_damaged_file_of_texts_is_named(
    tmp_path, monkeypatch, function, more, stop, kinds, names
):
    keywords, expected = prepared(tmp_path, monkeypatch, function, **more)
    stopped_in(monkeypatch, *stop, function, **keywords)
    for name in names:
        paths = sorted(keywords["work"].glob(f"*-*/{name}"))
        path = next(each for each in paths if each.stat().st_size)
        code = path.read_bytes()
        for kind in (*kinds, "removed"):
            path.write_bytes(code)
            damage(path, kind, random.Random(0), path)
            with pytest.raises(InputError, match="restart=True") as caught:
                function(**keywords)
            assert str(caught.value).startswith(str(path.parent)), (path, kind)
        path.write_bytes(code)
    function(**keywords)
    assert written(tmp_path) == expected


def test_files_of_a_part_that_are_directories(tmp_path, monkeypatch):
    keywords, expected = stopped(tmp_path, monkeypatch, "gathering")
    for path in list(keywords["work"].glob("texts-*/*")):
        path.unlink()
        path.mkdir()
    goes_on(tmp_path, keywords, expected)


def test_a_sector_that_cannot_be_read(tmp_path, monkeypatch):
    keywords, expected = stopped(tmp_path, monkeypatch, "deciding")
    checked = ownership._checked

    def damaged(file, *arguments):
        if file.name.endswith("linked.json"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))  # the system names no file
        return checked(file, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ownership, "_checked", damaged)
        with pytest.raises(
            InputError, match=r"linked\.json: the file cannot be read: .*restart=True"
        ):
            deduplicate_files(**keywords)
    goes_on(tmp_path, keywords, expected)


OF_PARTS = {
    "documents": (deduplicate_files, {"threshold": 0.7}),
    "lines": (deduplicate_line_files, {"threshold": 1.0}),
    "spans": (deduplicate_span_files, {"min_length": 40}),
}


@pytest.mark.parametrize(
    ("job", "window", "rows"),
    covering(OF_PARTS, [1 << 20, 2], ["reversed", "first behind", "last before"]),
)
def test_an_answer_whose_rows_are_not_sorted(tmp_path, monkeypatch, job, window, rows):
    """Its seal fits, as in a directory that somebody has made; the end is an error, in any size."""
    function, more = OF_PARTS[job]
    inputs = write_shards(tmp_path, rows_of(3, 32), 3)
    keywords = {"inputs": inputs, "output": f"{tmp_path}/out/", "work": tmp_path / "work", **more}
    keywords |= {"threads": 1, "memory": "300M"}
    small_budget(monkeypatch, **(OF_PASSAGES if job == "spans" else {}))
    monkeypatch.setattr(decide, "WINDOW", window)
    monkeypatch.setattr(decide, "LEAST_WINDOW", window)
    in_parts(function, keywords, 1, stages=STAGES[:5])
    work = WorkDirectory(keywords["work"])
    for path in sorted(keywords["work"].glob("answer-[0-9]*.npy")):
        answer = np.array(work.load(path.name))
        order = np.arange(len(answer))
        changed = answer[{"reversed": order[::-1], "first behind": np.roll(order, -1)}.get(
            rows, np.roll(order, 1)
        )]  # fmt: skip
        if len(answer) > 2 and changed["left"].tolist() != answer["left"].tolist():
            work.save(path.name, changed)
            break
    with pytest.raises(InputError, match=rf"{path.name}: its rows are not sorted: remove the dir"):
        function(**keywords, stage="merge")
