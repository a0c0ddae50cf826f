"""Parquet and Arrow outputs: the same bytes with either engine, any memory, any threads."""

from functools import partial

import pytest

from combinations import covering, every, larger
from fastlsh import deduplicate_files, stages
from fastlsh.files.disk import sign
from fastlsh.io import arrays
from files import put_table
from shards import contents, rows_of, small_budget

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")

RUNS = [("memory", 1, {}), ("disk", 2, {})]
MORE = [("memory", 3, {}), ("disk", 1, {"block": 1}), ("disk", 3, {"block": 5000}),
        ("disk", 2, {"block": 1 << 22})]  # fmt: skip
INPUTS = ["jsonl", "csv", "parquet", "arrow"]


def table_of(rows, ids):
    """Return rows with columns that Arrow may hold in many ways."""
    texts = pa.array([row["text"] for row in rows])
    scores = pa.array([row["score"] for row in rows], pa.int64())
    absent = pc.equal(scores, 3)
    return pa.table({
        "id": pa.array([row["id"] if ids == "words" else n for n, row in enumerate(rows)]),
        "text": texts,
        "category": pa.array([(row["text"] or "")[:3] for row in rows]).dictionary_encode(),
        "score": pa.Array.from_buffers(  # with numbers under its nulls
            pa.int64(), len(rows), [pc.if_else(absent, None, 1).buffers()[0], scores.buffers()[1]]
        ),
        "words": pa.array([(row["text"] or "").split() or None for row in rows]),
    })  # fmt: skip


def write_inputs(folder, kind, ids, shards=3):
    """Write a collection in files of a format, one of them without a row."""
    rows = rows_of(21, 45)
    paths = []
    for shard in range(shards):
        part = [] if shard == 1 else rows[shard * 15 : shard * 15 + 30]
        path = folder / f"in{shard}.{kind}"
        table = table_of(part, ids).cast(table_of(rows, ids).schema)
        if kind == "csv":
            pa.csv = pytest.importorskip("pyarrow.csv")
            pa.csv.write_csv(table.select(["id", "text"]), path)
        else:
            how = {"parquet": {"row_group_size": 12}, "arrow": {"max_chunksize": 11}}.get(kind, {})
            put_table(path, table.to_pylist() if kind == "jsonl" else table, **how)
        paths.append(str(path))
    return paths


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_BYTES", 2000)
    monkeypatch.setattr(arrays, "MOST_ROWS", 10)


def all_the_same(runs, folder, monkeypatch, job):
    """Do a job in all ways, and compare all that they write."""
    found = []
    for number, (engine, threads, sizes) in enumerate(runs):
        small_budget(monkeypatch, **sizes)
        place = folder / str(number)
        place.mkdir()
        result = job(place, engine=engine, threads=threads, memory=f"{300 + 50 * number}M",
                     work=folder / "work")  # fmt: skip
        assert result.engine == engine
        found.append(contents(place))
    for run, names in zip(runs, found, strict=True):
        assert names.keys() == found[0].keys()
        for name in names:
            assert names[name] == found[0][name], (name, run)
    return found[0]


@pytest.fixture(params=larger(RUNS, RUNS + MORE), ids=["few", "all"])
def same(request, tmp_path, monkeypatch):
    """A function that does a job in several ways, compares what they write, and returns it."""
    return partial(all_the_same, request.param, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("kind", "output", "ids"), covering(INPUTS, ["kept", "kept/"], ["words", "numbers"])
)
def test_kept_rows_and_proofs(tmp_path, same, kind, output, ids):
    inputs = write_inputs(tmp_path, kind, ids)
    name = output if output.endswith("/") else f"{output}.{kind}"
    written = same(lambda place, **how: deduplicate_files(
        inputs, f"{place}/{name}", 0.7, removed=place / "removed.parquet",
        clusters=place / "clusters.parquet", **how,
    ))  # fmt: skip
    assert len(written) == (5 if output.endswith("/") else 3)
    (tmp_path / "r.parquet").write_bytes(written["removed.parquet"])
    removed = pq.read_table(tmp_path / "r.parquet")
    assert removed.num_rows
    numbers = ids == "numbers" and kind != "csv"
    assert str(removed.schema.field("id").type) == ("int64" if numbers else "string")


@pytest.mark.parametrize("kind", every(4, INPUTS, 2))
def test_nothing_is_found(tmp_path, same, kind):
    inputs = write_inputs(tmp_path, kind, "numbers")[1:2]
    same(lambda place, **how: deduplicate_files(
        inputs, place / f"kept.{kind}", removed=place / "removed.parquet",
        clusters=place / "clusters.parquet", **how,
    ))  # fmt: skip


def test_each_value_of_a_dictionary_is_signed_once(tmp_path, monkeypatch):
    small_budget(monkeypatch, block=1 << 20, rows=1000, part=1000)
    texts = [row["text"] for row in rows_of(23, 40)] * 4
    for name, column in (
        ("plain", pa.array(texts)),
        ("coded", pa.array(texts).dictionary_encode()),
    ):
        put_table(tmp_path / f"{name}.arrow", pa.table({"text": column}))
    signed = []
    monkeypatch.setattr(sign, "sign_batch", lambda texts, *args, **keywords: (
        signed.append(len(texts)), stages.sign_batch(texts, *args, **keywords))[1])  # fmt: skip
    for name in ("plain", "coded"):
        deduplicate_files(tmp_path / f"{name}.arrow", tmp_path / f"{name}.kept.arrow", 0.7,
                          engine="disk", removed=tmp_path / f"{name}.tsv")  # fmt: skip
    assert sum(signed[:-1]) == len(texts)
    assert signed[-1] <= 40
    assert (tmp_path / "plain.tsv").read_text().replace("plain.arrow", "coded.arrow") == (
        tmp_path / "coded.tsv"
    ).read_text()
