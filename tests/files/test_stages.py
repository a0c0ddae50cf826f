"""Stages in parts, as many processes work on them: the bytes of one process, in every job."""

import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from combinations import every
from contaminated_files import collection
from fastlsh import (
    InputError,
    Shingler,
    decontaminate_files,
    deduplicate_files,
    deduplicate_line_files,
    deduplicate_span_files,
)
from fastlsh.files import execution
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
from in_stages import (
    ENGINES,
    any_order,
    both_engines,
    each_stage_at_once,
    in_parts,
    killed_until_done,
    run_with,
)
from jobs import CLEAN, COUNT, FILES, ITEMS, JOBS, PLAIN, TABLES, divided, staged_job
from killed_runs import stopped_in
from refusals import refuses
from shards import OF_PASSAGES, contents, rows_of, small_budget

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk


@pytest.fixture(autouse=True)
def small(monkeypatch):
    small_units(monkeypatch)
    monkeypatch.setattr(link, "RANGE", 64)


def small_units(monkeypatch, **sizes):
    small_budget(monkeypatch, **sizes)
    monkeypatch.setattr(manifest, "UNIT", 2000)


def found_by(result):
    """Return how much a job has found, whichever it is."""
    return getattr(result, "n_pairs", None) or getattr(result, "n_hits", None) or result.n_removed


QUICK = [("documents", 2), ("lines", 2)]


@pytest.mark.parametrize(
    ("name", "of"),
    [
        pytest.param(*case, marks=[pytest.mark.exhaustive] * (case not in QUICK))
        for case in [*QUICK, ("documents", 1), *((name, 7) for name in JOBS)]
    ],
)
def test_any_number_of_parts_writes_the_bytes_of_one_process(tmp_path, monkeypatch, name, of):
    job, work = JOBS[name], tmp_path / "work"
    small_units(monkeypatch, **job.sizes)
    keywords = job.prepared(tmp_path)
    one, two = job.named(tmp_path / "one"), job.named(tmp_path / "out")
    whole = run_with("disk", job.function, work=tmp_path / "alone", **keywords, **one)
    assert not (tmp_path / "alone").exists()
    keywords |= {**two, "work": work}
    results = in_parts(job.function, keywords, of), job.function(**keywords, stage="finish")
    assert contents(tmp_path / "out") == contents(tmp_path / "one")
    of_both = {"seconds": 0, "outputs": 0, "reason": 0}
    for each in results:
        assert {**vars(each), **of_both} == {**vars(whole), **of_both}
        assert [Path(path).name for path in getattr(each, "outputs", ())] == [
            Path(path).name for path in getattr(whole, "outputs", ())
        ]
    assert found_by(whole) > 5
    assert os.listdir(work) == ["finished.json"]


def one_file(folder, kind, rows):
    """Write rows into one file, with a bad row behind each 8; return it, and how many."""
    if kind == "parquet":
        return divided(folder, rows, 1, kind), 0
    texts = [(row["text"] or "nothing").replace("\0", "") for row in rows]
    flat = [" ".join(text.split()) or "nothing" for text in texts]
    lines, bad = {
        "jsonl": ([json.dumps({"text": text}) for text in texts], "[1]"),  # ids are FILE:ROW
        "txt": (flat, None),
        "tsv": (["text\tscore", *(f"{text}\t7" for text in flat)], "one field"),
    }[kind]
    for at in range(len(lines) - 1, 0, -8) if bad else ():
        lines.insert(at, f"\n{bad}")
    path = folder / f"in.{kind}"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return [str(path)], sum(line == f"\n{bad}" for line in lines)


SPLIT = {"split": "lines"}
ONE_FILE = [
    ("documents", "tsv", {"quotes": False}), ("items", "jsonl", {}), ("documents", "tsv", {}),
    ("documents", "jsonl", {}), ("documents", "parquet", {}), ("documents", "txt", SPLIT),
    ("pairs", "jsonl", {}), ("lines", "parquet", {}), ("passages", "jsonl", {}),
    ("cut items", "jsonl", {}), ("items of tables", "parquet", {}), ("items", "txt", SPLIT),
    ("hits alone", "jsonl", {}),
]  # fmt: skip
"""A job, the format of its only file, and how this is read; fields with quotes are not divided."""


