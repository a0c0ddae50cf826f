"""What Spark answers is what memory answers, to the bit."""

import datetime
import decimal
import json
import random
import warnings

import pytest

import fastlsh
from fastlsh.integrations.spark import (
    clusters,
    deduplicate,
    functions,
    limited_documents,
    near_duplicates,
    proofs,
    search_columns,
)
from fastlsh.integrations.spark import families as parts
from made_texts import made
from pages import run_examples
from spark_collections import divided, expected_proofs, memory_proofs, rows_of

TEXTS = made(150)
IDS = [f"d{i:04}" for i in range(150)]
EASY = {"num_perm": 32, "bands": 8, "rows": 4}


def frame(spark, ids, texts, seed=0, pieces=2, **more):
    """Return a DataFrame with the rows in any order."""
    return divided(spark, {"id": ids, "text": texts, **more}, seed, pieces)


@pytest.mark.parametrize("families", ["driver", "rounds"])
@pytest.mark.parametrize("partitions", [1, 5])
def test_however_the_rows_are_divided(spark, partitions, families):
    options = {"threshold": 0.6, **EASY}
    df = frame(spark, IDS, TEXTS, partitions, pieces=partitions)
    expected = memory_proofs(TEXTS, IDS, **options)
    assert len(expected) > 50
    found = proofs(df, partitions=partitions, families=families, **options)
    assert found.columns == ["id", "kept_id", "similarity"]
    assert rows_of(found) == expected


def test_ignored_texts(spark):
    sheet = "A sheet of questions that all documents begin with, longer than most of them. " * 3
    texts = [f"{sheet}{text}" for text in TEXTS if text]
    ids, ignore = IDS[: len(texts)], [sheet[:150], sheet]
    expected = memory_proofs(texts, ids, threshold=0.6, ignore=ignore)
    assert 20 < len(expected) < len(texts) - 20
    df = frame(spark, ids, texts)
    assert rows_of(proofs(df, threshold=0.6, ignore=iter(ignore))) == expected
    pairs = near_duplicates(df, 0.6, ignore=ignore)
    found = fastlsh.near_duplicates(texts, 0.6, ids=ids, ignore=ignore)
    assert rows_of(pairs) == sorted(found)


@pytest.mark.parametrize(
    "keep", ["last", "longest", "large", "close", "truth", "dates", "times", "words", "exact"]
)
def test_priorities(spark, keep):
    draw = random.Random(3)
    given = {
        "large": [2**53 + draw.randrange(4) for _ in IDS],  # not the same as floats
        "close": [draw.choice([0.1, -0.0, 0.0, float("inf")]) for _ in IDS],
        "truth": [draw.random() < 0.5 for _ in IDS],
        "dates": [draw.choice([None, datetime.date(1, 1, 1), datetime.date.max]) for _ in IDS],
        "times": [
            draw.choice([None, datetime.datetime(2024, 1, 2, 3, 4, 5, n)]) for n in range(len(IDS))
        ],
        "words": [draw.choice([None, "2024-01-02T01:00+02:00", "2024-01-02"]) for _ in IDS],
        "exact": [
            draw.choice([None, decimal.Decimal("0.10"), decimal.Decimal("0.12")]) for _ in IDS
        ],
    }
    df = frame(spark, IDS, TEXTS, **given)
    options = {"priority" if keep in given else "keep": keep}
    values = {"priority": given[keep]} if keep in given else options
    expected = memory_proofs(TEXTS, IDS, 0.6, **values, **EASY)
    assert expected != memory_proofs(TEXTS, IDS, 0.6, **EASY)
    assert rows_of(proofs(df, threshold=0.6, **options, **EASY)) == expected


def test_all_functions_on_the_examples(spark, examples):
    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    ids, texts = [row["id"] for row in rows], [row["text"] for row in rows]
    places = list(range(len(ids)))
    df = frame(spark, ids, texts, place=places, names=[[i] for i in ids])
    result = fastlsh.deduplicate(texts)
    kept = deduplicate(df)
    assert kept.schema == df.schema
    assert rows_of(kept) == [(ids[i], texts[i], i, [ids[i]]) for i in result.selected]
    assert rows_of(proofs(df)) == expected_proofs(result, ids)
    groups = [(ids[kept], [ids[i] for i in removed]) for kept, *removed in result.clusters()]
    assert rows_of(clusters(df)) == groups
    pairs = [(ids[a], ids[b], s) for a, b, s in fastlsh.near_duplicates(texts)]
    assert len(pairs) > 90
    assert rows_of(near_duplicates(df)) == pairs


