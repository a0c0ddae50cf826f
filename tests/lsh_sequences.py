"""Random sequences of calls for lsh 0.3.0 and for its drop-in, and their answers.

python tests/lsh_sequences.py      # records tests/compat/lsh/sequences.txt; needs lsh
"""

import warnings
from importlib import import_module
from pathlib import Path
from random import Random

RECORD = Path(__file__).parent / "compat" / "lsh" / "sequences.txt"
RECORDED = 50

TEXTS = (
    "the quick brown fox jumps over the lazy dog", "the quick brown fox jumped over a lazy dog",
    "another text, about geese and their habits", "abcdefgh", "aaaaaaaaaaaaaaaaaaaaaaaa", "ab", "",
    "\xe9\u4e2d\U0001f40e a text beyond ASCII", "\0\0\0\0\0\0\0\0\0", "two\nlines\r\n",
)  # fmt: skip
IDS = (0, 1, 2, -1, "a", "", (1, "b"), None, True, 1.0, 2**70, b"b")
NO_IDS = ([], {}, set())
LEAST = (None, None, 0, 0.5, 1, 1.0, -1, 2, float("inf"), "a")
BANDS = (*(1, 2, 3, 4, 6, 12) * 4, 5, 24, 2.0, "2", None, [2])
SEEDS = (12, 12, 12, 1)
SIZES = (1, 2, 5, 8, 100)
STATES = (0, 1, 7, 2**32 - 1, -1, 2**32, "a", 0.5)


def sequence(rng):
    """Draw the arguments of a hasher and of a cache, and calls with their arguments.

    `rng` has the method ``choice``.
    """
    state = rng.choice((1, 1, 1, 1, 1, rng.choice(STATES)))
    hasher = [
        rng.choice(SEEDS),
        rng.choice(SIZES),
        state,
        rng.choice((4, 8, 4, 8, 4, 8, 4, 8, 5, 16)),
    ]
    # A few texts and ids, so that calls meet what earlier ones have left.
    texts = [rng.choice(TEXTS) for _ in range(2)]
    ids = [rng.choice(IDS[:5]) for _ in range(2)]
    calls = [_call(rng, texts, ids) for _ in range(rng.choice(range(1, 40)))]
    return hasher, rng.choice(BANDS), calls


def _call(rng, texts, ids):
    text, other, least = rng.choice(texts), rng.choice(TEXTS), rng.choice(LEAST)
    doc_id = rng.choice((*ids * 3, rng.choice(IDS), rng.choice(NO_IDS)))
    pairs = [(rng.choice(ids), rng.choice(ids)) for _ in range(rng.choice(range(3)))]
    return rng.choice((
        ("add_doc", text, doc_id), ("add_doc", text, doc_id), ("add_doc", text, ids[0]),
        ("add_fingerprint", text, doc_id), ("remove_id", doc_id), ("remove_doc", text),
        ("remove_doc", text),
        ("get_all_duplicates", least), ("filter_candidates", pairs, least),
        ("get_duplicates_of", text, doc_id, least), ("get_duplicates_of", None, doc_id, least),
        ("is_duplicate", text, doc_id), ("is_duplicate", None, doc_id), ("clear",),
        ("fingerprint", text), ("jaccard", text, other), ("jaccard_of_ids", doc_id, doc_id),
        ("ids",), ("buckets",), ("clear",), ("bins_", text),
    ))  # fmt: skip


def answers(library, hasher, num_bands, calls, **options):
    """Return what a library answers to a sequence: a form of the result, or the exception."""
    minhash, cache = (import_module(f"{library}.{name}") for name in ("minhash", "cache"))
    result = []
    try:
        filled = cache.Cache(minhash.MinHasher(*hasher, **options), num_bands)
    except Exception as error:
        return [type(error).__name__]
    for name, *arguments in calls:
        try:
            result.append(_plain(_answer(filled, name, *arguments)))
        except Exception as error:  # noqa: PERF203
            result.append(type(error).__name__)
            if name == "remove_doc":
                break  # what it has removed before depends on the order of a set of ids
    return result


def _answer(filled, name, *arguments):
    hasher = filled.hasher
    if name == "add_fingerprint":
        return filled.add_fingerprint(hasher.fingerprint(arguments[0]), arguments[1])
    if name == "fingerprint":
        return [str(hasher.fingerprint(*arguments).dtype), *hasher.fingerprint(*arguments).tolist()]
    if name == "jaccard":
        return hasher.jaccard(*arguments)
    if name == "jaccard_of_ids":
        return hasher.jaccard(*(filled.fingerprints[doc_id] for doc_id in arguments))
    if name == "ids":
        return list(filled.fingerprints)
    if name == "buckets":
        return [sorted(len(bucket) for bucket in band.values()) for band in filled.bins]
    if name == "bins_":
        return [
            (band, part.tolist()) for band, part in filled.bins_(hasher.fingerprint(*arguments))
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return getattr(filled, name)(*arguments)


def _plain(answer):
    """Return an answer in a form that is equal for both; the order in a pair is left open."""
    if isinstance(answer, (list, str, int, float, type(None))):
        return answer
    return sorted(repr(sorted(one, key=repr) if isinstance(one, tuple) else one) for one in answer)


def main():
    """Record sequences with the answers of lsh, one in a line."""
    lines = []
    for number in range(RECORDED):
        drawn = sequence(Random(number))
        lines.append(ascii((*drawn, answers("lsh", *drawn))))
    RECORD.write_text("".join(line.replace("inf", "1e999") + "\n" for line in lines), "ascii")


if __name__ == "__main__":
    main()