@pytest.mark.parametrize(
    ("name", "kind", "more"),
    [
        pytest.param(*case, marks=[pytest.mark.exhaustive] * (number > 1))
        for number, case in enumerate(ONE_FILE)
    ],
)
def test_one_large_file_is_divided(tmp_path, monkeypatch, name, kind, more):
    job, units, plan_units = JOBS[name], [], execution.plan_units
    small_budget(monkeypatch, **job.sizes)
    monkeypatch.setattr(manifest, "UNIT", 1000)

    def noted(*arguments):
        units[:] = plan_units(*arguments)
        return units

    monkeypatch.setattr(execution, "plan_units", noted)
    rows = collection(5, ITEMS)[0] if job.function is decontaminate_files else rows_of(3, 40)
    inputs, bad = one_file(tmp_path, kind, rows)
    keywords = {**job.prepared(tmp_path, inputs), **more, "on_error": "skip"}
    keywords.pop("against", None)
    output, *tables = job.outputs.values()
    result, _ = both_engines(
        job.function, tmp_path, keywords.pop("inputs"), output, *tables, engines=ENGINES, **keywords
    )
    assert (len(units) > 5) == (kind != "tsv" or bool(more))
    assert result.skipped == bad
    assert found_by(result) > 5


def test_too_little_memory_for_ranges_is_refused_before_a_part_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "UNIT", 1000)
    inputs = divided(tmp_path, rows_of(3, 40), 1, "parquet")
    work = tmp_path / "work"
    keywords = {"inputs": inputs, "output": f"{tmp_path}/kept/", "memory": "300M", "work": work}
    deduplicate_files(**keywords, stage="sign", part=(1, 3))
    before = sorted(os.listdir(work))
    small_budget(monkeypatch, block=699)
    with pytest.raises(ValueError, match="memory must be at least 300M"):
        deduplicate_files(**keywords, stage="sign", part=(2, 3))
    assert sorted(os.listdir(work)) == before


def row_of_error(function, **keywords):
    """Return the row that the error of a run names, None if there is no error."""
    try:
        function(**keywords)
    except InputError as error:
        return error.row
    return None


@pytest.mark.parametrize(("name", "kind", "more"), [*ONE_FILE[:2], ONE_FILE[3]])
def test_the_row_of_an_error_is_counted_in_the_file(tmp_path, monkeypatch, name, kind, more):
    monkeypatch.setattr(manifest, "UNIT", 1000)
    job = replace(JOBS[name], keywords={})
    inputs, _ = one_file(tmp_path, kind, rows_of(3, 40))
    keywords = {**job.prepared(tmp_path, inputs), **job.named(tmp_path / "out"), **more}
    lines = Path(inputs[0]).read_text("utf-8").split("\n")
    bad = {n for n, line in enumerate(lines, 1) if line in ("[1]", "one field")}
    *before, stage = ["sample", "find"] if "evals" in keywords else ["sign"]
    keywords["work"] = tmp_path / "work"
    in_parts(job.function, {**keywords, "on_error": "skip"}, 1, stages=before)
    parts = [{"stage": stage, "part": (number, 9)} for number in range(1, 10)]
    found = {row_of_error(job.function, **keywords, **part) for part in parts} - {None}
    assert found <= bad
    assert len(found) > 4
    if "evals" in keywords:  # and where rows are read to be written
        in_parts(job.function, {**keywords, "on_error": "skip"}, 9, stages=[stage])
        assert row_of_error(job.function, **keywords, stage="write") == min(bad)
        return
    longest = max(range(len(lines)), key=lambda n: len(lines[n]))
    small_budget(monkeypatch, row=len(lines[longest]) - 1)
    monkeypatch.setattr(manifest, "UNIT", 1000)
    with pytest.raises(InputError, match="the row has") as caught:
        in_parts(job.function, {**keywords, "work": tmp_path / "long", "on_error": "skip"}, 9)
    assert caught.value.row == longest + 1


@pytest.fixture
def run(tmp_path):
    """A deduplication in stages."""
    return staged_job(tmp_path, PLAIN)


