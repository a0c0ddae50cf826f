"""Stages in parts, as many processes work on them: the bytes of one process."""

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from combinations import covering, every
from fastlsh import (
    InputError,
    Shingler,
    deduplicate_files,
    deduplicate_line_files,
    deduplicate_span_files,
    near_duplicate_files,
)
from fastlsh.files.disk import link, sign
from fastlsh.files.run import manifest
from fastlsh.files.run.records import LINKED, BlockRecord, Segment
from fastlsh.files.run.stages import STAGES, WHOLE
from fastlsh.files.run.workdir import MANIFEST, WorkDirectory
from fastlsh.files.scheduling import stage_jobs
from fastlsh.files.tasks import spans
from fastlsh.io import BlockExtent, Replacements, expand
from fastlsh.parameters import SearchParams
from fastlsh.stages import CutRules
from files import put_table
from in_stages import any_order, done_before, each_stage_at_once, in_parts, killed_until_done
from killed_runs import StoppedError, after
from shards import OF_PASSAGES, content_of, contents, rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk

PAIR_STAGES = [stage for stage in STAGES if stage not in ("merge", "write")]
PARTS = [1, 2, 4, 7]
COUNT = 36
"""The documents of a collection, in six files: three units, and many blocks."""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    small_units(monkeypatch)
    monkeypatch.setattr(link, "RANGE", 64)


def small_units(monkeypatch, **sizes):
    small_budget(monkeypatch, **sizes)
    monkeypatch.setattr(manifest, "UNIT", 2200)


