"""The documents of an index by number: signatures, sets, and the hash tables of their bands."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BY_SETS, BandTables, move_slots
from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.index.memory.documents import Documents, check_sets
from fastlsh.index.settings import Settings
from fastlsh.parallel import batches, run

# Of the slots of a table. A slot has 8 bytes and each document a link of 4: at the fewest slots
# in use that is 19 bytes per band and document, 20 with the spare room for links, and 13.5 when
# compact.
MOST_USED = 0.8
USED_WHEN_GROWN = MOST_USED / 1.5
USED_WHEN_COMPACT = 0.85
SPARE = 1.25
"""Room grows by this factor at least."""

QUESTIONS = 4096
"""Asked by one thread at a time."""


class Tables:
    """Numbered documents and who of them shares a band with whom.

    Not for several threads at once: `Index` has the lock. Numbers ascend in the order of
    insertion, and `compact` gives new ones in the same order.

    Signatures and sets grow by realloc, so that on Linux they are not copied; links and slots are
    copied band by band, so that old and new of only one band are there at a time.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        bands = settings.params.bands
        self.n = 0
        self.dead = 0
        self.signatures = np.empty((0, settings.hasher.num_perm), np.uint32)
        self.live: NDArray[np.uint8] | None = np.empty(0, np.uint8)
        self.slots = [np.zeros(2, np.uint64) for _ in range(bands)]
        self.links = [np.empty(0, np.uint32) for _ in range(bands)]
        self.used: NDArray[np.int64] | None = np.zeros(bands, np.int64)
        self.hashes: NDArray[np.uint64] | None = None
        self.offsets: NDArray[np.int64] | None = None
        if settings.verify == BY_SETS:
            self.hashes = np.empty(0, np.uint64)
            self.offsets = np.zeros(1, np.int64)
        self._wasted = 0
        self._kernel: BandTables | None = None

    @classmethod
    def over(
        cls,
        settings: Settings,
        n: int,
        slots: tuple[int, ...],
        arrays: dict[str, NDArray[Any]],
    ) -> "Tables":
        """Return tables over the arrays of a file, which nothing is written to."""
        tables = cls(settings)
        tables.n = n
        tables.signatures = arrays["signatures"]
        tables.links = list(arrays["links"])
        ends = np.cumsum(slots)
        tables.slots = [
            arrays["slots"][end - size : end] for end, size in zip(ends, slots, strict=True)
        ]
        tables.hashes = arrays.get("set_hashes")
        tables.offsets = arrays.get("set_offsets")
        tables.live = tables.used = None
        return tables

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays, spare room included."""
        some = [self.signatures, self.live, self.used, self.hashes, self.offsets]
        return [array for array in some if array is not None] + self.slots + self.links

    @property
    def kernel(self) -> BandTables:
        """The kernel over the arrays as they lie now."""
        if self._kernel is None:
            room = len(self.signatures)  # others may have grown before memory ran out
            self._kernel = BandTables(
                self.signatures,
                None if self.live is None else self.live[:room],
                self.slots,
                [links[:room] for links in self.links],
                self.used,
                self.settings.params.rows,
                self.n,
                self.hashes,
                None if self.offsets is None else self.offsets[: room + 1],
            )
        return self._kernel

    # ---- growing

    def reserve(self, count: int, words: int) -> None:
        """Make room for `count` documents with `words` hashes; nothing else changes.

        Raises
        ------
        ValueError, MemoryError
            Too many; the tables stay as they are.
        """
        needed = self.n + count
        if needed > MAX_DOCUMENTS:
            raise ValueError(f"at most {MAX_DOCUMENTS:,} documents, got {needed:,}")
        if self.hashes is not None and self.offsets is not None:
            end = int(self.offsets[self.n])
            if end + words > len(self.hashes):
                self._kernel = None
                self.hashes.resize(max(end + words, int(SPARE * end)), refcheck=False)
        if needed > len(self.signatures):
            self._resize(max(needed, int(SPARE * self.n)))
        assert self.used is not None
        for band, used in enumerate(self.used.tolist()):
            if used + count > MOST_USED * len(self.slots[band]):
                self._move_slots(band, used + count, USED_WHEN_GROWN)

    def _resize(self, room: int) -> None:
        self._kernel = None
        assert self.live is not None
        for band, links in enumerate(self.links):
            self.links[band] = _resized(links, room)
        self.live = _resized(self.live, room)
        if self.offsets is not None:
            self.offsets = _resized(self.offsets, room + 1)
        # The last, for its length is what counts. No one else holds this array or a view of it.
        shape = room, self.signatures.shape[1]
        if self.n:
            self.signatures.resize(shape, refcheck=False)
        else:
            self.signatures = np.empty(shape, np.uint32)

    def _move_slots(self, band: int, keys: int, share: float) -> None:
        slots = np.zeros(int(keys / share) + 2, np.uint64)
        move_slots(self.slots[band], slots)
        self._kernel = None
        self.slots[band] = slots

    # ---- documents

    def append(self, documents: Documents) -> None:
        """Add documents behind the last one; `reserve` has made room."""
        assert self.live is not None
        end = self.n + documents.n
        self.signatures[self.n : end] = documents.signatures
        self.live[self.n : end] = 1
        if self.hashes is not None and self.offsets is not None:
            assert documents.hashes is not None
            assert documents.offsets is not None
            start = self.offsets[self.n]
            self.hashes[start : start + documents.words] = documents.hashes
            self.offsets[self.n : end + 1] = documents.offsets + start
        self.kernel.insert(documents.n)
        self.n = end

    def append_unique(
        self, documents: Documents, first: int, last: int, fresh: NDArray[np.uint8]
    ) -> None:
        """Add those of documents first ... last - 1 that are like none; write into `fresh`."""
        self._wasted += self.kernel.insert_unique(
            documents.signatures, documents.hashes, documents.offsets, first, last,
            self.settings.verify, self.settings.threshold, fresh,
        )  # fmt: skip
        self.n = self.kernel.n

    def remove(self, number: int) -> None:
        """Mark a document as removed; it stays in its chains until `compact`."""
        assert self.live is not None
        self.live[number] = 0
        self.dead += 1

    def remove_from(self, first: int) -> None:
        """Take back what was added last: document `first` and those behind it."""
        assert self.live is not None
        self.n = self.kernel.n
        self.live[first : self.n] = 0
        self.dead = int(self.n - np.count_nonzero(self.live[: self.n]))

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

        def work(first: int, last: int) -> None:
            room = min(4 * (last - first) + 60, limit * (last - first))
            while first < last:
                out = np.empty((room, 2))
                stop, end, met = kernel.query(
                    documents.signatures, documents.hashes, documents.offsets, first, last,
                    self.settings.verify, self.settings.threshold, limit, out, counts[first:last],
                )  # fmt: skip
                dead.append(met)
                parts[first] = out[:end]
                if stop == first:
                    room *= 2
                first = stop

        run(work, batches(documents.n, QUESTIONS), self.settings.hasher.threads)
        self._wasted += sum(dead)
        return np.concatenate([np.empty((0, 2)), *(parts[f] for f in sorted(parts))]), counts

    # ---- the rest

    @property
    def crowded(self) -> bool:
        """Whether removed documents cost more than `compact` does."""
        return self.dead > 0 and (2 * self.dead > self.n or self._wasted > self.n * len(self.slots))

    def compact(self, share: float = USED_WHEN_GROWN) -> NDArray[np.int64]:
        """Drop removed documents and spare room; return the old numbers of those that are left."""
        assert self.live is not None
        assert self.used is not None
        kept = np.flatnonzero(self.live[: self.n])
        if self.dead:
            self.n = self.kernel.compact()
        self.dead = self._wasted = 0
        self._resize(self.n)
        if self.hashes is not None and self.offsets is not None:
            self.hashes.resize(int(self.offsets[self.n]), refcheck=False)
        for band, used in enumerate(self.used.tolist()):
            if int(used / share) + 2 < len(self.slots[band]):
                self._move_slots(band, used, share)
        return kept

    def documents(self) -> Documents:
        """Return a copy of all documents that are not removed."""
        check_sets(self.hashes, self.offsets, self.n)
        chosen = np.arange(self.n) if self.live is None else np.flatnonzero(self.live[: self.n])
        offsets = None if self.offsets is None else self.offsets[: self.n + 1]
        return Documents(self.signatures, self.hashes, offsets).take(chosen)

    def copy(self) -> "Tables":
        """Return tables of their own that may be changed."""
        check_sets(self.hashes, self.offsets, self.n)
        other = Tables(self.settings)
        other.n = self.n
        other.dead = self.dead
        other._wasted = self._wasted
        other.signatures = self.signatures.copy()
        other.live = np.ones(self.n, np.uint8) if self.live is None else self.live.copy()
        other.slots = [slots.copy() for slots in self.slots]
        other.links = [links.copy() for links in self.links]
        counts = [np.count_nonzero(slots) for slots in self.slots]
        other.used = np.array(counts, np.int64) if self.used is None else self.used.copy()
        other.hashes = None if self.hashes is None else self.hashes.copy()
        other.offsets = None if self.offsets is None else self.offsets.copy()
        return other


def _resized(array: NDArray[Any], room: int) -> NDArray[Any]:
    """Return a copy of another length, filled with zeros: a file shows no old memory."""
    new = np.zeros(room, array.dtype)
    new[: min(room, len(array))] = array[:room]
    return new