CUT = 3
SHOUTED = fastlsh.Shingler(size=4, normalize=lambda text: text[CUT:].upper())
SEARCHES = {
    "contained": {
        "threshold": 0.4, "keep": "longest", "rule": "contained", "containment": 0.8, **EASY
    },
    "equal": {"threshold": 0.8, "rule": "equal", "shingler": fastlsh.Shingler(lowercase=True)},
    "a function": {"threshold": 0.7, "shingler": SHOUTED},
    "fineweb": fastlsh.preset("fineweb"),
    "stack": fastlsh.preset("stack"),
    "estimates": {"threshold": 0.7, "verify": "signature", "scheme": "fss", "seed": 7},
    "unverified": {"threshold": 0.7, "verify": "none", "scheme": "fss", "seed": 7},
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search(spark, name):
    options = SEARCHES[name]
    texts, ids = [*TEXTS, None, TEXTS[0].upper(), ""], [*IDS, "x", "y", "z"]
    df = frame(spark, ids, texts)
    found = proofs(df, **options)
    assert found.columns[2:] == ["containment" if name == "contained" else "similarity"]
    expected = memory_proofs(texts, ids, **options)
    assert expected
    assert str(rows_of(found)) == str(expected)  # NaN is no similarity of its own
    if name == "contained":
        assert deduplicate(df, **options).count() == len(ids) - len(expected)


def test_limited_documents(spark, examples):
    options = {"threshold": 0.3, "num_perm": 8, "bands": 4, "rows": 1}
    texts = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    ids = list(range(-60, len(texts) - 60))
    result = fastlsh.deduplicate(texts, max_candidates=2, **options)
    assert 0 < result.limited < len(texts) / 2
    df = frame(spark, ids, texts)
    found = limited_documents(df, max_candidates=2, **options)
    assert rows_of(found) == [(ids[i],) for i in result.limited_documents]
    assert rows_of(proofs(df, max_candidates=2, **options)) == expected_proofs(result, ids)


@pytest.mark.parametrize("keep", ["first", "longest", "score"])
def test_against(spark, keep):
    known, known_ids = made(80, 1, 12), [f"d{i:04}" for i in range(80)]  # the same ids
    texts, scores = made(60, 1, 12) + made(40, 2), [i * 7 % 10 for i in range(100)]
    ids = IDS[:100]
    against = frame(spark, known_ids, known, pieces=2)
    df = frame(spark, ids, texts, score=scores)
    by_score = keep == "score"
    options = {"priority": "score"} if by_score else {"keep": keep}
    given = {"priority": scores} if by_score else options
    result = fastlsh.deduplicate(texts, 0.6, against=known, **given, **EASY)
    found = proofs(df, threshold=0.6, against=against, **options, **EASY)
    assert found.columns == ["id", "kept_id", "similarity", "against"]
    expected = expected_proofs(result, ids, known_ids)
    assert {against for *_, against in expected} == {True, False}
    assert rows_of(found) == expected
    kept = deduplicate(df, threshold=0.6, against=against, **options, **EASY)
    assert sorted(row.id for row in kept.collect()) == [ids[i] for i in result.selected]
    groups = [(ids[kept], [ids[i] for i in removed]) for kept, *removed in result.clusters()]
    assert rows_of(clusters(df, threshold=0.6, against=against, **options, **EASY)) == groups


EPOCH = datetime.datetime(1969, 12, 31)
ID_TYPES = {
    "long": range(-30, 30),
    "double": [i / 7 for i in range(-30, 30)],
    "timestamp": [EPOCH + datetime.timedelta(hours=i) for i in range(60)],
    "decimal(20,3)": [decimal.Decimal(i).scaleb(-3) for i in range(60)],
    "binary": [b"\xff" * (i // 8) + bytes([i % 8 * 30]) for i in range(60)],
    "string": sorted(f"{c}{i}" for i in range(15) for c in "a\x00Ö😀"),
    "array<int>": [[i // 10, i % 10] for i in range(60)],
    "struct<a:int,b:string>": [(i // 10, chr(97 + i % 10)) for i in range(60)],
}


@pytest.mark.parametrize("kind", ID_TYPES)
def test_ids_of_any_type_that_has_an_order(spark, kind):
    texts, ids = made(60, 2), list(ID_TYPES[kind])
    rows = list(zip(ids, texts, strict=True))
    random.Random(1).shuffle(rows)
    df = spark.createDataFrame(rows, f"id {kind}, text string")
    in_order = df.coalesce(1).sortWithinPartitions("id").collect()
    assert in_order == [(i, text) for i, text in zip(ids, texts, strict=True)]
    found = proofs(df, threshold=0.6, **EASY)
    assert found.schema["kept_id"].dataType == df.schema["id"].dataType
    expected = memory_proofs(texts, ids, 0.6, **EASY)
    assert len(expected) > 10
    assert rows_of(found) == expected
    kept = deduplicate(df, threshold=0.6, **EASY)
    gone = {str(row[0]) for row in expected}
    assert sorted(ids.index(row.id) for row in kept.collect()) == [
        number for number, i in enumerate(ids) if str(i) not in gone
    ]


def test_other_names_and_binary_texts(spark):
    df = frame(spark, IDS, [None if text is None else text.encode() for text in TEXTS])
    df = df.toDF("a `b`.c", "d.e")
    kept = deduplicate(df, 0.6, text="d.e", id="a `b`.c", **EASY)
    expected = fastlsh.deduplicate(TEXTS, 0.6, **EASY)
    assert sorted(row[0] for row in kept.collect()) == [IDS[i] for i in expected.selected]


@pytest.mark.parametrize(("part", "spill"), [(1, 1), (3000, 1), (3000, 10_000), (1, 1 << 30)])
def test_parts_of_any_size(spark, part, spill, monkeypatch):
    monkeypatch.setattr(parts, "PART", part)
    monkeypatch.setattr(parts, "SPILL", spill)
    df = frame(spark, IDS, TEXTS)
    pairs = [(IDS[a], IDS[b], s) for a, b, s in fastlsh.near_duplicates(TEXTS, 0.6, **EASY)]
    assert len(pairs) > 100
    assert rows_of(near_duplicates(df, threshold=0.6, **EASY)) == pairs


@pytest.mark.parametrize("driver", ["united", "spared"])
def test_documents_that_share_their_number(spark, driver, monkeypatch):

    monkeypatch.setattr(search_columns, "MAX_NUMBER", 15)  # hashes of ids that collide
    if driver == "spared":
        monkeypatch.setattr(parts, "on_driver", None)
        monkeypatch.setattr(parts, "LINKS", 16)
    df = frame(spark, IDS, TEXTS)
    expected = memory_proofs(TEXTS, IDS, 0.6, **EASY)
    assert rows_of(proofs(df, threshold=0.6, **EASY)) == expected


def test_nothing_is_left(spark):
    df = frame(spark, IDS, TEXTS)
    tables = spark.catalog.listTables()
    for families in ("driver", "rounds"):
        proofs(df, families=families).collect()
        with pytest.raises(ValueError, match="no 'author'"):
            proofs(df, priority="author", families=families)
    assert spark.catalog.listTables() == tables
    assert spark._jsc.sc().getPersistentRDDs().size() == 0


def test_no_documents_and_no_duplicates(spark):
    for texts in ([], [None], ["one text of some length", "", "quite different, that one"]):
        ids = IDS[: len(texts)]
        df = spark.createDataFrame(list(zip(ids, texts, strict=True)), "id string, text string")
        assert rows_of(deduplicate(df)) == list(zip(ids, texts, strict=True))
        assert rows_of(near_duplicates(df)) == []


def test_documents_shorter_than_a_shingle(spark):
    words = fastlsh.Shingler("word", 3)
    texts = [f"山水之间有一条小路{number % 4}" for number in range(30)] + ["", None]
    df = frame(spark, range(32), texts)
    for families in ("driver", "rounds"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fastlsh.RecallWarning)
            found = deduplicate(df, shingler=words, families=families)
        (message,) = [
            str(each.message) for each in caught if each.category is fastlsh.RecallWarning
        ]
        assert message.startswith(
            "30 of 30 documents are shorter than 3 words: such a document is similar"
        )
        assert found.count() == 6
    assert deduplicate(df, shingler=words, rule="equal").count() == 6
    few = [" ".join(TEXTS[0].split()[:3]), "two words", *TEXTS[2:20]]
    assert deduplicate(frame(spark, range(20), few), shingler=words).count() > 1


def test_docstrings(spark, tmp_path):
    assert run_examples(functions, tmp_path, spark=spark) > 0
