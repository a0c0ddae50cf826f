"""Each number of D, web pages (docs/systems/pages.md)."""

from collections import Counter

from fastlsh import Shingler, jaccard, textbook

SYSTEM = "D"
PANGRAM, ALPHABET = "the quick brown fox jumps over the lazy dog", "abcdefghijklmnopqrstuvwxyz"
ONE = Shingler(size=1)
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1 - 1e-17)
SIGNATURE = list(range(100))


def remainders():
    (h,) = textbook.HashCollection(1, 1337).functions
    counts = Counter(textbook.remainder(h(x), 13) for x in range(1, 100_001))
    assert len(counts) == 25
    return [counts[bucket] for bucket in range(-12, 13)]


def entries_per_band():
    """Return how many entries reach the bucket of one of 18 bands, seen by changing each entry."""
    buckets = textbook.get_buckets(SIGNATURE, 18)
    assert len(buckets) == 18
    changed = [0] * 18
    for i in SIGNATURE:
        other = textbook.get_buckets([*SIGNATURE[:i], -1, *SIGNATURE[i + 1 :]], 18)
        for band in range(18):
            changed[band] += buckets[band] != other[band]
    assert len(set(changed)) == 1
    return changed[0]


def bands_that_run():
    """Return pickBands' answers for which the signature of a document matches only its copy."""
    other = [entry + 1000 for entry in SIGNATURE]
    signatures = [SIGNATURE, other, SIGNATURE]
    found = []
    for bands in (textbook.pick_bands(t, 100) for t in (0.5, 0.6, 0.7, 0.9)):
        a, b, c = (textbook.get_buckets(signature, bands) for signature in signatures)
        assert textbook.is_pair_candidate_match(a, c)
        assert not textbook.is_pair_candidate_match(a, b)
        assert textbook.candidates(signatures, bands) == {(0, 2)}
        found.append(len(a))
    return found


COMPUTATIONS = {
    "shingles of sample document": lambda: Shingler(size=3).shingles("sample document"),
    "hash of he": lambda: textbook.djb2a("he"),
    "first coefficients from seed 1337": lambda: textbook.HashCollection(1, 1337).functions[0],
    "coefficients of functions 2 to 10": lambda: textbook.HashCollection(10, 1337).functions[1:],
    "ten functions of 5861128": lambda: textbook.HashCollection(10, 1337).evaluate("he"),
    "remainders by 13, from -12 to 12": remainders,
    "bands for .5 .6 .7 .8 .9 .95 .99 1 - 1e-17": lambda: [
        textbook.pick_bands(threshold, 100) for threshold in THRESHOLDS
    ],
    "buckets to compare at .5 and .99": lambda: [
        len(textbook.get_buckets(SIGNATURE, textbook.pick_bands(t, 100))) for t in (0.5, 0.99)
    ],
    "entries per band, 100 in 18": entries_per_band,
    "entries that are not used, 100 in 18": lambda: 100 - 18 * entries_per_band(),
    "bands for .5 .6 .7 .9 that run": bands_that_run,
    "characters of the pangram, with the space": lambda: len(set(ONE.shingles(PANGRAM))),
    "pangram and alphabet with a space, size 1": lambda: jaccard(PANGRAM, ALPHABET + " ", ONE),
}
