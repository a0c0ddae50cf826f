"""gaoya: the one other that cuts texts into shingles itself."""

from typing import Any

from bench.peers.contenders.base import EVEN, SIZE, THRESHOLD, Contender, K, Pair, ordered


def index(unit: str = "char", size: int = SIZE) -> Any:
    """Return an empty index; only through it are there signatures."""
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(32, THRESHOLD, *EVEN, K, unit, False, (size, size))


class Gaoya(Contender):
    """k hash functions."""

    name = "gaoya"
    module = "gaoya"
    hashed = False

    def characters(self, texts: list[str]) -> list[Any]:
        tokenize_and_minhash = index().minhash_index.tokenize_and_minhash
        return [tokenize_and_minhash(text) for text in texts]

    def words(self, texts: list[str], size: int) -> list[Any]:
        tokenize_and_minhash = index("word", size).minhash_index.tokenize_and_minhash
        return [tokenize_and_minhash(text) for text in texts]

    def pairs(self, texts: list[str]) -> set[Pair]:
        found = index()  # its queries return only what its estimate lets pass
        found.par_bulk_insert_docs(list(range(len(texts))), texts)
        return set(map(tuple, ordered(found.par_bulk_query(texts)).tolist()))
