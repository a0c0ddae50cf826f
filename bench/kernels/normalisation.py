"""What the steps of a Shingler cost: each and all, against the same shingler without steps.

One thread, k = 128, texts of 1,100 characters, ratios of processor time within a round. The texts
have capitals, numbers and punctuation; "mixed" ones are a half ASCII, and for the rest Latin with
accents, Cyrillic and Chinese.
"""

import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import fastlsh
from bench import common
from bench.common.corpus import Writer
from bench.peers.contenders import installed

K = 128
LENGTH = 1_100
STEPS: dict[str, dict[str, Any]] = {
    "lowercase": {"lowercase": True},
    "numbers": {"numbers": "0"},
    "punctuation": {"punctuation": "space"},
    "strip_accents": {"strip_accents": True},
    "collapse_whitespace": {"collapse_whitespace": True},
    "remove_whitespace": {"remove_whitespace": True},
    "NFC": {"unicode_form": "NFC"},
    "NFKC": {"unicode_form": "NFKC"},
    "all": {
        "unicode_form": "NFC", "lowercase": True, "numbers": "0", "punctuation": "space",
        "strip_accents": True, "collapse_whitespace": True,
    },
}  # fmt: skip
SHINGLES: dict[str, dict[str, Any]] = {
    "9 characters": {"size": 9},
    "5 words": {"unit": "word", "size": 5},
}
ACCENTS = str.maketrans("aeoc", "áéöç")
CYRILLIC = str.maketrans("etaoinshrdlcumwfgypbvkjxqz", "оеаинтсрвлкмдпуяыьгзбчйхжш")


def written(text: str) -> str:
    """Return a text with what sentences have: capitals, numbers and punctuation."""
    words = text.split(" ")
    for i in range(0, len(words), 11):
        words[i] = words[i].capitalize()
    for i in range(9, len(words), 22):
        words[i] += ","
    for i in range(10, len(words), 11):
        words[i] += "."
    for i in range(30, len(words), 60):
        words[i] = str(1900 + i)
    return " ".join(words)[:LENGTH]


def chinese(text: str) -> str:
    """Return the same text in ideographs, two letters each."""
    letters = [chr(0x4E00 + 37 * (ord(a) % 97) + ord(b) % 37) for a, b in pairwise(text)]
    return "".join("。" if a == "." else c for a, c in zip(text[1:], letters, strict=True))


def corpora(count: int) -> dict[str, list[str]]:
    """Return ASCII texts, and mixed ones."""
    plain = [written(text) for text in Writer(6).texts(count, LENGTH)]
    changes = (str, str, lambda t: t.translate(ACCENTS), lambda t: t.translate(CYRILLIC), str,
               chinese)  # fmt: skip
    return {"ASCII": plain, "mixed": [changes[i % 6](text) for i, text in enumerate(plain)]}


def hasher(scheme: str = "affine32", **options: Any) -> fastlsh.MinHasher:
    """Return a hasher on one thread."""
    return fastlsh.MinHasher(K, scheme=scheme, shingler=fastlsh.Shingler(**options), threads=1)


def steps(texts: list[str], shingles: dict[str, Any], scheme: str, count: int) -> dict[str, Any]:
    """Return the speed with each step, in shares of the speed without."""
    work = {"none": partial(hasher(scheme, **shingles).signatures, texts)}
    for name, some in STEPS.items():
        if not ("unit" in shingles and "remove_whitespace" in some):
            work[name] = partial(hasher(scheme, **shingles, **some).signatures, texts)
    times = common.interleave(work, count, time.process_time)
    return {name: common.ratio(times["none"], times[name]) for name in work if name != "none"}


def presets(texts: list[str], count: int) -> dict[str, Any]:
    """Return the speed of the presets that normalise, in million characters a second."""
    work = {}
    for name in ("fineweb", "stack"):
        one = fastlsh.preset(name)
        made = fastlsh.MinHasher(one.num_perm, shingler=one.shingler, threads=1)
        work[name] = partial(made.signatures, texts)
    times = common.interleave(work, count, time.process_time)
    total = sum(map(len, texts)) / 1e6
    return {name: common.summary(total / t for t in times[name]) for name in work}


def utf8(texts: list[str], count: int) -> dict[str, Any]:
    """Return the speed of UTF-8 bytes, in shares of the speed of the same str."""
    result = {}
    scripts = {
        "Latin with accents": [text.translate(ACCENTS) for text in texts],
        "Cyrillic": [text.translate(CYRILLIC) for text in texts],
        "Chinese": [chinese(text) for text in texts],
    }
    for scheme in ("affine32", "fss"):
        for script, some in scripts.items():
            sign = hasher(scheme).signatures
            work = {"str": partial(sign, some)}
            work["bytes"] = partial(sign, [text.encode() for text in some])
            if installed("pyarrow"):
                import pyarrow as pa

                work["Arrow"] = partial(sign, pa.array(some))
            times = common.interleave(work, count, time.process_time)
            result[f"{scheme}, {script}"] = {
                name: common.ratio(times["str"], times[name]) for name in work if name != "str"
            }
    return result


def token_ids(texts: list[str], count: int) -> dict[str, Any]:
    """Return the speed of shingles of 5 token ids, in shares of that of ready hashes."""
    import numpy as np

    numbers: dict[str, int] = {}
    documents = [[numbers.setdefault(word, len(numbers)) for word in t.split()] for t in texts]
    offsets = np.cumsum([0, *map(len, documents)])
    ids = np.concatenate([np.array(document, np.int32) for document in documents])
    result = {}
    for scheme in ("affine32", "fss"):
        sign = hasher(scheme, unit="token", size=5)
        held = fastlsh.TokenIds(ids, offsets)
        hashes = [sign.shingler.hashes(document) for document in documents]
        places = np.cumsum([0, *map(len, hashes)])
        ready = np.concatenate(hashes)
        assert (sign.signatures(held) == sign.from_hashes(ready, places)).all()
        work = {
            "ids": partial(sign.signatures, held),
            "hashes": partial(sign.from_hashes, ready, places),
        }
        times = common.interleave(work, count, time.process_time)
        result[scheme] = common.ratio(times["hashes"], times["ids"])
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/normalisation.json."""
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options)
    texts = corpora(60 if options.quick else 1_500)
    results: dict[str, Any] = {}
    for corpus, some in texts.items():
        for name, shingles in SHINGLES.items():
            for scheme in ("affine32", "fss"):
                results[f"speed with steps / without, {corpus}, {name}, {scheme}"] = steps(
                    some, shingles, scheme, count
                )
        results[f"M characters/s, {corpus}"] = presets(some, count)
    results["speed of UTF-8 / str, 9 characters"] = utf8(texts["ASCII"], count)
    results["speed of token ids / from_hashes"] = token_ids(texts["ASCII"], count)
    common.write("normalisation", options, results)
