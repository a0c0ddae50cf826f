"""Blocks whose end Ctrl-C cannot skip: locks and transactions."""

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


cdef enum:
    UNUSED
    OPEN
    ENDED


@no_gc_clear
cdef class Transaction:
    """A ``with`` block that is committed at its end, or rolled back if there is an error.

    A generator or a Python method cannot promise that: Ctrl-C may arrive when ``__exit__`` is
    called, and then none of its lines runs. No signal is handled in the methods of this class. An
    interrupt in a method of `work` is an error like any other, and ``rollback`` is repeated until
    it has not been interrupted.

    Parameters
    ----------
    work
        An object with the methods ``begin()``, whose result is given to ``as``, ``commit()`` and
        ``rollback(error)``. The last is called if the block, ``begin`` or ``commit`` has failed,
        wherever that was, perhaps several times. It may raise another error instead of the given
        one, once everything is undone.
    """

    cdef object work
    cdef int state

    def __cinit__(self, work not None):
        self.work = work
        self.state = UNUSED

    def __enter__(self):
        if self.state != UNUSED:
            raise RuntimeError("a Transaction is for one block")
        self.state = OPEN
        try:
            return self.work.begin()
        except BaseException as error:
            self._roll_back(error)
            raise

    def __exit__(self, kind, error, traceback):
        if self.state != OPEN:
            return
        if kind is None:
            try:
                self.work.commit()
                self.state = ENDED
            except BaseException as failure:
                self._roll_back(failure)
                raise
        else:
            self._roll_back(error)

    def __del__(self):
        """Roll back a block that was interrupted before it began, as `Hold` lets go."""
        if self.state == OPEN:
            self._roll_back(GeneratorExit())

    cdef int _roll_back(self, error) except -1:
        interrupt = None
        self.state = ENDED
        while True:
            try:
                self.work.rollback(error)
                break
            except Exception:
                raise
            except BaseException as again:
                interrupt = again
        if interrupt is not None and interrupt is not error:
            raise interrupt
        return 0
