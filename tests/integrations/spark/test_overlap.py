"""Overlap of data sets in Spark: the counts of `fastlsh.overlap`."""

import random

import pytest

import fastlsh
from fastlsh.integrations.spark import overlap
from spark_collections import made


def collection(seed, n=150):
    """Return (id, text, data set) in the order of ids, with empty texts and copies."""
    draw = random.Random(seed)
    texts = [draw.choice([text, text, text, "", None, " ☃ 𝔘"]) for text in made(n, seed)]
    return [(f"d{i:04}", text, draw.choice("zyxw")) for i, text in enumerate(texts)]


def in_memory(rows, *more, **options):
    data_sets = {}
    for _, text, name in rows:
        data_sets.setdefault(str(name), []).append(text)
    return fastlsh.overlap(data_sets, *more, **options)


def check_equal(found, expected):
    assert found.names == expected.names
    assert found._counts.tolist() == expected._counts.tolist()
    for name in ("documents", "characters", "shared_documents", "shared_characters"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert (found.empty, found.params) == (expected.empty, expected.params)
    assert found.best_order() == expected.best_order()


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.6},
        {"threshold": 0.6, "partitions": 3, "families": "driver"},
        {"shingler": fastlsh.Shingler("word", 2, lowercase=True)},
        {"shingler": fastlsh.Shingler("byte", 7)},
    ],
)  # fmt: skip
def test_the_counts_of_memory(spark, options):
    rows = collection(3)
    df = spark.createDataFrame(
        random.Random(1).sample(rows, len(rows)), "id string, text string, at string"
    )
    expected = in_memory(rows, **{k: v for k, v in options.items() if k[:2] not in ("pa", "fa")})
    assert expected.shared_documents.sum() > 20
    check_equal(overlap(df, source="at", **options), expected)


@pytest.mark.parametrize(
    ("kind", "value"), [("double", lambda x: "wxyz".index(x) / 2), ("boolean", lambda x: x > "x")]
)
def test_data_sets_may_be_numbers_and_texts_binary(spark, kind, value):
    rows = [(name, text, value(at)) for name, text, at in collection(5)]
    binary = [(name, None if text is None else text.encode(), at) for name, text, at in rows]
    df = spark.createDataFrame(binary, f"id string, text binary, at {kind}")
    check_equal(overlap(df, 0.6, source="at"), in_memory(rows, 0.6))


def test_texts_of_several_columns(spark):
    rows = collection(6, 60)
    columns = [(name, text, "more", at) for name, text, at in rows]
    df = spark.createDataFrame(columns, "id string, a string, b string, at string")
    joined = [(name, " ".join(filter(None, [text, "more"])), at) for name, text, at in rows]
    found = overlap(df, 0.6, source="at", text=["a", "b"], join_with=" ")
    check_equal(found, in_memory(joined, 0.6))


def test_what_is_refused(spark):
    def frame(*values, kind="string"):
        rows = [(i, "some text", value) for i, value in enumerate(values)]
        return spark.createDataFrame(rows, f"id long, text string, at {kind}")

    for df, message in [
        (frame("a", "a"), "2 to 64 data sets, got 1"),
        (frame("a", None), "id 1: column 'at' holds no value"),
        (frame(0.5, float("nan"), kind="double"), "id 1: column 'at' holds no value"),
        (frame(*map(str, range(65))), "column 'at' has more than 64 values"),
    ]:
        with pytest.raises(ValueError, match=message):
            overlap(df, source="at")
    with pytest.raises(ValueError, match="which has no 'from'"):
        overlap(frame("a", "b"), source="from")
    with pytest.raises(ValueError, match="which token ids do not have"):
        overlap(frame("a", "b"), source="at", shingler=fastlsh.Shingler("token", 2))
    with pytest.raises(Exception, match=r"max_pairs=1.*in the part from id"):
        overlap(
            spark.createDataFrame(
                [(i, f"the same long text but for one number {i}", "ab"[i % 2]) for i in range(9)],
                "id long, text string, at string",
            ),
            0.5, source="at", max_pairs=1,
        )  # fmt: skip
