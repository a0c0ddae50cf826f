"""Annotations, groups, further copies, and texts of several columns: as in memory, to the bit."""

import random

import numpy as np
import pytest

import fastlsh
from fastlsh.integrations.spark import annotate, deduplicate, near_duplicates, proofs
from made_texts import made
from refusals import refuses
from spark_collections import divided, expected_proofs, memory_proofs, rows_of

N = 150
TEXTS = made(N, 5)
EASY = {"threshold": 0.6, "num_perm": 32, "bands": 8, "rows": 4}
DRAW = random.Random(8)
MORE = {
    "from": [DRAW.choice(["a", "b", None]) for _ in range(N)],
    "number": [DRAW.choice([1, 2, None]) for _ in range(N)],
    "share": [DRAW.uniform(-1e9, 1e9) for _ in range(N)],
    "tokens": [DRAW.randrange(2**40) for _ in range(N)],
}


def frame(spark, texts=TEXTS, **more):
    """Return a DataFrame with the rows in any order, and ids in theirs."""
    return divided(spark, {"id": range(len(texts)), "text": texts, **more})


def expected_columns(result, sources, **counts):
    """Return what `annotate` adds, by document, of what memory found."""
    kept = np.maximum(result.kept_index, result.against_index).astype(object)
    similarity = result.similarity.astype(object)
    kept[result.kept] = similarity[result.kept] = None
    columns = [
        kept.tolist(),
        similarity.tolist(),
        result.cluster_size.tolist(),
        result.cluster_sources(sources).tolist(),
        *(result.cluster_sum(np.array(values)).tolist() for values in counts.values()),
    ]
    return list(zip(range(N), *columns, strict=True))


@pytest.mark.parametrize("with_against", [False, True])
def test_annotations(spark, with_against):
    df = frame(spark, **MORE)
    against = TEXTS[:40:3] if with_against else None
    options = {**EASY, "against": None if against is None else frame(spark, against)}
    found = annotate(df, source="from", count=["tokens", "share"], **options)
    assert found.columns[len(df.columns) :] == [
        "duplicate_of", "similarity", "cluster_size", "cluster_sources", "cluster_tokens",
        "cluster_share",
    ]  # fmt: skip
    assert sorted(map(tuple, found.select(df.columns).collect())) == rows_of(df)
    result = fastlsh.deduplicate(TEXTS, against=against, **EASY)
    assert result.removed.size > 50
    expected = expected_columns(result, MORE["from"], tokens=MORE["tokens"], share=MORE["share"])
    assert rows_of(found.drop("text", *MORE)) == expected
    plain = annotate(df, rule="contained", keep="longest", **EASY)
    assert plain.columns[-3:] == ["duplicate_of", "containment", "cluster_size"]


@pytest.mark.parametrize("column", ["from", "number"])
def test_groups(spark, column):
    df = frame(spark, **MORE)
    expected = memory_proofs(TEXTS, range(N), within=MORE[column], **EASY)
    assert 20 < len(expected) < len(memory_proofs(TEXTS, range(N), **EASY))
    assert rows_of(proofs(df, within=column, **EASY)) == expected
    pairs = fastlsh.near_duplicates(TEXTS, within=MORE[column], **EASY)
    assert rows_of(near_duplicates(df, within=column, **EASY)) == list(map(tuple, pairs))
    other = frame(spark, TEXTS[:40], **{column: MORE[column][:40]})
    result = fastlsh.deduplicate(
        TEXTS[40:], against=TEXTS[:40], within=MORE[column][40:], against_within=MORE[column][:40],
        **EASY,
    )  # fmt: skip
    kept = deduplicate(df.where("id >= 40"), within=column, against=other, **EASY)
    assert [row[0] - 40 for row in rows_of(kept.select("id"))] == result.selected.tolist()