@pytest.fixture(params=[PLAIN, pytest.param(JOBS["items"], marks=pytest.mark.exhaustive)])
def each_run(request, tmp_path):
    """A deduplication in stages, and a decontamination."""
    return staged_job(tmp_path, request.param)


@pytest.fixture
def keywords(tmp_path):
    """The keywords of a deduplication in stages, of which nothing else is needed."""
    return {**PLAIN.prepared(tmp_path), **PLAIN.named(tmp_path / "out"), "work": tmp_path / "work"}


@pytest.mark.exhaustive
def test_the_end_misses_an_output_that_is_gone(run):
    kept = Path(run.parts(2).outputs[2])
    kept.rename(kept.with_suffix(".away"))
    assert run.call(stage="write").documents == 0
    refuses(InputError, r"in2\.jsonl: is missing.* remove that directory", run.call, stage="finish")


@pytest.mark.parametrize("seed", every(3, range(3)))
def test_parts_in_any_order_again_and_late(each_run, seed):
    """With a file of the user in the work directory, which stays."""
    work = each_run.keywords["work"]
    each_run.parts(3, any_order(seed), stages=each_run.stages[:2])
    (work / "thesis.tmp").write_text("years", "utf-8")
    each_run.parts(3, any_order(seed))
    assert each_run.written() == each_run.expected
    for stage in each_run.stages[:-1]:  # a part that starts after all has ended has nothing to do
        assert each_run.call(stage=stage).documents == 0
    assert each_run.written() == each_run.expected
    assert sorted(os.listdir(work)) == ["finished.json", "thesis.tmp"]
    each_run.alone()
    assert os.listdir(work) == ["thesis.tmp"]


@pytest.mark.exhaustive
def test_the_same_part_twice_at_once(each_run):
    each_stage_at_once(each_run.function, each_run.keywords)
    assert each_run.written() == each_run.expected


@pytest.mark.parametrize("done", every(3, [4, 1, 6]))
def test_one_process_goes_on_where_parts_have_ended(each_run, done):
    each_run.parts(2, stages=each_run.stages[: min(done, len(each_run.stages) - 1)])
    each_run.alone()
    assert each_run.written() == each_run.expected


@pytest.mark.exhaustive
def test_parts_go_on_where_one_process_has_ended(run):
    run.alone(keep_work=True)
    run.parts(2)
    assert run.written() == run.expected


@pytest.mark.exhaustive
def test_a_folder_whose_listings_are_old(run, tmp_path, monkeypatch):
    """What another machine has made is found by its name, and never by a listing."""
    keywords, expected = run.keywords, run.expected
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
    assert contents(tmp_path / "out") == expected


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
        refuses(InputError, f"{before}.* not finished", as_client, stage)
        deduplicate_files(**keywords, stage=before)  # on another machine
        missing |= {path for path in work.iterdir() if path.name.startswith(("segment", "links"))}
        as_client(stage, part=None if stage in WHOLE else (1, 3))
    assert (work / LINKED).exists()


TOO_EARLY = [
    (PLAIN, [
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
    ]),
    (JOBS["items"], [
        ([], "find", "no run has begun here: the first stage is stage='sample'"),
        ([], "finish", "no run has begun here"),
        ([("sample", None)], "finish", "of the stage write, part 1/1 has not"),
        ([("find", 2)], "write", "of the stage find, part 1/1 has not finished (counted in 1 part"),
        ([("find", 1, 3), ("write", 3)], "finish", "of the stage write, part 1/1 has not"),
    ]),
]  # fmt: skip
"""Which of three parts of stages are done, which stage is tried then, and what its error says."""


@pytest.mark.parametrize(("job", "cases"), TOO_EARLY)
def test_a_stage_whose_forerunner_is_incomplete(tmp_path, monkeypatch, job, cases):
    small_units(monkeypatch, part=3)
    work = tmp_path / "work"
    keywords = {**job.prepared(tmp_path), **job.named(tmp_path / "out"), "work": work}
    for done, stage, line in cases:
        for before, *numbers in done:
            for number in numbers:
                of_three = None if number is None else (number, 3)
                job.function(**keywords, stage=before, part=of_three)
        assert (work / MANIFEST).exists() == ("no run" not in line)
        part = (1, 3) if "evals" in keywords and stage not in WHOLE else None
        with pytest.raises(InputError) as caught:
            job.function(**keywords, stage=stage, part=part)
        assert line in str(caught.value)


