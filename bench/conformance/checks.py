"""The checks: each returns whether the library passed it, and the measurement in words.

A sound library exceeds a limit with a stated probability at most.
"""

import hashlib
import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.conformance.lab import Lab, Measured, exact
from fastlsh.banding import LSHParams

FALSE_ALARM = 1e-5
"""The probability that one check fails a sound library; its cells and slots share it."""
SIZE = 999
CELLS = [(size, similarity) for size in (48, SIZE) for similarity in (0.2, 0.5, 0.8)]
SIZES = (1, 2, 7, 30, 128, SIZE, 3000)
PROBABILITIES = (0.1, 0.5, 0.9)
"""The heights at which the S-curve is measured, besides unrelated documents."""
CHANGES = 512
MINIMUM, BELOW = 0.95, 0.7
Outcome = tuple[bool, str]


# ---- limits


def count_excess(hits: Any, trials: int, p: float) -> NDArray[np.float64]:
    """Return -log of a bound for the probability of counts so far from the expected ones.

    Chernoff's bound on one side of a binomial distribution, exp(-trials * KL(hits/trials, p)):
    never too small, whatever p is.
    """
    q = np.asarray(hits, np.float64) / trials
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(q > 0, q * np.log(q / p), 0.0)
        no = np.where(q < 1, (1 - q) * np.log((1 - q) / (1 - p)), 0.0)
    return np.asarray(trials * (yes + no))


def count_limit(cells: int) -> float:
    """Return the `count_excess` that one of so many cells reaches by chance."""
    return math.log(2 * cells / FALSE_ALARM)


def spread_limit(trials: int, n: int, p: float, cells: int) -> float:
    """Return the relative variance of a share of n hits of probability p that chance reaches.

    Wilson and Hilferty's cube root of chi-square, of as many degrees of freedom as give the
    variance that squares of the excess kurtosis of the share have.
    """
    kurtosis = max(0.0, (1 - 6 * p * (1 - p)) / (n * p * (1 - p)))
    part = (2 + kurtosis) / (9 * trials)
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / cells)
    return float((1 - part + z * math.sqrt(part)) ** 3)


def correlation_limit(trials: int, p: float, cells: int) -> float:
    """Return the correlation of two independent columns of hits that chance reaches.

    Bernstein's inequality for the sum of the products of standardised hits.
    """
    most = max(p, 1 - p) ** 2 / (p * (1 - p))
    need = count_limit(cells)
    # t^2 / 2 = need * (1 + most * t / (3 sqrt(trials)))
    half = need * most / (3 * math.sqrt(trials))
    t = half + math.sqrt(half * half + 2 * need)
    return t / math.sqrt(trials)


def _worst(values: list[tuple[float, str]], limit: float) -> Outcome:
    """Return the outcome of the value farthest from its expectation; NaN is farther than any."""
    value, text = max(values, key=lambda pair: (pair[0] != pair[0], pair[0]))
    return bool(value <= limit), f"{text}; limit {limit:.4g}"


def _worst_cell(lab: Lab, of: Callable[[Measured], tuple[float, str]], limit: float) -> Outcome:
    return _worst([of(lab.measured(*place)) for place in CELLS], limit)


def _correlation(hits: NDArray[np.bool_], p: float) -> NDArray[np.float32]:
    """Return the correlation of each two columns of hits with probability p, 0 with itself."""
    centred = hits - np.float32(p)  # fewer than 2^24 products of 1/4: exact enough
    products: NDArray[np.float32] = centred.T @ centred / np.float32(len(hits) * p * (1 - p))
    np.fill_diagonal(products, 0)
    return products


# ---- estimates


def bias(lab: Lab) -> Outcome:
    """Check that the mean estimate is the similarity, whatever it is."""

    def of(cell: Measured) -> tuple[float, str]:
        j = cell.similarity
        error = float(cell.estimates.mean()) - j
        z = abs(error) / np.sqrt(j * (1 - j) / cell.num_perm / lab.trials)
        return z, f"largest mean error {error:+.4f} ({cell.cell}), {z:.1f} standard errors"

    return _worst_cell(lab, of, NormalDist().inv_cdf(1 - FALSE_ALARM / len(CELLS) / 2))


