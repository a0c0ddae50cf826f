# Called from Python: the sketches of datasketch. The loops run without the GIL.
# With sha1.pxi.

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint32_t, uint64_t

import numpy as np

from fastlsh._kernels.common.checks cimport (
    Memory, check_aligned, check_apart, check_offsets, memory_of,
)
from fastlsh._kernels.compat.functions cimport Functions
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.minhash.signer cimport AFFINE32, AFFINE64, LEGACY, PRIME61
from fastlsh._kernels.text._texts cimport Span


cdef class Permutations:
    """The functions of a scheme, and the minima of what they make of element hashes.

    Parameters
    ----------
    scheme
        `AFFINE32`, `AFFINE64`, `LEGACY` or `PRIME61`.
    coefficients
        Integers (2, k): a and b of the functions. They are taken as the scheme's type: uint32
        for `AFFINE32`, else uint64. Of that type are the rows of minima, updated in place.
    """

    cdef readonly int scheme
    cdef readonly Py_ssize_t k
    cdef readonly object coefficients
    cdef const uint32_t[:, ::1] narrow
    cdef const uint64_t[:, ::1] wide

    def __cinit__(self, int scheme, coefficients not None):
        if scheme not in (AFFINE32, AFFINE64, LEGACY, PRIME61):
            raise ValueError(
                f"scheme must be {AFFINE32} (affine32), {AFFINE64} (affine64), {LEGACY} (legacy) "
                f"or {PRIME61} (prime61), got {scheme}"
            )
        dtype = np.uint32 if scheme == AFFINE32 else np.uint64
        values = np.require(coefficients, dtype, ["C", "A"])
        if values.ndim != 2 or values.shape[0] != 2 or values.shape[1] < 1:
            raise ValueError(f"coefficients has shape {values.shape}, expected (2, at least 1)")
        self.scheme = scheme
        self.k = values.shape[1]
        self.coefficients = coefficients
        if scheme == AFFINE32:
            self.narrow = values
        else:
            self.wide = values

    cdef Functions functions(self) noexcept:
        cdef Functions functions
        functions.scheme = self.scheme
        functions.k = self.k
        functions.a32 = functions.b32 = NULL
        functions.a64 = functions.b64 = NULL
        if self.scheme == AFFINE32:
            functions.a32 = &self.narrow[0, 0]
            functions.b32 = &self.narrow[1, 0]
        else:
            functions.a64 = &self.wide[0, 0]
            functions.b64 = &self.wide[1, 0]
        return functions

    def add_token(self, bytes token not None, row not None):
        """Take one token, hashed by SHA-1, into `row`, (k,)."""
        cdef Functions functions
        cdef Py_buffer view
        cdef Span at
        cdef uint64_t digest
        cdef uint32_t narrow
        cdef Py_ssize_t width = 4 if self.scheme == AFFINE32 else 8
        at.text = PyBytes_AS_STRING(token)
        at.length = PyBytes_GET_SIZE(token)
        # A buffer without a type: a typed view would cost as much as all else here.
        PyObject_GetBuffer(row, &view, PyBUF_WRITABLE)
        try:
            if view.len != self.k * width:
                raise ValueError(f"row has {view.len} bytes, expected {self.k * width}")
            check_aligned(view.buf, width, "row")
            sha1_many(&at, 1, &digest)
            narrow = <uint32_t> digest
            if self.scheme == LEGACY:
                digest = narrow
            functions = self.functions()
            loops.permute(
                &functions, <void*> &narrow if width == 4 else <void*> &digest, 1, view.buf
            )
        finally:
            PyBuffer_Release(&view)

    def add_hashes(self, hashes not None, rows not None, const int64_t[::1] offsets=None):
        """Take the elements of sets: set d has hashes[offsets[d]:offsets[d + 1]].

        Parameters
        ----------
        hashes
            (total,), of the scheme's type.
        rows
            (n * k,), of the scheme's type: the row of each set.
        offsets
            int64 (n + 1,), not decreasing; default: one set of all hashes.
        """
        cdef const uint32_t[::1] hashes_32
        cdef const uint64_t[::1] hashes_64
        cdef uint32_t[::1] rows_32
        cdef uint64_t[::1] rows_64
        cdef Functions functions = self.functions()
        cdef Memory parts[2]
        cdef Py_ssize_t total, room
        cdef const void* from_ = NULL
        cdef void* to = NULL
        cdef Py_ssize_t n = 1
        if self.scheme == AFFINE32:
            hashes_32 = hashes
            rows_32 = rows
            total = hashes_32.shape[0]
            room = rows_32.shape[0]
            memory_of(hashes_32, "hashes")
            parts[0] = memory_of(rows_32, "rows")
            from_ = &hashes_32[0] if total else NULL
            to = &rows_32[0] if room else NULL
        else:
            hashes_64 = hashes
            rows_64 = rows
            total = hashes_64.shape[0]
            room = rows_64.shape[0]
            memory_of(hashes_64, "hashes")
            parts[0] = memory_of(rows_64, "rows")
            from_ = &hashes_64[0] if total else NULL
            to = &rows_64[0] if room else NULL
        if offsets is not None:
            n = offsets.shape[0] - 1
            check_offsets(offsets, n, total, "offsets")
            parts[1] = memory_of(offsets, "offsets")
            check_apart(parts, 2, 1, "rows and offsets")
        if room // self.k != n or room % self.k:
            raise ValueError(f"rows has {room} elements, expected {n} * {self.k}")
        if total == 0 or n == 0:
            return
        with nogil:
            if offsets is None:
                loops.permute(&functions, from_, total, to)
            else:
                permute_sets(&functions, from_, &offsets[0], n, to)


cdef void permute_sets(
    const Functions* f, const void* hashes, const int64_t* offsets, Py_ssize_t n, void* rows
) noexcept nogil:
    # Set d has the hashes from offsets[d] to offsets[d + 1], and row d.
    cdef Py_ssize_t width = sizeof(uint32_t) if f.scheme == AFFINE32 else sizeof(uint64_t)
    cdef Py_ssize_t d
    for d in range(n):
        loops.permute(
            f, <const char*> hashes + width * offsets[d], offsets[d + 1] - offsets[d],
            <char*> rows + width * f.k * d,
        )
