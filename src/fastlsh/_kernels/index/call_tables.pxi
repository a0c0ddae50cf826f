# Called from Python: the tables of an index. The loops run without the GIL.
# With call_compact.pxi, call_texts.pxi, contents.pxi, lookups.pxi and memory.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from cpython.exc cimport PyErr_CheckSignals

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of, memory_of_rows
from fastlsh._kernels.index.tables cimport Answer, Answers, Desk, Question


cdef class BandTables(TableCompaction):
    """Hash tables of band keys, that can be asked. Parameters as in `TableChanges`."""

    @staticmethod
    def over(
        const uint32_t[:, ::1] signatures not None, list slots not None, list links not None,
        Py_ssize_t rows, const uint64_t[::1] hashes=None, const int64_t[::1] offsets=None,
        object ids=None,
    ):
        """Return tables over arrays of the caller, which are only read, and trusted in nothing.

        Parameters
        ----------
        signatures
            uint32 (n, num_perm).
        slots, links
            For each band uint64 (size,), its table, and uint32 (n,), the next document of the
            chain.
        rows
            Rows in a band.
        hashes, offsets
            uint64 (total,) and int64 (n + 1,): the sets, one after the other; or None.
        ids
            What belongs to the numbers.
        """
        cdef BandTables self = BandTables(signatures.shape[1], len(slots), rows, False, ids)
        self.release()
        self.owners = [signatures, hashes, offsets]
        if signatures.shape[0] > 0x7FFFFFFF:
            raise ValueError(f"{signatures.shape[0]} documents are too many")
        self.capacity = self.t.n = signatures.shape[0]
        self.t.longest = -1
        if self.capacity:
            self.t.signatures = <uint32_t*> &signatures[0, 0]
        memory_of_rows(signatures, "signatures")
        self.set_sets(hashes, offsets)
        self.set_bands(slots, links)
        return self

    cdef int set_sets(self, const uint64_t[::1] hashes, const int64_t[::1] offsets) except -1:
        if offsets is None:
            return 0
        if hashes is None or offsets.shape[0] != self.capacity + 1:
            raise ValueError(f"hashes need {self.capacity + 1} offsets")
        self.t.offsets = <int64_t*> &offsets[0]
        self.t.total = hashes.shape[0]
        memory_of(hashes, "hashes")
        memory_of(offsets, "offsets")
        if hashes.shape[0]:
            self.t.hashes = <uint64_t*> &hashes[0]
        return 0

    cdef int set_bands(self, list slots, list links) except -1:
        cdef const uint64_t[::1] table
        cdef const uint32_t[::1] chain
        cdef Py_ssize_t b
        if len(links) != self.t.count:
            raise ValueError("slots and links need one array for each band")
        for b in range(self.t.count):
            table = slots[b]
            chain = links[b]
            if not 1 <= table.shape[0] <= MOST_SLOTS:
                raise ValueError(f"band {b} has a table of {table.shape[0]} slots")
            if chain.shape[0] != self.capacity:
                raise ValueError(f"band {b} has links for {chain.shape[0]}, not {self.capacity}")
            self.owners += [table, chain]
            self.t.bands[b].slots = <uint64_t*> &table[0]
            self.t.bands[b].size = table.shape[0]
            memory_of(table, "slots")
            memory_of(chain, "links")
            if self.capacity:
                self.t.bands[b].links = <uint32_t*> &chain[0]
        return 0

    def complete(self, Py_ssize_t n, object ids):
        """Take what `write` has brought as the tables of n documents, and their ids."""
        self.check_own()
        if not 0 <= n <= self.capacity:
            raise ValueError(f"{n} documents in a room for {self.capacity}")
        self.t.n = n
        self.t.longest = -1
        try:
            self.check_sets()
        except ValueError:
            self.t.n = 0
            raise
        self.dead = count_all(&self.t)
        self.ids = ids

    # ---- documents

    @property
    def words(self):
        """How many hashes the sets have."""
        if self.t.offsets == NULL:
            return 0
        self.check_end()
        return self.t.offsets[self.t.n]

    def is_live(self, Py_ssize_t number):
        """Whether there is a document of this number."""
        return 0 <= number < self.t.n and (self.t.live == NULL or self.t.live[number] != 0)

    def copy_rows(self, const int64_t[::1] numbers not None, uint32_t[:, ::1] out not None):
        """Copy the signatures of some numbers."""
        cdef Memory parts[2]
        parts[0] = memory_of_rows(out, "out")
        parts[1] = memory_of(numbers, "numbers")
        check_apart(parts, 2, 1, "out and numbers")
        if out.shape[0] != numbers.shape[0] or out.shape[1] != self.t.k:
            raise ValueError(f"out needs the shape ({numbers.shape[0]}, {self.t.k})")
        if not numbers.shape[0]:
            return
        if not all_below(&numbers[0], numbers.shape[0], self.t.n):
            raise IndexError(f"numbers must be documents of {self.t.n}")
        rows_of(&self.t, &numbers[0], numbers.shape[0], &out[0, 0])

    def query(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        Py_ssize_t limit, double[:, ::1] out not None, int64_t[::1] counts not None,
        const uint8_t[::1] halt not None, TextReader reader=None,
    ):
        """Find what is like each document; several threads may ask at once.

        Stops before a document whose answers do not fit. Returns (the first document not done,
        how many answers, removed documents met). Ctrl-C is answered within `WORK` steps.

        Parameters
        ----------
        signatures, hashes, offsets, first, last, mode, threshold, reader
            As in `insert_unique`; threads that ask at once need a reader each.
        limit
            At most so many answers for each, the best.
        out
            float64 (room, 2), written: similarity and number of each answer; by document, best
            first, of equals the earlier. Not verified: similarity 1.
        counts
            int64 (last - first,), written: answers of each document.
        halt
            uint8 (1,): stop, if another thread writes 1 into it.
        """
        cdef Memory parts[4]
        cdef Answers answers
        cdef int state = PAUSE
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold, reader
        )
        if counts.shape[0] != last - first or out.shape[0] < 1 or out.shape[1] != 2:
            raise ValueError("counts needs one element per document, out the shape (room, 2)")
        parts[0] = memory_of_rows(out, "out")
        parts[1] = memory_of(counts, "counts")
        parts[2] = memory_of(offsets, "offsets")
        parts[3] = memory_of(halt, "halt")
        check_apart(parts, 4, 2, "out, counts, offsets and halt")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        if halt.shape[0] != 1:
            raise ValueError("halt needs one element")
        if first == last:
            return first, 0, 0
        memset(&answers, 0, sizeof(Answers))
        answers.out = <Answer*> &out[0, 0]
        answers.room = out.shape[0]
        answers.limit = limit
        answers.counts = &counts[0]
        answers.first = first
        cdef Desk desk = new_desk(&self.t, last - first)
        try:
            while state == PAUSE and not halt[0]:
                with nogil:
                    state = answer_some(&self.t, &question, last, &desk, &answers)
                PyErr_CheckSignals()
        finally:
            PyMem_RawFree(desk.tags)
        check_sound(answers.walk.spent.damaged)
        return answers.first, answers.end, answers.walk.spent.dead
