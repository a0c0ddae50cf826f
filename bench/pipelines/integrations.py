"""What each integration adds to the plain call: the same texts, the same threads.

Wall time, in turns within a round; the answers are compared before. datatrove's first stage runs
beside ours with the same words, n-grams and hashes, which are its own.
"""

import importlib
import importlib.util
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import fastlsh
from bench import common
from bench.common.corpus import Writer

LENGTH = 1_000
DOCUMENTS = 20_000
SIGNED = 500
"""Documents for the first stage."""
Sides = dict[str, Callable[[], Any]]


def plain_sides(texts: Any) -> Sides:
    """Return the plain calls on an Arrow column."""
    hasher = fastlsh.MinHasher()
    return {
        "deduplicate": lambda: fastlsh.deduplicate(texts).kept,
        "signatures": lambda: hasher.signatures(texts),
        "jaccard": lambda: fastlsh.exact_jaccard(texts, texts),
    }


def polars_sides(texts: Any) -> Sides:
    """Return expressions on a frame."""
    import polars as pl

    importlib.import_module("fastlsh.integrations.polars")
    column: Any = pl.col("text")
    frame, text = pl.DataFrame({"text": texts}), column.fastlsh
    return {
        "polars, keep": lambda: frame.select(text.keep())["text"].to_numpy(),
        "polars, signature": lambda: frame.select(text.signature())["text"].to_numpy(),
    }


def duckdb_sides(texts: Any) -> Sides:
    """Return functions of SQL on a table."""
    import duckdb
    import pyarrow as pa

    from fastlsh.integrations.arrow import signatures_from_arrow
    from fastlsh.integrations.duckdb import register

    connection = duckdb.connect()
    register(connection)
    connection.register("arrow", pa.table({"id": range(len(texts)), "text": texts}))
    connection.execute("CREATE TABLE pages AS SELECT * FROM arrow").fetchall()

    def column(expression: str) -> Any:
        return connection.sql(f"SELECT {expression} AS c FROM pages ORDER BY id").to_arrow_table()[
            "c"
        ]

    return {
        "DuckDB, fastlsh_signature": lambda: signatures_from_arrow(
            column("fastlsh_signature(text)")
        ),
        "DuckDB, fastlsh_jaccard": lambda: column("fastlsh_jaccard(text, text)").to_numpy(),
    }


def datasets_sides(texts: Any) -> Sides:
    """Return a Dataset without its near-duplicates."""
    import pyarrow as pa
    from datasets import Dataset

    from fastlsh.integrations.datasets import deduplicate

    dataset = Dataset(pa.table({"text": texts}))
    return {"datasets, deduplicate": lambda: deduplicate(dataset).num_rows}


def datatrove_sides(texts: Sequence[str], folder: Path) -> Sides:
    """Return the block, and both first stages on some of the documents."""
    from datatrove.data import Document
    from datatrove.pipeline.dedup.minhash import MinhashDedupSignature
    from datatrove.utils.logging import logger

    from fastlsh.integrations.datatrove import Deduplication, MinhashSignatures

    logger.disable("datatrove")
    documents = [Document(text=text, id=str(i)) for i, text in enumerate(texts)]

    def stage(block: Any, name: str) -> Callable[[], Any]:
        step = block(str(folder / name))
        return lambda: step.run(documents[:SIGNED], 0, 1)

    def own_words() -> Any:
        words = fastlsh.Shingler("word", 5, lowercase=True, punctuation="space")
        step = MinhashSignatures(str(folder / "words"), shingler=words)
        return step.run(documents[:SIGNED], 0, 1)

    theirs = MinhashDedupSignature(str(folder / "x"))
    shingles = [theirs.get_shingles(text) for text in texts[:SIGNED]]
    ours = MinhashSignatures(str(folder / "x"))
    return {
        "datatrove, block": lambda: len(list(Deduplication().run(documents))),
        "datatrove's stage 1": stage(MinhashDedupSignature, "theirs"),
        "stage 1 by fastlsh": stage(MinhashSignatures, "ours"),
        "stage 1 with a shingler": own_words,
        "datatrove's minima": lambda: [theirs.get_signature(each) for each in shingles],
        "minima by fastlsh": lambda: [ours.get_signature(each) for each in shingles],
    }


BESIDE = {
    "polars, keep": "deduplicate",
    "polars, signature": "signatures",
    "DuckDB, fastlsh_signature": "signatures",
    "DuckDB, fastlsh_jaccard": "jaccard",
    "datasets, deduplicate": "deduplicate",
    "datatrove, block": "deduplicate",
}
"""Which plain call does the same."""


def files(folder: Path) -> dict[str, bytes]:
    """Return what a stage has written."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.sig"))}


def check(sides: Sides, folder: Path) -> None:
    """Assert that all answer alike."""
    kept = sides["deduplicate"]()
    for name, plain in BESIDE.items():
        if name in sides:
            expected, found = sides[plain](), sides[name]()
            same = found == int(kept.sum()) if isinstance(found, int) else None
            assert np.array_equal(found, expected) if same is None else same, name
    if "stage 1 by fastlsh" in sides:
        sides["datatrove's stage 1"]()
        sides["stage 1 by fastlsh"]()
        assert files(folder / "theirs") == files(folder / "ours")
        assert sides["datatrove's minima"]() == sides["minima by fastlsh"]()


def main(arguments: Sequence[str]) -> None:
    """Measure what is installed."""
    import pyarrow as pa

    options = common.parser(__doc__).parse_args(arguments)
    texts = Writer(4).collection(300 if options.quick else DOCUMENTS, LENGTH)
    column = pa.array(texts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        makers: dict[str, Callable[[], Sides]] = {
            "polars": lambda: polars_sides(column),
            "duckdb": lambda: duckdb_sides(column),
            "datasets": lambda: datasets_sides(column),
            "datatrove": lambda: datatrove_sides(texts, folder),
        }
        sides = plain_sides(column)
        for library, made in makers.items():
            if importlib.util.find_spec(library):
                sides |= made()
        check(sides, folder)
        times = common.interleave(sides, common.rounds(options, usual=3))
    results: dict[str, Any] = {
        f"{ours} / {plain}": common.ratio(times[ours], times[plain])
        for ours, plain in BESIDE.items()
        if ours in times
    }
    if "stage 1 by fastlsh" in times:
        for theirs, ours in (
            ("datatrove's stage 1", "stage 1 by fastlsh"),
            ("datatrove's stage 1", "stage 1 with a shingler"),
            ("datatrove's minima", "minima by fastlsh"),
        ):
            results[f"{theirs} / {ours}"] = common.ratio(times[theirs], times[ours])
    seconds = {each: common.summary(times[each]) for each in times}
    results |= {"documents": len(texts), "characters": LENGTH, "seconds": seconds}
    common.write("integrations", options, results)