def parquet_shards(folder, rows, shards):
    parts = [rows[len(rows) * n // shards : len(rows) * (n + 1) // shards] for n in range(shards)]
    return [
        str(put_table(folder / f"in{n}.parquet", part, row_group_size=4))
        for n, part in enumerate(parts)
    ]


def job(folder, kind="jsonl", *, count=COUNT, **more):
    """Write a collection; return the keywords of its deduplication, without paths of outputs."""
    (folder / "data").mkdir()
    write = {"jsonl": write_shards, "parquet": parquet_shards}[kind]
    inputs = write(folder / "data", rows_of(3, count), more.pop("shards", 6))
    if more.pop("against", False):
        more["against"] = write_shards(folder, rows_of(4, 20) + rows_of(3, 10), 2, "reference")
    return {"inputs": inputs, "threshold": 0.7, "threads": 1, "memory": "300M", **more}


def outputs(folder, name="kept/"):
    """Return the paths of all outputs, in a folder that is made."""
    folder.mkdir()
    return {
        "output": f"{folder}/{name}", "removed": folder / "removed.tsv",
        "clusters": folder / "clusters.jsonl",
    }  # fmt: skip


IN_PARTS = {
    "documents": (deduplicate_files, "jsonl", {"against": True, "keep": "longest"}),
    "tables": (deduplicate_files, "parquet", {"against": True, "priority": "score", "count": 24}),
    "pairs": (near_duplicate_files, "jsonl", {}),
    "lines": (deduplicate_line_files, "jsonl", {"against": True, "drop_empty": True}),
    "passages": (deduplicate_span_files, "jsonl", {"against": True, "min_length": 40}),
}  # fmt: skip


@pytest.mark.parametrize(("case", "of"), covering(IN_PARTS, PARTS))
def test_any_number_of_parts_writes_the_bytes_of_one_process(tmp_path, monkeypatch, case, of):
    function, kind, more = IN_PARTS[case]
    keywords = job(tmp_path, kind, **more)
    one, two = outputs(tmp_path / "one"), outputs(tmp_path / "two")
    if case == "pairs":
        one, two = ({"output": each["removed"]} for each in (one, two))
    elif case in ("lines", "passages"):
        del one["clusters"], two["clusters"]
    if case == "passages":
        small_budget(monkeypatch, **OF_PASSAGES)
        del keywords["threshold"]
    whole = function(**keywords, **one, engine="disk")
    two["work"] = tmp_path / "work"
    stages = PAIR_STAGES if case == "pairs" else STAGES
    result = in_parts(function, {**keywords, **two}, of, stages=stages)
    again = function(**keywords, **two, stage="finish")
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    of_both = {"seconds": 0, "outputs": 0, "reason": 0}
    for each in (result, again):
        assert {**vars(each), **of_both} == {**vars(whole), **of_both}
    assert (whole.n_pairs if case == "pairs" else whole.n_removed) > 5
    assert os.listdir(tmp_path / "work") == ["finished.json"]


def one_file(folder, kind):
    """Write a collection into one file, with a bad row behind each 8; return it, and how many."""
    rows = rows_of(3, 40)
    for row in rows:
        row["text"] = (row["text"] or "nothing").replace("\0", "").replace("\t", " ")
    path = folder / f"in.{kind}"
    if kind == "parquet":
        return parquet_shards(folder, rows, 1), 0
    if kind == "jsonl":  # without ids: they are FILE:ROW
        lines, bad = [json.dumps({"text": row["text"]}) for row in rows], "[1]"
    elif kind == "txt":
        lines, bad = [row["text"] for row in rows], None
    else:
        lines = ["text\tscore", *(f"{row['text']}\t{row['score']}" for row in rows)]
        bad = "one field"
    for at in range(len(lines) - 1, 0, -8) if bad else ():
        lines.insert(at, f"\n{bad}")
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return [str(path)], sum(line == f"\n{bad}" for line in lines)


ONE_FILE = [
    ("jsonl", {}), ("parquet", {}), ("tsv", {"quotes": False}), ("tsv", {}),
    ("txt", {"split": "lines"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "given", "kind", "more"),
    [
        (deduplicate_files, {"threshold": 0.7}, *ONE_FILE[2]),
        *(
            pytest.param(function, given, *each, marks=pytest.mark.exhaustive)
            for function, given, each in (
                *((deduplicate_files, {"threshold": 0.7}, each) for each in ONE_FILE[:2]),
                *((deduplicate_files, {"threshold": 0.7}, each) for each in ONE_FILE[3:]),
                (deduplicate_line_files, {}, ONE_FILE[1]),
                (near_duplicate_files, {"threshold": 0.7}, ONE_FILE[0]),
                (near_duplicate_files, {"threshold": 0.7}, ONE_FILE[1]),
                (deduplicate_line_files, {}, ONE_FILE[0]),
                (deduplicate_span_files, {"min_length": 40}, ONE_FILE[0]),
                (deduplicate_span_files, {"min_length": 40}, ONE_FILE[1]),
            )
        ),
    ],
)  # fmt: skip
def test_one_large_file_is_divided(tmp_path, monkeypatch, function, given, kind, more):
    if function is deduplicate_span_files:
        small_budget(monkeypatch, **OF_PASSAGES)
    monkeypatch.setattr(manifest, "UNIT", 1000)
    inputs, bad = one_file(tmp_path, kind)
    keywords = {"inputs": inputs, "threads": 1, "memory": "300M", **more, **given}
    if bad:
        keywords["on_error"] = "skip"
    names = {"output": "kept/", "removed": "removed.tsv"}
    if function is near_duplicate_files:
        names = {"output": "pairs.tsv"}
    results = []
    engines = "memory", "disk", "work"
    for name in engines:
        (tmp_path / name).mkdir()
        each = {**keywords, **{key: f"{tmp_path}/{name}/{value}" for key, value in names.items()}}
        if name != "work":
            results.append(function(**each, engine=name))
            continue
        each["work"] = tmp_path / "shared"
        stages = PAIR_STAGES if function is near_duplicate_files else STAGES
        results.append(in_parts(function, each, 2, stages=stages[:1]))
        found = content_of(tmp_path / "shared" / MANIFEST)["units"]
        assert (len(found) > 5) == (more != {} or kind != "tsv")
        results.append(in_parts(function, each, 2, lambda parts: reversed(parts), stages))
    memory, disk, _, staged = results
    assert (
        contents(tmp_path / "memory") == contents(tmp_path / "disk") == contents(tmp_path / "work")
    )
    for each in (disk, staged):
        assert (each.documents, each.skipped, each.skipped_reasons) == (
            memory.documents, memory.skipped, memory.skipped_reasons,
        )  # fmt: skip
    assert memory.skipped == bad


def test_too_little_memory_for_ranges_is_refused_before_a_part_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "UNIT", 1000)
    inputs, _ = one_file(tmp_path, "parquet")
    work = tmp_path / "work"
    keywords = {"inputs": inputs, "output": f"{tmp_path}/kept/", "memory": "300M", "work": work}
    deduplicate_files(**keywords, stage="sign", part=(1, 3))
    before = sorted(os.listdir(work))
    small_budget(monkeypatch, block=699)
    with pytest.raises(ValueError, match="memory must be at least 300M"):
        deduplicate_files(**keywords, stage="sign", part=(2, 3))
    assert sorted(os.listdir(work)) == before


@pytest.mark.parametrize(("kind", "more"), ONE_FILE[:3:2])
def test_the_row_of_an_error_is_counted_in_the_file(tmp_path, monkeypatch, kind, more):
    monkeypatch.setattr(manifest, "UNIT", 1000)
    inputs, _ = one_file(tmp_path, kind)
    keywords = {"inputs": inputs, "output": f"{tmp_path}/kept/", "memory": "300M", **more}
    lines = Path(inputs[0]).read_text("utf-8").split("\n")
    bad = {n for n, line in enumerate(lines, 1) if line in ("[1]", "one field")}

    def row_of_error(part):
        try:
            deduplicate_files(**keywords, work=tmp_path / "work", stage="sign", part=(part, 9))
        except InputError as error:
            return error.row
        return None

    found = {row_of_error(part) for part in range(1, 10)} - {None}
    assert found <= bad
    assert len(found) > 4
    longest = max(range(len(lines)), key=lambda n: len(lines[n]))
    small_budget(monkeypatch, row=len(lines[longest]) - 1)
    monkeypatch.setattr(manifest, "UNIT", 1000)
    with pytest.raises(InputError, match="the row has") as caught:
        in_parts(deduplicate_files, {**keywords, "work": tmp_path / "long", "on_error": "skip"}, 9)
    assert caught.value.row == longest + 1


@pytest.mark.exhaustive
def test_the_end_misses_an_output_that_is_gone(keywords):
    result = in_parts(deduplicate_files, keywords, 2)
    kept = Path(result.outputs[2])
    kept.rename(kept.with_suffix(".away"))
    assert deduplicate_files(**keywords, stage="write").documents == 0
    with pytest.raises(InputError, match=r"in2\.jsonl: is missing.* remove that directory"):
        deduplicate_files(**keywords, stage="finish")


@pytest.fixture
def keywords(tmp_path):
    """The keywords of a run in stages."""
    return {**job(tmp_path), **outputs(tmp_path / "two"), "work": tmp_path / "work"}


@pytest.fixture(scope="module")
def of_one_process(tmp_path_factory):
    """What one process writes of the collection of `job`."""
    folder = tmp_path_factory.mktemp("alone")
    deduplicate_files(**job(folder), **outputs(folder / "one"), engine="memory")
    return contents(folder / "one")


@pytest.fixture
def staged(keywords, of_one_process):
    """The keywords of a run in stages, and what one process writes."""
    return keywords, of_one_process


@pytest.mark.parametrize("seed", every(3, range(3)))
def test_parts_in_any_order_again_and_late(staged, tmp_path, seed):
    keywords, expected = staged
    in_parts(deduplicate_files, keywords, 3, any_order(seed))
    assert contents(tmp_path / "two") == expected
    for stage in STAGES[:-1]:  # a part that starts after all has ended has nothing to do
        assert deduplicate_files(**keywords, stage=stage).documents == 0
    assert contents(tmp_path / "two") == expected
    assert os.listdir(tmp_path / "work") == ["finished.json"]


@pytest.mark.exhaustive
def test_the_same_part_twice_at_once(staged, tmp_path):
    keywords, expected = staged
    each_stage_at_once(deduplicate_files, keywords, STAGES)
    assert contents(tmp_path / "two") == expected


def test_a_manifest_that_gets_its_name_while_another_process_looks(tmp_path, monkeypatch):
    original, seen = os.listdir, []

    def listed(path):
        names = original(path)
        if not seen:  # as the other process writes; from then on, the file has its own name
            seen.append(path)
            WorkDirectory(tmp_path / "work").begin({"a": 1})
            return [f"{MANIFEST}.0123456789abcdef.tmp", *names]
        return names

    (tmp_path / "work").mkdir()
    monkeypatch.setattr(os, "listdir", listed)
    WorkDirectory(tmp_path / "work", shared=True).begin({"a": 1})
    assert seen


def test_a_directory_that_is_removed_goes_at_last(tmp_path, monkeypatch):
    """However often the process that removes it is killed."""

    def killed(*_):
        raise KeyboardInterrupt

    work = WorkDirectory(tmp_path, shared=True)
    work.begin({})
    with work.replacing("found-000000") as folder:
        folder.mkdir()
        (folder / "a.json").write_text("1", "utf-8")
    monkeypatch.setattr(shutil, "rmtree", killed)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            WorkDirectory(tmp_path, shared=True).empty()
        left, over = sorted(os.listdir(tmp_path))
        assert left.startswith("found-000000.")
        assert (left.endswith(".tmp"), over) == (True, "over.json")
    monkeypatch.undo()
    WorkDirectory(tmp_path, shared=True).empty()
    assert not os.listdir(tmp_path)


@pytest.mark.exhaustive
def test_a_folder_whose_listings_are_old(staged, tmp_path, monkeypatch):
    """What another machine has made is found by its name, and never by a listing."""
    keywords, expected = staged
    work = str(tmp_path / "work")

    def stale(original):
        def call(path=".", *more):
            # A process lists what only itself writes.
            assert not str(path).startswith(work) or ".tmp" in str(path)
            return original(path, *more)

        return call

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, stale(getattr(os, name)))
    in_parts(deduplicate_files, keywords, 2, stages=STAGES[:-1])
    monkeypatch.undo()
    small_budget(monkeypatch)
    deduplicate_files(**keywords, stage="finish")
    assert contents(tmp_path / "two") == expected


def test_a_client_that_remembers_what_was_missing(keywords, monkeypatch):
    """As one of NFS does until it opens the directory."""
    missing = set()
    work, exists, opened = keywords["work"], Path.exists, os.open

    def remembered(path):
        if path not in missing and not exists(path):
            missing.add(path)
        return path not in missing

    def asked(path, *more, **keyword):
        if Path(path) == work:
            missing.clear()
        return opened(path, *more, **keyword)

    def as_client(stage, **more):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "exists", remembered)
            patch.setattr(os, "open", asked)
            return deduplicate_files(**keywords, stage=stage, **more)

    deduplicate_files(**keywords, stage="sign", part=(1, 3))
    for before, stage in (("sign", "link"), ("link", "unite")):
        with pytest.raises(InputError, match=f"{before}.* not finished"):
            as_client(stage)
        deduplicate_files(**keywords, stage=before)  # on another machine
        missing |= {path for path in work.iterdir() if path.name.startswith(("segment", "links"))}
        as_client(stage, part=None if stage in WHOLE else (1, 3))
    assert (work / LINKED).exists()


