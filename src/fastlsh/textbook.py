"""MinHash and LSH as textbooks explain them: slow, plain, and used by nothing else in fastlsh.

For teaching, for the pages of ``docs/systems``, and as an oracle of tests. Sets are Python sets,
signatures are lists of int, with one entry per function. ``docs/signature-spec.md`` specifies the
signatures that fastlsh itself computes.

>>> first, second = set("abcd"), set("bcde")
>>> jaccard(first, second)
0.6
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

__all__ = [
    "RISKIQ_MODULUS",
    "HashCollection",
    "HashFunction",
    "JavaRandom",
    "MinHash",
    "affine_functions",
    "agreement",
    "all_pairs",
    "candidates",
    "candidates_by_agreement",
    "characteristic_matrix",
    "djb2a",
    "get_buckets",
    "int32",
    "is_pair_candidate_match",
    "jaccard",
    "permutations",
    "pick_bands",
    "remainder",
    "shingles",
    "signatures_by_hashing",
    "signatures_by_permutation",
    "signatures_row_by_row",
    "solve_bands",
    "xor_functions",
]

T = TypeVar("T", bound=Hashable)

RISKIQ_MODULUS = 999_999_999_989
"""The prime of its hash functions. Sums that have wrapped to 32 bits never reach it."""


def shingles(units: Sequence[T], size: int) -> set[tuple[T, ...]]:
    """Return the set of windows of `size` consecutive units, as tuples; none if there are fewer.

    >>> sorted("".join(window) for window in shingles("abcab", 2))
    ['ab', 'bc', 'ca']
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    return {tuple(units[i : i + size]) for i in range(len(units) - size + 1)}


def jaccard(a: set[T], b: set[T]) -> float:
    """Return |A n B| / |A u B|; 0 for two empty sets."""
    return len(a & b) / len(a | b) if a or b else 0.0


def all_pairs(sets: Sequence[set[T]], threshold: float) -> dict[tuple[int, int], float]:
    """Return the similarity of every pair that reaches the threshold, comparing all n(n - 1)/2."""
    similar = {}
    for i, j in combinations(range(len(sets)), 2):
        similarity = jaccard(sets[i], sets[j])
        if similarity >= threshold:
            similar[i, j] = similarity
    return similar


def characteristic_matrix(sets: Sequence[set[T]]) -> tuple[list[T], list[list[int]]]:
    """Return the elements, and for each element a row: 1 for each set that contains it, else 0.

    The elements of the first set come first, then the new elements of each further set. Those of
    one set are sorted by their `repr`.

    >>> characteristic_matrix([{"a", "b"}, {"b", "c"}])
    (['a', 'b', 'c'], [[1, 0], [1, 1], [0, 1]])
    """
    elements = list(dict.fromkeys(element for one in sets for element in sorted(one, key=repr)))
    return elements, [[int(element in one) for one in sets] for element in elements]


def permutations(rows: int, count: int, seed: int = 0) -> list[list[int]]:
    """Return random orders of the rows, drawn from the seed."""
    draw = random.Random(seed)
    return [draw.sample(range(rows), rows) for _ in range(count)]


def signatures_by_permutation(
    matrix: Sequence[Sequence[int]], orders: Iterable[Sequence[int]]
) -> list[list[int]]:
    """Return for each set (column), and each order of the rows, the position of its first 1.

    An empty set gets the number of rows.

    >>> signatures_by_permutation([[1, 0], [1, 1], [0, 1]], [[0, 1, 2], [2, 1, 0]])
    [[0, 1], [1, 0]]
    """
    result: list[list[int]] = [[] for _ in (matrix[0] if matrix else ())]
    for order in orders:
        for column, signature in enumerate(result):
            ones = (position for position, row in enumerate(order) if matrix[row][column])
            signature.append(next(ones, len(matrix)))
    return result


def signatures_by_hashing(
    sets: Iterable[Iterable[int]], functions: Sequence[Callable[[int], int]]
) -> list[list[int]]:
    """Return for each set the least value of each function over its elements.

    Raises
    ------
    ValueError
        A set is empty, and has no least value.

    >>> signatures_by_hashing([{0, 3}, {2}], [lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5])
    [[1, 0], [3, 2]]
    """
    return [[min(map(function, one)) for function in functions] for one in map(list, sets)]


