# Called from Python: texts normalised.
# With entries.pxi and rewrite.pxi.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

import numpy as np

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.text._texts cimport ROOM, Span, Spans, new_spans
from fastlsh._kernels.text.steps cimport (
    BLANKS_STAY, MARKS_STAY, TABLE, WINDOW, Blanks, Marks, Plan, Walk,
)
from fastlsh._kernels.text.unicode_data cimport NO_FORM, Form

FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
MARKS = (None, "space", "remove")
BLANKS = (None, "remove", "collapse")


cdef class Normaliser:
    """The steps of a normalisation, in this order; made once, used by any thread.

    Parameters
    ----------
    form
        One of `FORMS`.
    lowercase, numbers
        Whether to do these.
    punctuation
        One of `MARKS`.
    characters
        uint32, ascending: what counts as punctuation; None: what the specification says.
    accents
        Whether to strip them.
    blanks
        One of `BLANKS`: what becomes of whitespace.
    """

    cdef Plan plan
    cdef object chosen

    def __cinit__(
        self, form=None, bint lowercase=False, bint numbers=False, punctuation=None,
        const uint32_t[::1] characters=None, bint accents=False, blanks=None,
    ):
        cdef Py_ssize_t i
        memset(&self.plan, 0, sizeof(Plan))
        self.plan.form = <Form> (<int> FORMS.index(form) - 1)
        self.plan.lowercase = lowercase
        self.plan.numbers = numbers
        self.plan.marks = <Marks> <int> MARKS.index(punctuation)
        self.plan.accents = accents
        self.plan.blanks = <Blanks> <int> BLANKS.index(blanks)
        if characters is not None:
            memory_of(characters, "characters")
            for i in range(characters.shape[0] - 1):
                if characters[i] >= characters[i + 1]:
                    raise ValueError("characters must ascend")
            self.chosen = characters
            self.plan.chosen = &characters[0] if characters.shape[0] else &nothing
            self.plan.n_chosen = characters.shape[0]
        self.plan.rewrites = (
            lowercase or numbers or accents or self.plan.marks != MARKS_STAY
            or self.plan.blanks != BLANKS_STAY
        )
        if self.plan.rewrites:
            self.plan.entry = <uint32_t*> PyMem_Malloc(TABLE * sizeof(uint32_t))
            if self.plan.entry == NULL:
                raise MemoryError()
        if self.plan.form != NO_FORM:
            self.plan.loose = <uint8_t*> PyMem_Calloc(0x110000 >> 3, 1)
            if self.plan.loose == NULL:
                raise MemoryError()
        with nogil:
            fill_plan(&self.plan)

    def __dealloc__(self):
        PyMem_Free(self.plan.entry)
        PyMem_Free(self.plan.loose)

    def normalised(self, Spans spans not None):
        """Return the texts of a batch normalised, each in the width that Python would take."""
        return self._normalised(spans, None, None)

    def traced(self, Spans spans not None):
        """Return the only text of a batch normalised, and where each code point comes from.

        Returns
        -------
        Spans, ndarray of int64, shape (m, 2)
            The text; where each of its code points begins and ends in the one given. Both ascend:
            code points that changed places come from all of these places.
        """
        if spans.n != 1:
            raise ValueError(f"expected one text, got {spans.n}")
        if spans.tokens:
            raise TypeError("token ids are not normalised: texts are")
        points = max(self._points(spans), spans.at[0].length)
        formed = own_places(points)
        rewritten = own_places(3 * points) if self.plan.rewrites else formed
        result = self._normalised(spans, formed, rewritten)
        begins, ends = rewritten[: (<Spans> result).at[0].length].T
        if self.plan.rewrites and self.plan.form != NO_FORM:
            begins, ends = formed[begins, 0], formed[ends - 1, 1]
        begins = np.minimum.accumulate(begins[::-1])[::-1]
        return result, np.stack([begins, np.maximum.accumulate(ends)], 1)

    cdef Py_ssize_t _points(self, Spans spans):
        # Of the only text in the form, at most.
        cdef Span copy = spans.at[0]
        cdef Py_ssize_t longest = 0
        if self.plan.form == NO_FORM:
            return 0
        with nogil:
            room_to_form(&self.plan, &copy, 1, &longest)
        return longest

    cdef Spans _normalised(self, Spans spans, int64_t[:, ::1] formed, int64_t[:, ::1] rewritten):
        cdef Spans result = new_spans(spans.n)
        cdef Py_ssize_t longest = 0
        cdef Py_ssize_t total = 0
        cdef bint done = False
        cdef uint32_t* spare
        cdef Walk walk
        if spans.tokens:
            raise TypeError("token ids are not normalised: texts are")
        if spans.n:
            memcpy(result.at, spans.at, spans.n * sizeof(Span))
        result.owners.append(spans)
        if self.plan.form != NO_FORM:
            with nogil:
                total = room_to_form(&self.plan, result.at, result.n, &longest)
        if total:
            memset(&walk, 0, sizeof(Walk))
            walk.out = new_room(result, total, longest)
            spare = <uint32_t*> (walk.out + total)
            if formed is not None and formed.shape[0]:
                walk.work.origin = &formed[0, 0]
            while not done:
                PyErr_CheckSignals()
                with nogil:
                    done = form_more(&self.plan, result.at, result.n, &walk, spare)
        if not self.plan.rewrites:
            return result
        longest = 0
        with nogil:
            total = room_to_rewrite(&self.plan, result.at, result.n, &longest)
        total = (total + 3) // 4 * 4 + 4 * (WINDOW + 8)     # windows are written as a whole
        memset(&walk, 0, sizeof(Walk))
        walk.out = new_room(result, total, longest)
        spare = <uint32_t*> (walk.out + total)
        if rewritten is not None and rewritten.shape[0]:
            walk.work.origin = &rewritten[0, 0]
        done = False
        while not done:
            PyErr_CheckSignals()
            with nogil:
                done = rewrite_more(&self.plan, result.at, result.n, &walk, spare)
        return result


cdef const uint32_t nothing = 0


cdef object own_places(Py_ssize_t points):
    # Of code points that stay what and where they are.
    places = np.empty((points, 2), np.int64)
    places[:, 0] = np.arange(points)
    places[:, 1] = places[:, 0] + 1
    return places


cdef char* new_room(Spans spans, Py_ssize_t total, Py_ssize_t spare) except NULL:
    # What is not written costs nothing.
    cdef bytes buffer = PyBytes_FromStringAndSize(NULL, ROOM + total + 4 * spare)
    spans.owners.append(buffer)
    return PyBytes_AS_STRING(buffer) + ROOM
