# Called from Python: the tables of an index. The loops run without the GIL.
# With call_slots.pxi, tables.pxi, lookups.pxi and bandkeys.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport check_aligned, check_offsets
from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport Answer, Answers, Band, Desk, Question, Tables
from fastlsh._kernels.sets.modes cimport BY_SETS, BY_SIGNATURE, NOT_VERIFIED


cdef class BandTables:
    """Hash tables of band keys over arrays of the caller.

    One caller at a time writes. The arrays must stay where they are as long as this lives.

    Parameters
    ----------
    signatures
        uint32 (capacity, num_perm).
    live
        uint8 (capacity,): 0 = removed; None: all are there, and nothing may be written.
    slots
        For each band uint64 (size,), its table. With 2^32 or more slots it would not be reached.
    links
        For each band uint32 (capacity,), the next document of the chain.
    used
        int64 (bands,): how many slots are not empty; None where nothing is written.
    rows
        Rows in a band.
    n
        How many documents there are.
    hashes, offsets
        uint64 (room,) and int64 (capacity + 1,): the sets, one after the other; or None.
    """

    cdef Tables t
    cdef list owners
    cdef Py_ssize_t capacity

    def __cinit__(self):
        memset(&self.t, 0, sizeof(Tables))

    def __init__(
        self, const uint32_t[:, ::1] signatures not None, const uint8_t[::1] live,
        list slots not None, list links not None, const int64_t[::1] used,
        Py_ssize_t rows, Py_ssize_t n, const uint64_t[::1] hashes=None,
        const int64_t[::1] offsets=None,
    ):
        cdef Tables* t = &self.t
        if t.bands != NULL:
            raise TypeError("made once")
        self.capacity = signatures.shape[0]
        self.owners = [signatures, live, used, hashes, offsets]
        t.count = len(slots)
        t.rows = rows
        t.k = signatures.shape[1]
        t.n = n
        if rows < 1 or t.count < 1 or t.count * rows > t.k:
            raise ValueError(f"{t.count} bands of {rows} rows do not lie in {t.k} values")
        if not 0 <= n <= min(self.capacity, <Py_ssize_t> 0x7FFFFFFF):
            raise ValueError(f"{n} documents in a room for {self.capacity}")
        if self.capacity:
            t.signatures = <uint32_t*> &signatures[0, 0]
            check_aligned(t.signatures, 4, "signatures")
        if (live is None) != (used is None):
            raise ValueError("live and used must be given together")
        if live is not None:
            if live.shape[0] != self.capacity or used.shape[0] != t.count:
                raise ValueError("live needs one element per document, used one per band")
            if self.capacity:
                t.live = <uint8_t*> &live[0]
        self.set_sets(hashes, offsets)
        self.set_bands(slots, links, used)

    cdef int set_sets(self, const uint64_t[::1] hashes, const int64_t[::1] offsets) except -1:
        if offsets is None:
            return 0
        if hashes is None or offsets.shape[0] != self.capacity + 1:
            raise ValueError(f"hashes need {self.capacity + 1} offsets")
        self.t.offsets = <int64_t*> &offsets[0]
        self.t.total = hashes.shape[0]
        check_aligned(self.t.offsets, 8, "offsets")
        if hashes.shape[0]:
            self.t.hashes = <uint64_t*> &hashes[0]
            check_aligned(self.t.hashes, 8, "hashes")
        return 0

    cdef int set_bands(self, list slots, list links, const int64_t[::1] used) except -1:
        cdef const uint64_t[::1] table
        cdef const uint32_t[::1] chain
        cdef Py_ssize_t b
        if len(links) != self.t.count:
            raise ValueError("slots and links need one array for each band")
        self.t.bands = <Band*> calloc(self.t.count, sizeof(Band))
        if self.t.bands == NULL:
            raise MemoryError()
        for b in range(self.t.count):
            table = slots[b]
            chain = links[b]
            if not 1 <= table.shape[0] <= <Py_ssize_t> 0xFFFFFFFF:
                raise ValueError(f"band {b} has a table of {table.shape[0]} slots")
            if chain.shape[0] != self.capacity:
                raise ValueError(f"band {b} has links for {chain.shape[0]}, not {self.capacity}")
            self.owners += [table, chain]
            self.t.bands[b].slots = <uint64_t*> &table[0]
            self.t.bands[b].size = table.shape[0]
            check_aligned(&table[0], 8, "slots")
            if self.capacity:
                self.t.bands[b].links = <uint32_t*> &chain[0]
                check_aligned(&chain[0], 4, "links")
            if used is not None:
                self.t.bands[b].used = <int64_t*> &used[b]
        return 0

    def __dealloc__(self):
        free(self.t.bands)

    @property
    def n(self):
        """How many documents there are, removed ones included."""
        return self.t.n

    cdef int check_room(self, Py_ssize_t count) except -1:
        cdef Py_ssize_t b
        if self.t.live == NULL:
            raise ValueError("nothing can be written here")
        if not 0 <= count <= self.capacity - self.t.n:
            raise ValueError(f"no room for {count} documents")
        for b in range(self.t.count):
            if self.t.bands[b].used[0] + count >= <int64_t> self.t.bands[b].size:
                raise ValueError(f"the table of band {b} has no room for {count} keys")
        return 0

    def insert(self, Py_ssize_t count):
        """Link the next `count` documents, whose signatures are there already."""
        cdef bint sound
        if count == 0:
            return
        self.check_room(count)
        cdef Desk desk = new_desk(&self.t, count)
        with nogil:
            sound = link_documents(&self.t, self.t.n, self.t.n + count, &desk)
        free(desk.tags)
        check_sound(not sound)

    cdef Question asked(
        self, const uint32_t[:, ::1] signatures, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
    ) except *:
        cdef Question question
        memset(&question, 0, sizeof(Question))
        question.mode = mode
        question.threshold = threshold
        if mode not in (BY_SETS, BY_SIGNATURE, NOT_VERIFIED):
            raise ValueError(f"mode must be {BY_SETS}, {BY_SIGNATURE} or {NOT_VERIFIED}, got {mode}")
        if signatures.shape[1] != self.t.k:
            raise ValueError(f"signatures have {signatures.shape[1]} values, not {self.t.k}")
        if not 0 <= first <= last <= signatures.shape[0]:
            raise IndexError(f"documents {first} to {last} of {signatures.shape[0]}")
        if signatures.shape[0]:
            question.signatures = &signatures[0, 0]
            check_aligned(question.signatures, 4, "signatures")
        if mode == BY_SETS and (self.t.offsets == NULL or hashes is None or offsets is None):
            raise ValueError("without sets they cannot be compared")
        if self.t.offsets != NULL and offsets is not None:
            check_offsets(offsets, signatures.shape[0], hashes.shape[0], "offsets")
            question.offsets = &offsets[0]
            if hashes.shape[0]:
                question.hashes = &hashes[0]
        return question

    def insert_unique(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        uint8_t[::1] fresh not None,
    ):
        """Insert those that are like none in the tables, in order; return the removed ones met.

        Parameters
        ----------
        signatures, hashes, offsets
            uint32 (m, num_perm); the sets, uint64 and int64 (m + 1,), where the tables have sets.
        first, last
            Which of them.
        mode, threshold
            What being like means.
        fresh
            uint8 (m,), written: 1 = is new and inserted.
        """
        cdef bint damaged = False
        cdef int64_t dead = 0
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold
        )
        if fresh.shape[0] != signatures.shape[0]:
            raise ValueError("fresh needs one element per document")
        if first == last:
            return 0
        self.check_room(last - first)
        if self.t.offsets != NULL:
            if offsets is None:
                raise ValueError("the tables need the sets of what is inserted")
            if not 0 <= self.t.offsets[self.t.n] <= self.t.total - (offsets[last] - offsets[first]):
                raise ValueError("no room for the sets")
        cdef Desk desk = new_desk(&self.t, AHEAD + 1)
        with nogil:
            insert_new(
                &self.t, &question, first, last, &desk, desk.tags + AHEAD * self.t.count,
                &fresh[0], &dead, &damaged,
            )
        free(desk.tags)
        check_sound(damaged)
        return dead

    def query(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        Py_ssize_t limit, double[:, ::1] out not None, int64_t[::1] counts not None,
    ):
        """Find what is like each document; several threads may ask at once.

        Stops before a document whose answers do not fit. Returns (the first document not done,
        how many answers, removed documents met).

        Parameters
        ----------
        signatures, hashes, offsets, first, last, mode, threshold
            As in `insert_unique`.
        limit
            At most so many answers for each, the best.
        out
            float64 (room, 2), written: similarity and number of each answer; by document, best
            first, of equals the earlier. Not verified: similarity 1.
        counts
            int64 (last - first,), written: answers of each document.
        """
        cdef Answers answers
        cdef Py_ssize_t done
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold
        )
        if counts.shape[0] != last - first or out.shape[0] < 1 or out.shape[1] != 2:
            raise ValueError("counts needs one element per document, out the shape (room, 2)")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        if first == last:
            return first, 0, 0
        memset(&answers, 0, sizeof(Answers))
        answers.out = <Answer*> &out[0, 0]
        answers.room = out.shape[0]
        answers.limit = limit
        answers.counts = &counts[0]
        cdef Desk desk = new_desk(&self.t, last - first)
        with nogil:
            done = answer_all(&self.t, &question, first, last, &desk, &answers)
        free(desk.tags)
        check_sound(answers.damaged)
        return done, answers.end, answers.dead

    def compact(self):
        """Forget the removed documents; the others move up. Returns how many there are."""
        cdef Py_ssize_t d
        cdef bint sound
        self.check_room(0)
        if self.t.offsets != NULL and self.t.n:
            # What lies behind the last document is not looked at.
            for d in range(self.t.n):
                if not 0 <= self.t.offsets[d] <= self.t.offsets[d + 1] <= self.t.total:
                    raise ValueError(f"the set of document {d} lies outside the hashes")
        cdef Desk desk = new_desk(&self.t, self.t.n)
        with nogil:
            sound = link_documents(&self.t, 0, drop_dead(&self.t), &desk)
        free(desk.tags)
        check_sound(not sound)
        return self.t.n
