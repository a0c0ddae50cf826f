"""Evaluation items in training documents: fastlsh, datatrove's n-grams, and Bloom filters.

Items are a question and a passage of news articles; training documents are those of another corpus.
500 items are put into training documents, changed in nine ways, and the share of documents is
measured in which something is found; then the documents of the corpus as they came, and the rate
on one thread. Nothing of the corpora is kept.

    python -m bench decontamination --train mixed.jsonl.zst --articles articles_1000.train

Without them, texts of random words. datatrove (with spacy) and
rbloom are measured where they are installed, and timed with the first documents only.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import fastlsh
from bench import records
from fastlsh.evaluation import Share
from fastlsh.evaluation.injection import WAYS, inject
from fastlsh.io import ReadOptions, read_files

Item = dict[str, str]
Finder = Callable[[Sequence[str]], list[bool]]
SLOW = 2_000
"""Documents that slow tools are timed with."""
FILE = 320_000_000
"""Characters of the file that is read and written."""
SMALL = 10_000_000
SHARES = (0.0, 0.2, 0.5, 0.8)


def corpora(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return training documents, and articles of which items are made."""
    if options.train is None or options.articles is None:
        draw = random.Random(3)
        words = [
            "".join(draw.choices("abcdefghijklmnop", k=draw.randrange(2, 9))) for _ in range(9000)
        ]
        texts = [
            " ".join(draw.choices(words, k=300)) for _ in range(300 if options.quick else 20_000)
        ]
        return texts[100:], texts[:100]
    rows = read_files(str(options.train), ReadOptions())
    texts = [text for text in rows.texts if text]
    lines = Path(options.articles).read_text(encoding="utf-8").splitlines()
    return texts, [line.partition(" ")[2] for line in lines]


