"""What a key costs on each path: time with a key, as a multiple of that without one.

One thread, k = 128, texts of 1,100 characters, ratios of processor time within a round.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import fastlsh
from bench import common
from bench.common.corpus import Writer
from bench.kernels.normalisation import CYRILLIC, LENGTH, chinese

KEY = fastlsh.Key(b"a key for measurements")
SHINGLES: dict[str, dict[str, Any]] = {
    "9 characters": {"size": 9},
    "1 word": {"unit": "word", "size": 1},
    "5 words": {"unit": "word", "size": 5},
    "13 words": {"unit": "word", "size": 13},
    "20 words": {"unit": "word", "size": 20},
    "50 words": {"unit": "word", "size": 50},
}
Jobs = dict[str, Callable[[fastlsh.Key | None], Callable[[], Any]]]


def signing(texts: Any, scheme: str, shingles: dict[str, Any], key: Any) -> Callable[[], Any]:
    """Return a call that signs the texts."""
    shingler = fastlsh.Shingler(**shingles)
    hasher = fastlsh.MinHasher(128, shingler=shingler, scheme=scheme, threads=1, key=key)
    return partial(hasher.signatures, texts, np.empty((len(texts), 128), np.uint32))


def token_ids(texts: list[str]) -> fastlsh.TokenIds:
    """Return the words of the texts as numbers."""
    numbers: dict[str, int] = {}
    documents = [[numbers.setdefault(word, len(numbers)) for word in t.split()] for t in texts]
    offsets = np.cumsum([0, *map(len, documents)])
    return fastlsh.TokenIds(np.concatenate([np.array(d, np.int32) for d in documents]), offsets)


def hashing(corpora: dict[str, list[str]]) -> Jobs:
    """Return what makes signatures and sets."""
    jobs: Jobs = {}
    plain = corpora["ASCII"]
    for scheme in ("affine32", "fss"):
        for corpus, texts in corpora.items():
            for name, shingles in SHINGLES.items():
                if corpus != "Chinese" or "unit" not in shingles:
                    job = partial(signing, texts, scheme, shingles)
                    jobs[f"signatures, {scheme}, {name}, {corpus}"] = job
        ids = token_ids(plain)
        job = partial(signing, ids, scheme, {"unit": "token", "size": 5})
        jobs[f"signatures, {scheme}, 5 token ids"] = job
    words = [text.split() for text in plain]
    jobs["from_tokens"] = lambda key: partial(
        fastlsh.MinHasher(128, threads=1, key=key).from_tokens, words
    )
    for name, shingles in SHINGLES.items():
        jobs[f"exact_jaccard, {name}"] = lambda key, shingles=shingles: partial(  # type: ignore[misc]
            fastlsh.exact_jaccard,
            plain,
            plain[::-1],
            fastlsh.Shingler(**shingles, key=key),
            threads=1,
        )
    return jobs


def searching(texts: list[str]) -> Jobs:
    """Return the searches: half of the texts have a near-duplicate."""
    collection = texts + [text[:-20] + "changed in the end" for text in texts[::2]]

    def asked(key: fastlsh.Key | None) -> Callable[[], Any]:
        index = fastlsh.Index(key=key, threads=1)
        index.insert_many(range(len(texts)), texts)
        return lambda: [index.query(text) for text in collection[-200:]]

    def filled(key: fastlsh.Key | None) -> Callable[[], Any]:
        return lambda: fastlsh.Index(key=key, threads=1).insert_many(range(len(texts)), texts)

    return {
        "near_duplicates": lambda key: partial(
            fastlsh.near_duplicates, collection, threads=1, key=key
        ),
        "deduplicate": lambda key: partial(fastlsh.deduplicate, collection, threads=1, key=key),
        "Index.insert_many": filled,
        "Index.query, one text": asked,
    }


def paired(jobs: Jobs, count: int) -> dict[str, Any]:
    """Return time with a key / without, of each."""
    result = {}
    for name, job in jobs.items():
        work = {"without": job(None), "with": job(KEY)}
        times = common.interleave(work, count, time.process_time)
        result[name] = common.ratio(times["with"], times["without"])
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/keyed.json."""
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options, usual=31)
    plain = Writer(7).texts(40 if options.quick else 1_000, LENGTH)
    corpora = {
        "ASCII": plain,
        "Cyrillic": [text.translate(CYRILLIC) for text in plain],
        "Cyrillic and emoji": [text.translate(CYRILLIC)[:-1] + "\U0001f600" for text in plain],
        "Chinese": [chinese(text) for text in plain],
    }
    results = {
        "hashing, time with a key / without": paired(hashing(corpora), count),
        "searching, time with a key / without": paired(searching(plain), count),
    }
    common.write("keyed", options, results)
