# Called from Python: the reader of the texts of an index.
# With memory.pxi and stored.pxi.

from libc.stdint cimport int64_t, uint64_t

from fastlsh._kernels.index.tables cimport Reader
from fastlsh._kernels.sets.sets cimport Workbench
from fastlsh._kernels.text._plans cimport ShinglePlan, plan_of
from fastlsh._kernels.text.source cimport Plan, room_for_window

cdef enum:
    ROOM_FOR_SETS = 1 << 18             # hashes at least: 2 MB


cdef class TextReader:
    """Makes the sets of texts that are compared, and keeps the latest ones.

    Parameters
    ----------
    unit, size
        As in `signatures`.
    prepared
        Hashes with a key, or without some words; for this unit and size.
    """

    cdef Plan plan
    cdef ShinglePlan prepared
    cdef Reader reader
    cdef Py_ssize_t size

    def __cinit__(self, int unit, Py_ssize_t size, ShinglePlan prepared=None):
        self.reader.plan = plan_of(&self.plan, unit, size, prepared)
        self.prepared = prepared
        self.size = size
        self.reader.longest = -1
        self.reader.bench = <Workbench*> PyMem_RawMalloc(sizeof(Workbench))
        if self.reader.bench == NULL:
            raise MemoryError()

    def __dealloc__(self):
        PyMem_RawFree(self.reader.bench)
        PyMem_RawFree(self.reader.window)
        PyMem_RawFree(self.reader.sets)

    cdef Reader* begun(self, int64_t longest) except NULL:
        # The numbers may belong to other documents since the last call.
        cdef Py_ssize_t most
        if longest > self.reader.longest:
            if longest > MOST_BYTES >> 8:
                raise MemoryError()
            most = most_hashes(longest)
            self.reader.longest = -1
            resize(
                <void**> &self.reader.window, room_for_window(self.size, most), sizeof(uint64_t)
            )
            resize(<void**> &self.reader.sets, 2 * most + ROOM_FOR_SETS, sizeof(uint64_t))
            self.reader.room = 2 * most + ROOM_FOR_SETS
            self.reader.longest = longest
        forget_sets(&self.reader)
        return &self.reader