@pytest.mark.parametrize("done", every(3, [4, 1, 6]))
def test_one_process_goes_on_where_parts_have_ended(staged, tmp_path, done):
    keywords, expected = staged
    in_parts(deduplicate_files, keywords, 2, stages=STAGES[:done])
    deduplicate_files(**keywords, engine="disk")
    assert contents(tmp_path / "two") == expected


@pytest.mark.exhaustive
def test_parts_go_on_where_one_process_has_ended(staged, tmp_path):
    keywords, expected = staged
    deduplicate_files(**keywords, engine="disk", keep_work=True)
    in_parts(deduplicate_files, keywords, 2)
    assert contents(tmp_path / "two") == expected


TOO_EARLY = [
    ([], "link", "no run has begun here: the first stage is stage='sign'"),
    ([("sign", 2)], "link", "of the stage sign, part 1/3, 3/3 has not finished"),
    ([], "link", "has not finished (counted in 3 parts, as the process that began"),
    ([("sign", 1, 3), ("link", 1, 2)], "unite", "of the stage link, part 3/3 has not finished"),
    ([("link", 3)], "gather", "the stage gather cannot begin: the stage unite has not"),
    ([], "merge", "the stage merge cannot begin: the stage unite has not"),
    ([("unite", None), ("gather", 1)], "decide", "of the stage gather, part 2/3, 3/3 has"),
    ([("gather", 2, 3)], "merge", "of the stage decide, part 1/3, 2/3, 3/3 has not finished"),
    ([("decide", 1, 2, 3)], "write", "the stage merge has not"),
    ([("merge", None), ("write", 3)], "finish", "of the stage write, part 1/3, 2/3 has"),
]
"""What is done of a run, which stage is tried then, and what its error says."""