def signatures_row_by_row(
    matrix: Iterable[Sequence[int]], functions: Sequence[Callable[[int], int]]
) -> Iterator[list[list[float]]]:
    """Yield the signatures of the sets (columns) after each row of the characteristic matrix.

    The matrix is read once: the number of each row is hashed, and a set that contains the row
    keeps a hash that is less than its entry. Before its first row, the entries are infinite.

    >>> for table in signatures_row_by_row([[1, 0], [1, 1]], [lambda x: (x + 1) % 2]):
    ...     print(table)
    [[1], [inf]]
    [[0], [0]]
    """
    table: list[list[float]] = []
    for x, row in enumerate(matrix):
        table = table or [[math.inf] * len(functions) for _ in row]
        hashes = [function(x) for function in functions]
        table = [
            list(map(min, hashes, entries)) if contained else entries
            for contained, entries in zip(row, table, strict=True)
        ]
        yield table


def xor_functions(count: int, seed: int = 0) -> list[Callable[[int], int]]:
    """Return x -> x XOR c for random 32-bit c: a family that is not min-wise. Do not use it.

    Its functions only choose, bit by bit, whether 0 or 1 is the smaller one, so those of one
    family see the same few elements as candidates for the minimum.
    """
    draw = random.Random(seed)
    return [draw.getrandbits(32).__xor__ for _ in range(count)]


def affine_functions(count: int, seed: int = 0) -> list[Callable[[int], int]]:
    """Return x -> a x + b mod 2^61 - 1 for random a, b: pairwise independent."""
    draw, prime = random.Random(seed), 2**61 - 1

    def function(a: int, b: int) -> Callable[[int], int]:
        return lambda x: (a * x + b) % prime

    return [function(draw.randrange(1, prime), draw.randrange(prime)) for _ in range(count)]


def agreement(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the share of equal entries of two signatures: the estimate of their similarity."""
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(a)


def candidates(signatures: Sequence[Sequence[int]], bands: int) -> set[tuple[int, int]]:
    """Return the pairs that share a bucket: all entries of some band are equal.

    Each band has ``entries // bands`` entries; the entries that remain are not used.

    Raises
    ------
    ValueError
        There are no bands, or more bands than entries.
    """
    pairs: set[tuple[int, int]] = set()
    for column in zip(*(_cut(signature, bands) for signature in signatures), strict=True):
        buckets: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for document, band in enumerate(column):
            buckets[band].append(document)
        for members in buckets.values():
            pairs.update(combinations(members, 2))
    return pairs


def candidates_by_agreement(
    signatures: Sequence[Sequence[int]], share: float
) -> set[tuple[int, int]]:
    """Return the pairs whose signatures agree in at least a share of the entries, without bands.

    All n(n - 1)/2 pairs of signatures are compared.

    Raises
    ------
    ValueError
        The share is not above 0 and at most 1.

    >>> sorted(candidates_by_agreement([[2, 2, 1], [1, 1, 2], [2, 4, 1], [1, 1, 2]], 0.6))
    [(0, 2), (1, 3)]
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
    return {
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(signatures), 2)
        if agreement(a, b) >= share
    }


def _cut(signature: Sequence[int], bands: int) -> Iterator[tuple[int, ...]]:
    entries = len(signature)
    if not 1 <= bands <= entries:
        raise ValueError(f"{entries} entries cannot be cut into {bands} bands")
    rows = entries // bands
    return (tuple(signature[band * rows : (band + 1) * rows]) for band in range(bands))


def int32(number: int) -> int:
    """Return the number as a signed 32-bit integer, as Java's int wraps."""
    return (number + 2**31) % 2**32 - 2**31


def remainder(number: int, divisor: int) -> int:
    """Return the remainder with the sign of the number, as ``%`` of Java and Scala gives it.

    >>> remainder(-7, 3), -7 % 3
    (-1, 2)
    """
    return abs(number) % divisor * (-1 if number < 0 else 1)


def djb2a(text: str) -> int:
    """Return RiskIQ's form of Bernstein's hash with XOR, as a signed 32-bit integer.

    The hash is h = h * 33 ^ byte from 5381. The bytes of a text are the low bytes of its UTF-16
    code units, from -128 to 127: this is how Scala converts a character by ``toByte``.

    >>> djb2a("he")
    5861128
    """
    h = 5381
    for low in text.encode("utf-16-le", "surrogatepass")[::2]:
        h = int32(h * 33 ^ (low - 256 if low > 127 else low))
    return h


