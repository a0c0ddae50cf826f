# Called from Python: the tables of an index. The loops run without the GIL.
# With call_arrays.pxi, call_slots.pxi, tables.pxi and lookups.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of, memory_of_rows
from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport Answer, Answers, Desk, Question


cdef class BandTables(_BandArrays):
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

    @property
    def n(self):
        """How many documents there are, removed ones included."""
        return self.t.n

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
        cdef Memory parts[2]
        cdef bint damaged = False
        cdef int64_t dead = 0
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold
        )
        parts[0] = memory_of(fresh, "fresh")
        parts[1] = memory_of(offsets, "offsets")
        check_apart(parts, 2, 1, "fresh and offsets")
        check_untouched(&self.t, self.capacity, parts[0], "fresh")
        if fresh.shape[0] != signatures.shape[0]:
            raise ValueError("fresh needs one element per document")
        if first == last:
            return 0
        self.check_room(last - first)
        if self.t.offsets != NULL:
            if offsets is None:
                raise ValueError("the tables need the sets of what is inserted")
            check_untouched(&self.t, self.capacity, memory_of(offsets, "offsets"), "offsets")
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
        cdef Memory parts[3]
        cdef Answers answers
        cdef Py_ssize_t done
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold
        )
        if counts.shape[0] != last - first or out.shape[0] < 1 or out.shape[1] != 2:
            raise ValueError("counts needs one element per document, out the shape (room, 2)")
        parts[0] = memory_of_rows(out, "out")
        parts[1] = memory_of(counts, "counts")
        parts[2] = memory_of(offsets, "offsets")
        check_apart(parts, 3, 2, "out, counts and offsets")
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
        cdef Py_ssize_t within
        cdef bint sound
        self.check_room(0)
        with nogil:
            within = sets_within(&self.t)
        if within < self.t.n:
            raise ValueError(f"the set of document {within} lies outside the hashes")
        cdef Desk desk = new_desk(&self.t, self.t.n)
        with nogil:
            sound = link_documents(&self.t, 0, drop_dead(&self.t), &desk)
        free(desk.tags)
        check_sound(not sound)
        return self.t.n
