"""Asking the tables of an index, on several threads."""

from threading import Thread, current_thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BandTables, TextReader
from fastlsh.index.memory.contents import Contents
from fastlsh.index.memory.documents import Documents
from fastlsh.index.settings import TEXTS, Settings
from fastlsh.parallel import batches, run, wait_for

QUESTIONS = 4096
"""Asked by one thread at a time."""


class QueryableTables(Contents):
    """Tables that can be asked."""

    def __init__(self, settings: Settings, kernel: BandTables) -> None:
        super().__init__(settings, kernel)
        self._wasted = 0
        """How many removed documents questions have met."""
        self._helpers: set[Thread] = set()
        self._readers: list[TextReader] = []  # that nobody uses now

    def reader(self) -> TextReader | None:
        """Return what reads the texts, for one thread; None where none are kept."""
        if self.settings.keeps != TEXTS:
            return None
        try:
            return self._readers.pop()
        except IndexError:
            return TextReader(*self.settings.search.shingler.hashing)

    def put_back(self, reader: TextReader | None) -> None:
        """Keep a reader for the next call."""
        if reader is not None:
            self._readers.append(reader)

    def query(self, documents: Documents, limit: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Find the answers to all documents.

        Returns
        -------
        found
            float64 (total, 2): similarity and number of each answer, document by document.
        counts
            int64 (m,): answers of each document.
        """
        counts = np.zeros(documents.n, np.int64)
        parts: dict[int, NDArray[np.float64]] = {}
        kernel, dead = self.kernel, []
        halt = np.zeros(1, np.uint8)
        caller = current_thread()
        helpers: set[Thread] = set()

        def work(first: int, last: int) -> None:
            if documents.n > QUESTIONS and current_thread() is not caller:
                helpers.add(current_thread())
                self._helpers.add(current_thread())
            reader = self.reader()
            room = min(4 * (last - first) + 60, limit * (last - first))
            try:
                while first < last and not halt[0]:
                    out = np.empty((room, 2))
                    stop, end, met = kernel.query(
                        documents.signatures, documents.contents, documents.offsets, first, last,
                        self.settings.verify, self.settings.threshold, limit, out,
                        counts[first:last], halt, reader,
                    )  # fmt: skip
                    dead.append(met)
                    parts[first] = out[:end]
                    if stop == first:
                        room *= 2
                    first = stop
            except BaseException:
                halt[0] = 1  # the other threads need not go on
                raise
            self.put_back(reader)

        if documents.n <= QUESTIONS:
            work(0, documents.n)
        else:
            try:
                run(work, batches(documents.n, QUESTIONS), self.settings.hasher.threads)
            finally:
                halt[0] = 1
        self._helpers.difference_update(helpers)
        self._wasted += sum(dead)
        return np.concatenate([np.empty((0, 2)), *(parts[f] for f in sorted(parts))]), counts

    def wait(self) -> None:
        """Wait for threads that a question left behind when it was interrupted; they end soon."""
        for helper in list(self._helpers):
            wait_for(helper)
            self._helpers.discard(helper)
