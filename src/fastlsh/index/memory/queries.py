"""Querying the tables of an index on several threads."""

from threading import Thread, current_thread

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.index._index import BandTables, TextReader
from fastlsh.index.memory.documents import IndexDocuments
from fastlsh.index.settings import TEXTS, Settings
from fastlsh.parallel import batches, run_batches, wait_for

QUERIES = 4096
"""Documents that a thread looks up in one call."""


class QueryThreads:
    """Runs queries on threads, and knows those that still run after an interrupt."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.left: set[Thread] = set()
        """Threads that may still run for an interrupted query."""
        self._readers: list[TextReader] = []  # not in use

    def reader(self) -> TextReader | None:
        """Return a reader of texts for one thread; None if the index keeps no texts."""
        if self._settings.keeps != TEXTS:
            return None
        try:
            return self._readers.pop()
        except IndexError:
            return TextReader(*self._settings.search.shingler.hashing)

    def put_back(self, reader: TextReader | None) -> None:
        """Keep a reader for the next call."""
        if reader is not None:
            self._readers.append(reader)

    def query(
        self, kernel: BandTables, documents: IndexDocuments, limit: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
        """Find the answers to all documents.

        Returns
        -------
        found
            float64 (total, 2): similarity and number of each answer, document by document.
        counts
            int64 (m,): answers of each document.
        wasted
            How many removed documents were met.
        """
        n = documents.n
        counts = np.zeros(n, np.int64)
        parts: dict[int, NDArray[np.float64]] = {}
        dead: list[int] = []
        halt = np.zeros(1, np.uint8)
        caller = current_thread()
        helpers: set[Thread] = set()
        verify, threshold = self._settings.verify, self._settings.threshold

        def work(first: int, last: int) -> None:
            if n > QUERIES and current_thread() is not caller:
                helpers.add(current_thread())
                self.left.add(current_thread())
            reader = self.reader()
            room = min(4 * (last - first) + 60, limit * (last - first))
            try:
                while first < last and not halt[0]:
                    out = np.empty((room, 2))
                    stop, end, met = kernel.query(
                        documents.signatures, documents.contents, documents.offsets, first, last,
                        verify, threshold, limit, out, counts[first:last], halt, reader,
                    )  # fmt: skip
                    dead.append(met)
                    parts[first] = out[:end]
                    if stop == first:
                        room *= 2
                    first = stop
            except BaseException:
                halt[0] = 1  # stops the other threads
                raise
            self.put_back(reader)

        if n <= QUERIES:
            work(0, n)
        else:
            try:
                run_batches(work, batches(n, QUERIES), self._settings.hasher.threads)
            finally:
                halt[0] = 1
        self.left.difference_update(helpers)
        answers = np.concatenate([np.empty((0, 2)), *(parts[f] for f in sorted(parts))])
        return answers, counts, sum(dead)

    def wait(self) -> None:
        """Wait for threads that an interrupted query left behind; they end soon."""
        for helper in list(self.left):
            wait_for(helper)
            self.left.discard(helper)