def test_a_stage_whose_forerunner_is_incomplete(keywords, monkeypatch):
    small_units(monkeypatch, part=3)
    for done, stage, line in TOO_EARLY:
        done_before(deduplicate_files, keywords, done)
        with pytest.raises(InputError) as caught:
            deduplicate_files(**keywords, stage=stage)
        assert line in str(caught.value)


def test_a_part_that_has_begun_has_not_finished(keywords, monkeypatch):
    small_units(monkeypatch, segment=2, block=200)
    with monkeypatch.context() as patch:
        patch.setattr(sign, "sign_batch", after(3, sign.sign_batch))
        with pytest.raises(StoppedError):
            deduplicate_files(**{**keywords, "threads": 1}, stage="sign", part=(1, 3))
    assert list(keywords["work"].glob("segment-*[0-9]"))
    for number in (2, 3):
        deduplicate_files(**keywords, stage="sign", part=(number, 3))
    with pytest.raises(InputError, match="of the stage sign, part 1/3 has not finished"):
        deduplicate_files(**keywords, stage="link")


OTHERS = [
    ({"threshold": 0.8}, "threshold was 0.7, and is 0.8"),
    ({"seed": 2}, "seed was 1, and is 2"),
    ({"part": (4, 3)}, "part must be from 1/3 to 3/3, got 4/3"),
    ({"stage": "unite", "part": (1, 3)}, "the stage unite is not divided"),
    ({"stage": "sort"}, "stage must be one of sign, link"),
    ({"stage": None}, "part has no effect without a stage"),
    ({"engine": "memory"}, "leave out engine='memory'"),
    ({"work": None}, "give work="),
    ({"memory": None}, "give memory="),
    ({"restart": True}, "restart=True and keep_work=True are for a run in one process"),
    ({"output": "kept2/"}, "/kept/, and is kept2/"),
    ({"removed": None}, "removed.tsv, and is None"),
    ({"convert_to": "csv"}, "convert_to was None, and is csv"),
    ({"report": "r.html"}, "report was None, and is r.html"),
    ({"limit": 5}, "limit is for a run in one process"),
    ({"output": "/dev/stdout"}, "not a stream"),
]


