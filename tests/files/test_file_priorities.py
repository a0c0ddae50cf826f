"""Priorities of files: numbers and dates, in every format, by every engine."""

import datetime as dt
import shutil
from functools import partial
from pathlib import Path

import pytest

from combinations import covering, every
from fastlsh import InputError, deduplicate_files
from files import put_rows, put_table, table_rows
from in_stages import ENGINES
from in_stages import run_with as run_job
from refusals import refuses
from shards import small_budget

TEXTS = [f"a text about {word} that is written down twice or more" for word in ("one", "two")]
CASES = {  # (lower, higher)
    "dates": ("2024-01-31", "2024-03-02"),
    "nanoseconds": ("2024-03-02T10:00:00.000000001Z", "2024-03-02 12:00:00.000000002+02:00"),
    "numbers": (-5, 2**62 + 1),
    "missing dates": (None, "0001-01-01"),
    "missing numbers": (None, -1e300),
}
NULL = "__HIVE_DEFAULT_PARTITION__"
OF_TABLES = {
    "dates": (dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    "times": (dt.datetime(2024, 1, 31), dt.datetime(2024, 3, 2, 0, 0, 1)),
    "times with a zone": (
        dt.datetime(2024, 3, 2, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        dt.datetime(2024, 3, 2, 0, tzinfo=dt.timezone.utc),
    ),
    "missing": (None, dt.date(1, 1, 1)),
    "texts": ("2024-01-31", "2024-03-02T00:00"),
}


def run_with(engine, folder, *arguments, **keywords):
    """Deduplicate with an engine, or in stages."""
    shutil.rmtree(folder / "work", ignore_errors=True)
    keywords = {"priority": "rank", "work": folder / "work", **keywords}
    return run_job(engine, deduplicate_files, *arguments, **keywords)


def write(path, pairs):
    """Write, for each pair of priorities, a document and its copy, which ought to stay."""
    return put_table(path, [
        {"id": f"{kind}{n}", "text": f"{n} {TEXTS[n % 2]} {n}" * 2, "rank": value}
        for n, pair in enumerate(pairs)
        for kind, value in zip(("low", "high"), pair, strict=True)
    ])  # fmt: skip


def kept_of(path):
    return [row["id"] for row in table_rows(path)]


@pytest.mark.parametrize(
    ("suffix", "engine"), covering(["jsonl", "json", "csv", "parquet"], ENGINES)
)
def test_the_higher_one_stays(tmp_path, monkeypatch, engine, suffix):
    small_budget(monkeypatch)
    groups = [["dates", "nanoseconds", "missing dates"], ["numbers", "missing numbers"]]
    cases = [[CASES[name] for name in names] for names in groups]
    if suffix == "parquet":
        cases = [[pair] * 2 for pair in OF_TABLES.values()]
    for number, pairs in enumerate(cases):
        path = write(tmp_path / f"in{number}.{suffix}", pairs)
        out = tmp_path / f"out{number}.{suffix}"
        result = run_with(engine, tmp_path, path, out)
        assert kept_of(out) == [f"high{n}" for n in range(len(pairs))]
        assert result.missing_priorities == sum(pair[0] is None for pair in pairs)


@pytest.mark.parametrize("engine", every(3, ENGINES))
def test_types_differ_between_files(tmp_path, monkeypatch, engine):
    """Times in one file, texts in another one, and no such column in a third."""
    small_budget(monkeypatch)
    run = partial(run_with, engine, tmp_path)
    paths = [
        write(tmp_path / "a.parquet", [(dt.datetime(2024, 3, 2), dt.datetime(2024, 3, 3))]),
        write(tmp_path / "b.jsonl", [("2024-03-02T00:00:00.000000001", "2024-03-02")]),
        put_rows(tmp_path / "c.jsonl", {"id": "c", "text": f"0 {TEXTS[0]} 0" * 2}),
    ]
    result = run(paths, f"{tmp_path}/kept/")
    assert (result.n_kept, result.missing_priorities) == (1, 1)
    assert kept_of(tmp_path / "kept" / "a.parquet") == ["high0"]
    out = f"{tmp_path}/other/"
    paths[0] = write(tmp_path / "numbers.parquet", [(1, 2)])
    message = r"b\.jsonl: 'rank' holds dates, but numbers in .*numbers\.parquet: they have no"
    refuses(InputError, message, run, paths, out)
    with pytest.raises(InputError, match=r"no row has a priority: no (key|column) 'rnk'"):
        run(paths, f"{tmp_path}/third/", priority="rnk")
    assert not Path(out).exists() or not any(Path(out).iterdir())


@pytest.mark.parametrize("engine", every(2, ["memory", "disk"]))
def test_bad_values_and_mixed_columns(tmp_path, monkeypatch, engine):
    small_budget(monkeypatch)
    for suffix in ("jsonl", "json", "csv", "parquet"):
        run = partial(deduplicate_files, engine=engine, priority="rank", threads=1)
        out = tmp_path / f"out.{suffix}"
        bad = write(tmp_path / f"bad.{suffix}", [("2024-03-02", "last spring")])
        refuses(InputError, r"row [23]: 'rank' is 'last spring', neither a numb", run, bad, out)
        result = run(bad, out, on_error="skip")
        assert (result.documents, result.skipped, result.missing_priorities) == (1, 1, 0)
        mixed = write(tmp_path / f"mixed.{suffix}", [("2024-03-02", "2024")])
        refuses(InputError, r"'rank' holds numbers, but dates in .*mixed", run, mixed, out)


def test_decimals_are_exact(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from decimal import Decimal

    pairs = [(Decimal("0.1"), Decimal("0.10000000000000000001")), (None, Decimal(-(10**17)))]
    path = write(tmp_path / "in.parquet", pairs)
    read = pytest.importorskip("pyarrow.parquet").read_schema(path).field("rank").type
    assert pa.types.is_decimal(read)
    for engine in ("memory", "disk"):
        deduplicate_files(path, tmp_path / "out.parquet", priority="rank", engine=engine)
        assert kept_of(tmp_path / "out.parquet") == ["high0", "high1"]


@pytest.mark.parametrize(
    ("suffix", "engine"), covering(["jsonl", "json", "csv", "parquet"], ENGINES)
)
def test_keys_of_directories(tmp_path, monkeypatch, engine, suffix):
    """Dates, null and numbers in paths, and dates beside a file whose rows have them."""
    small_budget(monkeypatch)
    run = partial(run_with, engine, tmp_path)
    row = {"text": f"0 {TEXTS[0]} 0" * 2}

    def put(place):
        put_table(tmp_path / place / f"a.{suffix}", [{"id": place, **row}])

    days = ["2024-01-31", "2024-03-02T00%3A00%3A00.5", NULL, "2024-03-02"]
    for day in days:
        put(f"in/rank={day}")
    for value in ("9", "10", NULL):
        put(f"numbers/rank={value}")
    for inputs, best in (("in", days[1]), ("numbers", "10"), (f"in/rank={NULL}", NULL)):
        out = tmp_path / f"{best}.{suffix}"
        result = run([tmp_path / inputs], out)
        assert kept_of(out) == [f"{inputs.split('/')[0]}/rank={best}"]
        assert (result.n_kept, result.missing_priorities) == (1, 1)
    put("wrong/rank=spring")
    with pytest.raises(InputError, match=r"rank=spring.*: 'rank' is 'spring', neither a number"):
        run([tmp_path / "wrong"], tmp_path / f"wrong.{suffix}")
    beside = put_rows(tmp_path / "beside.jsonl", {"id": "b", **row, "rank": "2024-03-03"})
    assert run([tmp_path / "in", beside], f"{tmp_path}/both/").n_kept == 1
    assert kept_of(tmp_path / "both" / "beside.jsonl") == ["b"]
    with pytest.raises(InputError, match=r"'rank' holds .*: they have no common order"):
        run([tmp_path / "numbers", beside], f"{tmp_path}/mixed/")
