from libc.stdint cimport uint64_t

from fastlsh._kernels.text.keyed cimport Keyed
from fastlsh._kernels.text.source cimport Plan


cdef class ShinglePlan:
    cdef Plan plan
    cdef Keyed keyed
    cdef uint64_t* points       # KNOWN_POINTS of them, entering; and leaving, of CHARACTERS
    cdef uint64_t* basic        # SHORT tables of them, of words; or NULL
    cdef uint64_t* ids          # KNOWN_IDS of them, or NULL