class JavaRandom:
    """The generator java.util.Random: 48 bits, linear congruential.

    >>> JavaRandom(1337).next_int()
    -1460590454
    """

    def __init__(self, seed: int) -> None:
        self.state = (seed ^ 0x5DEECE66D) % 2**48

    def next_int(self) -> int:
        """Return the next int, any of the 2^32."""
        self.state = (self.state * 0x5DEECE66D + 0xB) % 2**48
        return int32(self.state >> 16)


class HashFunction(NamedTuple):
    """RiskIQ's hash function: a x + b, wrapped to a signed 32-bit integer.

    Its remainder by 999,999,999,989 changes nothing after that (Java's keeps the sign).

    >>> print(HashFunction(3, 5), HashFunction(3, 5)(7))
    3*X + 5 % 999999999989 26
    """

    a: int
    b: int

    def __call__(self, x: int) -> int:
        """Return the value of the function."""
        return remainder(int32(self.a * x + self.b), RISKIQ_MODULUS)

    def __str__(self) -> str:
        return f"{self.a}*X + {self.b} % {RISKIQ_MODULUS}"


class HashCollection:
    """RiskIQ's functions, whose a and b are drawn in turn from Java's generator; a may be even.

    >>> HashCollection(2).evaluate("he")
    [480357896, 1614176836]
    """

    def __init__(self, count: int, seed: int = 1337) -> None:
        draw = JavaRandom(seed).next_int
        self.functions = [HashFunction(draw(), draw()) for _ in range(count)]

    def evaluate(self, text: str) -> list[int]:
        """Return the value of each function for the djb2a of the text."""
        x = djb2a(text)
        return [function(x) for function in self.functions]


class MinHash:
    """RiskIQ's signatures: the least value of each of n functions over shingles of k characters.

    >>> MinHash(1337, 2, 2).hash("he")
    [480357896, 1614176836]
    """

    def __init__(self, seed: int, k: int, n: int) -> None:
        self.collection = HashCollection(n, seed)
        self.k = k

    def hash(self, document: str) -> list[int]:
        """Return the signature of a document; one of fewer than k characters is one shingle."""
        starts = range(max(len(document) - self.k + 1, 1))
        values = [self.collection.evaluate(document[i : i + self.k]) for i in starts]
        return [min(column) for column in zip(*values, strict=True)]


def get_buckets(signature: Sequence[int], bands: int) -> list[int]:
    """Return RiskIQ's buckets: for each band, the djb2a of its entries joined by dots.

    Each band has ``entries // bands`` entries; the entries that remain are not used.

    Raises
    ------
    ValueError
        There are no bands, or more bands than entries.

    >>> get_buckets([7, 8, 9], 1) == [djb2a("7.8.9")]
    True
    """
    return [djb2a(".".join(map(str, band))) for band in _cut(signature, bands)]


def is_pair_candidate_match(a: Sequence[int], b: Sequence[int]) -> bool:
    """Return whether two lists of RiskIQ's buckets have an equal bucket at the same offset.

    Raises
    ------
    ValueError
        The lists have different lengths, and so come from different numbers of bands.

    >>> is_pair_candidate_match([1, 2, 3], [3, 2, 1]), is_pair_candidate_match([1, 2], [2, 1])
    (True, False)
    """
    if len(a) != len(b):
        raise ValueError(f"the documents must have the same number of buckets: {len(a)}, {len(b)}")
    return any(x == y for x, y in zip(a, b, strict=True))


def _goal(threshold: float, num_perm: int) -> float:
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
    if num_perm < 1:
        raise ValueError(f"num_perm must be at least 1, got {num_perm}")
    return -num_perm * math.log(threshold)


def solve_bands(threshold: float, num_perm: int) -> float:
    """Return the b, not rounded, for which (1 / b)^(b / num_perm) is the threshold.

    This is b ln b = -num_perm ln threshold.

    >>> round(solve_bands(0.6, 100), 3)
    17.757
    """
    goal = _goal(threshold, num_perm)
    low, high = 1.0, 2.0 + goal
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.log(middle) < goal else (low, middle)
    return high if goal else 1.0


def pick_bands(threshold: float, num_perm: int) -> int:
    """Return RiskIQ's number of bands: the least b with b ln b >= -num_perm ln threshold.

    >>> pick_bands(0.6, 100)
    18
    """
    goal = _goal(threshold, num_perm)
    bands = 1
    while bands * math.log(bands) < goal:
        bands += 1
    return bands