def variance(lab: Lab) -> Outcome:
    """Check that estimates spread no more than those of independent functions: J (1 - J) / k."""

    def of(cell: Measured) -> tuple[float, str]:
        j, k = cell.similarity, cell.num_perm
        ratio = float(cell.estimates.var(ddof=1)) / (j * (1 - j) / k)
        limit = spread_limit(lab.trials, k, j, len(CELLS))
        text = f"variance {ratio:.2f} of J (1 - J) / {k} ({cell.cell}), limit {limit:.2f}"
        return ratio / limit, f"{text}; share of the limit {ratio / limit:.2f}"

    return _worst_cell(lab, of, 1)


def each_value(lab: Lab) -> Outcome:
    """Check that each value is equal with the probability of the similarity."""

    def of(cell: Measured) -> tuple[float, str]:
        hits = cell.equal.sum(axis=0)
        excess = count_excess(hits, lab.trials, cell.similarity)
        slot = int(excess.argmax())
        expected = f"expected {lab.trials * cell.similarity:,.0f} ({cell.cell})"
        text = (
            f"value {slot} is equal in {hits[slot]:,} pairs, {expected}; -log p {excess[slot]:.1f}"
        )
        return float(excess[slot]), text

    return _worst_cell(lab, of, count_limit(lab.measured(SIZE, 0.5).num_perm * len(CELLS)))


