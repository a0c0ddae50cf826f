# Called from Python: an index without its removed documents. The loops run without the GIL.
# With lookups.pxi and memory.pxi.

from libc.string cimport memset

from fastlsh._kernels.index.tables cimport Desk


cdef class TableCompaction(TableChanges):
    """What removed documents leave behind, and how it goes. Parameters as in `TableChanges`."""

    def __dealloc__(self):
        PyMem_RawFree(self.sweep.desk.tags)

    def begin_compact(self, object ids):
        """Forget the removed documents; the others move up and have these ids.

        From here on nothing can fail, and `go_on` must be called before anything else is.
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
        """Do a part of the compaction, if one has begun; return whether it is to go on."""
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
