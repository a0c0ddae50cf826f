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
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"text": "body"}, ValueError, "text must be a column of df, which has no 'body'; it has"),
        ({"id": 3}, TypeError, "id must be the name of a column, got 3"),
        ({"text": "score"}, TypeError, "'score' of df must hold strings or binary.*got double"),
        ({"id": "map"}, TypeError, "'map' of df must hold ids that have an order, got map<int"),
        ({"keep": "newest"}, ValueError, "keep must be one of first, last, longest, got 'newest'"),
        ({"keep": "last", "priority": "score"}, ValueError, "give keep= or priority=, not both"),
        ({"priority": "rank"}, ValueError, "priority must be a column of df, which has no 'rank'"),
        ({"priority": "map"}, TypeError, "'map' must hold numbers or dates, the priorities, got"),
        ({"priority": "text"}, ValueError, "id 0: column 'text' is '.*', neither a number nor a"),
        ({"against": ["a text"]}, TypeError, "against must be a Spark DataFrame, got list"),
        ({"threshold": 1.5}, ValueError, "threshold must be above 0"),
        ({"partitions": 0}, ValueError, "partitions must be between 1"),
        ({"families": "somewhere"}, ValueError, "families must be one of auto, driver, rounds"),
        ({"max_candidates": 0}, ValueError, "max_candidates"),
        ({"threads": 2}, TypeError, "threads"),
    ],
)
def test_arguments(df, options, error, message):
    with pytest.raises(error, match=message):
        proofs(df, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
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
    ],
)
def test_arguments_of_annotations(df, options, error, message):
    with pytest.raises(error, match=message):
        annotate(df, **options)
    with pytest.raises(ValueError, match="has a column 'cluster_size' already: rename it"):
        annotate(df.selectExpr("id", "text", "1 AS cluster_size"))


def test_no_dataframe():
    with pytest.raises(TypeError, match="df must be a Spark DataFrame, got list"):
        deduplicate(["a text"])


@pytest.mark.parametrize("function", [deduplicate, near_duplicates])
def test_rows(df, function):
    from pyspark.sql import functions

    repeated = df.unionAll(df.where("id in (7, 31)"))
    with pytest.raises(ValueError, match="id 7 occurs 2 times in column 'id': ids must be unique"):
        function(repeated)
    other = df.unionAll(df.where("id = 12").withColumn("text", functions.lit("other")))
    with pytest.raises(ValueError, match="id 12 occurs 2 times"):
        function(other)
    with pytest.raises(ValueError, match="column 'id' holds null: every document needs an id"):
        function(repeated.selectExpr("nullif(id, 3) AS id", "text"))
    torn = "CASE WHEN id = 9 THEN X'61FF62' ELSE CAST(text AS binary) END AS text"
    for cast in ("text", "CAST(text AS string) AS text"):
        bad = df.selectExpr("id", torn).selectExpr("id", cast)
        with pytest.raises(ValueError, match="id 9: column 'text' is not UTF-8"):
            function(bad)


def test_priorities(df):
    priority = "if(id = 5, '2024-02-30', '2024-02-28')"
    with pytest.raises(ValueError, match=r"id 5: column 'p' is '2024-02-30', neither a number nor"):
        proofs(df.selectExpr("id", "text", f"{priority} AS p"), priority="p")


def test_against(df):
    repeated = df.unionAll(df.where("id = 7"))
    with pytest.raises(ValueError, match="id 7 of against occurs 2 times"):
        proofs(df, against=repeated)
    with pytest.raises(ValueError, match="column 'id' of against holds null"):
        proofs(df, against=df.selectExpr("nullif(id, 3) AS id", "text"))
    with pytest.raises(TypeError, match=r"same type in both.*bigint in df and string in against"):
        proofs(df, against=df.selectExpr("CAST(id AS string) AS id", "text"))


def test_rows_that_are_not_the_same_again(df):
    columns = SearchColumns("text", "id")
    rows = rows_of(df, None, columns)
    number = rows.where("id = 3").first()["number"]
    for code in (REPEATED, BAD_TEXT):
        with pytest.raises(ValueError, match="df has other rows each time it is read"):
            raise_problem(rows, columns, [(code, number ^ 1)])
    with pytest.raises(ValueError, match="df has other rows each time it is read"):
        raise_problem(rows, columns, [(REPEATED, number)])
    with pytest.raises(ValueError, match="id 3: column 'text' is not UTF-8"):
        raise_problem(rows, columns, [(REPEATED, number ^ 1), (BAD_TEXT, number)])
    raise_problem(rows, columns, [])


def test_errors_of_functions_come_as_they_are(df):
    from pyspark.errors import PythonException

    def wrong(text):
        raise ValueError("no such thing")

    with pytest.raises(PythonException, match="ValueError: no such thing"):
        proofs(df, shingler=fastlsh.Shingler(normalize=wrong))


def test_too_many_pairs(df):
    from pyspark.errors import PythonException

    with pytest.raises(PythonException, match=r"TooManyPairsError.*in the part from id"):
        near_duplicates(df, threshold=0.6, max_pairs=0).collect()


def test_rounds_without_a_place_for_checkpoints(df, monkeypatch):
    def none(frame):
        raise RuntimeError("Checkpoint directory has not been set in the SparkContext")

    monkeypatch.setattr(type(df), "checkpoint", none)
    with pytest.raises(ValueError, match=r"set spark\.checkpoint\.dir"):
        proofs(df, families="rounds")
