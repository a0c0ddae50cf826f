"""Each way in: ready tokens, words of raw text, Arrow columns, bytes, every kind of str.

One thread, k = 128. Ratios of speeds, timed in the same rounds; other libraries are fed in the way
that is fastest for them, and as their users do where they cannot split texts themselves.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import fastlsh
from bench import common
from bench.common.corpus import Writer, in_script
from bench.peers.contenders import K, installed, shingle_list

SCHEMES = ("affine32", "fss")
Work = dict[str, Callable[[], Any]]


def faster(work: Work, count: int, unit: str, items: int) -> dict[str, Any]:
    """Time all in the same rounds; how many times faster is the first than each other one."""
    times = common.interleave(work, count)
    first, *rest = work
    return {
        f"{first}, M {unit}/s": common.summary(items / t / 1e6 for t in times[first]),
        **{f"{first} / {name}": common.ratio(times[name], times[first]) for name in rest},
    }


def tokens(documents: list[list[str]], count: int) -> dict[str, Any]:
    """Compare ready lists of tokens, in each scheme, with the libraries that take them."""
    work: Work = {
        f"fastlsh {scheme}": partial(
            fastlsh.MinHasher(K, scheme=scheme, threads=1).from_tokens, documents
        )
        for scheme in SCHEMES
    }
    if installed("rensa"):
        from rensa import RMinHash

        work["rensa"] = partial(RMinHash.digest_matrix_from_token_sets, documents, K, 1)
    if installed("FastSketchLSH"):
        from FastSketchLSH import FastSimilaritySketch

        sketch = FastSimilaritySketch(K, 42)
        work["FastSketchLSH"] = partial(sketch.batch, documents, num_threads=1)
    items = sum(map(len, documents))
    result = {}
    for scheme in SCHEMES:
        first = f"fastlsh {scheme}"
        chosen = {first: work[first], **{n: f for n, f in work.items() if "fastlsh" not in n}}
        result[scheme] = faster(chosen, count, "tokens", items)
    return result


def joined_words(texts: list[str], size: int) -> list[list[str]]:
    """Return the shingles of words, joined by spaces."""
    if size == 1:
        return [text.split() for text in texts]
    result = []
    for text in texts:
        words = text.split()
        result.append([" ".join(words[i : i + size]) for i in range(len(words) - size + 1)])
    return result


def words(texts: list[str], size: int, count: int) -> dict[str, Any]:
    """Compare words from raw text with splitting in Python."""
    items = sum(len(text.split()) for text in texts)
    result = {}
    for scheme in SCHEMES:
        shingler = fastlsh.Shingler("word", size)
        hasher = fastlsh.MinHasher(K, scheme=scheme, shingler=shingler, threads=1)
        work: Work = {"fastlsh": partial(hasher.signatures, texts)}
        if installed("rensa"):
            from rensa import RMinHash

            work["rensa"] = lambda: RMinHash.digest_matrix_from_token_sets(
                joined_words(texts, size), K, 1
            )
            if size == 1:
                work["rensa, lazily"] = lambda: RMinHash.digest_matrix_from_token_sets(
                    map(str.split, texts), K, 1
                )
        result[scheme] = faster(work, count, "words", items)
    return result


def columns(texts: list[str]) -> dict[str, Any]:
    """Return the texts in every layout of Arrow and as bytes."""
    result: dict[str, Any] = {"bytes": [text.encode() for text in texts]}
    if installed("pyarrow"):
        import pyarrow as pa

        for kind in (pa.string(), pa.large_string(), pa.string_view()):
            result[str(kind)] = pa.array(texts, kind)
        result["dictionary"] = pa.array(texts).dictionary_encode()
    return result


def forms(texts: list[str], count: int) -> dict[str, Any]:
    """Compare the speed per character of every form with a list of ASCII str."""
    result = {}
    for scheme in SCHEMES:
        hasher = fastlsh.MinHasher(K, scheme=scheme, threads=1)
        work: Work = {"ASCII": partial(hasher.signatures, texts)}
        for script in ("ASCII", "UCS-2", "UCS-4"):
            same = in_script(texts, script)
            expected = hasher.signatures(same)
            if script != "ASCII":
                work[script] = partial(hasher.signatures, same)
            for name, form in columns(same).items():
                assert (hasher.signatures(form) == expected).all()
                work[f"{script} {name}"] = partial(hasher.signatures, form)
        times = common.interleave(work, count)
        result[scheme] = {
            name: common.ratio(times["ASCII"], times[name]) for name in work if name != "ASCII"
        }
    return result


def prepared(texts: list[str], count: int) -> dict[str, Any]:
    """Compare texts that are normalised or tokenised in Python with plain ones."""

    def work(**options: Any) -> Callable[[], Any]:
        shingler = fastlsh.Shingler(**options)
        return partial(fastlsh.MinHasher(K, shingler=shingler, threads=1).signatures, texts)

    characters = {
        "plain": work(),
        "lowercase": work(lowercase=True),
        "collapse_whitespace": work(collapse_whitespace=True),
        "remove_whitespace": work(remove_whitespace=True),
        "NFKC": work(unicode_form="NFKC"),
        "normalize=str.casefold": work(normalize=str.casefold),
    }
    by_word = {
        "words": work(unit="word", size=3),
        "tokenizer=str.split": work(unit="word", size=3, tokenizer=str.split),
    }
    result = {}
    for group in (characters, by_word):
        times = common.interleave(group, count)
        first, *rest = group
        result[first] = {name: common.ratio(times[first], times[name]) for name in rest}
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/ways.json."""
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options)
    total = 100_000 if options.quick else 3_000_000
    results: dict[str, Any] = {}
    for length in (100, 1_000):
        texts = Writer(1).texts(total // length, length + 8)
        results[f"9-character tokens, {length} a document"] = tokens(
            list(map(shingle_list, texts)), count
        )
        texts = Writer(2).texts(total // length // 3, 6 * length)
        results[f"word tokens, about {length} a document"] = tokens(
            [text.split() for text in texts], count
        )
    for size in (1, 3, 5):
        texts = Writer(3).texts(total // 1_100, 1_100)
        results[f"shingles of {size} words, raw text"] = words(texts, size, count)
    for length in (50, 1_100):
        texts = Writer(4).texts(total // length, length)
        results[f"speed of forms / ASCII str, {length} characters"] = forms(texts, count)
    results["speed of prepared / plain texts, 1,100 characters"] = prepared(
        Writer(5).texts(total // 1_100 // 4, 1_100), count
    )
    common.write("ways", options, results)
