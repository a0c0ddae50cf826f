"""DuckDB's functions answer what the plain calls do."""

import numpy as np
import pytest

import fastlsh
from fastlsh import LSHParams, MinHasher, Shingler
from made_texts import made, odd_texts
from refusals import refuses
from required import library

duckdb = library("duckdb")
pa = library("pyarrow")
from fastlsh.integrations.duckdb import register  # noqa: E402

TEXTS = made(5000)  # more than one vector of 2,048
OTHERS = TEXTS[1:] + TEXTS[:1]


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        rows = pa.table({"id": range(len(TEXTS)), "text": TEXTS, "other": OTHERS})
        connection.register("arrow", rows)
        connection.execute("CREATE TABLE pages AS SELECT * FROM arrow")
        yield connection


def column(connection, expression):
    return connection.execute(f"SELECT {expression} FROM pages ORDER BY id").fetchall()


def test_the_functions(connection):
    params = register(connection)
    assert params.lsh == LSHParams.for_threshold(0.8)
    signatures = MinHasher().signatures(TEXTS)
    found = np.array([row[0] for row in column(connection, "fastlsh_signature(text)")], np.uint32)
    assert np.array_equal(found, signatures)
    keys = np.array([row[0] for row in column(connection, "fastlsh_band_keys(text)")], np.uint64)
    assert np.array_equal(keys.T, fastlsh.band_keys(signatures, params.lsh))
    similarity = [row[0] for row in column(connection, "fastlsh_jaccard(text, other)")]
    assert similarity == fastlsh.exact_jaccard(TEXTS, OTHERS).tolist()
    assert max(similarity) > 0.5


def test_parameters_and_types(connection):
    words = Shingler("word", 2)
    options = {"shingler": words, "num_perm": 20, "seed": 5, "bands": 6, "rows": 3}
    params = register(connection, 0.5, **options, scheme="fss", threads=1)
    assert params.lsh == LSHParams(6, 3)
    text = "the quick brown fox jumps over the lazy dog"
    row = connection.execute(
        "SELECT fastlsh_signature($t) AS s, fastlsh_band_keys($t) AS k, "
        "fastlsh_jaccard($t, 'the quick brown fox') AS j, typeof(s), typeof(k), typeof(j)",
        {"t": text},
    ).fetchone()
    signatures = MinHasher(20, seed=5, shingler=words, scheme="fss").signatures([text])
    assert row[0] == tuple(signatures[0].tolist())
    assert row[1] == tuple(fastlsh.band_keys(signatures, params.lsh)[:, 0].tolist())
    assert row[2] == fastlsh.jaccard(text, "the quick brown fox", words)
    assert row[3:] == ("UINTEGER[20]", "UBIGINT[6]", "DOUBLE")
    register(connection, num_perm=10, bands=2, rows=5)  # instead
    found = connection.execute("SELECT fastlsh_signature('x')").fetchone()[0]
    assert found == tuple(MinHasher(10).signatures(["x"])[0].tolist())


def test_near_duplicates_in_sql(connection):
    # The join that docs/integrations.md shows.
    register(connection)
    found = connection.execute("""
        WITH keys AS (
            SELECT id, text, unnest(fastlsh_band_keys(text)) AS key,
                   generate_subscripts(fastlsh_band_keys(text), 1) AS band
            FROM pages WHERE id < 800
        ),
        candidates AS (
            SELECT DISTINCT a.id AS a, b.id AS b, a.text AS one, b.text AS other
            FROM keys a JOIN keys b USING (band, key) WHERE a.id < b.id AND key <> 0
        )
        SELECT a, b, fastlsh_jaccard(one, other) AS jaccard FROM candidates
        WHERE jaccard >= 0.8 ORDER BY a, b
    """).fetchall()
    assert found == list(fastlsh.near_duplicates(TEXTS[:800], 0.8))


@pytest.mark.parametrize("seed", range(4))
def test_random_collections(seed):
    texts = odd_texts(seed)
    with duckdb.connect() as connection:
        register(connection, num_perm=8, bands=2, rows=4)
        ids = pa.array(range(len(texts)), pa.int64())
        connection.register("arrow", pa.table({"id": ids, "text": pa.array(texts, pa.string())}))
        connection.execute("CREATE TABLE stored AS SELECT * FROM arrow")
        expected = fastlsh.MinHasher(8).signatures(texts).tolist()
        for name in ("arrow", "stored"):
            relation = connection.sql(f"SELECT * FROM {name} ORDER BY id")
            found = relation.project("fastlsh_signature(text)").fetchall()
            assert [list(row) for (row,) in found] == expected
            answer = fastlsh.deduplicate(relation.project("text"), 0.6)
            assert answer.kept.tolist() == fastlsh.deduplicate(texts, 0.6).kept.tolist()


def test_refusals(connection):
    refuses(ValueError, "threshold must be", register, connection, 0)
    refuses(ValueError, "num_perm must be", register, connection, num_perm=0)
    refuses(ValueError, "bands and rows", register, connection, bands=3)
    refuses(TypeError, "connection must be one of DuckDB, got str", register, "my.db")
    register(connection)
    message = "fastlsh_signature belongs to another connection"
    refuses(ValueError, message, register, connection.cursor())
