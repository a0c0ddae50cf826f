"""Passages: stretches of texts that occurred before, found by winnowing and compared in full."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.passages._passages import repeats, winnow
from fastlsh._kernels.text._texts import Spans
from fastlsh.arrays import unique
from fastlsh.candidates import repeated
from fastlsh.parallel import RunOptions, batches, batches_by_work, run_batches
from fastlsh.signatures import batch_size
from fastlsh.stages.passage_cuts import cut_rows, united_matches, whole_matches
from fastlsh.texts import Shingler, Texts, UnitTexts, lengths_of, unsteady

LONGEST_GRAM = 50
"""Units of a gram, at most: longer ones find nothing more, and shorter ones more in vain."""

WINDOWS = 1 << 22
"""Windows that are compared at a time, at most, but for one key with more of them."""


class Anchors(NamedTuple):
    """The keys of the windows of texts, and where windows occurred before in the same text."""

    keys: NDArray[np.uint64]
    """uint64 (m,): hashes of grams."""
    rows: NDArray[np.int64]
    """int64 (m, 4), ascending: text, where the gram begins, and where its first and its last window
    begin."""
    echoes: NDArray[np.int64]
    """int64 (e, 5): stretches of a short period, as `repeats` finds them."""


def gram_size(length: int) -> int:
    """Return how many units the grams have by which windows of so many units are found."""
    return min(LONGEST_GRAM, (length + 1) // 2)


def anchors_of(plain: Spans, length: int, *, echoing: bool = True) -> Anchors:
    """Find the keys of all windows of `length` units of normalised texts, unless they are echoes.

    Windows that are equal have the same key, equally far from their beginnings. On average, there
    are about two rows for each ``length - gram_size(length) + 2`` units.
    """
    gram = gram_size(length)
    room, echo_room = int(lengths_of(plain).sum()) * 5 // (2 * (length - gram + 2)) + len(plain), 16
    while True:
        keys, rows = np.empty(room, np.uint64), np.empty((room, 4), np.int64)
        echoes = np.empty((echo_room, 5), np.int64)
        count, echo_count = winnow(plain, length, gram, keys, rows, echoes, echoing)
        if count <= room and echo_count <= echo_room:
            return Anchors(keys[:count].copy(), rows[:count].copy(), echoes[:echo_count].copy())
        room, echo_room = max(room, count), max(echo_room, echo_count)


def unit_anchors(plain: Spans, shingler: Shingler, length: int) -> tuple[Anchors, UnitTexts | None]:
    """Find the keys as `anchors_of` does, of the units of a shingler; return the words, too."""
    if shingler.unit != "word":
        return anchors_of(plain, length), None
    words = UnitTexts.of(shingler, plain)
    hashes = words.hashes()
    anchors = anchors_of(hashes, length)
    # Windows with different words of the same hash are no echoes.
    if len(anchors.echoes) and not words.have_unique_hashes():
        anchors = anchors_of(hashes, length, echoing=False)
    return anchors, words


def all_anchors(texts: Texts, shingler: Shingler, length: int, options: RunOptions) -> Anchors:
    """Find the keys of all windows of a collection."""
    anchors_by_start: dict[int, Anchors] = {}

    def work(start: int, stop: int) -> None:
        plain = shingler.plain_texts(texts, start, stop)
        anchors, _ = unit_anchors(plain, shingler, length)
        anchors.rows[:, 0] += start
        anchors.echoes[:, (0, 3)] += start
        anchors_by_start[start] = anchors

    advance = options.progress.stage("passages", len(texts))
    run_batches(work, batches(len(texts), batch_size(texts)), options.threads, advance)
    nothing = np.empty(0, np.uint64), np.empty((0, 4), np.int64), np.empty((0, 5), np.int64)
    parts = [
        Anchors(*nothing),
        *(anchors_by_start.pop(start) for start in sorted(anchors_by_start)),
    ]
    return Anchors(*map(np.concatenate, zip(*parts, strict=True)))


def repeated_passages(
    texts: Texts, shingler: Shingler, length: int, n_whole: int, options: RunOptions
) -> NDArray[np.int64]:
    """Return what is removed from texts, and where it stays.

    Parameters
    ----------
    texts, shingler
        The collection, and the steps that it is normalised by.
    length
        Units of the shortest passage.
    n_whole
        How many texts, the first ones, lose nothing.
    options
        Threads and progress.

    Returns
    -------
    ndarray of int64, shape (m, 5)
        As `cut_rows` does.
    """
    anchors = all_anchors(texts, shingler, length, options)
    shared, groups = shared_rows(anchors.keys)
    rows = anchors.rows[shared]
    documents = unique(rows[:, 0])
    occurrences = np.column_stack([rows, rows[:, 0], np.zeros(len(rows), np.int64)])
    occurrences[:, 0] = np.searchsorted(documents, rows[:, 0])
    plain = shingler.take_texts(texts, documents)
    if shingler.unit == "word":
        plain = UnitTexts.of(shingler, plain).numbers()
        _check_steady(plain, occurrences, length)
    stretches = matches_of(plain, occurrences, groups, length, options)
    matches = np.concatenate([anchors.echoes, stretches])
    matches = matches[matches[:, 0] >= n_whole]
    matches = np.ascontiguousarray(matches[np.lexsort((matches[:, 1], matches[:, 0]))])
    return cut_rows(whole_matches(texts, shingler, united_matches(matches)), len(texts))


def repeated_contexts(
    contexts: Spans,
    documents: NDArray[np.int64],
    begins: NDArray[np.int64],
    length: int,
    options: RunOptions,
    *,
    words: Shingler | None = None,
) -> NDArray[np.int64]:
    """Return which stretches of documents occurred before, if only contexts are at hand.

    Parameters
    ----------
    contexts
        Texts of all windows with one key, normalised: all contexts with each of the keys.
    documents, begins
        int64 (n,), ascending: the document of each, and where it begins there.
    length, options
        As for `repeated_passages`.
    words
        What words are, if these are the unit.

    Returns
    -------
    ndarray of int64, shape (m, 5)
        As the kernel `repeats` finds them; in no order.
    """
    hashed = contexts
    if words is not None:
        word_texts = UnitTexts.of_stretches(words, contexts)
        hashed, contexts = word_texts.hashes(), word_texts.numbers()
    anchors = anchors_of(hashed, length, echoing=False)
    shared, groups = shared_rows(anchors.keys)
    rows = anchors.rows[shared]
    occurrences = np.column_stack([rows, documents[rows[:, 0]], begins[rows[:, 0]]])
    return matches_of(contexts, occurrences, groups, length, options)


def _check_steady(units: Spans, occurrences: NDArray[np.int64], length: int) -> None:
    """Raise if texts have fewer words than when the keys of their windows were found."""
    if (occurrences[:, 3] + length > lengths_of(units)[occurrences[:, 0]]).any():
        raise unsteady()


def shared_rows(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of keys that occur more than once, by key and in order, and the groups.

    Returns
    -------
    rows : ndarray of int64, shape (m,)
    groups : ndarray of int64
        Where the rows of each key begin in `rows`, and m.
    """
    rows, firsts = repeated(keys)
    group = np.full(len(keys), -1)
    group[rows] = firsts
    group[firsts] = firsts
    shared = np.flatnonzero(group >= 0)
    shared = shared[np.argsort(group[shared], kind="stable")]
    starts = np.flatnonzero(np.diff(group[shared], prepend=-1))
    return shared, np.append(starts, len(shared))


def matches_of(
    plain: Spans,
    occurrences: NDArray[np.int64],
    groups: NDArray[np.int64],
    length: int,
    options: RunOptions,
) -> NDArray[np.int64]:
    """Return the stretches that occurred before, int64 (m, 5), as the kernel `repeats` does."""
    stretches = [np.empty((0, 5), np.int64)]

    def compare(start: int, stop: int) -> None:
        first, last = groups[start], groups[stop]
        group_rows, bounds = occurrences[first:last], groups[start : stop + 1] - first
        room = len(group_rows)
        while True:
            out = np.empty((room, 5), np.int64)
            count = repeats(plain, group_rows, bounds, length, out)
            if count <= room:
                break
            room = count
        stretches.append(out[:count].copy())

    windows = occurrences[:, 3] - occurrences[:, 2] + 1
    work = np.add.reduceat(windows, groups[:-1]) if len(windows) else windows
    advance = options.progress.stage("comparing", len(work))
    run_batches(compare, batches_by_work(work, WINDOWS, len(work)), options.threads, advance)
    return np.concatenate(stretches)
