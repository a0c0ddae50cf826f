"""Memory and disk: the same files, whatever the shards, the threads, and the sizes of the parts."""

import itertools
import json
from functools import partial
from pathlib import Path

import pytest

import fastlsh
from combinations import covering, every
from fastlsh import Shingler, deduplicate_files, near_duplicate_files
from files import put_table
from in_stages import both_engines
from shards import SIZES, rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk


def both(folder, inputs, output="kept.jsonl", **keywords):
    """Run both engines; return the result, and all that both have written."""
    tables = "removed.tsv", "clusters.jsonl"
    return both_engines(deduplicate_files, folder, inputs, output, *tables, **keywords)


@pytest.mark.parametrize(("cut", "sizes"), covering([(1, 1), (2, 1), (2, 2), (7, 2)], SIZES))
def test_same_answer_for_every_cut(tmp_path, monkeypatch, sizes, cut):
    shards, threads = cut
    small_budget(monkeypatch, **sizes)
    inputs = write_shards(tmp_path, rows_of(shards, 40), shards)
    result, _ = both(tmp_path, inputs, threads=threads)
    assert 0 < result.n_removed < result.documents == 40


@pytest.mark.parametrize(("sizes", "threads"), covering(SIZES, [1, 2]))
def test_rows_end_as_those_of_their_file(tmp_path, monkeypatch, sizes, threads):
    """A file without a last line end, between others with other ends; and one of a row alone."""
    small_budget(monkeypatch, **sizes)
    inputs = []
    for shard, end in enumerate(["\n", "\r\n", "\n", "", "\r\n"]):
        inputs.append(tmp_path / f"in{shard}.jsonl")
        rows = rows_of(shard, 20 if end else 1)
        lines = (json.dumps({**row, "id": f"{shard}-{row['id']}"}) for row in rows)
        inputs[-1].write_bytes(end.join(lines).encode())
    _, written = both(tmp_path, inputs, threads=threads)
    whole = written["kept.jsonl"].decode()
    assert json.loads(whole.split("\n")[-1])["id"][0] == "4"
    for line in whole.splitlines(keepends=True)[:-1]:
        assert line.endswith("\r\n") == (json.loads(line)["id"][0] in "14")


@pytest.mark.parametrize("fractions", every(2, [3, 1]), ids=["by row", "by shard"])
def test_priorities_are_integers_here_and_fractions_there(tmp_path, monkeypatch, fractions):
    small_budget(monkeypatch)
    rows = rows_of(15, 50)
    for number, row in enumerate(rows):
        if number >= 25 and number % fractions == 0:
            row["score"] += 0.5
        elif row["score"] == 0:
            row["score"] = (-1) ** number * (10**17 + number)
    result, _ = both(tmp_path, write_shards(tmp_path, rows, 2), priority="score")
    assert result.n_removed


LARGE = [
    [1_700_000_000_000_000_001, 1_700_000_000_000_000_002, 0.5],
    [1_700_000_000_000_000_001, 1_700_000_000_000_000_002, 1.7e18],
    [2**63 - 1, 2**63, -1],
    [2**64 + 1, 2**64 + 2, 3],
    [-(2**63) - 2, -(2**63) - 1, -(2**63) - 1.0],
]


@pytest.mark.parametrize(
    ("numbers", "kind", "one"), covering(LARGE, ["jsonl", "csv"], [True, False])
)
def test_large_numbers_are_not_rounded(tmp_path, monkeypatch, numbers, kind, one):
    """The first is the second largest, wherever the others stand: in its block, or elsewhere."""
    small_budget(monkeypatch)
    rows = [
        {"id": str(n), "text": "one text of several", "n": each}
        for n, each in enumerate(numbers[:2])
    ]
    rows.append({"id": "2", "text": "another", "n": numbers[2]})
    inputs = []
    for some in [rows] if one else [rows[:1], rows[1:]]:
        inputs.append(tmp_path / f"{len(inputs)}.{kind}")
        if kind == "jsonl":
            lines = [json.dumps(row) for row in some]
        else:
            lines = ["id,text,n", *(f"{row['id']},{row['text']},{row['n']}" for row in some)]
        inputs[-1].write_text("\n".join(lines), encoding="utf-8")
    _, written = both(tmp_path, inputs, priority="n", output=f"kept.{kind}", rule="equal")
    kept = written[f"kept.{kind}"].decode()
    assert [each in kept for each in ("another", *map(str, numbers[:2]))] == [True, False, True]
    result = fastlsh.deduplicate([row["text"] for row in rows], priority=numbers)
    assert result.kept.tolist() == [False, True, True]


