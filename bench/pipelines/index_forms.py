"""Every form of an index: memory, insert and query rates, in batches, singly, and four at once.

Each form is saved when it is done. The same command goes on where an earlier one ended, if that was
of the same commit and size; --only measures some. A Redis server is measured where --redis says.

Documents of about 100 characters (exact verification keeps and compares them), a fifth of them
near-duplicates, 17 bands of 7 rows. Signatures are made beforehand and given to all: what is timed
is the index. fastlsh verifies exactly; datasketch and rensa, in memory, return candidates
unverified. Batches of 10,000; singly: 500 documents.
Readers: processes that ask at once, each 5,000 documents.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import RESULTS, common
from bench.peers import contenders

BANDS, ROWS = 17, 7
BATCH, SINGLE, READERS, LENGTH = 10_000, 500, 4, 100
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz     ", np.uint8)
Form = Callable[[list[str], NDArray[np.uint32]], dict[str, float]]
THEIRS = 50_000
"""Documents for others that take their time."""


def documents(n: int) -> list[str]:
    """Return texts of which each fifth is an earlier one with another letter."""
    draw = np.random.default_rng(3)
    code = LETTERS[draw.integers(0, len(LETTERS), (n, LENGTH), np.uint8)]
    for number in range(4, n, 5):
        code[number] = code[draw.integers(number)]
        code[number, draw.integers(LENGTH)] = draw.choice(LETTERS)
    return [row.tobytes().decode() for row in code]


def opened(form: str, folder: str, threads: int = 1) -> Any:
    """Return an empty index."""
    if form == "memory":
        return fastlsh.Index(0.8, bands=BANDS, rows=ROWS, threads=threads)
    where = folder if form == "redis" else Path(folder) / "index"
    return fastlsh.Index.open(where, 0.8, bands=BANDS, rows=ROWS, threads=threads)


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cut(n: int) -> Iterator[slice]:
    return (slice(first, min(first + BATCH, n)) for first in range(0, n, BATCH))


def ours(
    form: str, texts: list[str], signatures: NDArray[np.uint32], folder: str
) -> dict[str, float]:
    index = opened(form, folder)
    n = len(texts)

    def insert() -> None:
        for some in cut(n):
            index.insert_many(range(n)[some], texts[some], signatures=signatures[some])

    def query(some: slice) -> Any:
        return index.query_many(texts[some], signatures=signatures[some])

    found = {"inserts/s in batches": n / timed(insert)}
    asked = list(cut(n))[:: max(n // BATCH // 5, 1)]
    total = sum(some.stop - some.start for some in asked)
    found["queries/s in batches"] = total / timed(lambda: [query(some) for some in asked])
    found["queries/s singly"] = SINGLE / timed(
        lambda: [index.query(text) for text in texts[: SINGLE * 7 : 7]]
    )
    more = [f"{text} more" for text in texts[:SINGLE]]
    found["inserts/s singly"] = SINGLE / timed(
        lambda: [index.insert(n + d, text) for d, text in enumerate(more)]
    )
    found["bytes a document"] = index.nbytes / len(index)
    index.close()
    return found


READER = """
import sys
import fastlsh
from bench.pipelines.index_forms import documents
with fastlsh.Index.open(sys.argv[1], read_only=True, threads=1) as index:
    texts = documents(int(sys.argv[2]))[-5000:]
    index.query_many(texts[:100])
    print("ready", flush=True)
    sys.stdin.readline()
    index.query_many(texts)
"""


def readers(folder: str, n: int, count: int) -> float:
    """Return the documents that `count` processes ask for in a second."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", READER, os.path.join(folder, "index"), str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()

    def ask() -> None:
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            process.communicate()

    return count * min(5000, n) / timed(ask)