def independent_values(lab: Lab) -> Outcome:
    """Check that no two values are equal together more often than by chance."""
    cell = lab.measured(SIZE, 0.5)
    trials, k = cell.equal.shape
    if k < 2:
        return True, "one value has nothing to depend on"
    correlation = _correlation(cell.equal, cell.similarity)
    place = int(np.abs(correlation).argmax())
    first, second = sorted(divmod(place, k))
    most = float(correlation.flat[place])
    text = f"largest correlation {most:+.3f}, of the values {first} and {second} ({cell.cell})"
    limit = correlation_limit(trials, cell.similarity, k * (k - 1) // 2)
    return _worst([(abs(most), text)], limit)


# ---- sets


def order_and_repetition(lab: Lab) -> Outcome:
    """Check that the order of the elements, and how often each comes, change nothing."""
    maker = lab.maker("order")
    sets = [(size, times) for size in SIZES[2:] for times in (1, 3)]
    pairs = [maker.reordered(d, times) for size, times in sets for d in maker.documents(size, 8)]
    share = lab.estimates(*zip(*pairs, strict=True))
    lost = int((share != 1).sum())
    text = f"{lost} of {len(pairs)} sets in another order or repeated differ from themselves"
    return not lost, f"{text}: mean estimate {share.mean():.4f}, lowest {share.min():.4f}"


def union_is_minimum(lab: Lab) -> Outcome:
    """Check that the signature of a union is the elementwise minimum of the signatures."""
    maker = lab.maker("union")
    cells = [(size, similarity) for size in SIZES[2:] for similarity in (0.1, 0.6)]
    blocks = [block for cell in cells for block in maker.pairs(*cell, 8)]
    sides = ([d for block in blocks for d in block[side]] for side in range(3))
    left, right, union = map(lab.signatures, sides)
    wrong = int((union != np.minimum(left, right)).any(axis=1).sum())
    return not wrong, f"{wrong} of {len(union)} signatures of unions are not the minimum of both"


def empty(lab: Lab) -> Outcome:
    """Check that an empty document is no error, and no candidate of another empty one."""
    document = lab.maker("empty").documents(30, 1)[0]
    nothing: Any = "" if lab.adapter.shingle_size else []
    pairs = [(nothing, nothing), (document, document), (nothing, document), (document, nothing)]
    # Alone in an index each: an index that names nobody must not answer for another document.
    ask = partial(lab.flags, "candidates") if "candidates" in lab.parts else lab.estimates
    alike = [bool(ask([a], [b])[0] > 0) for a, b in pairs]
    text = f"an empty document is {'' if alike[0] else 'not '}similar to another empty one"
    if alike[1:] != [True, False, False]:
        text += "; wrong beside a document that is not empty"
    return alike == [False, True, False, False], text


def short(lab: Lab) -> Outcome:
    """Check that different documents of at most one shingle are not alike."""
    maker = lab.maker("short")
    lengths = range(min(3, maker.width), maker.width + 1) if maker.text else (1, 1, 1, 1)
    documents = [d for length in lengths for d in maker.sequences(12, length)]
    others = documents[1:] + documents[:1]
    pairs = [(a, b) for a, b in zip(documents, others, strict=True) if a != b]
    share = lab.estimates(*zip(*pairs, strict=True))
    alike = int((share > 0.05).sum())
    text = f"{alike} of {len(share)} pairs of documents of at most one shingle are estimated above"
    return not alike, f"{text} 0.05; highest {share.max():.2f}"


def repeatable(lab: Lab) -> Outcome:
    """Check that documents have the same values again, one by one and in other company."""
    maker = lab.maker("all sizes")
    documents = [document for size in SIZES for document in maker.documents(size, 5)]
    first = lab.signatures(documents)
    repeated = {
        "asked again": lab.signatures(documents),
        "in another order of documents": lab.signatures(documents[::-1])[::-1],
        "one by one": np.concatenate([lab.signatures([document]) for document in documents]),
    }
    wrong = [way for way, values in repeated.items() if (values != first).any()]
    values = first.astype("<i8" if first.dtype.kind == "i" else "<u8").tobytes()
    digest = hashlib.blake2b(values, digest_size=8).hexdigest()
    text = f"the values differ {', '.join(wrong)}" if wrong else "the values are the same"
    return not wrong, f"{text}, for {len(documents)} documents; digest {digest}"


# ---- bands


def key_collisions(lab: Lab) -> Outcome:
    """Check that exchanged values, or one more here and one less there, have other keys."""
    if lab.rows < 2:
        return True, "bands of one row: a key has nothing to mix"
    signatures = []
    for row in lab.signatures(lab.maker("collisions").documents(SIZE, 32)):
        signatures.append(row)
        for first in range(lab.rows - 1):
            exchanged, moved = row.copy(), row.copy()
            exchanged[[first, first + 1]] = exchanged[[first + 1, first]]
            moved[first : first + 1] += 1  # as an array, which wraps around
            moved[first + 1 : first + 2] -= 1
            signatures += [exchanged, moved]
    keys = {row[0] for row in lab.band_keys(np.array(signatures))}
    distinct = len({row[: lab.rows].tobytes() for row in signatures})
    lost = distinct - len(keys)
    return lost <= 0, f"{lost} of {distinct} different bands have the key of another one"


def avalanche(lab: Lab) -> Outcome:
    """Check that one bit of a value flips half of its band's key, and no other key."""
    maker, numbers = lab.maker("avalanche"), np.arange(CHANGES)
    base = np.repeat(lab.signatures(maker.documents(SIZE, 16)), CHANGES // 16, axis=0)
    places = maker.rng.integers(0, lab.bands * lab.rows, CHANGES)
    changed = base.copy()
    bits = maker.rng.integers(0, min(16, 8 * base.itemsize), CHANGES)
    changed[numbers, places] ^= (1 << bits).astype(base.dtype)
    before, after = (np.array(lab.band_keys(rows), object) for rows in (base, changed))
    changed_band = (numbers, places // lab.rows)
    elsewhere = before != after
    elsewhere[changed_band] = False
    if elsewhere.any():
        return False, f"a value that changes alters {elsewhere.sum():,} keys of other bands"
    before, after = before[changed_band], after[changed_band]
    if isinstance(before[0], bytes):
        same = int((before == after).sum())
        return not same, f"{same} of {CHANGES} keys (bytes) outlast a change"
    width = 64 if before.max() >> 32 else 32
    flips = (before ^ after).astype(np.uint64)
    hits = (flips[:, None] >> np.arange(width, dtype=np.uint64) & np.uint64(1)).sum(axis=0)
    excess = count_excess(hits, CHANGES, 0.5)
    bit = int(excess.argmax())
    text = f"bit {bit} of {width} flips in {hits[bit] / CHANGES:.0%} of changes of one bit"
    return _worst([(float(excess[bit]), f"{text}; -log p {excess[bit]:.1f}")], count_limit(width))


def independent_bands(lab: Lab) -> Outcome:
    """Check that bands are equal as often, and as rarely together, as independent ones."""
    bands, trials, similarity = lab.bands, lab.trials, 0.5 ** (1 / lab.rows)
    p = exact(SIZE, similarity) ** lab.rows
    blocks = list(lab.maker("bands").pairs(SIZE, similarity, trials))
    sides = [np.concatenate([lab.signatures(block[side]) for block in blocks]) for side in (0, 1)]
    left, right = (np.array(lab.band_keys(rows), object) for rows in sides)
    equal: NDArray[np.bool_] = (left == right).astype(np.bool_)
    excess = count_excess(equal.sum(axis=0), trials, p)
    most = int(excess.argmax())
    spread = float(((equal.sum(axis=1) - bands * p) ** 2).mean()) / (bands * p * (1 - p))
    spread_most = spread_limit(trials, bands, p, 3)
    together = float(np.abs(_correlation(equal, p)).max())
    together_most = correlation_limit(trials, p, 3 * max(bands * (bands - 1) // 2, 1))
    passed = excess[most] <= count_limit(3 * bands) and spread <= spread_most
    return bool(passed and together <= together_most), (
        f"band {most} is equal in {equal[:, most].mean():.3f} of the pairs, expected {p:.3f}; "
        f"spread {spread:.2f}, limit {spread_most:.2f}; "
        f"correlation {together:.3f}, limit {together_most:.3f}"
    )


def s_curve(lab: Lab) -> Outcome:
    """Check that pairs become candidates as often as 1 - (1 - J^rows)^bands says."""
    params, outcomes = LSHParams(lab.bands, lab.rows), []
    for probability in (0.0, *PROBABILITIES):
        j = exact(SIZE, params.inverse(probability)) if probability else 0.0
        blocks = lab.maker(f"s-curve {j}").pairs(SIZE, j, lab.trials)
        hits = sum(int(lab.flags("candidates", left, right).sum()) for left, right, _ in blocks)
        p = params.probability(j)
        # Nothing is quite impossible: 64 bits collide.
        excess = float(count_excess(hits, lab.trials, max(p, FALSE_ALARM / 1e6)))
        text = f"{hits:,} of {lab.trials:,} pairs of similarity {j:.3f} are candidates, expected"
        outcomes.append((excess, f"{text} {p * lab.trials:,.1f}; -log p {excess:.1f}"))
    return _worst(outcomes, count_limit(len(outcomes)))


def filter_drops(lab: Lab) -> Outcome:
    """Check that every pair that is reported with a minimum reaches it, by the estimate."""
    maker, hits = lab.maker("filter"), []
    for similarity, count in ((1.0, 50), (BELOW, 150)):
        left, right, _ = next(maker.pairs(SIZE, similarity, count))
        hits.append(int(lab.flags("filtered", left, right, MINIMUM).sum()))
    text = f"{hits[1]} of 150 pairs of similarity {BELOW} and {hits[0]} of 50 equal pairs reach"
    return hits == [50, 0], f"{text} a minimum of {MINIMUM}"


CHECKS: dict[str, Any] = {
    "bias": (bias,),
    "variance": (variance,),
    "each value": (each_value, "signatures"),
    "independent values": (independent_values, "signatures"),
    "order and repetition": (order_and_repetition,),
    "union is minimum": (union_is_minimum, "signatures"),
    "empty documents": (empty, "candidates or estimates"),
    "short documents": (short,),
    "same values again": (repeatable, "signatures"),
    "independent bands": (independent_bands, "signatures", "band_keys"),
    "band key collisions": (key_collisions, "signatures", "band_keys"),
    "band key avalanche": (avalanche, "signatures", "band_keys"),
    "S-curve": (s_curve, "candidates"),
    "filter": (filter_drops, "filtered"),
}
"""All checks by their names, with the parts of an adapter that they need; of "a or b", a part."""
