"""Kills: whatever ends a run, the same command goes on, to the same bytes, and leaves nothing."""

import json
import os
import random
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import fastlsh
import killed_runs
from combinations import every
from fastlsh import InputError, deduplicate_files
from fastlsh.files.disk import decide, gather, link, sign
from fastlsh.files.run import manifest
from fastlsh.files.run.workdir import WorkDirectory
from jobs import JOBS, staged_job
from killed_runs import StoppedError, ended_again_and_again, finish, run, stopped_in, written
from refusals import refuses
from shards import OF_PASSAGES, content_of, contents, rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk
no_kills = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


def prepared(folder, seed=1, n=45, **more):
    """Write a collection; return the keywords of a run, and what it must write."""
    rows = {"threshold": 0.7, "keep": "longest", "threads": 2, **more}
    inputs = write_shards(folder, rows_of(seed, n), 3)
    return killed_runs.prepared(deduplicate_files, folder, inputs=inputs, **rows)


KILLED = {"documents": 100, "lines": 50, "passages": 50, "items": 25}
"""Jobs, and the fewest events of each at which it can be killed."""


@no_kills
@pytest.mark.parametrize(
    ("name", "times"),
    [
        pytest.param("documents", 2, marks=pytest.mark.small),
        *(pytest.param(name, 6, marks=pytest.mark.exhaustive) for name in KILLED),
        *(pytest.param(name, 50, marks=pytest.mark.slow) for name in KILLED),
    ],
)
def test_a_kill_in_every_stage_changes_nothing(tmp_path, name, times):
    run = staged_job(tmp_path, JOBS[name])
    keywords = {**run.keywords, **run.engine, "threads": 2}
    ended_again_and_again(run.function, tmp_path, keywords, run.expected, KILLED[name], times)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_kill_while_the_manifest_is_written(tmp_path, monkeypatch, sealed):
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    work, name = tmp_path / "work", f"manifest.json.{'0' * 16}.tmp"
    work.mkdir()
    (work / "lock").touch()
    WorkDirectory(work).begin({})
    content = (work / "manifest.json").read_bytes()
    (work / "manifest.json").unlink()
    (work / name).write_bytes(content if sealed else content[:-9])
    deduplicate_files(**keywords)
    assert written(tmp_path) == expected
    assert sealed != (work / name).exists()  # without a seal, whose it is cannot be known


@pytest.mark.slow
@no_kills
def test_a_kill_at_each_event(tmp_path):
    keywords, expected = prepared(tmp_path)
    for event in range(1, run(deduplicate_files, 0, keywords) + 1, 3):
        for path in (tmp_path / "out").iterdir():
            path.unlink()
        assert run(deduplicate_files, event, keywords) is None
        finish(deduplicate_files, tmp_path, keywords, expected)


