from libc.stdint cimport uint64_t

from fastlsh._kernels.text.keyed cimport Keyed
from fastlsh._kernels.text.source cimport Plan


cdef class KeyedPlan:
    cdef Plan plan
    cdef Keyed keyed
    cdef uint64_t* plane        # of the code points of plane 0, entering and leaving
    cdef uint64_t* ids          # KNOWN_IDS of them, or NULL
