"""Calls of MinHashLSH, MinHashLSHForest, MinHashLSHEnsemble and of the storages."""

import math
import pickle
import random
import sys

import numpy as np

from datasketch_calls.arguments import KEYS, OTHERS, SCHEMES, sketch, weighted
from datasketch_calls.registry import calls


def shorter(band):
    return band[:4]


OPTIONS = {"": {}, "prepickle": {"prepickle": True}, "hashfunc": {"hashfunc": shorter}}


def filled(package, n=6, **how):
    """Return an index in which k0 and k1, k2 and k3... have the same sketch."""
    index = package.MinHashLSH(**{"num_perm": 4, "params": (2, 2), **how})
    for i in range(n):
        index.insert(f"k{i}", sketch(package, [b"a", b"%d" % (i // 2)]))
    return index


def asked(package):
    return sketch(package, [b"a", b"0"])


# ---- MinHashLSH: its arguments

THRESHOLDS = [-0.1, 0, 0.5, 1, 1.1, "0.5", None, math.nan, True]
NUM_PERMS = [0, 1, 2, 16, 2.5, 16.0, "16", None, True, np.int64(16)]
WEIGHTS = [(0.5, 0.5), (1, 0), (0.5, 0.6), (-0.5, 1.5), (1,), (0.3, 0.3, 0.4), None, 3, "ab", ()]
PARAMS = [None, (2, 3), (1, 4), (8, 3), (0, 1), (-1, 1), (2,), 3, "ab", (2.0, 2), (2, 2, 2), ()]
CONFIGS = [None, {}, {"type": "dict"}, {"type": "x"}, {"types": "dict"}, 3, {"type": None}]


def made(package, **how):
    size = int(how.get("num_perm", 16))
    index = package.MinHashLSH(**{"threshold": 0.5, "num_perm": 16, **how})
    index.insert("k", sketch(package, num_perm=size))
    found = index.query(sketch(package, num_perm=size))
    return [index.h, index.b, index.r, index.hashranges, index.buffer_size, index.prepickle, found]


calls("MinHashLSH(threshold)", threshold=THRESHOLDS)(made)
calls("MinHashLSH(num_perm)", num_perm=NUM_PERMS)(made)
calls("MinHashLSH(weights)", weights=WEIGHTS, params=[None, (2, 2)])(made)
calls("MinHashLSH(params)", params=PARAMS)(made)
calls("MinHashLSH(storage_config)", storage_config=CONFIGS)(made)
calls("MinHashLSH(prepickle)", prepickle=[None, True, False, 1])(made)
calls("MinHashLSH(hashfunc)", hashfunc=[None, len, shorter, 3])(made)
calls("MinHashLSH(unknown)", unknown=[1])(made)

# ---- MinHashLSH: its methods


@calls("MinHashLSH: insert: key", options=OPTIONS, key=KEYS)
def _(package, options, key):
    index = filled(package, **options)
    return [index.insert(key, sketch(package)), key in index, len(index.query(sketch(package)))]


@calls("MinHashLSH: insert: minhash", options=OPTIONS, n=[0, 6], one=OTHERS)
def _(package, options, n, one):
    index = filled(package, n, **options)
    return [index.insert("n", one(package)), set(index.query(one(package))), index.get_counts()]


@calls("MinHashLSH: insert: no check", options=OPTIONS)
def _(package, options):
    index = filled(package, **options)
    index.insert("k0", sketch(package), check_duplication=False)
    found = [set(index.query(one)) for one in (sketch(package), asked(package))]
    return [found, index.get_counts()]


@calls("MinHashLSH: remove", options=OPTIONS, key=KEYS)
def _(package, options, key):
    index = filled(package, **options)
    found = [index.remove(key), set(index.query(asked(package)))]
    return [found, index.is_empty(), index.get_counts()]


@calls("MinHashLSH: in", options=OPTIONS, key=KEYS)
def _(package, options, key):
    return key in filled(package, **options)


@calls("MinHashLSH: get_subset_counts", options=OPTIONS, key=KEYS)
def _(package, options, key):
    return filled(package, **options).get_subset_counts(key, "k1", "k1")


@calls("MinHashLSH: query", options=OPTIONS, n=[0, 6], one=OTHERS)
def _(package, options, n, one):
    return set(filled(package, n, **options).query(one(package)))


@calls("MinHashLSH: add_to_query_buffer", options=OPTIONS, n=[0, 6], one=OTHERS)
def _(package, options, n, one):
    index = filled(package, n, **options)
    index.add_to_query_buffer(one(package))
    return [set(index.collect_query_buffer()), index.collect_query_buffer()]


@calls("MinHashLSH: _query_b", options=OPTIONS, one=OTHERS, b=[1, 2, 3, None])
def _(package, options, one, b):
    return set(filled(package, **options)._query_b(one(package), b))


@calls("MinHashLSH: session: insert", options=OPTIONS, one=OTHERS)
def _(package, options, one):
    index = filled(package, **options)
    return [index.insertion_session().insert("n", one(package)), set(index.query(one(package)))]


@calls("MinHashLSH: session: remove", options=OPTIONS, key=KEYS)
def _(package, options, key):
    index = filled(package, **options)
    return [index.deletion_session().remove(key), set(index.query(asked(package)))]


@calls("MinHashLSH: sessions", options=OPTIONS)
def _(package, options):
    index = filled(package, 0, **options)
    with index.insertion_session(buffer_size=2) as session:
        for i in range(5):
            session.insert(i, sketch(package, [b"%d" % i]))
    inserted = len(index.keys)
    with index.deletion_session(buffer_size=3) as session:
        for i in range(3):
            session.remove(i)
    return [inserted, set(index.keys), index.buffer_size, index.is_empty(), index.get_counts()]


MERGED = {
    "None": lambda p, o: None,
    "3": lambda p, o: 3,
    "forest": lambda p, o: p.MinHashLSHForest(4, 2),
    "empty": lambda p, o: filled(p, 0, **o),
    "same keys": lambda p, o: filled(p, **o),
    "other params": lambda p, o: filled(p, 0, **o, params=(4, 1)),
    "longer": lambda p, o: p.MinHashLSH(num_perm=5, params=(2, 2), **o),
    "prepickled": lambda p, o: filled(p, **{**o, "prepickle": True}),
}


@calls("MinHashLSH: merge", options=OPTIONS, other=MERGED, check_overlap=[True, False])
def _(package, options, other, check_overlap):
    index = filled(package, **options)
    merged = index.merge(other(package, options), check_overlap)
    return [merged, set(index.query(asked(package))), len(index.keys), index.get_counts()]


@calls("MinHashLSH: merge with itself", options=OPTIONS, check_overlap=[True, False])
def _(package, options, check_overlap):
    index = filled(package, **options)
    return index.merge(index, check_overlap)


@calls("MinHashLSH: merge: schemes", options=OPTIONS, one=SCHEMES, other=SCHEMES, then=SCHEMES)
def _(package, options, one, other, then):
    index, more = filled(package, 0, **options), filled(package, 0, **options)
    index.insert("one", sketch(package, scheme=one))
    more.insert("other", sketch(package, scheme=other))
    empty = filled(package, 0, **options)
    empty.merge(more)
    empty.insert("then", sketch(package, scheme=then))
    return [index.merge(more), empty.get_counts()]


@calls("MinHashLSH: storages", options=OPTIONS)
def _(package, options):
    index = filled(package, **options)
    storages = [index.keys, *index.hashtables]
    asks = [
        len, set, lambda s: s.size(), lambda s: s.status(), lambda s: set(s.keys()),
        lambda s: s.itemcounts(), lambda s: s.get("none"), lambda s: s["none"],
        lambda s: s.getmany("none", "k0"), lambda s: ["k0" in s, "none" in s, s.has_key("k0")],
        lambda s: s.buffer_size, lambda s: s.empty_buffer(), ]  # fmt: skip
    return [[ask(storage) for storage in storages] for ask in asks]


@calls("MinHashLSH: counts", options=OPTIONS)
def _(package, options):
    index = filled(package, **options)
    return [index.get_counts(), index.get_subset_counts(), index.get_subset_counts("k0", "k5")]


@calls("MinHashLSH: other sketches beside", options=OPTIONS, buffered=[True, False])
def _(package, options, buffered):
    # Sketches without a scheme pass, and their hash values are of another kind.
    index = filled(package, **options)
    if buffered:
        index.add_to_query_buffer(asked(package))
    index.insert("weighted", weighted(package))
    index.insert("new", asked(package))
    index.remove("k1")
    index.add_to_query_buffer(asked(package))
    found = [set(index.collect_query_buffer())]
    return [found, *(set(index.query(one)) for one in (weighted(package), asked(package)))]


@calls("MinHashLSH: buffered queries among changes", options=OPTIONS, seed=range(16))
def _(package, options, seed):
    draw = random.Random(seed)
    index = filled(package, **options)
    answers = []
    for step in range(40):
        one = sketch(package, [b"a", b"%d" % draw.randrange(4)])
        what = draw.choice(["insert", "insert", "remove", "ask", "ask", "collect", "merge", "copy"])
        if what == "insert":
            index.insert(f"k{10 + step}", one)
        elif what == "remove":
            found = sorted(index.query(one))
            if found:
                index.remove(draw.choice(found))
        elif what == "ask":
            index.add_to_query_buffer(one)
        elif what == "collect":
            answers.append(set(index.collect_query_buffer()))
        elif what == "merge":
            more = filled(package, 0, **options)
            more.insert(f"k{100 + step}", one)
            index.merge(more)
        else:
            index = pickle.loads(pickle.dumps(index))
    return [*answers, set(index.collect_query_buffer())]


# ---- MinHashLSHForest


def forest(package, n=6, indexed=True):
    result = package.MinHashLSHForest(4, 2)
    for i in range(n):
        result.add(f"k{i}", sketch(package, [b"a", b"%d" % (i // 2)]))
    if indexed:
        result.index()
    return result


@calls(
    "MinHashLSHForest()",
    num_perm=[128, 10, 4, 2.5, 0, -1, "4", None, True],
    l=[8, 3, 2.0, 0, None, True],
)
def _(package, num_perm, l):  # noqa: E741
    one = package.MinHashLSHForest(num_perm, l)
    return [one.l, one.k, one.hashranges, one.hashtables, one.keys, one.is_empty()]


@calls("forest: add, minhash", n=[0, 6], one=OTHERS)
def _(package, n, one):
    trees = forest(package, n)
    trees.add("n", one(package))
    before = [trees.keys, set(trees.query(one(package), 9)), trees.get_minhash_hashvalues("n")]
    return [before, trees.index(), set(trees.query(one(package), 9))]


@calls("forest: add, key", key=KEYS)
def _(package, key):
    return forest(package).add(key, sketch(package))


@calls("forest: key", key=KEYS)
def _(package, key):
    return [key in forest(package), forest(package).get_minhash_hashvalues(key)]


@calls("forest: query", indexed=[True, False], one=OTHERS)
def _(package, indexed, one):
    return set(forest(package, indexed=indexed).query(one(package), 9))


@calls("forest: k", k=[0, -1, 1, 2, 5, 99, 1.5, "2", None, math.inf])
def _(package, k):
    return len(forest(package).query(asked(package), k))


@calls("forest: _query", r=[0, 1, 2, 3], b=[0, 1, 2, 3])
def _(package, r, b):
    return set(forest(package)._query(asked(package), r, b))


@calls("forest: pickled", n=[0, 6])
def _(package, n):
    one = pickle.loads(pickle.dumps(forest(package, n)))
    return [one.keys, set(one.query(asked(package), 9))]


# ---- MinHashLSHEnsemble


@calls(
    "MinHashLSHEnsemble()",
    how=[
        {"threshold": -0.1}, {"threshold": 0.5}, {"threshold": 1.1}, {"threshold": None},
        {"num_perm": 0}, {"num_perm": 1}, {"num_perm": 4}, {"num_perm": None}, {"num_perm": "4"},
        {"num_part": 0}, {"num_part": 1}, {"num_part": 3}, {"num_part": None}, {"m": 1}, {"m": 2},
        {"m": 5}, {"m": None}, {"m": 2.5}, {"weights": (0.5, 0.6)}, {"weights": (0.2, 0.8)},
        {"weights": None}, {"weights": (-1, 2)}, {"storage_config": {}}, {"prepickle": True},
        {"storage_config": {"type": "x"}}, {"prepickle": False}, {"unknown": 1},
    ],
)  # fmt: skip
def _(package, how):
    one = package.MinHashLSHEnsemble(**{"num_perm": 4, "m": 3, "num_part": 2, **how})
    numbers = [sorted(map(int, index)) for index in one.indexes]
    return [one.params.tolist(), one.lowers, one.uppers, numbers, one.is_empty()]


def ensemble(package, sizes=(2, 3, 3, 7, 9)):
    result = package.MinHashLSHEnsemble(0.5, 4, 2, 2)
    if sizes:
        result.index(
            [(f"k{s}", sketch(package, [b"%d" % j for j in range(s)]), s) for s in {*sizes}]
        )
    return result


ENTRIES = {
    "none": lambda m: [],
    "None": lambda m: None,
    "3": lambda m: 3,
    "pairs": lambda m: [("a", m)],
    "size 0": lambda m: [("a", m, 0)],
    "size 0, generated": lambda m: iter([("a", m, 0)]),
    "negative": lambda m: [("a", m, -1), ("b", m, 2)],
    "text": lambda m: [("a", m, "x")],
    "no sketch": lambda m: [("a", None, 3)],
    "short sketch": lambda m: [("a", [1, 2], 3)],
    "one": lambda m: [("a", m, 3)],
    "two": lambda m: [("a", m, 9), ("b", m, 1)],
    "generated": lambda m: iter([("a", m, 9), ("b", m, 1)]),
    "numbers with fractions": lambda m: [("a", m, 1.5), ("b", m, 9.5)],
    "repeated": lambda m: [("a", m, 1), ("a", m, 9)],
    "twice": lambda m: [("a", m, 1), ("a", m, 1)],
    "mixed": lambda m: [("a", m, 1), ("b", m, "x")],
    "lists": lambda m: [["a", m, 1]],
    "tuple": lambda m: (("a", m, 1),),
    "dict": lambda m: {"abc": 1},
    "more than parts": lambda m: [(i, m, i) for i in range(1, 9)],
}


@calls("ensemble: index", entries=ENTRIES)
def _(package, entries):
    one = ensemble(package, ())
    indexed = one.index(entries(sketch(package)))
    bounds = [[bound and float(bound) for bound in side] for side in (one.lowers, one.uppers)]
    return [indexed, bounds, set(one.query(sketch(package), 3)), "a" in one, one.is_empty()]


@calls("ensemble: index again", entries=["one", "none"])
def _(package, entries):
    return ensemble(package).index(ENTRIES[entries](sketch(package)))


@calls("ensemble: query", sizes=[(), (2, 3, 7, 9)], one=OTHERS)
def _(package, sizes, one):
    return set(ensemble(package, sizes).query(one(package), 3))


@calls("ensemble: size", size=[0, -1, 1, 2.5, 100, None, "3", math.inf, math.nan])
def _(package, size):
    return set(ensemble(package).query(sketch(package, [b"0", b"1"]), size))


@calls("ensemble: in", key=KEYS)
def _(package, key):
    return key in ensemble(package)


# ---- storages


def storage_of(package):
    return sys.modules[f"{package.__name__}.storage"]


ASKED = {
    "len": len,
    "list": list,
    "keys": lambda s: s.keys(),
    "get": lambda s: s.get("a"),
    "get unknown": lambda s: [s.get("x"), len(s)],
    "[unknown]": lambda s: [s["x"], len(s)],
    "getmany": lambda s: s.getmany("a", "x"),
    "in": lambda s: ["a" in s, "x" in s, s.has_key("a")],
    "del": lambda s: [s.__delitem__("a"), len(s)],
    "del unknown": lambda s: s.__delitem__("x"),
    "remove": lambda s: [s.remove("a", "b"), len(s)],
    "remove unknown": lambda s: s.remove("a", "x"),
    "remove_val": lambda s: [s.remove_val("a", 2), s.get("a")],
    "remove_val unknown": lambda s: s.remove_val("a", 9),
    "remove_val of unknown": lambda s: s.remove_val("x", 9),
    "itemcounts": lambda s: s.itemcounts(),
    "status": lambda s: s.status(),
    "insert nothing": lambda s: [s.insert("c"), s.get("c"), len(s)],
    "insert unhashable key": lambda s: s.insert([], 1),
    "insert unhashable value": lambda s: [s.insert("c", [1]), s.get("c")],
    "empty_buffer": lambda s: [s.empty_buffer(), s.buffer_size],
    "select": lambda s: [s.add_to_select_buffer(["a", "x"]), s.insert("a", 7), s.insert("x", 7)],
    "collect": lambda s: [s.add_to_select_buffer("ab"), s.collect_select_buffer()],
    "collect nothing": lambda s: s.collect_select_buffer(),
    "select None": lambda s: s.add_to_select_buffer(None),
    "pickled": lambda s: pickle.loads(pickle.dumps(s)).get("a"),
}


@calls("storage", kind=["DictListStorage", "DictSetStorage"], ask=ASKED)
def _(package, kind, ask):
    storage = getattr(storage_of(package), kind)({"type": "dict"})
    storage.insert("a", 2, 1, 2)
    storage.insert("b", 3)
    return ask(storage)


@calls(
    "storage of a type",
    which=["ordered_storage", "unordered_storage"],
    config=[*CONFIGS[1:], {"type": "Dict"}],
)
def _(package, which, config):
    return type(getattr(storage_of(package), which)(config)).__name__
