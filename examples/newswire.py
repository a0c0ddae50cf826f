"""Near-duplicate news stories with `fastlsh.compat.lsh`, step by step.

    python examples/newswire.py STORIES.tsv       # a story a line: ID<TAB>text

Candidates for several numbers of bands, the S-curves behind them, and how many of the pairs that
are at least 0.9 similar 20 bands find. With the import of the original library instead of ours
the same code runs there; only `random_state` is new, so that each run gives the same numbers.
"""

import collections
import itertools
import sys

import fastlsh
from fastlsh.compat.lsh import cache, minhash

SEEDS, CHAR_NGRAM = 100, 5


def shingles(text):
    return {text[i : i + CHAR_NGRAM] for i in range(len(text) - CHAR_NGRAM + 1)}


def jaccard(a, b):
    return len(a & b) / len(a | b)


def estimates(one, other, seeds, repeats=5):
    """Estimate one similarity with several draws of `seeds` hash functions."""
    hashers = [minhash.MinHasher(seeds, CHAR_NGRAM, random_state=i) for i in range(repeats)]
    return [hasher.jaccard(one, other) for hasher in hashers]


def probability(similarity, pieces):
    """The S-curve: how surely fingerprints cut into so many pieces become candidates."""
    return fastlsh.LSHParams(pieces, SEEDS // pieces).probability(similarity)


def candidates(stories, bands):
    """Return the pairs of ids that share a bucket."""
    hasher = minhash.MinHasher(SEEDS, CHAR_NGRAM, random_state=1, hashbytes=4)
    documents = cache.Cache(hasher, num_bands=bands)
    for story_id, text in stories:
        documents.add_fingerprint(hasher.fingerprint(text), story_id)
    pairs = set()
    for buckets in documents.bins:
        for ids in buckets.values():
            pairs.update(itertools.combinations(sorted(ids), 2))
    assert {tuple(sorted(pair)) for pair in documents.get_all_duplicates()} == pairs
    return pairs


def similar_pairs(stories, threshold):
    """Return all pairs that are at least so similar, exactly.

    Two such sets share one of their rarest shingles, however few may differ: only pairs that do
    are compared.
    """
    sets = {story_id: shingles(text) for story_id, text in stories}
    count = collections.Counter(itertools.chain.from_iterable(sets.values()))
    having = collections.defaultdict(list)
    for story_id, of_story in sets.items():
        rarest = sorted(of_story, key=lambda shingle: (count[shingle], shingle))
        for shingle in rarest[: int((1 - threshold) * len(rarest)) + 2]:
            having[shingle].append(story_id)
    pairs = {pair for ids in having.values() for pair in itertools.combinations(sorted(ids), 2)}
    return {(a, b) for a, b in pairs if jaccard(sets[a], sets[b]) >= threshold}


def main(path):
    one, other = "Lorem Ipsum dolor sit amet", "Lorem Ipsum dolor sit amet is how dummy text starts"
    print(f"exact similarity {jaccard(shingles(one), shingles(other)):.4f}")
    for seeds in (100, 1000):
        print(f"{seeds} seeds:", *(f"{e:.3f}" for e in estimates(one, other, seeds)))

    print("pieces x size: probability of being a candidate at similarity 0.2, 0.4 ... 1.0")
    for pieces in (2, 50, 10, 5, 20):
        curve = (probability(s / 5, pieces) for s in range(1, 6))
        print(f"{pieces} x {SEEDS // pieces}:", *(f"{p:.3f}" for p in curve))

    with open(path, encoding="utf-8") as lines:
        stories = [line.rstrip("\n").split("\t", 1) for line in lines]
    for bands in (2, 5, 10, 20):
        found = candidates(stories, bands)
        print(f"{bands} bands: {len(found)} candidates")
    truth = similar_pairs(stories, 0.9)
    print(f"{len(truth & found)} of {len(truth)} pairs with J >= 0.9 are among them,")
    print(f"instead of {len(stories) * (len(stories) - 1) // 2:,} comparisons")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} STORIES.tsv")
    main(sys.argv[1])
