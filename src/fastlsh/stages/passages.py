"""Passages: stretches of texts that occurred before, found by winnowing and compared in full."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import cuts, repeats, winnow
from fastlsh.arrays import unique
from fastlsh.candidates import repeated
from fastlsh.parallel import RunOptions, batches, batches_by_work, run
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts, original_spans, texts_without_spans

LONGEST_GRAM = 50
"""Units of a gram, at most: longer ones find nothing more, and shorter ones more in vain."""

WINDOWS = 1 << 22
"""Windows that are compared at a time, at most, but for one key with more of them."""


class Anchors(NamedTuple):
    """The keys of all windows of a collection, in order; a row for each run of windows."""

    keys: NDArray[np.uint64]
    """uint64 (m,): hashes of grams."""
    rows: NDArray[np.int64]
    """int64 (m, 4): text, where the gram begins, and where its first and its last window begin."""


def gram_size(length: int) -> int:
    """Return how many units the grams have by which windows of so many units are found."""
    return min(LONGEST_GRAM, (length + 1) // 2)


def anchors_of(texts: Texts, shingler: Shingler, length: int, options: RunOptions) -> Anchors:
    """Find the keys of all windows of `length` units.

    Two windows that are equal have the same key, equally far from their beginnings. On average,
    there are about two rows for each ``length - gram_size(length) + 2`` units.
    """
    n, gram = len(texts), gram_size(length)
    found: dict[int, Anchors] = {}

    def work(start: int, stop: int) -> None:
        plain = shingler.plain_texts(texts, start, stop)
        lengths = np.empty(stop - start, np.int64)
        plain.lengths(lengths)
        room = int(lengths.sum()) * 5 // (2 * (length - gram + 2)) + len(lengths)
        while True:
            keys, rows = np.empty(room, np.uint64), np.empty((room, 3), np.int64)
            count = winnow(plain, length, gram, keys, rows)
            if count <= room:
                break
            room = count  # periodic text has more
        rows = rows[:count]
        text, first = rows[:, 0], rows[:, 2]
        last = lengths[text] - length
        same = text[1:] == text[:-1]
        last[:-1][same] = first[1:][same] - 1
        where = np.stack([text + start, rows[:, 1], first, last], axis=1)
        found[start] = Anchors(keys[:count].copy(), where)

    advance = options.progress.stage("passages", n)
    run(work, batches(n, batch_size(texts)), options.threads, advance)
    parts = [found.pop(start) for start in sorted(found)]
    return Anchors(
        np.concatenate([np.empty(0, np.uint64), *(part.keys for part in parts)]),
        np.concatenate([np.empty((0, 4), np.int64), *(part.rows for part in parts)]),
    )


def repeated_passages(
    texts: Texts, shingler: Shingler, length: int, n_against: int, options: RunOptions
) -> NDArray[np.int64]:
    """Return what is removed from texts, and where it stays.

    Parameters
    ----------
    texts, shingler
        The collection, and the steps that it is normalised by.
    length
        Units of the shortest passage.
    n_against
        How many texts, the first ones, are of `against`: nothing is removed from them.
    options
        Threads and progress.

    Returns
    -------
    ndarray of int64, shape (m, 5)
        Text, begin and end in units of the normalised text, and the text and the begin of the same
        units where they stay; ascending, and apart or with different sources.
    """
    anchors = anchors_of(texts, shingler, length, options)
    matches = _matches(texts, shingler, length, *_shared(anchors), options)
    matches = matches[matches[:, 0] >= n_against]
    matches = np.ascontiguousarray(matches[np.lexsort((matches[:, 1], matches[:, 0]))])
    room = len(matches) + 1
    while True:
        out = np.empty((room, 5), np.int64)
        count = cuts(matches, len(texts), out)
        if count >= 0:
            return out[:count]
        room *= 2


class CutTexts(NamedTuple):
    """What is left of the texts of a collection that lose passages."""

    texts: dict[int, str]
    """By number."""
    removed: NDArray[np.int64]
    """int64 (m, 3): text, begin and end of what goes, in code points of the original texts."""
    kept: NDArray[np.int64]
    """int64 (m, 3): where it stays."""
    dropped: NDArray[np.int64]
    """int64, ascending: the texts of which too little is left."""


def cut_texts(
    texts: Texts, shingler: Shingler, rows: NDArray[np.int64], join: str, keep_least: int
) -> CutTexts:
    """Cut passages out of the original texts.

    Parameters
    ----------
    texts, shingler
        As `repeated_passages` takes them.
    rows
        As it returns them.
    join, keep_least
        As in `deduplicate_spans`.
    """
    text, units = rows[:, 0], rows[:, 2] - rows[:, 1]
    changed = unique(text)
    lengths = np.empty(len(changed), np.int64)
    shingler.take_texts(texts, changed).lengths(lengths)
    left = lengths - np.bincount(np.searchsorted(changed, text), units, len(changed))
    spans = original_spans(texts, shingler, text, rows[:, 1:3])
    there = np.column_stack([rows[:, 4], rows[:, 4] + units])
    kept = original_spans(texts, shingler, rows[:, 3], there)
    filled = spans[:, 0] < spans[:, 1]  # bytes of a part of a code point stay
    removed = np.column_stack([text, spans])[filled]
    return CutTexts(
        texts_without_spans(texts, removed, join),
        removed,
        np.column_stack([rows[:, 3], kept])[filled],
        changed[left < keep_least],
    )


def _shared(anchors: Anchors) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of keys that occur more than once, and where those of each key begin."""
    rows, firsts = repeated(anchors.keys)
    group = np.full(len(anchors.keys), -1)
    group[rows] = firsts
    group[firsts] = firsts
    shared = np.flatnonzero(group >= 0)
    shared = shared[np.argsort(group[shared], kind="stable")]
    starts = np.flatnonzero(np.diff(group[shared], prepend=-1))
    return anchors.rows[shared], np.append(starts, len(shared))


def _matches(
    texts: Texts,
    shingler: Shingler,
    length: int,
    rows: NDArray[np.int64],
    groups: NDArray[np.int64],
    options: RunOptions,
) -> NDArray[np.int64]:
    """Return the stretches that occurred before, int64 (m, 5), as the kernel `repeats` does."""
    documents = unique(rows[:, 0])
    plain = shingler.take_texts(texts, documents)
    rows = rows.copy()
    rows[:, 0] = np.searchsorted(documents, rows[:, 0])
    found = [np.empty((0, 5), np.int64)]

    def compare(start: int, stop: int) -> None:
        first, last = groups[start], groups[stop]
        own, bounds = rows[first:last], groups[start : stop + 1] - first
        room = len(own)
        while True:
            out = np.empty((room, 5), np.int64)
            count = repeats(plain, own, bounds, length, out)
            if count <= room:
                break
            room = count
        found.append(out[:count].copy())

    windows = rows[:, 3] - rows[:, 2] + 1
    work = np.add.reduceat(windows, groups[:-1]) if len(rows) else windows
    advance = options.progress.stage("comparing", len(groups) - 1)
    run(compare, batches_by_work(work, WINDOWS, len(work)), options.threads, advance)
    matches = np.concatenate(found)
    matches[:, (0, 3)] = documents[matches[:, (0, 3)]] if len(matches) else 0
    return matches
