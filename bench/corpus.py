"""Texts to measure with: made from a seed, or the first ones of a file."""

import argparse
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY = 30_000
LETTERS = "etaoinshrdlcumwfgypbvkjxqz"

ALPHABETS = {
    "ASCII": LETTERS,
    "UCS-2": "оеаинтсрвлкмдпуяыьгзбчйхжш",
    "UCS-4": "".join(map(chr, range(0x1D41A, 0x1D434))),
}
"""26 letters each: every kind of str holds the same texts in another script."""


class Writer:
    """Writes texts of words whose frequencies follow Zipf's law.

    Parameters
    ----------
    seed
        The same seed, the same texts.
    """

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        frequency = 1 / (np.arange(len(LETTERS)) + 2.0)
        lengths = self.rng.poisson(4.5, VOCABULARY) + 1
        letters = self.rng.choice(list(LETTERS), int(lengths.sum()), p=frequency / frequency.sum())
        ends = np.cumsum(lengths)
        text = "".join(letters)
        self.words = [text[e - n : e] for n, e in zip(lengths.tolist(), ends.tolist(), strict=True)]
        weight = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
        self.cumulative = weight / weight[-1]

    def take(self, count: int) -> list[str]:
        """Return `count` words."""
        places = np.searchsorted(self.cumulative, self.rng.random(count))
        return [self.words[i] for i in places.tolist()]

    def text(self, length: int) -> str:
        """Return a text of exactly so many characters."""
        result = " ".join(self.take(length // 5 + 8))
        while len(result) < length:
            result += " " + " ".join(self.take(length // 5 + 8))
        return result[:length]

    def texts(self, count: int, length: int) -> list[str]:
        """Return texts of exactly so many characters each."""
        return [self.text(length) for _ in range(count)]

    def edited(self, text: str, share: float) -> str:
        """Return the text with this share of its words replaced."""
        words = text.split(" ")
        for place in self.rng.integers(0, len(words), max(1, round(share * len(words)))).tolist():
            words[place] = self.take(1)[0]
        return " ".join(words)

    def collection(self, count: int, length: int, duplicates: float = 0.1) -> list[str]:
        """Return texts around this length, some of them near-duplicates of earlier ones.

        The copies have 0 to 8 % of their words replaced, one in ten of them none.
        """
        lengths = np.clip(self.rng.lognormal(0, 0.5, count) * length, 20, 20 * length)
        copied = self.rng.random(count) < duplicates
        result: list[str] = []
        for i in range(count):
            if copied[i] and i:
                origin = result[int(self.rng.integers(i))]
                share = float(self.rng.random() * 0.08)
                result.append(origin if self.rng.random() < 0.1 else self.edited(origin, share))
            else:
                result.append(self.text(int(lengths[i])))
        return result


def in_script(texts: list[str], name: str) -> list[str]:
    """Return the texts with their letters in another alphabet; spaces stay."""
    table = str.maketrans(LETTERS, ALPHABETS[name])
    return [text.translate(table) for text in texts]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a file."""
    parser.add_argument(
        "--corpus", type=Path, metavar="FILE",
        help="real texts instead of made ones: JSON lines, as they are or .gz or .zst",
    )  # fmt: skip
    parser.add_argument("--key", default="text", help="the key of the text (default: text)")


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, decompressed."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            yield from stream
    elif path.suffix == ".zst":
        import pyarrow as pa

        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as raw:
            yield from io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8")
    else:
        with path.open(encoding="utf-8") as stream:
            yield from stream


def read(
    path: Path,
    key: str = "text",
    *,
    first: int | None = None,
    wanted: Callable[[str], Any] | None = None,
) -> list[str]:
    """Return the texts of a JSONL file: the first so many, or those that are wanted."""
    result: list[str] = []
    for line in lines(path):
        if first is not None and len(result) >= first:
            break
        text = json.loads(line)[key]
        if wanted is None or wanted(text):
            result.append(text)
    return result


def save(path: Path, texts: Iterable[str]) -> None:
    """Write texts so that `read` reads them."""
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"text": text}) + "\n" for text in texts)