def rensa(texts: list[str]) -> dict[str, float]:
    """Measure its index, which needs sets of str."""
    from rensa import RMinHash, RMinHashLSH

    n = len(texts)
    sets = [[text[i : i + 9] for i in range(len(text) - 8)] for text in texts]
    minhashes = RMinHash.from_token_sets(sets, 128, 1)
    index = RMinHashLSH(0.8, 128, 16)  # needs a divisor: 16 bands of 8 rows
    return {
        "inserts/s in batches": n / timed(lambda: index.insert_many(minhashes)),
        "queries/s in batches": n / timed(lambda: index.query_all(minhashes)),
    }


def datasketch(signatures: NDArray[np.uint32], address: str = "") -> dict[str, float]:
    """Measure its index, in memory or in the Redis server that `address` names."""
    from datasketch import MinHash, MinHashLSH

    theirs = [MinHash(128, hashvalues=row, scheme="affine32") for row in signatures]
    server = urlsplit(address)
    storage = {
        "type": "redis",
        "basename": uuid.uuid4().bytes,
        "redis": {"host": server.hostname, "port": server.port or 6379},
    }
    index = MinHashLSH(
        num_perm=128, params=(BANDS, ROWS), storage_config=storage if address else None
    )

    def insert() -> None:
        with index.insertion_session() as session:
            for d, minhash in enumerate(theirs):
                session.insert(d, minhash, check_duplication=False)

    asked = theirs[:2000]
    return {
        "inserts/s in batches": len(theirs) / timed(insert),
        "queries/s singly": len(asked) / timed(lambda: [index.query(each) for each in asked]),
    }


def sqlite(texts: list[str], signatures: NDArray[np.uint32]) -> dict[str, float]:
    """Measure an index in a file, also with readers in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        found = ours("sqlite", texts, signatures, folder)
        found["queries/s, one reader"] = readers(folder, len(texts), 1)
        found["queries/s, four readers"] = readers(folder, len(texts), READERS)
    return found


def forms(options: Any) -> dict[str, Form]:
    """Return what can be measured here."""
    found: dict[str, Form] = {
        "memory": lambda texts, signatures: ours("memory", texts, signatures, ""),
        "sqlite": sqlite,
    }
    if options.redis:
        found["redis"] = lambda texts, signatures: ours("redis", texts, signatures, options.redis)
    if contenders.installed("rensa"):
        found["rensa, unverified, 16 x 8"] = lambda texts, _: rensa(texts)
    if contenders.installed("datasketch"):
        found["datasketch, unverified"] = lambda _, signatures: datasketch(signatures[:THEIRS])
        if options.redis:
            found["datasketch in Redis, unverified"] = lambda _, signatures: datasketch(
                signatures[:THEIRS], options.redis
            )
    return found


def earlier(path: Path | None, options: Any, n: int) -> dict[str, Any]:
    """Return what an interrupted run of the same commit has measured."""
    if path is None or not path.exists():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    same = record["commit"] == options.commit and record["quick"] == options.quick
    results: dict[str, Any] = record["results"]
    return results if same and results["documents"] == n else {}


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/index_forms.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", metavar="FORM", help="the beginnings of their names")
    parser.add_argument("--redis", metavar="ADDRESS", help="redis://HOST:PORT/DB#NAME, a new index")
    options = parser.parse_args(arguments)
    n = 3_000 if options.quick else options.documents
    path = common.target("index_forms", options, None if options.quick else RESULTS)
    results = earlier(path, options, n)
    results |= {"documents": n, "bands x rows": f"{BANDS} x {ROWS}"}
    wanted = [
        (name, measure)
        for name, measure in forms(options).items()
        if name not in results and (not options.only or name.startswith(tuple(options.only)))
    ]
    if wanted:
        texts = documents(n)
        signatures = fastlsh.MinHasher().signatures(texts)
    for name, measure in wanted:
        results[name] = measure(texts, signatures)
        if path is not None:
            common.save(path, "index_forms", options, results)
    common.write("index_forms", options, results)
