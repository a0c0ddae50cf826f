"""Rows of lsh 0.3.0: every call of its hasher and its cache, where its answers are not defects."""

from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from types import ModuleType
from typing import Any

from bench.common import corpus
from bench.peers.calls.registry import Rows, Work, row

ROWS: Rows = []
add = partial(row, ROWS)
once = partial(row, ROWS, sized=False)
SETTING = (100, 5, 1)
"""Number of seeds, bytes of a shingle, state of the generator."""
BANDS = 20
FEW = 50
"""Number of further documents, for what is inserted and removed."""


class LSHWorld:
    """The objects of one library, for rows with a certain number of documents.

    Parameters
    ----------
    library
        ``lsh``, or ``fastlsh.compat.lsh``.
    n
        Number of documents of a cache. Every fifth has a near-duplicate.
    """

    def __init__(self, library: ModuleType, n: int) -> None:
        self.n = n
        self.cache, self.minhash, self.functions = (
            import_module(f"{library.__name__}.{name}") for name in ("cache", "minhash", "cMinhash")
        )
        self._options = {"strict": True} if library.__name__ != "lsh" else {}

    @cached_property
    def texts(self) -> list[str]:
        """The texts of the cache, and a few more."""
        texts = corpus.Writer(1).texts(self.n + FEW, 200)
        for i in range(0, len(texts) - 1, 5):
            texts[i + 1] = texts[i] + "."
        return texts

    @cached_property
    def text(self) -> str:
        """A text of 1,600 characters."""
        (text,) = corpus.Writer(2).texts(1, 1_600)
        return text

    def hasher(self, hashbytes: int = 8, *, strict: bool = False) -> Any:
        """Return a hasher, `strict` where the answers of lsh are defects."""
        return self.minhash.MinHasher(*SETTING, hashbytes, **(self._options if strict else {}))

    @cached_property
    def rows(self) -> list[Any]:
        """The fingerprints of `texts`."""
        hasher = self.hasher()
        return [hasher.fingerprint(text) for text in self.texts]

    def filled(self, *, strict: bool = False) -> Any:
        """Return a cache with n documents."""
        cache = self.cache.Cache(self.hasher(strict=strict), BANDS)
        for number in range(self.n):
            cache.add_fingerprint(self.rows[number], number)
        return cache


@once("MinHasher.__init__")
def _(world: LSHWorld) -> Work:
    return Work(world.hasher)


@once("MinHasher.num_seeds")
def _(world: LSHWorld) -> Work:
    hasher = world.hasher()
    return Work(lambda: hasher.num_seeds)


for _bytes in (4, 8):

    @once("MinHasher.fingerprint", arguments=f"hashbytes={_bytes}")
    def _(world: LSHWorld, hashbytes: int = _bytes) -> Work:
        hasher = world.hasher(hashbytes)
        # lsh remembers 10,000 texts: it shall hash them, and not look them up.
        return Work(lambda: hasher.fingerprint(world.text), hasher.fingerprint.cache_clear)

    @once(f"minhash_{8 * _bytes}")
    def _(world: LSHWorld, hashbytes: int = _bytes) -> Work:
        call = getattr(world.functions, f"minhash_{8 * hashbytes}")
        text, seeds = world.text.encode(), world.hasher()._seeds
        return Work(lambda: call(text, len(text), seeds, 5))


@once("MinHasher.jaccard", arguments="texts, strict")
def _(world: LSHWorld) -> Work:
    hasher = world.hasher(strict=True)
    one, other = world.texts[:2]
    return Work(lambda: hasher.jaccard(one, other), hasher.fingerprint.cache_clear)


@once("MinHasher.jaccard", arguments="fingerprints, strict")
def _(world: LSHWorld) -> Work:
    hasher = world.hasher(strict=True)
    one, other = world.rows[:2]
    return Work(lambda: hasher.jaccard(one, other))


@once("Cache.__init__")
def _(world: LSHWorld) -> Work:
    hasher = world.hasher()
    return Work(lambda: world.cache.Cache(hasher, BANDS).num_bands)


@once("Cache.bins_")
def _(world: LSHWorld) -> Work:
    cache, fingerprint = world.filled(), world.rows[0]
    return Work(lambda: list(cache.bins_(fingerprint)))


def changing(
    name: str, change: Callable[[LSHWorld, Any, int], object], *, there: bool, arguments: str = ""
) -> None:
    """Add the row of a call that adds or removes each of a few documents, `there` before or not."""

    @add(name, arguments=arguments)
    def _(world: LSHWorld) -> Work:
        cache = world.filled()
        few = range(world.n, world.n + FEW)

        def before() -> None:
            cache.hasher.fingerprint.cache_clear()
            for number in few:
                if number in cache.fingerprints:
                    cache.remove_id(number)
                if there:
                    cache.add_fingerprint(world.rows[number], number)
            cache.hasher.fingerprint.cache_clear()

        def run() -> int:
            for number in few:
                change(world, cache, number)
            return len(cache.fingerprints)

        return Work(run, before, FEW)


changing("Cache.add_doc", lambda w, cache, i: cache.add_doc(w.texts[i], i), there=False)
changing(
    "Cache.add_fingerprint", lambda w, cache, i: cache.add_fingerprint(w.rows[i], i), there=False
)
changing("Cache.remove_id", lambda w, cache, i: cache.remove_id(i), there=True)


@add("Cache.remove_doc")
def _(world: LSHWorld) -> Work:
    cache, number = world.filled(), world.n
    text = f"{world.texts[number]} and more"
    fingerprint = cache.hasher.fingerprint(text)
    return Work(
        lambda: (cache.remove_doc(text), len(cache.fingerprints)),
        lambda: cache.add_fingerprint(fingerprint, number),
    )


@once("Cache.clear")
def _(world: LSHWorld) -> Work:
    cache = world.filled()
    return Work(cache.clear)


@add("Cache.filter_candidates", arguments="strict")
def _(world: LSHWorld) -> Work:
    cache = world.filled(strict=True)
    pairs = [(i, i + 1) for i in range(world.n - 1)]
    return Work(lambda: cache.filter_candidates(pairs, 0.5))


@add("Cache.get_all_duplicates")
def _(world: LSHWorld) -> Work:
    cache = world.filled()
    return Work(lambda: {(min(pair), max(pair)) for pair in cache.get_all_duplicates()})


@add("Cache.get_duplicates_of", arguments="text")
def _(world: LSHWorld) -> Work:
    cache, text = world.filled(), world.texts[0]
    return Work(lambda: cache.get_duplicates_of(text), cache.hasher.fingerprint.cache_clear)


@add("Cache.get_duplicates_of", arguments="id")
def _(world: LSHWorld) -> Work:
    cache = world.filled()
    return Work(lambda: cache.get_duplicates_of(doc_id=1))


@add("Cache.is_duplicate", arguments="text")
def _(world: LSHWorld) -> Work:
    cache, text = world.filled(), world.texts[0]
    return Work(lambda: cache.is_duplicate(text), cache.hasher.fingerprint.cache_clear)


@add("Cache.is_duplicate", arguments="id")
def _(world: LSHWorld) -> Work:
    cache = world.filled()
    return Work(lambda: cache.is_duplicate(None, doc_id=1))