def test_other_parameters_are_refused(keywords):
    deduplicate_files(**keywords, stage="sign", part=(1, 3))
    for change, line in OTHERS:
        with pytest.raises((InputError, ValueError)) as caught:
            deduplicate_files(**{**keywords, "stage": "sign", "part": (2, 3), **change})
        assert line in str(caught.value), change


def test_changed_inputs_are_refused_and_the_work_of_another_run_is_kept(staged, tmp_path):
    keywords, expected = staged
    in_parts(deduplicate_files, keywords, 2, stages=STAGES[:4])
    path = Path(keywords["inputs"][1])
    before, times = path.read_bytes(), path.stat()
    path.write_bytes(before + b"\n")
    for stage in ("sign", "decide", "finish"):
        with pytest.raises(InputError, match=r"in1\.jsonl has changed since"):
            deduplicate_files(**keywords, stage=stage)
    path.write_bytes(before)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    in_parts(deduplicate_files, keywords, 2)
    assert contents(tmp_path / "two") == expected
    with pytest.raises(InputError, match=r"threshold was 0\.7, and is 0\.9"):
        deduplicate_files(**{**keywords, "threshold": 0.9}, stage="sign")


@pytest.mark.exhaustive
def test_units_are_fixed_when_the_run_begins(staged, tmp_path, monkeypatch):
    """A process with more memory has the same units, and one with less refuses to start."""
    keywords, expected = staged
    other = tmp_path / "other"
    for work in (keywords["work"], other):
        deduplicate_files(**{**keywords, "work": work}, stage="sign", part=(1, 2))
    with monkeypatch.context() as patch:
        small_budget(patch, block=699)
        with pytest.raises(ValueError, match=r"memory must be at least 300M with 1 thread"):
            deduplicate_files(**keywords, stage="sign", part=(2, 2))
    with monkeypatch.context() as patch:
        small_budget(patch, block=5000, segment=400, rows=500, part=1000, texts=10000)
        more = {**keywords, "memory": "400M"}
        in_parts(deduplicate_files, more, 3, stages=STAGES[:-1])
    in_parts(deduplicate_files, {**keywords, "work": other}, 2, stages=STAGES[:5])
    one, two = (
        {path.name for path in work.iterdir() if "-" in path.name and "written" not in path.name}
        for work in (keywords["work"], other)
    )
    assert one == two
    assert len(one) > 20
    deduplicate_files(**keywords, stage="finish")
    assert contents(tmp_path / "two") == expected


