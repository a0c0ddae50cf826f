"""Decontamination in stages and parts, killed and continued: the bytes of one process."""

import datetime
import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest

from combinations import every
from contaminated_files import collection
from fastlsh import InputError, decontaminate_files
from fastlsh.files.run import manifest as units
from fastlsh.files.run.stages import OF_DECONTAMINATION, WHOLE
from files import put_table
from in_stages import any_order, done_before, each_stage_at_once, in_parts, killed_until_done
from killed_runs import ended_again_and_again
from shards import content_of, contents, small_budget

FILES, ROWS = 6, 78


@pytest.fixture(autouse=True)
def small(monkeypatch):
    small_budget(monkeypatch)
    monkeypatch.setattr(units, "UNIT", 1_800)


def job(folder, kind="jsonl", **more):
    """Write training files and items; return the keywords of a run, without outputs."""
    rows, items = collection(5, ROWS)
    inputs = []
    for shard in range(FILES):
        path = folder / "train" / f"in{shard}.{kind}"
        part = rows[len(rows) * shard // FILES : len(rows) * (shard + 1) // FILES]
        options = {"row_group_size": 5} if kind == "parquet" else {}
        inputs.append(str(put_table(path, part, **options)))
    evals = put_table(folder / "evals.jsonl", items)
    return {
        "inputs": inputs, "evals": str(evals), "threads": 1, "memory": "300M", "sample": 40,
        "boilerplate_documents": 3, **more,
    }  # fmt: skip


def outputs(folder, name="clean/", hits="hits.jsonl"):
    folder.mkdir()
    output = None if name is None else f"{folder}/{name}"
    return {"output": output, "hits": str(folder / hits)}


def counts_of(result):
    return {**vars(result), "seconds": 0, "outputs": 0}


in_stages_of = partial(in_parts, decontaminate_files, stages=OF_DECONTAMINATION)

CASES = [
    ("jsonl", "clean/", {}),
    ("jsonl", "clean.jsonl.gz", {"rule": "span", "around": 2, "join": "|"}),
    ("parquet", "clean/", {"rule": "annotate"}),
    ("parquet", "clean.parquet", {"min_share": 0.2}),
    ("jsonl", None, {}),
    ("jsonl", "clean/", {"rule": "annotate", "convert_to": "csv", "boilerplate_share": None}),
]


@pytest.mark.parametrize("case", every(6, range(len(CASES)), 1))
@pytest.mark.parametrize("of", every(4, [2, 1, 4, 7]))
def test_any_number_of_parts_writes_the_bytes_of_one_process(tmp_path, case, of):
    kind, name, more = CASES[case]
    keywords = job(tmp_path, kind, **more)
    one = decontaminate_files(**keywords, **outputs(tmp_path / "one", name))
    work = tmp_path / "work"
    two = {**keywords, **outputs(tmp_path / "two", name), "work": work}
    result = in_stages_of(two, of)
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    assert one.n_hits > 5
    assert os.listdir(work) == ["finished.json"]
    again = decontaminate_files(**two, stage="finish")
    for each in (result, again):
        assert counts_of(each) == counts_of(one)
        names, others = ([Path(path).name for path in some.outputs] for some in (each, one))
        assert names == others
    three = {**keywords, **outputs(tmp_path / "three", name), "work": tmp_path / "kept"}
    decontaminate_files(**three)
    assert contents(tmp_path / "three") == contents(tmp_path / "one")
    assert not (tmp_path / "kept").exists()


def one_file(folder, kind):
    """Write a collection into one file, with a bad row behind each 12; return a run's keywords."""
    rows = collection(5, ROWS)[0]
    path = folder / f"in.{kind}"
    if kind == "parquet":
        put_table(path, rows, row_group_size=5)
        return {**job(folder, "parquet"), "inputs": [str(path)]}
    if kind == "jsonl":  # without ids: they are FILE:ROW
        lines = [json.dumps({"text": row["text"]}) for row in rows]
        lines = [line + "\n\n[1]" * (not n % 12) for n, line in enumerate(lines)]
    else:
        lines = [" ".join((row["text"] or "").split()) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    more = {"on_error": "skip"} if kind == "jsonl" else {"split": "lines"}
    return {**job(folder), "inputs": [str(path)], **more}


@pytest.mark.parametrize(
    ("kind", "name", "more"),
    [
        ("jsonl", "clean/", {"rule": "span"}),
        *(
            pytest.param(*each, marks=pytest.mark.exhaustive)
            for each in (
                ("jsonl", "clean.jsonl", {}), ("jsonl", None, {}),
                ("parquet", "clean/", {"rule": "annotate"}), ("txt", "clean/", {}),
            )
        ),
    ],
)  # fmt: skip
def test_one_large_file_is_divided(tmp_path, kind, name, more):
    keywords = {**one_file(tmp_path, kind), **more}
    one = decontaminate_files(**keywords, **outputs(tmp_path / "one", name))
    two = {**keywords, **outputs(tmp_path / "two", name), "work": tmp_path / "work"}
    in_stages_of(two, 2, stages=OF_DECONTAMINATION[:1])
    assert len(content_of(tmp_path / "work" / "manifest.json")["units"]) > 5
    result = in_stages_of(two, 2, lambda parts: reversed(parts))
    three = {**keywords, **outputs(tmp_path / "three", name), "work": tmp_path / "alone"}
    alone = decontaminate_files(**three)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")
    assert one.n_hits > 5
    assert counts_of(result) == counts_of(alone) == counts_of(one)


@pytest.mark.exhaustive
def test_the_row_of_an_error_is_counted_in_the_file(tmp_path):
    keywords = {**one_file(tmp_path, "jsonl"), **outputs(tmp_path / "two")}
    lines = Path(keywords["inputs"][0]).read_text("utf-8").split("\n")
    bad = [number for number, line in enumerate(lines, 1) if line == "[1]"]
    work = tmp_path / "work"
    in_stages_of({**keywords, "work": work}, 9, stages=OF_DECONTAMINATION[:2])
    keywords["on_error"] = "fail"

    def row_of_error(part, work):
        try:
            decontaminate_files(**keywords, work=work, stage="find", part=(part, 9))
        except InputError as error:
            return error.row
        return None

    with pytest.raises(InputError) as caught:
        decontaminate_files(**keywords, work=work, stage="write", part=(1, 1))
    assert caught.value.row == bad[0]
    decontaminate_files(**keywords, work=tmp_path / "other", stage="sample")
    found = {row_of_error(part, tmp_path / "other") for part in range(1, 10)} - {None}
    assert found <= set(bad)
    assert len(found) > 4


@pytest.fixture
def keywords(tmp_path):
    """The keywords of a run in stages."""
    return {**job(tmp_path), **outputs(tmp_path / "two"), "work": str(tmp_path / "work")}


@pytest.fixture
def staged(tmp_path, keywords):
    """The keywords of a run in stages, and what one process writes."""
    decontaminate_files(**{**keywords, **outputs(tmp_path / "one"), "work": None})
    return keywords, contents(tmp_path / "one")


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_parts_in_any_order_again_and_late(staged, tmp_path, seed):
    keywords, expected = staged
    in_stages_of(keywords, 3, any_order(seed))
    for stage in OF_DECONTAMINATION[:-1]:
        assert decontaminate_files(**keywords, stage=stage).documents == 0
    assert contents(tmp_path / "two") == expected


@pytest.mark.exhaustive
def test_the_same_part_twice_at_once(staged, tmp_path):
    keywords, expected = staged
    each_stage_at_once(decontaminate_files, keywords, OF_DECONTAMINATION)
    assert contents(tmp_path / "two") == expected


@pytest.mark.parametrize("done", every(3, [1, 2, 3], 1))
def test_one_process_goes_on_where_parts_have_ended(staged, tmp_path, done):
    keywords, expected = staged
    in_stages_of(keywords, 2, stages=OF_DECONTAMINATION[:done])
    decontaminate_files(**keywords)
    assert contents(tmp_path / "two") == expected


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("times", [3, 10])
def test_a_kill_anywhere_changes_nothing(tmp_path, times):
    keywords = job(tmp_path)
    decontaminate_files(**keywords, **outputs(tmp_path / "one", "."))
    del keywords["memory"]
    out = {**outputs(tmp_path / "out", ""), "work": str(tmp_path / "work")}
    expected = contents(tmp_path / "one")
    ended_again_and_again(tmp_path, {**keywords, **out}, expected, fewest=25, times=times)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.filterwarnings("ignore:(removed|completed)")  # what kills have left beside outputs
@pytest.mark.parametrize(
    ("kind", "kills"), [(None, 6), ("jsonl", 6), pytest.param(None, 100, marks=pytest.mark.slow)]
)
def test_stages_that_are_killed_are_started_again(tmp_path, kind, kills):
    keywords = job(tmp_path) if kind is None else one_file(tmp_path, kind)
    keywords |= outputs(tmp_path / "two")
    decontaminate_files(**keywords)
    expected = contents(tmp_path / "two")
    for name in expected:
        (tmp_path / "two" / name).unlink()
    keywords["work"] = str(tmp_path / "work")
    folder = tmp_path / "two"
    killed_until_done(decontaminate_files, keywords, OF_DECONTAMINATION, kills, folder, expected)


TOO_EARLY = [
    ([], "find", "no run has begun here: the first stage is stage='sample'"),
    ([], "finish", "no run has begun here"),
    ([("sample", None)], "finish", "of the stage write, part 1/3, 2/3, 3/3 has not"),
    ([("find", 2)], "write", "of the stage find, part 1/3, 3/3 has not finished"),
    ([("find", 1, 3), ("write", 3)], "finish", "of the stage write, part 1/3, 2/3 has"),
]
"""What is done of a run, which stage is tried then, and what its error says."""


def test_a_stage_whose_forerunner_is_incomplete(keywords, tmp_path):
    for done, stage, line in TOO_EARLY:
        done_before(decontaminate_files, keywords, done)
        assert (tmp_path / "work" / "manifest.json").exists() == ("no run" not in line)
        with pytest.raises(InputError) as caught:
            decontaminate_files(**keywords, stage=stage, part=None if stage in WHOLE else (1, 3))
        assert line.split(",")[0] in str(caught.value)


OTHERS = [
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
]


def test_other_parameters_are_refused(keywords):
    decontaminate_files(**keywords, stage="sample")
    for change, line in OTHERS:
        with pytest.raises((InputError, ValueError)) as caught:
            decontaminate_files(**{**keywords, "stage": "find", **change})
        assert line in str(caught.value), change


def test_changed_files_are_refused(keywords):
    in_stages_of(keywords, 2, stages=OF_DECONTAMINATION[:2])
    for path in (keywords["inputs"][1], keywords["evals"]):
        line = rf"{Path(path).stem}\.jsonl has changed"
        before, times = Path(path).read_bytes(), os.stat(path)
        with open(path, "ab") as file:
            file.write(b"\n")
        with pytest.raises(InputError, match=line):
            decontaminate_files(**keywords, stage="write")
        with pytest.raises(InputError, match=line):
            decontaminate_files(**keywords)
        Path(path).write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    decontaminate_files(**keywords, restart=True)


def test_columns_that_cannot_be_joined_are_refused_by_the_first_stage(tmp_path):
    keywords = job(tmp_path, "parquet")
    put_table(keywords["inputs"][4], [{"id": 1.5, "text": "y"}])
    keywords |= {**outputs(tmp_path / "two", "clean.parquet"), "work": tmp_path / "work"}
    with pytest.raises(
        InputError, match=r"in4\.parquet: the column 'id' is double, but .* in .*in0\.parquet"
    ):
        in_stages_of(keywords, FILES)


@pytest.mark.exhaustive
def test_bad_rows_may_be_skipped_later(keywords, tmp_path):
    with open(keywords["inputs"][4], "a") as file:
        file.write("[1]\n")
    with pytest.raises(InputError, match=r"in4\.jsonl: row .*: an array, not an object"):
        in_stages_of(keywords, 2)
    result = in_stages_of({**keywords, "on_error": "skip"}, 2)
    assert (result.skipped, len(result.skipped_reasons)) == (1, 1)
    one = {**keywords, **outputs(tmp_path / "three"), "work": None, "on_error": "skip"}
    decontaminate_files(**one)
    assert contents(tmp_path / "two") == contents(tmp_path / "three")


IDS = {
    "dates": [datetime.date(2020, 1, 2)] * 2, "integers": [1, 2], "numbers": [0.5, 1e30],
}  # fmt: skip


@pytest.mark.parametrize("kind", every(3, IDS))
def test_ids_of_any_kind_are_kept(tmp_path, kind):
    question = " ".join(f"word{n}" for n in range(15))
    evals = put_table(tmp_path / "evals.jsonl", [{"question": question}])
    rows = [{"id": name, "text": question} for name in IDS[kind]]
    train = put_table(tmp_path / f"{kind}.parquet", rows)
    found = []
    for work in (None, tmp_path / "work"):
        hits = tmp_path / f"{kind}.{work is None}.jsonl"
        decontaminate_files(train, evals, None, hits=hits, work=work)
        table = hits.with_suffix(".parquet")
        decontaminate_files(train, evals, None, hits=table, work=work)
        found.append((hits.read_bytes(), pytest.importorskip("pyarrow.parquet").read_table(table)))
    assert found[0] == found[1]
    assert json.loads(found[0][0].splitlines()[0])["id"] in (1, "2020-01-02", 0.5)
