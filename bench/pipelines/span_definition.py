"""Repeated passages by a suffix array: what google's tool removes of real texts, and fastlsh.

A window of L characters is repeated if it occurs twice. Of repeated windows, google's tool
(deduplicate-text-datasets) removes every copy, the first one included, and copies that overlap. By
the definition of fastlsh a window goes if it occurred before, apart from itself. Both sets of
characters are computed here from the suffix array of all texts (pydivsufsort), without a hash, and
compared with the answer of `deduplicate_spans`, character by character.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import common
from bench.common import corpus

LENGTHS = (50, 100, 500)
Flags = NDArray[np.bool_]


class Windows(NamedTuple):
    """Where windows begin in the joined texts, by what they are."""

    repeated: Flags
    """Another one is equal."""
    later: Flags
    """An equal one occurred before, apart from it."""
    first: Flags
    """None occurred before, but one occurs later, apart from it."""


def joined(texts: list[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the characters of all texts, with a symbol of its own behind each, and its text."""
    parts, owners = [], []
    for number, text in enumerate(texts):
        characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        parts += [characters, np.array([0x110000 + number], np.uint32)]
        owners.append(np.full(len(characters) + 1, number))
    return np.concatenate(parts), np.concatenate(owners)


def suffixes(symbols: NDArray[np.uint32]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the suffix array, and how far each suffix equals the next one."""
    library = import_module("pydivsufsort")
    ranks = np.unique(symbols, return_inverse=True)[1].astype(np.uint32)
    order = library.divsufsort(ranks)
    return order, library.kasai(ranks, order)


def windows_of(
    order: NDArray[Any], equal: NDArray[Any], owner: NDArray[np.int64], length: int
) -> Windows:
    """Return which windows are repeated, and which of these have an equal one before, apart."""
    alike = equal >= length  # no window reaches beyond its text: symbols behind texts differ
    group = np.cumsum(np.concatenate([[True], ~alike[: len(order) - 1]])) - 1
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.minimum.reduceat(order, starts)[group]
    last = np.maximum.reduceat(order, starts)[group]
    windows = Windows(*(np.zeros(len(order), np.bool_) for _ in range(3)))
    windows.repeated[order] = np.bincount(group)[group] > 1

    def apart(a: NDArray[Any], b: NDArray[Any]) -> Flags:
        found: Flags = (owner[a] != owner[b]) | (b - a >= length)
        return found

    windows.later[order] = (order != first) & apart(first, order)
    windows.first[order] = (order == first) & apart(first, last)
    return windows


def covered(begins: Flags, length: int) -> Flags:
    """Return which characters lie in a window that begins at one of these places."""
    edges = np.zeros(len(begins) + length, np.int32)
    edges[: len(begins)] += begins
    edges[length : length + len(begins)] -= begins
    found: Flags = np.cumsum(edges)[: len(begins)] > 0
    return found


def ours(texts: list[str], length: int, ends: NDArray[np.int64]) -> Flags:
    """Return which characters fastlsh removes."""
    result = fastlsh.deduplicate_spans(texts, length)
    begins = np.concatenate([[0], ends[:-1] + 1])[result.document]
    edges = np.zeros(int(ends[-1]) + 2, np.int32)
    np.add.at(edges, begins + result.start, 1)
    np.add.at(edges, begins + result.end, -1)
    found: Flags = np.cumsum(edges)[:-1] > 0
    return found


def compared(texts: list[str], lengths: Sequence[int]) -> dict[str, Any]:
    """Compare the definitions on a collection; an error if fastlsh departs from its own."""
    symbols, owner = joined(texts)
    order, equal = suffixes(symbols)
    ends = np.flatnonzero(symbols >= 0x110000)
    results: dict[str, Any] = {"documents": len(texts), "characters": len(symbols) - len(texts)}
    for length in lengths:
        found = windows_of(order, equal, owner, length)
        google = covered(found.repeated, length)
        removed = ours(texts, length, ends)
        assert (removed == covered(found.later, length)).all()
        beyond = google & ~removed
        copies = beyond & covered(found.first, length)
        results[f"L = {length}"] = {
            "every copy": int(google.sum()),
            "fastlsh": int(removed.sum()),
            "fastlsh alone": int((removed & ~google).sum()),
            "every copy alone": int(beyond.sum()),
            "of these, first copies": int(copies.sum()),
            "of these, copies that overlap themselves": int((beyond & ~copies).sum()),
        }
    return results


def main(arguments: Sequence[str]) -> None:
    """Compare and write results/span_definition.json."""
    parser = common.parser(__doc__)
    parser.add_argument("corpora", nargs="*", type=Path, help="JSON lines, also .gz or .zst")
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    for path in options.corpora:
        rows = map(json.loads, corpus.lines(path))
        texts = [row["text"] for row in rows if row["text"]]
        results[path.name.split(".")[0]] = compared(texts, LENGTHS)
    if not options.corpora:
        made = corpus.Writer(1).collection(50 if options.quick else 5_000, 1_000, 0.3)
        results["made texts"] = compared([*made, "ab" * 300], LENGTHS)
    common.write("span_definition", options, results)