def items_of(articles: Sequence[str], n: int) -> list[Item]:
    """Return items: a question of 20 words, and a passage of 40 to 100 words."""
    draw = random.Random(5)
    long = [words for text in articles if len(words := text.split()) >= 130]
    return [
        {
            "question": " ".join(words[:20]),
            "passage": " ".join(words[20 : 20 + draw.randrange(40, 101)]),
        }
        for words in (long * (n // len(long) + 1))[:n]
    ]


def with_fastlsh(items: Sequence[Item], **rules: Any) -> Finder:
    """Return what finds items with fastlsh."""

    def find(texts: Sequence[str]) -> list[bool]:
        found = fastlsh.decontaminate(list(texts), items, threads=1, **rules)
        return found.contaminated.tolist()

    return find


def with_datatrove(items: Sequence[Item]) -> Finder:
    """Return what finds items with datatrove's filter, the n-grams of questions included."""
    from datatrove.data import Document
    from datatrove.pipeline.decont import n_grams

    config = n_grams.NGramsDecontConfig(find_query_ngrams=True)
    with tempfile.TemporaryDirectory() as folder:
        step = n_grams.NGramsDecontFilter(folder, config)
    # Its constructor asks for lighteval, which has no part in the n-grams of texts that are given.
    indexer = object.__new__(n_grams.NGramsDecontIndexer)
    indexer.config, indexer.tokenizer, indexer.hash_func = config, step.tokenizer, step.hash_func
    step._index_hashes = {}
    for item in items:
        hashes = indexer.compute_hashes(item["passage"], item["question"])
        step._index_hashes.update(dict.fromkeys(hashes, "items"))

    def find(texts: Sequence[str]) -> list[bool]:
        return [step.filter(Document(text, str(n))) is not True for n, text in enumerate(texts)]

    return find


def with_bloom(items: Sequence[Item], pieces: Callable[[str], list[str]]) -> Finder:
    """Return what finds 13-grams of words in a Bloom filter, piece by piece of each text."""
    from rbloom import Bloom

    def grams(text: str) -> Iterator[str]:
        for piece in pieces(text):
            words = piece.split()
            for i in range(len(words) - 12):
                yield " ".join(words[i : i + 13])

    keys = [gram for item in items for field in item.values() for gram in grams(field)]
    bloom = Bloom(max(len(keys), 1), 0.001)
    bloom.update(keys)
    return lambda texts: [any(gram in bloom for gram in grams(text)) for text in texts]


def finders(items: Sequence[Item]) -> dict[str, Finder]:
    """Return the tools that are there."""
    found: dict[str, Finder] = {"fastlsh": with_fastlsh(items)}
    if all(map(find_spec, ("datatrove", "spacy", "xxhash"))):
        found["datatrove, 12 words"] = with_datatrove(items)
    if find_spec("rbloom"):
        found["Bloom filter, 13 words, by line"] = with_bloom(items, str.splitlines)
        found["Bloom filter, 13 words, lower case"] = with_bloom(items, lambda text: [text.lower()])
    return found


def injected(texts: Sequence[str], items: Sequence[str], way: str) -> list[str]:
    """Return training documents into each of which one item was put."""
    draw = random.Random(way)
    words = [word for text in texts[:200] for word in text.split()]
    hosts = draw.choices(texts, k=len(items))
    return [inject(host, item, way, draw, words) for host, item in zip(hosts, items, strict=True)]


def share(flags: Sequence[bool]) -> dict[str, Any]:
    """Return the share of documents in which something is found, with its interval."""
    return Share(sum(flags), len(flags)).to_dict()


def rate(find: Finder, texts: Sequence[str], repeats: int) -> float:
    """Return megabytes of text a second of processor time: the median of some rounds."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    seconds = []
    for _ in range(repeats):
        start = process_time()
        find(texts)
        seconds.append(process_time() - start)
    return size / float(np.median(seconds))


def rate_of_files(texts: Sequence[str], items: Sequence[Item], repeats: int) -> float:
    """Return the same from JSON lines to JSON lines; the texts are repeated up to `FILE` bytes."""
    size = sum(len(text) for text in texts)
    texts = list(texts) * max(1, FILE // size) if size > SMALL else texts
    with tempfile.TemporaryDirectory() as folder:
        train, evals = Path(folder, "train.jsonl"), Path(folder, "evals.jsonl")
        for path, rows in ((train, [{"text": text} for text in texts]), (evals, items)):
            lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
            path.write_text("".join(lines), encoding="utf-8")

        def find(_: Sequence[str]) -> list[bool]:
            fastlsh.decontaminate_files(train, evals, Path(folder, "clean.jsonl"), threads=1)
            return []

        return rate(find, texts, repeats)


def changed_items(texts: Sequence[str], articles: Sequence[str], n: int) -> dict[str, float]:
    """Return the share found of items of 40 words of which 2 % are changed, by the least share."""
    items = [item["question"] + " " + item["passage"] for item in items_of(articles, n)]
    forty = [" ".join(item.split()[:40]) for item in items]
    pages = injected(texts, forty, "2 % of words changed")
    found = {}
    for least in SHARES:
        flags = with_fastlsh([{"text": item} for item in forty], min_share=least)(pages)
        found[f"{least:g}"] = sum(flags) / len(flags)
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/decontamination.json."""
    parser = records.parser(__doc__)
    parser.add_argument("--train", type=Path, help="training documents: a file with texts")
    parser.add_argument("--articles", type=Path, help="a line for each: a name, a space, the text")
    options = parser.parse_args(arguments)
    texts, articles = corpora(options)
    repeats = records.rounds(options, 5, 1)
    n = 20 if options.quick else 500
    items = items_of(articles, n)
    whole = ["\n".join(item.values()) for item in items]
    results: dict[str, Any] = {
        "documents": len(texts),
        "items": n,
        "megabytes": sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6,
        "found of 40 words, 2 % changed, by least share": changed_items(texts, articles, n),
    }
    pages = {way: injected(texts, whole, way) for way in WAYS}
    for name, find in finders(items).items():
        own = texts if name == "fastlsh" else texts[:SLOW]
        as_they_came = find(texts)
        results[name] = {
            "recall": {way: share(find(page)) for way, page in pages.items()},
            "hits of a million documents as they came": 1e6 * sum(as_they_came) / len(texts),
            "megabytes a core-second": rate(find, own, repeats if name == "fastlsh" else 1),
        }
    results["fastlsh"]["megabytes a core-second, files"] = rate_of_files(texts, items, repeats)
    records.write("decontamination", options, results)