@pytest.mark.slow
@no_kills
def test_a_hundred_kills_at_random_instants(tmp_path):
    keywords, expected = prepared(tmp_path, n=2000)
    start = time.monotonic()
    run(deduplicate_files, 0, keywords)
    whole = time.monotonic() - start
    draw = random.Random(0)
    for _ in range(100):
        run(deduplicate_files, 0, keywords, draw.uniform(0.2 * whole, whole))
        if draw.random() < 0.3:
            finish(deduplicate_files, tmp_path, keywords, expected)
    finish(deduplicate_files, tmp_path, keywords, expected)


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A run that was ended while it decided."""
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    stopped_in(monkeypatch, decide, "decide_part", 1, deduplicate_files, **keywords)
    return keywords, expected


def test_what_is_done_is_not_done_again(stopped, tmp_path, monkeypatch):
    keywords, expected = stopped
    decided = []
    decide_part = decide.decide_part

    def counted(*arguments, **more):
        decided.append(1)
        return decide_part(*arguments, **more)

    monkeypatch.setattr(decide, "decide_part", counted)
    for room, name in [(sign, "sign_batch"), (link, "link_sorted"), (gather, "_TextsWriter")]:
        monkeypatch.setattr(room, name, None)
    parts = content_of(tmp_path / "work" / "linked.json")["parts"]
    deduplicate_files(**keywords)
    assert len(decided) == parts - 1
    assert written(tmp_path) == expected


OTHERS = [
    ({"threshold": 0.75}, "threshold was 0.7, and is 0.75"),
    ({"keep": "first"}, "keep was longest, and is first"),
    ({"num_perm": 64}, "num_perm was 128, and is 64"),
    ({"text": "id"}, r"in0.jsonl has changed since|text"),
    ({"seed": 7}, "seed was 1, and is 7"),
    ({"max_candidates": 5}, "max_candidates was 1000, and is 5"),
]


def test_other_parameters_and_the_other_byte_order_are_refused(stopped, tmp_path):
    keywords, expected = stopped
    for change, told in OTHERS:
        with pytest.raises(InputError, match=told) as caught:
            deduplicate_files(**{**keywords, **change})
        assert "restart=True" in str(caught.value)
    path = tmp_path / "work" / "manifest.json"
    manifest = path.read_bytes()
    other = {"little": "big", "big": "little"}[sys.byteorder]
    WorkDirectory(path.parent).write(path.name, {**content_of(path), "byte order": other})
    with pytest.raises(InputError, match=f"byte order was {other}, and is {sys.byteorder}"):
        deduplicate_files(**keywords)
    path.write_bytes(manifest)
    deduplicate_files(**keywords)
    assert written(tmp_path) == expected


def test_changed_inputs_are_refused_until_restart(stopped, tmp_path):
    keywords, _ = stopped
    path = Path(keywords["inputs"][1])
    path.write_text(path.read_text(encoding="utf-8") + '{"id": "new", "text": "x y z"}\n', "utf-8")
    refuses(InputError, r"in1\.jsonl has changed since", deduplicate_files, **keywords)
    assert not list((tmp_path / "out").iterdir())
    with pytest.raises(InputError, match="there were 3 inputs, and are 2"):
        deduplicate_files(**{**keywords, "inputs": keywords["inputs"][:2]})
    result = deduplicate_files(**keywords, restart=True)
    assert result.documents == 46


def test_threads_and_memory_may_change(stopped, tmp_path, monkeypatch):
    keywords, expected = stopped
    small_budget(monkeypatch, part=50, block=90, segment=20)
    deduplicate_files(**{**keywords, "threads": 1, "memory": "500M"})
    assert written(tmp_path) == expected


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@pytest.mark.parametrize(
    ("rows_before", "rows_after", "links"),
    [(16, 1000, 3), (16, 1000, 9), (16, 1000, 20), (16, 40, 12), (40, 16, 8), (40, 16, 15)],
)
def test_memory_may_change_while_documents_are_linked(
    tmp_path, monkeypatch, rows_before, rows_after, links
):
    """Each link is found once only, and none may be forgotten."""
    monkeypatch.setattr(link, "EVERY", 0)
    monkeypatch.setattr(link, "BATCH", 7)
    keywords, expected = prepared(tmp_path, n=150, bands=1, rows=2)
    small_budget(monkeypatch, rows=rows_before)
    one = {**keywords, "threads": 1}  # in one thread, the ranges are linked one by one
    stopped_in(monkeypatch, link, "_unite", links, deduplicate_files, **one)
    assert (tmp_path / "work" / link.STATE).exists()
    small_budget(monkeypatch, rows=rows_after)
    deduplicate_files(**keywords)
    assert written(tmp_path) == expected


@pytest.mark.parametrize("blocks", every(3, [1, 2, 7], 1))
def test_a_run_that_ends_while_it_gathers(tmp_path, monkeypatch, blocks):
    """The texts of a run of keys are gathered once more, or not at all."""
    rows = rows_of(2, 60)
    rows[0]["text"] = rows[3]["text"] = "the only text with \ud83d, in the first block"
    monkeypatch.setattr(sys.modules[__name__], "rows_of", lambda *_: rows)
    small_budget(monkeypatch, texts=0)
    keywords, expected = prepared(tmp_path)
    add = gather._TextsWriter.add
    gathered = []

    def counted(writer, pieces):
        gathered.append((pieces.numbers.tolist(), pieces.ids))
        if len(gathered) == blocks + 1:
            raise StoppedError
        add(writer, pieces)

    monkeypatch.setattr(gather._TextsWriter, "add", counted)
    with pytest.raises(StoppedError):
        deduplicate_files(**keywords)
    folders = [path.name for path in (tmp_path / "work").glob("texts-*")]
    whole = [name for name in folders if not name.endswith(".tmp")]
    assert len(whole) < len(folders)
    deduplicate_files(**keywords)
    assert written(tmp_path) == expected
    again = [record for record in gathered[blocks + 1 :] if record in gathered[: blocks + 1]]
    assert again
    assert len(whole) < 3 or len(again) <= blocks


def test_what_tells_that_an_input_has_changed(tmp_path):
    path, work = tmp_path / "in.jsonl", tmp_path / "work"
    path.write_text(
        "".join(json.dumps({"text": f"{n} " * 1300}) + "\n" for n in range(60)), "utf-8"
    )
    whole, times = path.read_bytes(), (1, path.stat().st_mtime_ns)
    assert len(whole) > 3 << 16

    def deduplicated():
        os.utime(path, ns=times)
        keywords = {"engine": "disk", "work": work, "keep_work": True}
        return deduplicate_files([path], tmp_path / "out.jsonl", **keywords)

    deduplicated()
    for place in (12, len(whole) - 9):
        path.write_bytes(whole[:place] + b"9" + whole[place + 1 :])
        refuses(InputError, "has changed since", deduplicated)
    path.write_bytes(whole)
    times = (1, times[1] + 1_000_000_000)
    refuses(InputError, "has changed since", deduplicated)
    # A run that was killed while it threw its work away is no run.
    os.replace(work / "manifest.json", work / "over.json")
    path.write_bytes(whole[: whole.index(b"\n") + 1])
    assert deduplicated().documents == 1


def test_kept_work_of_a_directory_is_enough_for_one_file(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    inputs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    inputs[0].write_text("id,text\n1,one text that is long enough\n", "utf-8")
    inputs[1].write_text("text,id\nanother text that is long enough,2\n", "utf-8")
    work = tmp_path / "work"
    keywords = {"inputs": list(map(str, inputs)), "work": work, "engine": "disk"}
    deduplicate_files(output=f"{tmp_path}/kept/", keep_work=True, **keywords)
    told: list[str] = []
    deduplicate_files(output=tmp_path / "kept.csv", on_message=told.append, **keywords)
    assert any("continuing" in line for line in told)
    rows = "id,text\n1,one text that is long enough\n2,another text that is long enough\n"
    assert (tmp_path / "kept.csv").read_text("utf-8") == rows


@pytest.mark.parametrize("stage", every(2, ["signing", "deciding"], 1))
def test_bad_rows_are_skipped_only_while_this_is_asked_for(tmp_path, monkeypatch, stage):
    small_budget(monkeypatch)
    keywords, _ = prepared(tmp_path)
    path = Path(keywords["inputs"][0])
    path.write_text(path.read_text("utf-8").replace("\n", "\n[1]\n", 1), "utf-8")

    stop = (sign, "_summary") if stage == "signing" else (decide, "decide_part")
    stopped_in(monkeypatch, *stop, 0, deduplicate_files, **keywords, on_error="skip")
    with pytest.raises(InputError, match=r"in0\.jsonl: row 2: an array, not an object"):
        deduplicate_files(**keywords)
    assert not list((tmp_path / "out").iterdir())
    assert deduplicate_files(**keywords, on_error="skip").skipped == 1


def test_an_input_that_changes_during_the_run(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    keywords, _ = prepared(tmp_path)
    link_sorted = link.link_sorted

    def spoil(*arguments):
        path = Path(keywords["inputs"][0])
        path.write_text(path.read_text(encoding="utf-8").replace("river", "brook"), "utf-8")
        return link_sorted(*arguments)

    monkeypatch.setattr(link, "link_sorted", spoil)
    refuses(InputError, r"in0\.jsonl: .*changed", deduplicate_files, **keywords)
    assert not list((tmp_path / "out").iterdir())


def test_a_second_run_is_kept_out(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    link_sorted = link.link_sorted
    refused = []

    def second(*arguments):
        if len(refused) < 2:
            with pytest.raises(InputError, match="another run is using this directory"):
                deduplicate_files(**keywords)
            refused.append(1)
        return link_sorted(*arguments)

    monkeypatch.setattr(link, "link_sorted", second)
    deduplicate_files(**keywords)
    assert refused
    assert written(tmp_path) == expected


def test_kept_work_gives_the_answer_again(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    deduplicate_files(**keywords, keep_work=True)
    for path in (tmp_path / "out").iterdir():
        path.unlink()
    monkeypatch.setattr(sign, "sign_batch", None)
    deduplicate_files(**keywords)
    assert written(tmp_path) == expected


ANOTHER_RUN = [
    (deduplicate_files, {}, {"annotate": True}, "annotate"),
    (deduplicate_files, {"annotate": True, "source": "site"}, {"source": "id"},
     "source was site, and is id"),
    (deduplicate_files, {"within": "site"}, {"within": "score"}, "of another job"),
    (deduplicate_files, {"within": "site"}, {"within": None}, "of another job"),
    (deduplicate_files, {"group": "site"}, {"group": "score"}, "group was site, and is score"),
    (fastlsh.deduplicate_line_files, {}, {"min_length": 3}, "min_length was 0, and is 3"),
    (fastlsh.deduplicate_span_files, {"min_length": 40}, {"min_length": 41},
     "min_length was 40, and is 41"),
    (fastlsh.near_duplicate_files, {"against": "known0.jsonl"}, {"best": True},
     "best was False, and is True"),
    (fastlsh.overlap_files, {"source": "site"}, {"max_pairs": 7},
     "max_pairs was 100000000, and is 7"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "change", "said"), ANOTHER_RUN)
def test_kept_work_is_of_one_question(tmp_path, monkeypatch, function, given, change, said):
    monkeypatch.chdir(tmp_path)
    small_budget(monkeypatch, **OF_PASSAGES)
    rows = [{**row, "site": row["score"] % 2} for row in rows_of(3, 20)]
    write_shards(tmp_path, rows[:5], 1, "known")
    inputs = write_shards(tmp_path, rows, 1)
    keywords = {"work": "work", "keep_work": True, "engine": "disk", "memory": "300M", **given}
    function(inputs, "out.jsonl", **keywords)
    refuses((InputError, ValueError), said, function, inputs, "out.jsonl", **{**keywords, **change})
    function(inputs, "out.jsonl", **keywords)


def test_only_restart_touches_a_run_of_an_earlier_format(tmp_path, monkeypatch):
    inputs = write_shards(tmp_path, rows_of(1, 40), 1)
    work = tmp_path / "work"
    deduplicate = partial(deduplicate_files, inputs, tmp_path / "o.jsonl", engine="disk", work=work)
    with monkeypatch.context() as patch:
        patch.setattr(manifest, "FORMAT", manifest.FORMAT - 1)
        stopped_in(patch, decide, "decide_part", 0, deduplicate)
    number = content_of(work / "manifest.json")["run"]
    (work / f"answer.npy.{number}.tmp").write_bytes(b"half")
    before = contents(work)
    refuses(InputError, r"work directory was 9, and is 10.*restart=True", deduplicate)
    with pytest.raises(InputError, match=r"work directory was 9, and is 10.*restart=True") as found:
        deduplicate(stage="sign", memory="300M")
    assert "Remove" not in str(found.value)
    assert contents(work) == before
    assert deduplicate(restart=True).documents == 40
    assert not work.exists()
