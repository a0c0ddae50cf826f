# Called from Python: the tables of an index. The loops run without the GIL.
# With call_texts.pxi, contents.pxi, lookups.pxi, memory.pxi, stored.pxi, table_memory.pxi and
# unique.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from cpython.exc cimport PyErr_CheckSignals

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, check_range, check_threshold, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport Answer, Answers, Desk, Question, Stream, Sweep
from fastlsh._kernels.sets.checks cimport check_mode
from fastlsh._kernels.sets.modes cimport BY_CONTAINMENT, BY_SETS, BY_TEXTS, NOT_VERIFIED


cdef class BandTables(TableMemory):
    """Numbered documents in hash tables of their band keys.

    Several threads may query at once. Everything else is for one caller at a time, while no
    thread queries. A document that was appended is found by nobody before `switch`, which cannot
    fail half-way. A removed document stays in its chains until the tables are compacted.

    Parameters
    ----------
    num_perm, bands, rows, with_sets, slices
        As in `TableMemory`.
    ids
        The ids of the documents: any object, replaced together with the numbers.
    """

    cdef readonly bint changing     # a change is under way in some thread: no time to fork
    cdef readonly object ids
    cdef readonly int64_t limited   # documents that came in not compared with every candidate

    def __cinit__(
        self, Py_ssize_t num_perm, Py_ssize_t bands, Py_ssize_t rows, bint with_sets, ids=None,
        const int64_t[:, ::1] slices=None,
    ):
        self.ids = ids

    @staticmethod
    def over(
        const uint32_t[:, ::1] signatures not None, list slots not None, list links not None,
        Py_ssize_t rows, const uint64_t[::1] hashes=None, const int64_t[::1] offsets=None,
        object ids=None, const int64_t[:, ::1] slices=None,
    ):
        """Return tables over arrays of the caller, which are only read.

        No number in them is trusted.

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
            The ids of the documents.
        slices
            As in `TableMemory`.
        """
        cdef BandTables self = BandTables(
            signatures.shape[1], len(slots), rows, False, ids, slices
        )
        self.borrow(signatures, slots, links, hashes, offsets)
        return self

    def complete(self, Py_ssize_t n, object ids):
        """Accept the bytes that were written as the tables of n documents with these ids."""
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

    @property
    def n(self):
        """How many numbers are in use, including those of removed documents."""
        return self.t.n

    @property
    def words(self):
        """The number of hashes of all sets."""
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

    # ---- changes

    def append(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
    ):
        """Give the next numbers to documents first ... last - 1, and link them.

        Queries do not find them before `switch`.

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
        int64_t[::1] matches=None,
    ):
        """Append those that are like none in the tables, in order; return the removed ones met.

        Decides as `Keeper` does. Ctrl-C is answered within `WORK` steps, or those of one chain.

        Parameters
        ----------
        signatures, hashes, offsets, first, last
            As in `append`.
        own
            The first number of this change. Documents from this number on are compared, too.
        mode, threshold
            How documents are compared, and the least similarity; `BY_CONTAINMENT`: the least share
            of its set that a document in the tables has. With a reader, it compares texts.
        limit
            At most so many candidates are compared with a document.
        fresh
            uint8 (m,), written: 0 = is like one, 1 = is new and appended, 2 = likewise, but could
            not be compared with every candidate.
        matches
            int64 (m,), written: the number of the first candidate that it is like; -1: none is.
        """
        cdef Stream stream
        cdef bint done = False
        cdef Memory parts[3]
        cdef Py_ssize_t before
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold, reader
        )
        parts[0] = memory_of(fresh, "fresh")
        parts[1] = memory_of(matches, "matches")
        parts[2] = memory_of(offsets, "offsets")
        check_apart(parts, 3, 2, "fresh, matches and offsets")
        if fresh.shape[0] != signatures.shape[0]:
            raise ValueError("fresh needs one element per document")
        if matches is not None and matches.shape[0] != signatures.shape[0]:
            raise ValueError("matches needs one element per document")
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
        if matches is not None:
            stream.matches = &matches[0]
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
        """Let queries find the documents from number `first` on, and no longer those of `gone`.

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

    # ---- queries

    cdef Question asked(
        self, const uint32_t[:, ::1] signatures, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        TextReader reader,
    ) except *:
        cdef Question question
        memset(&question, 0, sizeof(Question))
        self.check_settled()
        question.contained = mode == BY_CONTAINMENT
        if question.contained:
            mode = BY_SETS if reader is None else BY_TEXTS
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

    def query(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        Py_ssize_t limit, double[:, ::1] out not None, int64_t[::1] counts not None,
        const uint8_t[::1] halt not None, TextReader reader=None,
    ):
        """Find the documents that are similar to each given one.

        Stops before a document whose answers do not fit. Returns (the first document not done,
        how many answers, removed documents met). Ctrl-C is answered within `WORK` steps.

        Parameters
        ----------
        signatures, hashes, offsets, first, last, mode, threshold, reader
            As in `insert_unique`. Each thread needs a reader of its own.
        limit
            The most answers for each document; the best ones are kept.
        out
            float64 (room, 2), written: similarity and number of each answer; by document, best
            first, of equals the earlier. Not verified: similarity 1.
        counts
            int64 (last - first,), written: answers of each document.
        halt
            uint8 (1,): another thread writes 1 into it to stop this call.
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

    # ---- compaction

    def begin_compact(self, object ids):
        """Begin to drop the removed documents. The others get new numbers and these ids.

        From now on nothing can fail. `go_on` must be called until it returns False.
        """
        cdef Desk desk
        self.check_room(0, 0)
        self.check_sets()
        desk = new_desk(&self.t, self.t.n)
        memset(&self.sweep, 0, sizeof(Sweep))
        self.sweep.desk = desk
        self.sweep.phase = MOVING
        self.ids = ids

    @property
    def unsettled(self):
        """Whether a change is under way in some thread, or a compaction has not ended."""
        return self.changing or self.sweep.phase != 0

    def go_on(self):
        """Do a part of the compaction, if one has begun; return whether more is left."""
        if self.sweep.phase:
            self.changing = True
            with nogil:
                sweep_some(&self.t, &self.sweep)
            self.changing = False
            if self.sweep.phase == 0:
                self.dead = 0
                PyMem_RawFree(self.sweep.desk.tags)
                self.sweep.desk.tags = NULL
                check_sound(self.sweep.damaged)
        return self.sweep.phase != 0