def test_documents_without_a_word_stay_by_every_rule(tmp_path):
    texts = ["some words", " ", "some words", "", " ", None, "---", "---"]
    rows = [{"id": number, "text": text} for number, text in enumerate(texts)]
    inputs = write_shards(tmp_path, rows, 3)
    for rule in ("jaccard", "equal"):
        for words, empty in (("whitespace", 4), ("alphanumeric", 6)):
            folder = tmp_path / f"{rule}-{words}"
            found, _ = both(folder, inputs, rule=rule, shingler=Shingler("word", words=words))
            assert (found.empty, found.n_kept) == (empty, 6 if empty == 4 else 7), folder


@pytest.mark.parametrize("keep", every(3, ["first", "last", "longest"], 1))
def test_same_answer_against_another_collection(tmp_path, monkeypatch, keep):
    small_budget(monkeypatch)
    rows = rows_of(6, 64)
    known = write_shards(tmp_path, rows[:24], 3, "known")
    inputs = write_shards(tmp_path, rows[24:], 2)
    result, written = both(tmp_path, inputs, against=known, keep=keep)
    assert result.documents == 40
    proofs = [line.split("\t") for line in written["removed.tsv"].decode().splitlines()[1:]]
    outside = [kept for _, kept, _, _ in proofs if int(kept[1:]) < 24]
    assert outside == [kept for _, kept, _, against in proofs if against == "true"]
    assert outside
    assert len(outside) < len(proofs)


def test_ids_of_every_kind_and_repeated_ones(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    rows = rows_of(8, 40)
    kinds = itertools.cycle(["a\tb", 7, 7.0, True, -(2**70), 1.5, "7", "\ud800", None, "é"])
    for row, identity in zip(rows, kinds, strict=False):
        row["id"] = identity
    result, _ = both(tmp_path, write_shards(tmp_path, rows, 2))
    # 7 and 7.0 are equal, as they are in Python, and so are ids of rows of different shards.
    assert result.repeated_ids == 40 - 4 - 8
    rows = [{"text": row["text"]} for row in rows]
    both(tmp_path / "again", write_shards(tmp_path, rows, 2))


def test_bad_rows_are_skipped_alike(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(10, 48), 3)
    # A file that begins with a bracket would be an array.
    first = Path(inputs[0])
    first.write_text("7\n" + first.read_text(encoding="utf-8"), encoding="utf-8")
    for number, path in enumerate(inputs, 1):
        lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
        for place, line in enumerate(["17\n", "\n", '{"id": 3}\n', '{"text": 5}\n', "{\n"] * 2):
            lines.insert(3 * place + number, line)
        Path(path).write_text("".join(lines), encoding="utf-8")
    result, _ = both(tmp_path, inputs, on_error="skip", output="kept/")
    assert result.skipped == 25
    assert len(result.skipped_reasons) == 10
    with pytest.raises(fastlsh.InputError, match=r"in0\.jsonl: row 1: a number, not an object"):
        deduplicate_files(inputs, tmp_path / "no.jsonl", engine="disk")
    assert not (tmp_path / "no.jsonl").exists()


ONE_TEXT = {"text": "a text of some length " * 3}


JOBS = [
    deduplicate_files,
    fastlsh.deduplicate_line_files,
    partial(fastlsh.deduplicate_span_files, min_length=30),
    near_duplicate_files,
]


@pytest.mark.parametrize(
    ("job", "bad", "threads"),
    covering(JOBS, ['{"id": null, "text": "x"}', "{", '{"text": 5}'], [1, 2]),
)
@pytest.mark.filterwarnings("ignore:every .* of the inputs is removed:UserWarning")
def test_the_first_bad_row_is_named(tmp_path, monkeypatch, job, bad, threads):
    """Of several, the one of against; the rows that are left out are told in the same order."""
    small_budget(monkeypatch)
    good = json.dumps({"id": "a", **ONE_TEXT})
    files = {"known0": [good], "known1": [good, bad, bad], "in0": [bad, good], "in1": [bad]}
    for name, lines in files.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    names = [[f"{tmp_path}/{kind}{number}.jsonl" for number in (0, 1)] for kind in ("in", "known")]
    said, skipped = [], []
    for engine in ("memory", "disk"):
        run = partial(
            job, names[0], tmp_path / "out.jsonl", against=names[1], id="id", engine=engine,
            threads=threads,
        )  # fmt: skip
        with pytest.raises(fastlsh.InputError) as error:
            run()
        said.append(str(error.value))
        skipped.append(run(on_error="skip").skipped_reasons)
    assert said[0] == said[1] == skipped[0][0]
    assert "known1.jsonl: row 2" in said[0]
    assert skipped[0] == skipped[1]
    assert len(skipped[0]) == 4


@pytest.mark.parametrize(
    ("suffix", "verify"),
    [
        *covering(["tsv", "jsonl", "parquet"], ["exact", "signature", "none"]),
        pytest.param("csv", "signature", marks=pytest.mark.exhaustive),
    ],
)
def test_same_pairs(tmp_path, monkeypatch, verify, suffix):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(11, 60), 3)
    result, _ = both_engines(
        near_duplicate_files, tmp_path, inputs, f"p.{suffix}", threshold=0.7, verify=verify
    )
    expected = fastlsh.near_duplicates([row["text"] for row in rows_of(11, 60)], 0.7, verify=verify)
    assert result.n_pairs == len(expected) > 20