@pytest.mark.parametrize("links", [True, False])
def test_of_two_processes_that_begin_at_once_the_first_decides(tmp_path, monkeypatch, links):
    """They may have other memory, and so fix other units."""
    if not links:

        def refused(*_):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refused)
    first, second = (WorkDirectory(tmp_path, shared=True) for _ in range(2))
    write, begun = second.write, []

    def late(*arguments):
        begun.append(first.begin({"memory": 1}))
        write(*arguments)

    monkeypatch.setattr(second, "write", late)
    second.begin({"memory": 2})
    assert begun
    for each in (first, second):
        assert each.read(MANIFEST)["memory"] == 1
    with second.replacing("folder") as late:
        with first.replacing("folder") as early:
            early.mkdir()
            (early / "a").write_text("1", encoding="utf-8")
        late.mkdir()
        (late / "a").write_text("2", encoding="utf-8")
    assert (tmp_path / "folder" / "a").read_text("utf-8").startswith("1")
    assert sorted(os.listdir(tmp_path)) == ["folder", MANIFEST]


def segments_of(*segments):
    records = [
        [BlockRecord(s, BlockExtent(i, 0, 1, 1, 0), 1, (), 1, 1) for s, i in segment]
        for segment in segments
    ]
    return [
        Segment(f"segment-{n}", blocks, False, [], 1, 0, {}) for n, blocks in enumerate(records)
    ]


def test_segments_of_a_unit_that_do_not_fit_together():
    """It cannot happen, and would lose documents."""
    nowhere = SimpleNamespace(work=WorkDirectory("work"))
    sign._check_whole(nowhere, range(2, 4), segments_of([(2, 0), (2, 1)], [(2, 2), (3, 0)]))
    for wrong in (
        segments_of([(2, 0)], [(2, 2), (3, 0)]), segments_of([(2, 0), (2, 1)], [(2, 1), (3, 0)]),
        segments_of([(2, 0)], [(2, 1)]), segments_of([(3, 0)]), segments_of([(2, 0)], [(3, 1)]),
    ):  # fmt: skip
        with pytest.raises(InputError, match="start over"):
            sign._check_whole(nowhere, range(2, 4), wrong)


