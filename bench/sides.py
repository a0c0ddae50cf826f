"""The sides of the cases: what fastlsh and others do with the same input."""

import sys
import tempfile
import uuid
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import contenders, pure
from bench.contenders import EVEN, SIZE, THRESHOLD, Contender, K, installed, word_cutter
from bench.corpus import Writer, in_script
from bench.limit import Limit, available, fold
from fastlsh import _kernels
from fastlsh._kernels.sets import _sets
from fastlsh._kernels.text import _plans, _texts


class Side(NamedTuple):
    """What is timed, and how many units it works on."""

    call: Callable[[], Any]
    units: float


Sides = dict[str, Side]


# ---- signatures


def slow_part(contender: Contender, count: int) -> int:
    """Return how many texts a contender gets: these inputs are all alike, so a few will do."""
    return count if contender.share == 1 else max(round(contender.share * count / 10), 1)


def millions(texts: list[str]) -> float:
    """Return the number of characters, in millions."""
    return sum(map(len, texts)) / 1e6


def characters(length: int, options: Namespace) -> Sides:
    """Sign raw texts of a length, cut into 9 characters."""
    texts = Writer(length).texts(
        max((10_000 if options.quick else 2_000_000) // length, 20), length
    )
    made = {}
    for name, contender in contenders.everyone().items():
        part = texts[: slow_part(contender, len(texts))]
        made[name] = Side(partial(contender.characters, part), millions(part))
    return made


def words(size: int, options: Namespace) -> Sides:
    """Sign raw texts of 1,100 characters, cut into so many words."""
    texts = Writer(9).texts(20 if options.quick else 2_000, 1_100)
    one = fastlsh.Shingler(unit="word", size=size)
    assert set(one.shingles(texts[0])) == set(word_cutter(size)(texts[0])), "other shingles"
    made = {}
    for name, contender in contenders.everyone().items():
        part = texts[: slow_part(contender, len(texts))]
        made[name] = Side(partial(contender.words, part, size), millions(part))
    return made


def hashes(size: int, options: Namespace) -> Sides:
    """Sign sets of so many ready 64-bit hashes."""
    total = max(size, 50_000) if options.quick else 5_000_000
    ready = np.random.default_rng(4).integers(0, 2**64, total, np.uint64)
    offsets = np.arange(0, total + 1, size, dtype=np.int64)
    everyone = contenders.everyone()
    if "datasketch" in everyone:  # the same minima of elements below 2**32
        few = offsets[:20]
        low = ready[: few[-1]] & np.uint64(0xFFFFFFFF)
        theirs = [m.hashvalues for m in everyone["datasketch"].hashes(low, few)]
        assert (everyone["fastlsh"].hashes(low, few) == np.array(theirs)).all()
    made = {}
    for name, contender in everyone.items():
        if contender.hashed:
            # datasketch's way leads through Python integers: less of it is enough.
            share = min(contender.share, 0.02) if contender.share < 1 else 1
            part = offsets[: max(round(share * (len(offsets) - 1)), 1) + 1]
            used = ready[: part[-1]]
            made[name] = Side(partial(contender.hashes, used, part), len(used) / 1e6)
    return made


def pure_python(count: int, options: Namespace) -> Sides:
    """Sign texts of 1,100 characters by pure.py; fastlsh 100 times, as once is too short."""
    texts = Writer(1).texts(10 if options.quick else count, 1_100)
    hasher = fastlsh.MinHasher(K, shingler=fastlsh.Shingler(size=SIZE), threads=1)

    def in_python() -> list[list[int]]:
        return [pure.signature(text) for text in texts]

    def by_kernels() -> None:
        for _ in range(100):
            hasher.signatures(texts)

    assert in_python() == hasher.signatures(texts).tolist(), "pure Python differs"
    return {
        "fastlsh": Side(by_kernels, 100 * millions(texts)),
        "pure Python": Side(in_python, millions(texts)),
    }


def window_hashes(texts: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hash of every window in order, uint64, and each text's place, int64 (n + 1,)."""
    windows = [max(len(text) - SIZE + 1, 1) for text in texts]
    offsets = np.concatenate([[0], np.cumsum(windows)]).astype(np.int64)
    found = np.empty(offsets[-1], np.uint64)
    counts = np.empty(len(texts), np.int64)
    _sets.shingle_sets(
        _texts.spans_of_list(texts), None, _plans.CHARACTERS, SIZE, found, offsets, counts,
        False,
    )  # fmt: skip
    assert (counts == np.diff(offsets)).all()
    return found, offsets


def bare_loop(length: int, options: Namespace) -> Sides:
    """Sign raw texts and ready hashes beside the loop that no MinHash of this scheme outruns."""
    if not available():
        print("limit.c needs x86-64 and a C compiler: left out", file=sys.stderr)
        return {}
    total = 40_000 if options.quick else 5_000_000
    texts = Writer(length).texts(max(total // length, 2), length)
    a, b = np.array(pure.FUNCTIONS, np.uint32).T.copy()
    limit = Limit(_kernels.isa, a, b)
    ready, offsets = window_hashes(texts)
    x, m = fold(ready), len(ready) / 1e6
    hasher, fss = (fastlsh.MinHasher(scheme=scheme, threads=1) for scheme in ("affine32", "fss"))
    minima = limit.run(x, offsets)
    assert (hasher.signatures(texts) == minima).all(), "the limit does not compute the signatures"
    assert (hasher.from_hashes(ready, offsets) == minima).all(), "from_hashes differs"
    out = [np.empty_like(minima) for _ in range(4)]
    return {
        "bare loop": Side(lambda: limit.run(x, offsets, out=out[0]), m),
        "precomputed hashes": Side(lambda: hasher.from_hashes(ready, offsets, out[1]), m),
        "raw texts": Side(lambda: hasher.signatures(texts, out[2]), m),
        "raw texts, fss": Side(lambda: fss.signatures(texts, out[3]), m),
    }


def forms(length: int, options: Namespace) -> Sides:
    """Sign kinds of str, and Arrow columns of them."""
    texts = Writer(length).texts(20 if options.quick else 4_000, length)
    inputs: dict[str, Any] = {name: in_script(texts, name) for name in ("ASCII", "UCS-2", "UCS-4")}
    hasher = fastlsh.MinHasher(threads=1)
    if installed("pyarrow"):
        import pyarrow as pa

        for name in ("ASCII", "UCS-2", "UCS-4"):
            inputs[f"Arrow, {name}"] = column = pa.array(inputs[name])
            assert (hasher.signatures(column) == hasher.signatures(inputs[name])).all()
    return {
        name: Side(partial(hasher.signatures, value), millions(texts))
        for name, value in inputs.items()
    }


def threads(length: int, options: Namespace) -> Sides:
    """Sign with one thread and with two; and run the bare loop so."""
    texts = Writer(length).texts(40 if options.quick else 40_000, length)
    made = {
        name: Side(partial(fastlsh.MinHasher(threads=n).signatures, texts), millions(texts))
        for name, n in (("one thread", 1), ("two threads", 2))
    }
    if available():
        part = texts[: len(texts) // 4]
        ready, offsets = window_hashes(part)
        a, b = np.array(pure.FUNCTIONS, np.uint32).T.copy()
        once = partial(Limit(_kernels.isa, a, b).run, fold(ready), offsets)
        pool = ThreadPoolExecutor(2)

        def both() -> Any:
            return [f.result() for f in [pool.submit(once) for _ in range(2)]]

        made["bare loop, one thread"] = Side(once, millions(part))
        made["bare loop, two threads"] = Side(both, 2 * millions(part))
    return made


# ---- an index


def token_sets(count: int) -> list[list[str]]:
    """Return sets of 100 tokens: groups of five that share 70 to 100 % of their first one's."""
    draw = np.random.default_rng(5)
    tokens = draw.integers(0, 2**40, (count // 5 + 1, 100))[np.arange(count) % (count // 5 + 1)]
    changed = draw.random((count, 100)) < 0.3 * draw.random((count, 1))
    tokens[changed] = draw.integers(0, 2**40, int(changed.sum()))
    return [list(map(str, row)) for row in tokens.tolist()]


def index(count: int, options: Namespace) -> Sides:
    """Insert signatures and query all of them; the candidates are the same ones."""
    n = 2_000 if options.quick else count
    sets = token_sets(n)
    signatures = fastlsh.MinHasher(K).from_tokens(sets)
    calls: dict[str, Callable[[], Any]] = {}
    if installed("rensa"):
        from rensa import RMinHash, RMinHashLSH

        hashed = RMinHash.from_token_sets(sets, K, 1)
        signatures = np.array([m.digest() for m in hashed], np.uint32)

        def rensa() -> Any:
            made = RMinHashLSH(THRESHOLD, K, EVEN[0])
            made.insert_many(hashed)
            return made.query_all(hashed)

        calls["rensa"] = rensa
    if installed("datasketch"):
        from datasketch import MinHash, MinHashLSH

        theirs = [MinHash(K, hashvalues=row, scheme="affine32") for row in signatures]

        def datasketch() -> Any:
            made = MinHashLSH(num_perm=K, params=EVEN)
            with made.insertion_session() as session:
                for d, minhash in enumerate(theirs):
                    session.insert(d, minhash, check_duplication=False)
            return [made.query(minhash) for minhash in theirs]

        calls["datasketch"] = datasketch

    def ours(verify: str) -> Any:
        made = fastlsh.Index(THRESHOLD, bands=EVEN[0], rows=EVEN[1], verify=verify, threads=1)
        made.insert_many(range(n), signatures=signatures)
        return made.query_many(signatures=signatures)

    candidates = [sorted(name for name, _ in found) for found in ours("none")]
    for name, call in calls.items():
        assert [sorted(found) for found in call()] == candidates, f"{name} differs"
    calls = {"fastlsh": partial(ours, "signature"), "fastlsh, verify none": partial(ours, "none"),
             **calls}  # fmt: skip
    return {name: Side(call, n / 1e3) for name, call in calls.items()}


def opening(count: int, options: Namespace) -> Sides:
    """Open a small file of an index and a large one, mapped into memory."""
    sizes = {"small": 100, "large": 2_000 if options.quick else count}
    rows = np.random.default_rng(0).integers(0, 2**32, (sizes["large"], K), np.uint32)
    folder = tempfile.TemporaryDirectory()
    made: Sides = {}
    for name, n in sizes.items():
        path = Path(folder.name) / name
        saved = fastlsh.Index(THRESHOLD, verify="signature", threads=1)
        saved.insert_many(range(n), signatures=rows[:n])
        saved.save(path)

        def opened(path: Path = path, folder: Any = folder) -> fastlsh.Index:  # keeps the folder
            return fastlsh.Index.load(path, mmap=True)

        assert opened().query(signature=rows[n - 1]) == [(n - 1, 1.0)]
        made[name] = Side(opened, 1)
    return made


# ---- the drop-in for datasketch

DROPIN = ("MinHash.update", "MinHash.update_batch", "MinHash.bulk", "MinHashLSH.insert",
          "MinHashLSH.query")  # fmt: skip
LIBRARIES = {"fastlsh": "fastlsh.compat.datasketch", "datasketch": "datasketch"}


def dropin(call: str, options: Namespace) -> Sides:
    """Make a call of datasketch with both libraries."""
    return _both(partial(_call, call, 200 if options.quick else 10_000))


def dropin_redis(call: str, options: Namespace) -> Sides:
    """Insert into an index in Redis, or query it, with both libraries."""
    if not options.redis:
        print("--redis names no server: left out", file=sys.stderr)
        return {}
    server = urlsplit(options.redis)
    place = {"host": server.hostname, "port": server.port or 6379, "db": int(server.path[1:] or 0)}
    storage = {"type": "redis", "redis": place}
    n = 50 if options.quick else 1_000
    return _both(partial(_call, f"MinHashLSH.{call}", n, storage=storage))


def _both(make: Callable[[Any], tuple[Callable[[], Any], int]]) -> Sides:
    """Return the sides of the libraries that are installed; their answers must be equal."""
    made: Sides = {}
    answers = []
    for name, module in LIBRARIES.items():
        if installed(module.partition(".")[0]):
            call, items = make(import_module(module))
            answers.append(call())
            made[name] = Side(call, items / 1e3)
    assert answers[1:] in ([], answers[:1]), "the drop-in gives another answer"
    return made


def _call(
    name: str, n: int, library: Any, storage: dict[str, Any] | None = None
) -> tuple[Callable[[], Any], int]:
    """Return a call of a library, and on how many items it works."""
    tokens = [b"token %d" % i for i in range(n)]
    sets = [[b"token %d" % (i + j) for j in range(10)] for i in range(n)]
    if name == "MinHash.bulk":
        return lambda: [m.digest().tolist() for m in library.MinHash.bulk(sets, num_perm=K)], n
    if name.startswith("MinHash."):

        def updated() -> list[int]:
            sketch = library.MinHash(K)
            if name == "MinHash.update_batch":
                sketch.update_batch(tokens)
            else:
                for token in tokens:
                    sketch.update(token)
            return list(sketch.digest().tolist())

        return updated, n
    sketches = library.MinHash.bulk(sets, num_perm=K)

    def filled() -> Any:
        more = {"basename": uuid.uuid4().bytes} if storage else {}
        config = {**storage, **more} if storage else None
        made = library.MinHashLSH(num_perm=K, params=EVEN, storage_config=config)
        for i, sketch in enumerate(sketches):
            made.insert(str(i), sketch)
        return made

    if name == "MinHashLSH.insert":
        return lambda: filled().is_empty(), n
    queried = filled()
    return lambda: [sorted(queried.query(sketch)) for sketch in sketches], n