def test_contained_documents_of_a_group(spark):
    texts = TEXTS + [text and text[len(text) // 4 :] for text in TEXTS]
    labels = [*MORE["from"], *MORE["from"]]
    how = {"rule": "contained", "search": "containment", "containment": 0.9, "num_perm": 64}
    expected = memory_proofs(texts, range(2 * N), within=labels, **how)
    assert N // 2 < len(expected) < len(memory_proofs(texts, range(2 * N), **how))
    df = frame(spark, texts, **{"from": labels})
    assert rows_of(proofs(df, within="from", **how)) == expected


@pytest.mark.parametrize(
    ("options", "further"),
    [
        ({"max_copies": 2}, {"max_copies": 2, "per_label": N}),
        ({"copies_per": ("from", 1)}, {"per_label": 1}),
        ({"copies_per": ("from", 2), "max_copies": 4}, {"per_label": 2, "max_copies": 4}),
    ],
)
def test_further_copies(spark, options, further):
    labels = {"labels": MORE["from"]} if "copies_per" in options else {}
    result = fastlsh.deduplicate(TEXTS, keep="longest", **EASY)
    stay = result.further_copies(**labels, **further)
    assert result.kept.sum() < stay.sum() < N
    kept = deduplicate(frame(spark, **MORE), keep="longest", **options, **EASY)
    assert [row[0] for row in rows_of(kept.select("id"))] == np.flatnonzero(stay).tolist()


MESSAGE = "array<struct<role:string,content:string,from:string,value:string>>"
PARTS = "array<struct<role:string,content:array<struct<type:string,text:string>>>>"


def test_texts(spark):
    from fastlsh.integrations.spark.search_columns import SearchColumns, check_frame
    from fastlsh.integrations.spark.search_columns import rows_of as shaped

    one = [("user", "one", None, None), (None, None, "system", "no"), (None, None, "user", "two")]
    parts = [("user", [("text", "one"), ("image_url", None), ("text", "two")]), ("system", None)]
    for schema, messages in ((MESSAGE, one), (PARTS, parts)):
        rows = [(1, "title", messages), (2, None, messages[:1]), (3, "", [])]
        df = spark.createDataFrame(rows, f"id long, `a title` string, text {schema}")
        columns = SearchColumns(["a title", "text"], "id", join_with=" | ", roles=("user",))
        check_frame(df, columns)
        found = shaped(df, None, columns).select("id", "text", "bad").collect()
        second = "one" if messages is one else "one | two"
        assert sorted(found) == [(1, "title | one | two", 0), (2, second, 0), (3, "", 0)]
    bad = spark.createDataFrame([(1, [(None, "x", None, None)])], f"id long, text {MESSAGE}")
    refuses(ValueError, "id 1: a message in column 'text' has no role", proofs, bad)
    torn = bad.selectExpr("id", "array(struct('user' role, cast(X'FF' AS string) content)) text")
    refuses(ValueError, "id 1: column 'text' is not UTF-8", proofs, torn)


def test_several_columns(spark):
    titles = [None if text is None else text[:20] for text in TEXTS]
    df = frame(spark, title=titles)
    texts = ["\n".join(filter(None, (a, b))) for a, b in zip(titles, TEXTS, strict=True)]
    found = proofs(df, text=["title", "text"], **EASY)
    assert rows_of(found) == memory_proofs(texts, range(N), **EASY)


@pytest.mark.parametrize("with_against", [False, True])
def test_second_texts(spark, with_against):
    also = [DRAW.choice([*made(5, 9), "", None]) for _ in range(N)]
    options = {**EASY, "also_threshold": 0.4}
    n = N // 4 if with_against else 0
    df = frame(spark, also=also)
    more, memory = {}, {}
    if with_against:
        more = {"against": df.where(f"id < {n}")}
        memory = {"against": TEXTS[:n], "against_also": also[:n]}
    found = proofs(df.where(f"id >= {n}"), also="also", **options, **more)
    columns = ["id", "kept_id", "similarity", "also_similarity", *["against"] * with_against]
    assert found.columns == columns
    ids = [range(n, N)] + [range(n)] * with_against
    result = fastlsh.deduplicate(TEXTS[n:], also=also[n:], **memory, **options)
    assert result.removed.size > 5
    assert rows_of(found) == expected_proofs(result, *ids)
    pairs = near_duplicates(df, also="also", **options)
    expected = fastlsh.near_duplicates(TEXTS, also=also, **options)
    rows = zip(*expected.to_arrow().to_pydict().values(), strict=True)
    assert pairs.columns[2:] == ["similarity", "also_similarity"]
    assert rows_of(pairs) == [*rows]
