"""Locks that Ctrl-C cannot leave locked."""

from threading import RLock

from cython cimport no_gc_clear

cdef object RLOCK = type(RLock())


@no_gc_clear
cdef class Hold:
    """Holds a lock for a ``with`` block, which is told whether this thread held it before.

    CPython 3.14 looks for signals between ``__enter__`` and the block. Whoever is interrupted there
    never reaches ``__exit__``, and ``with lock`` would leave the lock locked for ever. This object,
    however, is then dropped with the rest of the frame, and lets go.

    Parameters
    ----------
    lock
        A ``threading.RLock``.
    """

    cdef object lock
    cdef bint held

    def __cinit__(self, lock not None):
        if type(lock) is not RLOCK:
            raise TypeError(f"lock must be a threading.RLock, got {type(lock).__name__}")
        self.lock = lock

    def __enter__(self):
        if self.held:
            raise RuntimeError("a Hold is for one block")
        nested = self.lock._is_owned()
        self.lock.acquire()
        self.held = True
        return nested

    def __exit__(self, kind, error, traceback):
        self._let_go()

    def __dealloc__(self):
        self._let_go()

    cdef int _let_go(self) except -1:
        if self.held:
            self.held = False
            self.lock.release()
        return 0