@pytest.mark.exhaustive
@pytest.mark.parametrize("broken", every(2, [1, 4]))
def test_a_file_that_one_machine_cannot_read(staged, tmp_path, monkeypatch, broken):
    """What its process leaves does not disturb another one with the same part."""
    keywords, expected = staged
    cut, name = sign.cut_file, keywords["inputs"][broken]

    def fails(of_job, number, *more):
        if of_job.sources[number].path == name:
            raise InputError(name, "Input/output error")
        return cut(of_job, number, *more)

    with monkeypatch.context() as patch:
        patch.setattr(sign, "cut_file", fails)
        with pytest.raises(InputError, match="Input/output error"):
            deduplicate_files(**keywords, stage="sign")
    assert not (tmp_path / "work" / "broken.json").exists()
    in_parts(deduplicate_files, keywords, 2)
    assert contents(tmp_path / "two") == expected


@pytest.mark.exhaustive
def test_bad_rows_may_be_skipped_later(keywords, tmp_path):
    """What is signed stays valid; the rows are skipped in all stages."""
    path = Path(keywords["inputs"][3])
    path.write_text(path.read_text("utf-8").replace("\n", "\n[1]\n", 1), "utf-8")
    with pytest.raises(InputError, match=r"in3\.jsonl: row 2: an array, not an object"):
        deduplicate_files(**keywords, stage="sign")
    result = in_parts(deduplicate_files, {**keywords, "on_error": "skip"}, 2)
    assert result.skipped == 1
    one = outputs(tmp_path / "three")
    deduplicate_files(**{**keywords, **one, "work": None}, on_error="skip", engine="disk")
    assert contents(tmp_path / "two") == contents(tmp_path / "three")


def test_passages_need_memory_in_the_stages_that_have_all(keywords, monkeypatch):
    small_budget(monkeypatch, **OF_PASSAGES)
    del keywords["threshold"], keywords["clusters"]
    keywords["min_length"] = 40
    in_parts(deduplicate_span_files, keywords, 2, stages=STAGES[:5])
    stages = ("merge", "write", "finish")
    for stage in stages:
        with monkeypatch.context() as patch:
            patch.setattr(spans, "per_passage", lambda *_: dict.fromkeys(stages, 1 << 30))
            with pytest.raises(
                ValueError, match=rf"memory must be at least \d+M to {stage} \d+ passages, got 300M"
            ):
                deduplicate_span_files(**keywords, stage=stage)
        deduplicate_span_files(**keywords, stage=stage)


def test_a_plan_counts_lines_and_annotations(tmp_path, monkeypatch):
    path = tmp_path / "in.jsonl"
    row = json.dumps({"text": "\n".join(f"line {i}" for i in range(1000))})
    path.write_text(f"{row}\n" * 100, "utf-8")
    monkeypatch.setattr("fastlsh.files.scheduling.BASE", 0)

    def memory(**more):
        jobs = stage_jobs(expand(str(path)), SearchParams.of(0.8), 0, 4, pairs=False, **more)
        return {job.stage: job.memory for job in jobs}

    assert memory()["unite"] == 8 * 125
    assert memory(by="line")["unite"] == 8 * 125_000
    keys = 2 * 100 * 1000 * 10 / 100  # two in each 100 characters
    plain = memory(by="span", min_length=100)
    of_shares = memory(by="span", min_length=100, rules=CutRules.of(max_share=0.5))
    normalised = memory(by="span", min_length=100, shingler=Shingler(lowercase=True))
    assert of_shares["merge"] > 200 * keys > plain["merge"] > 30 * keys
    assert of_shares["write"] == plain["write"] > 50 * keys > plain["finish"] > 15 * keys
    assert normalised == of_shares
    assert plain["sign"] == 0
    assert memory()["write"] == 0
    assert memory(annotate=True)["write"] == 41 * 125


def test_advice_on_memory_is_enough_and_speaks_of_lines(keywords, monkeypatch):
    del keywords["clusters"]
    in_parts(deduplicate_line_files, keywords, 2, stages=STAGES[:2])
    monkeypatch.setattr("fastlsh.files.execution.PER_UNITED", (5 << 20) + 1)
    with pytest.raises(
        ValueError, match=r"at least \d+M to unite [\d,]+ lines, got 300M"
    ) as caught:
        deduplicate_line_files(**keywords, stage="unite")
    least = str(caught.value).split("at least ")[1].split("M")[0]
    deduplicate_line_files(**{**keywords, "memory": f"{least}M"}, stage="unite")