def test_too_many_pairs(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(11, 60), 3)
    for engine in ("memory", "disk"):
        with pytest.raises(fastlsh.TooManyPairsError, match="max_pairs=5"):
            near_duplicate_files(inputs, tmp_path / "p.tsv", 0.7, engine=engine, max_pairs=5)
    assert not (tmp_path / "p.tsv").exists()
    # Of all parts together, those that a run before has finished included.
    pairs = near_duplicate_files(inputs, tmp_path / "all.tsv", 0.7).n_pairs
    for _ in range(2):
        with pytest.raises(fastlsh.TooManyPairsError, match=f"at least {pairs} pairs"):
            near_duplicate_files(
                inputs, tmp_path / "few.tsv", 0.7, engine="disk", max_pairs=pairs - 1
            )


@pytest.mark.exhaustive
def test_the_real_corpus(data, tmp_path):
    inputs = [str(data / "descriptions.jsonl.zst")]
    result, _ = both(tmp_path, inputs, threads=2, output="kept.jsonl.zst")
    assert result.documents == 16410


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_bad_rows_at_the_beginning_of_a_table(tmp_path, kind):
    rows = [{**row, "score": None if i in (2, 3) else i} for i, row in enumerate(rows_of(1, 50))]
    path = put_table(tmp_path / f"in.{kind}", rows)
    result, _ = both(tmp_path, path, f"k.{kind}", on_error="skip", id="score")
    assert (result.documents, result.skipped) == (48, 2)
    assert result.skipped_reasons[0].endswith("row 3: 'score' is null, not an id")
    for engine in ("memory", "disk"):
        with pytest.raises(fastlsh.InputError, match="row 3: 'score' is null"):
            deduplicate_files(path, tmp_path / f"f.{kind}", id="score", engine=engine)


@pytest.mark.parametrize("kind", ["string_view", "large_string", "string"])
def test_any_type_of_strings(tmp_path, kind):
    import pyarrow as pa

    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    texts = [row["text"] if i % 7 else None for i, row in enumerate(rows_of(1, 60))]
    ids = [f"id {n}" for n in range(60)]
    columns = {"text": texts * 2, "id": ids * 2}
    table = pa.table({name: pa.array(values, kind) for name, values in columns.items()})
    path = put_table(tmp_path / "in.arrow", table)
    result, _ = both(tmp_path, path, "k.arrow", annotate=True, source="id")
    assert result.n_removed >= 51


def test_slow_rows_are_counted(tmp_path):
    rows = [f'{{"text": "the text of row {number}"}}' for number in range(6)]
    rows[1] = r'{"\u0074ext": "an escaped key"}'
    rows[4] = r'{"text": "a lone surrogate \ud800"}'
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    result, _ = both(tmp_path, [tmp_path / "a.jsonl"])
    assert (result.documents, result.slow_rows) == (6, 2)
