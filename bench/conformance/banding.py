"""Checks of the bands: of their keys, of each beside the others, of the S-curve, of the filter."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.conformance.documents import exact
from bench.conformance.estimates import Outcome
from bench.conformance.lab import Lab
from bench.conformance.limits import (
    FALSE_ALARM,
    correlation_limit,
    count_excess,
    count_limit,
    spread_limit,
)
from fastlsh.banding import LSHParams

SIZE = 999
FOUND = (0.1, 0.5, 0.9)
"""Where on the S-curve it is measured, besides unrelated documents."""
MINIMUM, BELOW = 0.95, 0.7
CHANGES = 512


def key_collisions(lab: Lab) -> Outcome:
    """Check that exchanged values, or one more here and one less there, have other keys."""
    if lab.rows < 2:
        return True, "bands of one row: a key has nothing to mix", {}
    rows = list(_variants(lab))
    keys = [row[0] for row in lab.band_keys(np.array(rows))]
    distinct = len({row[: lab.rows].tobytes() for row in rows})
    lost = distinct - len(set(keys))
    said = f"{lost} of {distinct} different bands have the key of another one"
    return lost <= 0, said, {"lost": lost, "of": distinct}


def _variants(lab: Lab) -> Iterator[NDArray[np.generic]]:
    """Yield signatures whose first bands differ as those of unlike documents may."""
    maker = lab.maker("collisions")
    rows = lab.rows
    for row in lab.signatures(maker.documents(SIZE, 32)):
        yield row
        for first, second in zip(range(rows - 1), range(1, rows), strict=True):
            exchanged = row.copy()
            exchanged[[first, second]] = exchanged[[second, first]]
            yield exchanged
            moved = row.copy()
            moved[first : first + 1] += 1  # as an array, which wraps around
            moved[second : second + 1] -= 1
            yield moved


def avalanche(lab: Lab) -> Outcome:
    """Check that one bit of a value flips half of its band's key, and no other key."""
    bands, rows = lab.bands, lab.rows
    maker = lab.maker("avalanche")
    base = np.repeat(lab.signatures(maker.documents(SIZE, 16)), CHANGES // 16, axis=0)
    places = maker.rng.integers(0, bands * rows, CHANGES)
    changed = base.copy()
    bits = maker.rng.integers(0, min(16, 8 * base.itemsize), CHANGES)
    changed[np.arange(CHANGES), places] ^= (1 << bits).astype(base.dtype)
    before, after = lab.band_keys(base), lab.band_keys(changed)
    elsewhere = sum(
        b[i] != a[i]
        for b, a, place in zip(before, after, places // rows, strict=True)
        for i in range(bands)
        if i != place
    )
    if elsewhere:
        said = f"a value that changes alters {elsewhere:,} keys of other bands"
        return False, said, {"elsewhere": elsewhere}
    mine = [(b[i], a[i]) for b, a, i in zip(before, after, places // rows, strict=True)]
    if isinstance(mine[0][0], bytes):
        same = sum(b == a for b, a in mine)
        return not same, f"{same} of {CHANGES} keys (bytes) outlast a change", {"same": same}
    width = 64 if max(map(max, before)) >> 32 else 32
    flips = np.array([b ^ a for b, a in mine], np.uint64)
    shifts = np.arange(width, dtype=np.uint64)
    hits = (flips[:, None] >> shifts & np.uint64(1)).sum(axis=0).astype(np.int64)
    excess = count_excess(hits, CHANGES, 0.5)
    limit = count_limit(width)
    worst = int(excess.argmax())
    said = (
        f"bit {worst} of {width} flips in {hits[worst] / CHANGES:.0%} of {CHANGES} changes of one "
        f"bit; -log p {excess[worst]:.1f}, limit {limit:.1f}"
    )
    share = float(hits[worst] / CHANGES)
    return excess[worst] <= limit, said, {"bit": worst, "share": share, "width": width}


def independent_bands(lab: Lab) -> Outcome:
    """Check that bands are equal as often, and as rarely together, as independent ones."""
    bands, rows = lab.bands, lab.rows
    cell_of = 0.5 ** (1 / rows)
    left, right = _signatures_of_pairs(lab, cell_of)
    p = exact(SIZE, cell_of) ** rows
    equal = np.array(
        [[x == y for x, y in zip(a, b, strict=True)]
         for a, b in zip(lab.band_keys(left), lab.band_keys(right), strict=True)]
    )  # fmt: skip
    trials = len(equal)
    excess = count_excess(equal.sum(axis=0), trials, p)
    most = int(excess.argmax())
    q = p * (1 - p)
    spread = float(((equal.sum(axis=1) - bands * p) ** 2).mean()) / (bands * q)
    spread_most = spread_limit(trials, max(0.0, (1 - 6 * q) / (bands * q)), 3)
    centred = equal - p
    correlation = centred.T @ centred / (trials * q)
    np.fill_diagonal(correlation, 0)
    together = float(np.abs(correlation).max())
    together_most = correlation_limit(trials, p, 3 * max(bands * (bands - 1) // 2, 1))
    said = (
        f"band {most} is equal in {equal[:, most].mean():.3f} of the pairs, expected {p:.3f}; "
        f"spread {spread:.2f} of a binomial one, limit {spread_most:.2f}; largest correlation "
        f"{together:.3f}, limit {together_most:.3f}"
    )
    passed = (
        excess[most] <= count_limit(3 * bands)
        and spread <= spread_most
        and together <= together_most
    )
    return bool(passed), said, {"spread": spread, "correlation": together}


def _signatures_of_pairs(
    lab: Lab, similarity: float
) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    blocks = list(lab.maker("bands").pairs(SIZE, similarity, lab.trials))
    return (
        np.concatenate([lab.signatures(block.left) for block in blocks]),
        np.concatenate([lab.signatures(block.right) for block in blocks]),
    )


def s_curve(lab: Lab) -> Outcome:
    """Check that pairs become candidates as often as 1 - (1 - J^rows)^bands says."""
    params = LSHParams(lab.bands, lab.rows)
    worst, said = -1.0, ""
    limit = count_limit(len(FOUND) + 1)
    for found in (0.0, *FOUND):
        similarity = exact(SIZE, params.inverse(found)) if found else 0.0
        hits = _candidates(lab, similarity)
        p = params.probability(similarity)
        # Nothing is quite impossible: 64 bits collide.
        excess = float(count_excess(np.array([hits]), lab.trials, max(p, FALSE_ALARM / 1e6))[0])
        if excess > worst:
            worst = excess
            said = (
                f"{hits:,} of {lab.trials:,} pairs of similarity {similarity:.3f} are candidates, "
                f"expected {p * lab.trials:,.1f}; -log p {excess:.1f}, limit {limit:.1f}"
            )
    return worst <= limit, said, {"excess": worst, "limit": limit}


def _candidates(lab: Lab, similarity: float) -> int:
    blocks = lab.maker(f"s-curve {similarity}").pairs(SIZE, similarity, lab.trials)
    return sum(int(lab.candidates(block.left, block.right).sum()) for block in blocks)


def filter_drops(lab: Lab) -> Outcome:
    """Check that what is reported with a minimum reaches it, by the estimate."""
    maker = lab.maker("filter")
    (alike,) = maker.pairs(SIZE, 1.0, 50)
    (unlike,) = maker.pairs(SIZE, BELOW, 150)
    kept = int(lab.filtered(alike.left, alike.right, MINIMUM).sum())
    passed_by = int(lab.filtered(unlike.left, unlike.right, MINIMUM).sum())
    said = (
        f"with a minimum of {MINIMUM}, {passed_by} of 150 pairs of similarity {BELOW} are reported "
        f"and {kept} of 50 equal ones"
    )
    return passed_by == 0 and kept == 50, said, {"below": passed_by, "equal": kept}
