"""Which instruction sets this machine offers, and the loops of the one that was chosen."""

from cpython.pycapsule cimport PyCapsule_GetPointer

from fastlsh._kernels.loops.table cimport Loops

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
