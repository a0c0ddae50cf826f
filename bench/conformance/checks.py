"""The checks: each returns whether the library passed it, and what was measured in words."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.conformance.documents import exact
from bench.conformance.lab import Lab
from bench.conformance.limits import (
    FALSE_ALARM,
    correlation_limit,
    count_excess,
    count_limit,
    normal_limit,
    spread_limit,
)
from fastlsh.banding import LSHParams

SIZE = 999
CELLS = [(size, similarity) for size in (48, SIZE) for similarity in (0.2, 0.5, 0.8)]
SIZES = (1, 2, 7, 30, 128, SIZE, 3000)
FOUND = (0.1, 0.5, 0.9)
"""Where on the S-curve it is measured, besides unrelated documents."""
CHANGES = 512
MINIMUM, BELOW = 0.95, 0.7
Outcome = tuple[bool, str]


# ---- estimates


def bias(lab: Lab) -> Outcome:
    """Check that the mean estimate is the similarity, whatever it is."""
    found = []
    for cell in (lab.measured(*place) for place in CELLS):
        j = cell.similarity
        error = float(cell.estimates.mean()) - j
        z = abs(error) / np.sqrt(j * (1 - j) / cell.num_perm / lab.trials)
        found.append((z, f"largest mean error {error:+.4f} ({cell.cell}), {z:.1f} standard errors"))
    return _worst(found, normal_limit(len(CELLS)))


def variance(lab: Lab) -> Outcome:
    """Check that estimates spread no more than those of independent functions: J (1 - J) / k."""
    found = []
    for cell in (lab.measured(*place) for place in CELLS):
        q, k = cell.similarity * (1 - cell.similarity), cell.num_perm
        ratio = float(cell.estimates.var(ddof=1)) / (q / k)
        limit = spread_limit(lab.trials, max(0.0, (1 - 6 * q) / (k * q)), len(CELLS))
        said = f"variance {ratio:.2f} of J (1 - J) / {k} ({cell.cell}), limit {limit:.2f}"
        found.append((ratio / limit, f"{said}; share of the limit {ratio / limit:.2f}"))
    return _worst(found, 1)


def each_value(lab: Lab) -> Outcome:
    """Check that each value is equal with the probability of the similarity."""
    found = []
    for cell in (lab.measured(*place) for place in CELLS):
        hits = cell.equal.sum(axis=0)
        excess = count_excess(hits, lab.trials, cell.similarity)
        slot = int(excess.argmax())
        said = (
            f"value {slot} is equal in {hits[slot]:,} of {lab.trials:,} pairs, expected "
            f"{lab.trials * cell.similarity:,.0f} ({cell.cell}); -log p {excess[slot]:.1f}"
        )
        found.append((float(excess[slot]), said))
    return _worst(found, count_limit(cell.num_perm * len(CELLS)))


def independent_values(lab: Lab) -> Outcome:
    """Check that no two values are equal together more often than by chance."""
    cell = lab.measured(SIZE, 0.5)
    trials, k = cell.equal.shape
    if k < 2:
        return True, "one value has nothing to depend on"
    j = cell.similarity
    correlation = _correlation(cell.equal, j)
    place = int(np.abs(correlation).argmax())
    first, second = sorted(divmod(place, k))
    most = float(correlation.flat[place])
    said = f"largest correlation {most:+.3f}, of the values {first} and {second} ({cell.cell})"
    return _worst([(abs(most), said)], correlation_limit(trials, j, k * (k - 1) // 2))


def _correlation(hits: NDArray[np.bool_], p: float) -> NDArray[np.float32]:
    """Return the correlation of each two columns of hits with probability p, 0 with itself."""
    centred = hits - np.float32(p)  # fewer than 2^24 products of 1/4: exact enough
    found: NDArray[np.float32] = centred.T @ centred / np.float32(len(hits) * p * (1 - p))
    np.fill_diagonal(found, 0)
    return found


def _worst(found: list[tuple[float, str]], limit: float) -> Outcome:
    """Return the outcome of what is farthest from what is expected; NaN is farther than any."""
    value, said = max(found, key=lambda each: (each[0] != each[0], each[0]))
    return bool(value <= limit), f"{said}; limit {limit:.4g}"


# ---- sets


def order_and_repetition(lab: Lab) -> Outcome:
    """Check that the order of the elements, and how often each comes, change nothing."""
    maker = lab.maker("order")
    pairs = [
        maker.again(document, times)
        for size in SIZES[2:]
        for times in (1, 3)
        for document in maker.documents(size, 8)
    ]
    left, right = zip(*pairs, strict=True)
    share = lab.estimates(left, right)
    lost = int((share != 1).sum())
    return not lost, (
        f"{lost} of {len(pairs)} sets in another order, or with elements repeated, differ from "
        f"themselves: mean estimate {share.mean():.4f}, lowest {share.min():.4f}; it must be 1"
    )


def union_is_minimum(lab: Lab) -> Outcome:
    """Check that the signature of a union is the elementwise minimum of the signatures."""
    maker = lab.maker("union")
    blocks = [
        block
        for size in SIZES[2:]
        for similarity in (0.1, 0.6)
        for block in maker.pairs(size, similarity, 8)
    ]
    left, right, union = (
        lab.signatures([document for block in blocks for document in block[side]])
        for side in range(3)
    )
    wrong = int((union != np.minimum(left, right)).any(axis=1).sum())
    return not wrong, f"{wrong} of {len(union)} signatures of unions are not the minimum of both"


def empty(lab: Lab) -> Outcome:
    """Check that an empty document is no error, and no candidate of another empty one."""
    some = lab.maker("empty").documents(30, 1)[0]
    nothing: Any = "" if lab.adapter.shingle_size else []
    pairs = [(nothing, nothing), (some, some), (nothing, some), (some, nothing)]
    if "candidates" in lab.parts:
        # Alone in an index each: one that names nobody must not answer for another document.
        found = [bool(lab.flags("candidates", ([a], [b]))[0]) for a, b in pairs]
    else:
        found = [bool(lab.estimates([a], [b])[0] > 0) for a, b in pairs]
    said = f"an empty document is {'' if found[0] else 'not '}similar to another empty one"
    if found[1:] != [True, False, False]:
        said += "; wrong beside a document that is not empty"
    return found == [False, True, False, False], said


def short(lab: Lab) -> Outcome:
    """Check that different documents of at most one shingle are not alike."""
    maker = lab.maker("short")
    documents = maker.documents(1, 48)
    if maker.text:
        lengths = range(min(3, maker.width), maker.width + 1)
        documents = [d for length in lengths for d in maker.sequences(12, length)]
    others = documents[1:] + documents[:1]
    pairs = [(a, b) for a, b in zip(documents, others, strict=True) if a != b]
    left, right = zip(*pairs, strict=True)
    share = lab.estimates(left, right)
    alike = int((share > 0.05).sum())
    return not alike, (
        f"{alike} of {len(share)} pairs of different documents of at most one shingle are "
        f"estimated above 0.05; highest {share.max():.2f}"
    )


def repeatable(lab: Lab) -> Outcome:
    """Check that documents have the same values again, one by one and in other company."""
    maker = lab.maker("all sizes")
    documents = [document for size in SIZES for document in maker.documents(size, 5)]
    first = lab.signatures(documents)
    again = {
        "asked again": lab.signatures(documents),
        "in another order of documents": lab.signatures(documents[::-1])[::-1],
        "one by one": np.concatenate([lab.signatures([document]) for document in documents]),
    }
    wrong = [how for how, values in again.items() if (values != first).any()]
    values = first.astype("<i8" if first.dtype.kind == "i" else "<u8").tobytes()
    digest = hashlib.blake2b(values, digest_size=8).hexdigest()
    said = f"the values differ {', '.join(wrong)}" if wrong else "the values are the same"
    return not wrong, f"{said}, for {len(documents)} documents; digest {digest}"


# ---- bands


def key_collisions(lab: Lab) -> Outcome:
    """Check that exchanged values, or one more here and one less there, have other keys."""
    if lab.rows < 2:
        return True, "bands of one row: a key has nothing to mix"
    found = []
    for row in lab.signatures(lab.maker("collisions").documents(SIZE, 32)):
        found.append(row)
        for first in range(lab.rows - 1):
            exchanged, moved = row.copy(), row.copy()
            exchanged[[first, first + 1]] = exchanged[[first + 1, first]]
            moved[first : first + 1] += 1  # as an array, which wraps around
            moved[first + 1 : first + 2] -= 1
            found += [exchanged, moved]
    keys = [row[0] for row in lab.band_keys(np.array(found))]
    distinct = len({row[: lab.rows].tobytes() for row in found})
    lost = distinct - len(set(keys))
    return lost <= 0, f"{lost} of {distinct} different bands have the key of another one"


def avalanche(lab: Lab) -> Outcome:
    """Check that one bit of a value flips half of its band's key, and no other key."""
    maker = lab.maker("avalanche")
    base = np.repeat(lab.signatures(maker.documents(SIZE, 16)), CHANGES // 16, axis=0)
    places = maker.rng.integers(0, lab.bands * lab.rows, CHANGES)
    changed = base.copy()
    bits = maker.rng.integers(0, min(16, 8 * base.itemsize), CHANGES)
    changed[np.arange(CHANGES), places] ^= (1 << bits).astype(base.dtype)
    before, after = (np.array(lab.band_keys(rows), object) for rows in (base, changed))
    mine = (np.arange(CHANGES), places // lab.rows)
    elsewhere = before != after
    elsewhere[mine] = False
    if elsewhere.any():
        return False, f"a value that changes alters {elsewhere.sum():,} keys of other bands"
    if isinstance(before[0, 0], bytes):
        same = int((before[mine] == after[mine]).sum())
        return not same, f"{same} of {CHANGES} keys (bytes) outlast a change"
    width = 64 if before.max() >> 32 else 32
    flips = (before[mine] ^ after[mine]).astype(np.uint64)
    hits = (flips[:, None] >> np.arange(width, dtype=np.uint64) & np.uint64(1)).sum(axis=0)
    excess = count_excess(hits.astype(np.int64), CHANGES, 0.5)
    bit = int(excess.argmax())
    said = (
        f"bit {bit} of {width} flips in {hits[bit] / CHANGES:.0%} of {CHANGES} changes of one "
        f"bit; -log p {excess[bit]:.1f}"
    )
    return _worst([(float(excess[bit]), said)], count_limit(width))


def independent_bands(lab: Lab) -> Outcome:
    """Check that bands are equal as often, and as rarely together, as independent ones."""
    bands, trials = lab.bands, lab.trials
    similarity = 0.5 ** (1 / lab.rows)
    p = exact(SIZE, similarity) ** lab.rows
    blocks = list(lab.maker("bands").pairs(SIZE, similarity, trials))
    left, right = (
        np.concatenate([lab.signatures(block[side]) for block in blocks]) for side in (0, 1)
    )
    keys = [np.array(lab.band_keys(rows), object) for rows in (left, right)]
    equal: NDArray[np.bool_] = (keys[0] == keys[1]).astype(np.bool_)
    excess = count_excess(equal.sum(axis=0), trials, p)
    most = int(excess.argmax())
    q = p * (1 - p)
    spread = float(((equal.sum(axis=1) - bands * p) ** 2).mean()) / (bands * q)
    spread_most = spread_limit(trials, max(0.0, (1 - 6 * q) / (bands * q)), 3)
    together = float(np.abs(_correlation(equal, p)).max())
    together_most = correlation_limit(trials, p, 3 * max(bands * (bands - 1) // 2, 1))
    passed = excess[most] <= count_limit(3 * bands) and spread <= spread_most
    return bool(passed and together <= together_most), (
        f"band {most} is equal in {equal[:, most].mean():.3f} of the pairs, expected {p:.3f}; "
        f"spread {spread:.2f} of a binomial one, limit {spread_most:.2f}; largest correlation "
        f"{together:.3f}, limit {together_most:.3f}"
    )


def s_curve(lab: Lab) -> Outcome:
    """Check that pairs become candidates as often as 1 - (1 - J^rows)^bands says."""
    params = LSHParams(lab.bands, lab.rows)
    outcomes = []
    for found in (0.0, *FOUND):
        similarity = exact(SIZE, params.inverse(found)) if found else 0.0
        blocks = lab.maker(f"s-curve {similarity}").pairs(SIZE, similarity, lab.trials)
        hits = sum(int(lab.flags("candidates", block[:2]).sum()) for block in blocks)
        p = params.probability(similarity)
        # Nothing is quite impossible: 64 bits collide.
        excess = float(count_excess(np.array([hits]), lab.trials, max(p, FALSE_ALARM / 1e6))[0])
        said = (
            f"{hits:,} of {lab.trials:,} pairs of similarity {similarity:.3f} are candidates, "
            f"expected {p * lab.trials:,.1f}; -log p {excess:.1f}"
        )
        outcomes.append((excess, said))
    return _worst(outcomes, count_limit(len(outcomes)))


def filter_drops(lab: Lab) -> Outcome:
    """Check that what is reported with a minimum reaches it, by the estimate."""
    maker = lab.maker("filter")
    kept, below = (
        int(lab.flags("filtered", next(maker.pairs(SIZE, similarity, count))[:2], MINIMUM).sum())
        for similarity, count in ((1.0, 50), (BELOW, 150))
    )
    return below == 0 and kept == 50, (
        f"with a minimum of {MINIMUM}, {below} of 150 pairs of similarity {BELOW} are reported "
        f"and {kept} of 50 equal ones"
    )


class Check(NamedTuple):
    """A check, and the parts of an adapter that it needs; of "a or b" one of the two."""

    run: Callable[[Lab], Outcome]
    needs: tuple[str, ...] = ()


CHECKS = {
    "bias": Check(bias),
    "variance": Check(variance),
    "each value": Check(each_value, ("signatures",)),
    "independent values": Check(independent_values, ("signatures",)),
    "order and repetition": Check(order_and_repetition),
    "union is minimum": Check(union_is_minimum, ("signatures",)),
    "empty documents": Check(empty, ("candidates or estimates",)),
    "short documents": Check(short),
    "same values again": Check(repeatable, ("signatures",)),
    "independent bands": Check(independent_bands, ("signatures", "band_keys")),
    "band key collisions": Check(key_collisions, ("signatures", "band_keys")),
    "band key avalanche": Check(avalanche, ("signatures", "band_keys")),
    "S-curve": Check(s_curve, ("candidates",)),
    "filter": Check(filter_drops, ("filtered",)),
}
"""All checks, by their names."""
