"""What others share: the loops of an instruction set, and blocks whose end Ctrl-C cannot skip."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cython cimport no_gc_clear

from threading import RLock

from fastlsh._kernels.loops.table cimport Loops


# ---- Which instruction sets this machine offers, and the loops of the one that was chosen.

cdef extern from *:
    """
    #if defined(__x86_64__) || defined(_M_X64)
    #if defined(_MSC_VER)
    #include <intrin.h>
    static void fastlsh_cpuid(int leaf, int sub, unsigned r[4]) { __cpuidex((int*) r, leaf, sub); }
    static unsigned long long fastlsh_xcr0(void) { return _xgetbv(0); }
    #else
    #include <cpuid.h>
    static void fastlsh_cpuid(int leaf, int sub, unsigned r[4]) {
        r[0] = r[1] = r[2] = r[3] = 0;
        __get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3]);
    }
    static unsigned long long fastlsh_xcr0(void) {
        unsigned low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        return ((unsigned long long) high << 32) | low;
    }
    #endif
    /* 0: below x86-64-v2, 1: x86-64-v2, 2: AVX2 with FMA, BMI and PCLMUL, 3: AVX-512 F CD BW DQ VL.
       Both the processor and the operating system (the saved registers) must agree. */
    static int fastlsh_level(void) {
        unsigned one[4], seven[4], extended[4];
        unsigned long long saved;
        const unsigned v2 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;
        const unsigned bmi = 1u << 3 | 1u << 5 | 1u << 8;
        const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
        fastlsh_cpuid(1, 0, one);
        if ((one[2] & v2) != v2) return 0;
        if (!(one[2] >> 27 & 1) || !(one[2] >> 28 & 1) || !(one[2] >> 12 & 1)) return 1;
        if (!(one[2] >> 1 & 1)) return 1;
        saved = fastlsh_xcr0();
        fastlsh_cpuid(7, 0, seven);
        fastlsh_cpuid((int) 0x80000001, 0, extended);
        if ((saved & 0x6) != 0x6 || (seven[1] & bmi) != bmi || !(extended[2] >> 5 & 1)) return 1;
        if ((saved & 0xE6) != 0xE6 || (seven[1] & avx512) != avx512) return 2;
        return 3;
    }
    #else
    static int fastlsh_level(void) { return 1; }
    #endif
    """
    int fastlsh_level()
    enum:
        FASTLSH_BUILT           # so many, from the first on: setup.py


def instruction_sets():
    """Return the names of the usable instruction sets, slowest first; empty below x86-64-v2."""
    return ("baseline", "avx2", "avx512")[: min(fastlsh_level(), FASTLSH_BUILT)]


def use_loops(table not None):
    """Call these loops from now on: `LOOPS` of the module of an instruction set.

    At import, and in tests; not while a kernel runs.
    """
    global loops
    loops = (<const Loops*> PyCapsule_GetPointer(table, "fastlsh.loops"))[0]


# ---- Locks and transactions.

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
