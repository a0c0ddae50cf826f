# Called from Python: the changes of an index. The loops run without the GIL.
# With call_arrays.pxi, call_texts.pxi, contents.pxi, lookups.pxi, memory.pxi, stored.pxi and
# unique.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from cpython.exc cimport PyErr_CheckSignals

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, check_range, check_threshold, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport Desk, Question, Stream
from fastlsh._kernels.sets.checks cimport check_mode
from fastlsh._kernels.sets.modes cimport BY_SETS, BY_TEXTS, NOT_VERIFIED


cdef class TableChanges(TableMemory):
    """What changes the tables; one caller at a time, while nobody asks.

    What is appended is seen by nobody before `switch`, which cannot fail half-way.

    Parameters
    ----------
    num_perm, bands, rows, with_sets
        As in `TableMemory`.
    ids
        What belongs to the numbers.
    """

    cdef readonly bint changing     # a change is under way in some thread: no time to fork
    cdef readonly object ids        # they and the numbers change together
    cdef readonly int64_t limited   # documents that came in not compared with every candidate

    def __cinit__(
        self, Py_ssize_t num_perm, Py_ssize_t bands, Py_ssize_t rows, bint with_sets, ids=None
    ):
        self.ids = ids

    @property
    def n(self):
        """How many numbers are given, those of removed documents included."""
        return self.t.n

    cdef int check_sets(self) except -1:
        cdef Py_ssize_t within
        with nogil:
            within = sets_within(&self.t)
        check_sound(within < self.t.n or self.t.offsets != NULL and self.t.offsets[0] != 0)
        return 0

    cdef int check_room(self, Py_ssize_t count, int64_t words) except -1:
        cdef Py_ssize_t b
        self.check_own()
        if not 0 <= count <= self.capacity - self.t.n:
            raise ValueError(f"no room for {count} documents")
        for b in range(self.t.count):
            if self.t.bands[b].used + count >= <int64_t> self.t.bands[b].size:
                raise ValueError(f"the table of band {b} has no room for {count} keys")
        self.check_end()
        if self.t.offsets != NULL and not 0 <= words <= self.t.total - self.t.offsets[self.t.n]:
            raise ValueError("no room for the sets")
        return 0

    cdef Question asked(
        self, const uint32_t[:, ::1] signatures, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        TextReader reader,
    ) except *:
        cdef Question question
        memset(&question, 0, sizeof(Question))
        self.check_settled()
        question.mode = mode
        question.threshold = threshold
        if mode != BY_TEXTS:
            check_mode(mode)
        check_threshold(threshold)
        if signatures.shape[1] != self.t.k:
            raise ValueError(f"signatures have {signatures.shape[1]} values, not {self.t.k}")
        check_range(first, last, signatures.shape[0])
        memory_of_rows(signatures, "signatures")
        if signatures.shape[0]:
            question.signatures = &signatures[0, 0]
        if mode == BY_SETS or mode == BY_TEXTS:
            if self.t.offsets == NULL or hashes is None or offsets is None:
                raise ValueError("without sets or texts they cannot be compared")
        if self.t.offsets != NULL and offsets is not None:
            if hashes is None:
                raise ValueError("offsets of no hashes")
            check_offsets(offsets, signatures.shape[0], hashes.shape[0], "offsets")
            memory_of(hashes, "hashes")
            question.offsets = &offsets[0]
            question.total = hashes.shape[0]
            if hashes.shape[0]:
                question.hashes = &hashes[0]
        if mode == BY_TEXTS:
            if reader is None:
                raise TypeError("texts need a reader")
            if self.t.longest < 0:
                self.t.longest = longest_words(self.t.offsets, 0, self.t.n, self.t.total)
            question.reader = reader.begun(max(
                self.t.longest, longest_words(question.offsets, first, last, question.total)
            ))
        return question

    def append(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
    ):
        """Give the next numbers to documents first ... last - 1 and link them; nobody sees them.

        Parameters
        ----------
        signatures, hashes, offsets
            uint32 (m, num_perm); uint64 and int64 (m + 1,): the sets, or packed texts, where the
            tables have some.
        first, last
            Which of them.
        """
        cdef bint sound
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, NOT_VERIFIED, 0.0, None
        )
        if self.t.offsets != NULL and offsets is None:
            raise ValueError("the tables need the sets of what is inserted")
        self.check_room(last - first, words_asked(&question, first, last))
        if first == last:
            return
        cdef Desk desk = new_desk(&self.t, last - first)
        self.changing = True
        with nogil:
            sound = append_all(&self.t, &question, first, last, &desk)
        self.dead += last - first
        self.changing = False
        PyMem_RawFree(desk.tags)
        check_sound(not sound)

    def insert_unique(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, Py_ssize_t own, int mode,
        double threshold, Py_ssize_t limit, uint8_t[::1] fresh not None, TextReader reader=None,
    ):
        """Append those that are like none in the tables, in order; return the removed ones met.

        Decides as `Keeper` does. Ctrl-C is answered within `WORK` steps, or those of one chain.

        Parameters
        ----------
        signatures, hashes, offsets, first, last
            As in `append`.
        own
            The number that came first with this change: it and later ones are compared, too.
        mode, threshold
            What being like means.
        limit
            At most so many candidates are compared with a document.
        fresh
            uint8 (m,), written: 0 = is like one, 1 = is new and appended, 2 = likewise, but could
            not be compared with every candidate.
        """
        cdef Stream stream
        cdef bint done = False
        cdef Memory parts[2]
        cdef Py_ssize_t before
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold, reader
        )
        parts[0] = memory_of(fresh, "fresh")
        parts[1] = memory_of(offsets, "offsets")
        check_apart(parts, 2, 1, "fresh and offsets")
        if fresh.shape[0] != signatures.shape[0]:
            raise ValueError("fresh needs one element per document")
        if not 0 <= own <= self.t.n:
            raise ValueError(f"own is {own} of {self.t.n}")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        if self.t.offsets != NULL and offsets is None:
            raise ValueError("the tables need the sets of what is inserted")
        self.check_room(last - first, words_asked(&question, first, last))
        if first == last:
            return 0
        memset(&stream, 0, sizeof(Stream))
        stream.fresh = &fresh[0]
        stream.first = first
        stream.own = <uint32_t> own
        cdef Desk desk = new_desk(&self.t, AHEAD + 1)
        stream.heads = desk.tags + AHEAD * self.t.count
        try:
            stream.candidates = new_candidates(&self.t, last - first, limit)
            while not done:
                before = self.t.n
                self.changing = True
                with nogil:
                    done = insert_some(&self.t, &question, last, &desk, &stream)
                self.dead += self.t.n - before
                self.changing = False
                PyErr_CheckSignals()
        finally:
            PyMem_RawFree(desk.tags)
            PyMem_RawFree(stream.candidates.ranks)
        check_sound(stream.spent.damaged)
        return stream.spent.dead

    def switch(
        self, Py_ssize_t first, const int64_t[::1] gone not None, Py_ssize_t limited=0
    ):
        """Let everybody see the documents from number `first` on, and those of `gone` no more.

        `limited` of the first could not be compared with every candidate.
        """
        self.check_own()
        memory_of(gone, "gone")
        if not 0 <= first <= self.t.n:
            raise ValueError(f"document {first} of {self.t.n}")
        if gone.shape[0] and not all_below(&gone[0], gone.shape[0], first):
            raise ValueError(f"gone needs documents before {first}")
        self.limited += limited
        self.dead += mark(&self.t, first, &gone[0] if gone.shape[0] else NULL, gone.shape[0])

    def remove(self, Py_ssize_t number):
        """Remove a document; it stays in its chains until the tables are compacted."""
        self.check_own()
        if not 0 <= number < self.t.n:
            raise IndexError(f"document {number} of {self.t.n}")
        self.dead += self.t.live[number]
        self.t.live[number] = 0
