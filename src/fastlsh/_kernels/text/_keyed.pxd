from libc.stdint cimport uint64_t

from fastlsh._kernels.text.keyed cimport Keyed
from fastlsh._kernels.text.source cimport Plan


cdef class KeyedPlan:
    cdef Plan plan
    cdef Keyed keyed
    cdef uint64_t* table        # of token ids or code points, or NULL