@pytest.mark.exhaustive
def test_files_of_the_user_in_the_work_directory_stay(keywords):
    work = keywords["work"]
    in_parts(deduplicate_files, keywords, 2, stages=STAGES[:3])
    (work / "thesis.tmp").write_text("years", "utf-8")
    in_parts(deduplicate_files, keywords, 2)
    assert sorted(os.listdir(work)) == ["finished.json", "thesis.tmp"]
    deduplicate_files(**keywords, stage="finish")
    assert sorted(os.listdir(work)) == ["finished.json", "thesis.tmp"]
    deduplicate_files(**keywords, engine="disk")
    assert (work / "thesis.tmp").read_text("utf-8") == "years"
    assert os.listdir(work) == ["thesis.tmp"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_an_attempt_that_fails_leaves_nothing_behind(keywords, monkeypatch, error):
    def fails(*_):
        raise error

    deduplicate_files(**keywords, stage="sign", part=(1, 2))
    before = sorted(os.listdir(keywords["work"]))
    monkeypatch.setattr("fastlsh.files.run.workdir.synchronise", fails)
    with pytest.raises((KeyboardInterrupt, InputError)) as caught:
        deduplicate_files(**keywords, stage="sign", part=(2, 2))
    if isinstance(error, OSError):
        assert "free some space and run the same command again" in str(caught.value)
    assert sorted(os.listdir(keywords["work"])) == before


def test_a_damaged_file_is_named_with_advice_that_helps(keywords):
    in_parts(deduplicate_files, keywords, 1, stages=STAGES[:6])
    path = keywords["work"] / "kept.npy"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"kept\.npy: .*: remove the directory .*work to start"):
        deduplicate_files(**keywords, stage="write")


@pytest.mark.exhaustive
def test_writers_leave_each_other_alone_without_locks(staged, tmp_path, monkeypatch):
    """Locks of another machine may be unknown; what a killed process has left goes at last."""
    keywords, expected = staged
    in_parts(deduplicate_files, keywords, 2, stages=STAGES[:6])
    monkeypatch.setattr("fastlsh.io.journal.try_lock", lambda number: True)
    other = Replacements()
    with other.file(f"{tmp_path}/two/kept/in0.jsonl", folders=True) as temporary:
        Path(temporary).write_text("half of", "utf-8")
        deduplicate_files(**keywords, stage="write")
        assert Path(temporary).exists()
    other._journal.leave()  # it is killed
    with pytest.warns(UserWarning, match="removed temporary files of a run that was killed: 1"):
        deduplicate_files(**keywords, stage="finish")
    assert contents(tmp_path / "two") == expected


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.filterwarnings("ignore:(removed|completed)")  # what kills have left beside outputs
@pytest.mark.parametrize(
    ("function", "shards", "kills"),
    [
        (deduplicate_files, 6, 2),
        pytest.param(deduplicate_files, 6, 12, marks=pytest.mark.exhaustive),
        pytest.param(deduplicate_files, 1, 12, marks=pytest.mark.exhaustive),
        pytest.param(deduplicate_span_files, 1, 6, marks=pytest.mark.exhaustive),
        pytest.param(deduplicate_files, 6, 100, marks=pytest.mark.slow),
        pytest.param(deduplicate_files, 1, 100, marks=pytest.mark.slow),
        pytest.param(deduplicate_span_files, 1, 50, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_kills(tmp_path, monkeypatch, function, shards, kills):
    keywords = {**job(tmp_path, shards=shards), **outputs(tmp_path / "two")}
    if function is deduplicate_span_files:
        small_budget(monkeypatch, **OF_PASSAGES)
        del keywords["threshold"], keywords["clusters"]
        keywords |= {"min_length": 40, "join": ""}
    function(**keywords, engine="disk")
    expected = contents(tmp_path / "two")
    for name in expected:
        (tmp_path / "two" / name).unlink()
    keywords["work"] = tmp_path / "work"
    tries = 3 if kills > 2 else 1
    killed_until_done(function, keywords, STAGES, kills, tmp_path / "two", expected, tries)
