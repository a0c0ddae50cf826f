from fastlsh._kernels.loops.table cimport Loops

cdef Loops loops        # those of the instruction set that was chosen