def test_a_part_that_has_begun_has_not_finished(keywords, monkeypatch):
    small_units(monkeypatch, segment=2, block=200)
    part = {"stage": "sign", "part": (1, 3), **keywords}
    stopped_in(monkeypatch, sign, "sign_batch", 3, deduplicate_files, **part)
    assert list(keywords["work"].glob("segment-*[0-9]"))
    for number in (2, 3):
        deduplicate_files(**keywords, stage="sign", part=(number, 3))
    with pytest.raises(InputError, match="of the stage sign, part 1/3 has not finished"):
        deduplicate_files(**keywords, stage="link")


OTHERS = [
    (PLAIN, [
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
    ]),
    (JOBS["items"], [
        ({"min_share": 0.5}, "min_share was 0.0, and is 0.5"),
        ({"rule": "annotate"}, "rule was document, and is annotate"),
        ({"fields": ["question"]}, "fields was None, and is ['question']"),
        ({"output": "clean2/"}, "and is clean2/"),
        ({"hits": None}, "hits.jsonl, and is None"),
        ({"stage": "sign"}, "stage must be one of sample, find, write, finish, got 'sign'"),
        ({"stage": "sample", "part": (1, 3)}, "the stage sample is not divided"),
        ({"work": None}, "give work="),
        ({"restart": True}, "restart=True is for a run in one process"),
        ({"limit": 3}, "limit is for a run in one process"),
        ({"output": "/dev/stdout"}, "not a stream"),
        ({"memory": "100M"}, "memory must be at least 256M"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("job", "changes"), OTHERS)
def test_other_parameters_are_refused(tmp_path, job, changes):
    keywords = {**job.prepared(tmp_path), **job.named(tmp_path / "out"), "work": tmp_path / "work"}
    if "evals" in keywords:
        job.function(**keywords, stage="sample")
        keywords |= {"stage": "find"}
    else:
        job.function(**keywords, stage="sign", part=(1, 3))
        keywords |= {"stage": "sign", "part": (2, 3)}
    for change, line in changes:
        with pytest.raises((InputError, ValueError)) as caught:
            job.function(**{**keywords, **change})
        assert line in str(caught.value), change


@pytest.mark.parametrize(
    ("job", "done", "stages"),
    [(PLAIN, 4, ["sign", "decide", "finish"]), (JOBS["items"], 2, ["write", None])],
)
def test_changed_files_are_refused_and_the_work_of_another_run_is_kept(tmp_path, job, done, stages):
    run = staged_job(tmp_path, job)
    run.parts(2, stages=run.stages[:done])
    for path in filter(None, (run.keywords["inputs"][1], run.keywords.get("evals"))):
        before, times = Path(path).read_bytes(), os.stat(path)
        Path(path).write_bytes(before + b"\n")
        for stage in stages:
            with pytest.raises(InputError, match=rf"{Path(path).stem}\.jsonl has changed since"):
                run.call(stage=stage)
        Path(path).write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    run.parts(2)
    assert run.written() == run.expected
    if job is PLAIN:
        with pytest.raises(InputError, match=r"threshold was 0\.7, and is 0\.9"):
            run.call(threshold=0.9, stage="sign")


@pytest.mark.exhaustive
def test_units_are_fixed_when_the_run_begins(run, tmp_path, monkeypatch):
    """A process with more memory has the same units, and one with less refuses to start."""
    keywords, expected = run.keywords, run.expected
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
    assert contents(tmp_path / "out") == expected


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
        refuses(InputError, "start over", sign._check_whole, nowhere, range(2, 4), wrong)


@pytest.mark.exhaustive
@pytest.mark.parametrize("broken", every(2, [1, 4]))
def test_a_file_that_one_machine_cannot_read(run, tmp_path, monkeypatch, broken):
    """What its process leaves does not disturb another one with the same part."""
    keywords, expected = run.keywords, run.expected
    cut, name = sign.cut_file, keywords["inputs"][broken]

    def fails(of_job, number, *more):
        if of_job.sources[number].path == name:
            raise InputError(name, "Input/output error")
        return cut(of_job, number, *more)

    with monkeypatch.context() as patch:
        patch.setattr(sign, "cut_file", fails)
        refuses(InputError, "Input/output error", deduplicate_files, **keywords, stage="sign")
    assert not (tmp_path / "work" / "broken.json").exists()
    in_parts(deduplicate_files, keywords, 2)
    assert contents(tmp_path / "out") == expected


@pytest.mark.exhaustive
def test_bad_rows_may_be_skipped_later(each_run, tmp_path):
    """What is signed or sampled stays valid; the rows are skipped in all stages."""
    path = Path(each_run.keywords["inputs"][3])
    path.write_text(path.read_text("utf-8").replace("\n", "\n[1]\n", 1), "utf-8")
    refuses(InputError, r"in3\.jsonl: row 2: an array, not an object", each_run.parts, 2)
    result = each_run.parts(2, on_error="skip")
    assert (result.skipped, len(result.skipped_reasons)) == (1, 1)
    three = {
        name: file.replace("/out/", "/three/")
        for name, file in each_run.keywords.items()
        if name in TABLES | CLEAN
    }
    (tmp_path / "three").mkdir()
    each_run.call(**three, work=None, on_error="skip")
    assert each_run.written() == contents(tmp_path / "three")


def test_columns_that_cannot_be_joined_are_refused_by_the_first_stage(tmp_path):
    run = staged_job(tmp_path, JOBS["one clean table"])
    put_table(run.keywords["inputs"][4], [{"id": 1.5, "text": "y"}])
    with pytest.raises(
        InputError, match=r"in4\.parquet: the column 'id' is double, but .* in .*in0\.parquet"
    ):
        run.parts(FILES)


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
def test_writers_leave_each_other_alone_without_locks(run, tmp_path, monkeypatch):
    """Locks of another machine may be unknown; what a killed process has left goes at last."""
    keywords, expected = run.keywords, run.expected
    in_parts(deduplicate_files, keywords, 2, stages=STAGES[:6])
    monkeypatch.setattr("fastlsh.io.journal.try_lock", lambda number: True)
    other = Replacements()
    with other.file(f"{tmp_path}/out/kept/in0.jsonl", folders=True) as temporary:
        Path(temporary).write_text("half of", "utf-8")
        deduplicate_files(**keywords, stage="write")
        assert Path(temporary).exists()
    other._journal.leave()  # it is killed
    with pytest.warns(UserWarning, match="removed temporary files of a run that was killed: 1"):
        deduplicate_files(**keywords, stage="finish")
    assert contents(tmp_path / "out") == expected


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.filterwarnings("ignore:(removed|completed)")  # what kills have left beside outputs
@pytest.mark.parametrize(
    ("name", "files", "kills"),
    [
        ("documents", FILES, 2),
        *(
            pytest.param(*case, marks=pytest.mark.exhaustive)
            for case in (
                ("documents", FILES, 12), ("documents", 1, 6), ("passages", 1, 6),
                ("items", FILES, 6), ("items", 1, 6),
            )
        ),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("documents", FILES, 100), ("documents", 1, 100), ("passages", 1, 50),
                ("items", FILES, 100),
            )
        ),
    ],
)  # fmt: skip
def test_kills(tmp_path, monkeypatch, name, files, kills):
    job = PLAIN if name == "documents" else JOBS[name]
    small_units(monkeypatch, **job.sizes)
    rows = collection(5, ITEMS)[0] if name == "items" else rows_of(3, COUNT)
    keywords = {**job.prepared(tmp_path, divided(tmp_path, rows, files, "jsonl"))}
    keywords.pop("against", None)
    job.function(**keywords, **job.named(tmp_path / "one"))
    keywords |= {**job.named(tmp_path / "out"), "work": tmp_path / "work"}
    expected, tries = contents(tmp_path / "one"), 3 if kills > 2 else 1
    killed_until_done(job.function, keywords, kills, tmp_path / "out", expected, tries)
