from libc.stdint cimport uint64_t

from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.keyed cimport Keyed
from fastlsh._kernels.text.points cimport PointTables
from fastlsh._kernels.text.source cimport Hashing, HashList


cdef class ShinglePlan:
    cdef Hashing plan
    cdef HashList words
    cdef HashList ignored
    cdef Keyed keyed
    cdef uint64_t* points       # KNOWN_POINTS of them, entering; and leaving, of CHARACTERS
    cdef uint64_t* basic        # SHORT tables of them, of words; or NULL
    cdef uint64_t* ids          # KNOWN_IDS of them, or NULL

    cdef int take_secret(self, const uint64_t[::1] secret) except -1


cdef PointTables points

cdef int check_plan(int unit, Py_ssize_t size) except -1
cdef const Hashing* plan_of(
    Hashing* own, int unit, Py_ssize_t size, ShinglePlan prepared
) except NULL
cdef int check_documents(Spans spans, int unit) except -1
cdef uint64_t[::1] new_window(Py_ssize_t size, Py_ssize_t longest)
cdef Py_ssize_t longest_of(Spans spans) noexcept
