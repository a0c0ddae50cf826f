"""The real corpora: any number of partitions and both ways of finding families, as in memory."""

import json
import os
import random
from pathlib import Path

import pytest

import fastlsh
from spark_collections import memory_proofs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.fixture(scope="module", params=["mixed", "descriptions", "big"])
def rows(request, spark, tmp_path_factory):
    """(the data frame in shuffled order, the ids in order, the texts in their order)."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    if request.param == "big":
        path = Path(os.environ.get("FASTLSH_BIG", ""))
        if not path.is_file():
            pytest.skip("no large collection: FASTLSH_BIG names a .jsonl.gz with id and text")
    else:
        path = request.getfixturevalue("data") / f"{request.param}.jsonl.zst"
    with pa.input_stream(str(path)) as stream:
        documents = [json.loads(line) for line in stream.read().splitlines()]
    texts = [document["text"] for document in documents]
    ids = [f"d{number:09}" for number in range(len(texts))]
    order = random.Random(0).sample(range(len(texts)), len(texts))
    folder = tmp_path_factory.mktemp(request.param)
    for part in range(7):
        some = order[part::7]
        table = pa.table({"id": [ids[i] for i in some], "text": [texts[i] for i in some]})
        pq.write_table(table, folder / f"{part}.parquet")
    return spark.read.parquet(str(folder)), ids, texts


@pytest.fixture(scope="module")
def expected(rows):
    """Return the proofs and the pairs that memory finds."""
    _, ids, texts = rows
    pairs = fastlsh.near_duplicates(texts)
    return memory_proofs(texts, ids), [(ids[a], ids[b], s) for a, b, s in pairs]


@pytest.mark.parametrize("partitions", [1, 2, 8, 200])
def test_as_in_memory(rows, expected, partitions):
    from fastlsh.integrations.spark import near_duplicates, proofs

    frame = rows[0]
    found = proofs(frame, partitions=partitions).collect()
    assert sorted(map(tuple, found)) == expected[0]
    found = near_duplicates(frame, partitions=partitions).collect()
    assert sorted(map(tuple, found)) == expected[1]


def test_by_rounds_as_in_memory(rows, expected):
    from fastlsh.integrations.spark import proofs

    found = proofs(rows[0], partitions=8, families="rounds").collect()
    assert sorted(map(tuple, found)) == expected[0]
