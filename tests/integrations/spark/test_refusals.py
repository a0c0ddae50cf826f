"""What is wrong with a DataFrame is said in one line, on the driver."""

import pytest

import fastlsh
from fastlsh.integrations.spark import annotate, deduplicate, near_duplicates, proofs
from fastlsh.integrations.spark.search_columns import (
    BAD_TEXT,
    REPEATED,
    SearchColumns,
    raise_problem,
    rows_of,
)
from made_texts import made
from refusals import refuses

TEXTS = made(40)


@pytest.fixture(scope="module")
def df(spark):
    """Forty documents with a few more columns."""
    import pyarrow as pa

    table = {"id": range(40), "text": TEXTS, "score": [float(i) for i in range(40)]}
    df = spark.createDataFrame(pa.table(table))
    return df.selectExpr(
        "*", "CAST(score AS decimal(9,2)) AS exact", "map(1, id) AS map", "struct(id) AS s",
        "nullif(id, 1) AS gap", "if(id = 7, double('NaN'), score) AS nan",
        "if(id = 5, '2024-02-30', '2024-02-28') AS day",
    )  # fmt: skip


ARGUMENTS = [
    ({"text": "body"}, ValueError, "text must be a column of df, which has no 'body'; it has"),
    ({"id": 3}, TypeError, "id must be the name of a column, got 3"),
    ({"text": "score"}, TypeError, "'score' of df must hold strings or binary.*got double"),
    ({"id": "map"}, TypeError, "'map' of df must hold ids that have an order, got map<int"),
    ({"keep": "newest"}, ValueError, "keep must be one of first, last, longest, got 'newest'"),
    ({"keep": "last", "priority": "score"}, ValueError, "give keep= or priority=, not both"),
    ({"priority": "rank"}, ValueError, "priority must be a column of df, which has no 'rank'"),
    ({"priority": "map"}, TypeError, "'map' must hold numbers or dates, the priorities, got"),
    ({"priority": "text"}, ValueError, "id 0: column 'text' is '.*', neither a number nor a"),
    ({"priority": "day"}, ValueError, "id 5: column 'day' is '2024-02-30', neither a number nor"),
    ({"against": ["a text"]}, TypeError, "against must be a Spark DataFrame, got list"),
    ({"threshold": 1.5}, ValueError, "threshold must be above 0"),
    ({"partitions": 0}, ValueError, "partitions must be between 1"),
    ({"families": "somewhere"}, ValueError, "families must be one of auto, driver, rounds"),
    ({"max_candidates": 0}, ValueError, "max_candidates"),
    ({"threads": 2}, TypeError, "threads"),
    ({"ignore": "a text"}, TypeError, "ignore must be a collection of texts, got one str"),
    (
        {"ignore_common": 0.1},
        ValueError,
        "ignore_common= counts the shingles of a whole collection",
    ),
    ({"also": "title"}, ValueError, "also must be a column of df, which has no 'title'"),
    ({"also": "score"}, TypeError, "column 'score' of df must hold strings, got double"),
    ({"also_threshold": 0.5}, ValueError, "also_threshold= is for the second texts: give also="),
    ({"also": "text", "rule": "equal"}, ValueError, "compares one text of each document"),
]
OF_ANNOTATIONS = [
    ({"within": "nan"}, ValueError, "column 'nan' holds NaN"),
    ({"source": "nan"}, ValueError, "column 'nan' holds NaN"),
    ({"count": "gap"}, ValueError, r"column 'gap' holds no value \(null or NaN\)"),
    ({"count": "nan"}, ValueError, "id 7: column 'nan' holds no value"),
    ({"count": "text"}, TypeError, "'text' must hold numbers to be summed, got string"),
    ({"source": "s"}, TypeError, "'s' of df must hold strings or numbers, got struct"),
    ({"text": ["text", "id"]}, TypeError, "'id' of df must hold strings or messages, got big"),
    ({"roles": ["user"]}, ValueError, "roles is for messages, which column 'text' of df has n"),
    ({"join_with": " "}, ValueError, "join_with is for texts of several columns or messages"),
    ({"max_copies": 2}, ValueError, "max_copies has no effect with annotate=True"),
]


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [*((proofs, *case) for case in ARGUMENTS), *((annotate, *case) for case in OF_ANNOTATIONS)],
)
def test_arguments(df, function, options, error, message):
    refuses(error, message, function, df, **options)


@pytest.mark.parametrize("function", [deduplicate, near_duplicates])
def test_frames(df, function):
    refuses(TypeError, "df must be a Spark DataFrame, got list", function, ["a text"])
    repeated = df.unionAll(df.where("id in (7, 31)"))
    message = "id 7 occurs 2 times in column 'id': ids must be unique"
    refuses(ValueError, message, function, repeated)
    other = df.unionAll(df.where("id = 12").selectExpr("id", "'other' AS text", *df.columns[2:]))
    refuses(ValueError, "id 12 occurs 2 times", function, other)
    gap = repeated.selectExpr("nullif(id, 3) AS id", "text")
    refuses(ValueError, "column 'id' holds null: every document needs an id", function, gap)
    torn = "CASE WHEN id = 9 THEN X'61FF62' ELSE CAST(text AS binary) END AS text"
    for cast in ("text", "CAST(text AS string) AS text"):
        bad = df.selectExpr("id", torn).selectExpr("id", cast)
        refuses(ValueError, "id 9: column 'text' is not UTF-8", function, bad)


def test_frames_with_others(df):
    repeated = df.unionAll(df.where("id = 7"))
    refuses(ValueError, "id 7 of against occurs 2 times", proofs, df, against=repeated)
    gap = df.selectExpr("nullif(id, 3) AS id", "text")
    refuses(ValueError, "column 'id' of against holds null", proofs, df, against=gap)
    other = df.selectExpr("CAST(id AS string) AS id", "text")
    message = "same type in both.*bigint in df and string in against"
    refuses(TypeError, message, proofs, df, against=other)
    named = df.selectExpr("id", "text", "1 AS cluster_size")
    refuses(ValueError, "has a column 'cluster_size' already: rename it", annotate, named)


def test_what_fails_in_the_work(df, monkeypatch):
    from pyspark.errors import PythonException

    def wrong(*_):
        raise ValueError("no such thing")

    def none(frame):
        raise RuntimeError("Checkpoint directory has not been set in the SparkContext")

    shingler = fastlsh.Shingler(normalize=wrong)
    refuses(PythonException, "ValueError: no such thing", proofs, df, shingler=shingler)
    pairs = near_duplicates(df, threshold=0.6, max_pairs=0)
    refuses(PythonException, r"TooManyPairsError.*in the part from id", pairs.collect)
    monkeypatch.setattr(type(df), "checkpoint", none)
    refuses(ValueError, r"set spark\.checkpoint\.dir", proofs, df, families="rounds")


def test_rows_that_are_not_the_same_again(df):
    columns = SearchColumns("text", "id")
    rows = rows_of(df, None, columns)
    number = rows.where("id = 3").first()["number"]
    message = "df has other rows each time it is read"
    for problem in ((REPEATED, number ^ 1), (BAD_TEXT, number ^ 1), (REPEATED, number)):
        refuses(ValueError, message, raise_problem, rows, columns, [problem])
    problems = [(REPEATED, number ^ 1), (BAD_TEXT, number)]
    message = "id 3: column 'text' is not UTF-8"
    refuses(ValueError, message, raise_problem, rows, columns, problems)
    raise_problem(rows, columns, [])
