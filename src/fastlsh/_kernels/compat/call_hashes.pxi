# Called from Python: hashes of tokens, as datasketch makes them. With sha1.pxi.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE
from libc.stdint cimport uint32_t, uint64_t

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.source cimport BLOCK


def sha1_hashes(list tokens not None, hashes not None):
    """Write the start of the SHA-1 digest of each token, as a little-endian number.

    Parameters
    ----------
    tokens
        bytes. It must not change meanwhile.
    hashes
        uint32 (n,), for the first four bytes; or uint64 (n,), for the first eight.

    Returns
    -------
    bool
        False, and nothing of use in `hashes`, if a token is not bytes.
    """
    cdef uint32_t[::1] narrow = None
    cdef uint64_t[::1] wide = None
    cdef Span at[BLOCK]
    cdef uint64_t digests[BLOCK]
    cdef Py_ssize_t n = len(tokens)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, m
    if hashes.itemsize == 4:
        narrow = hashes
    else:
        wide = hashes
    check_room(narrow, wide, n)
    while start < n:
        m = min(n - start, <Py_ssize_t> BLOCK)
        for i in range(m):
            token = tokens[start + i]
            if not PyBytes_Check(token):
                return False
            at[i].text = PyBytes_AS_STRING(token)
            at[i].length = PyBytes_GET_SIZE(token)
        with nogil:
            if wide is None:
                sha1_many(at, m, digests)
                narrow_words(digests, m, &narrow[start])
            else:
                sha1_many(at, m, &wide[start])
        start += m
    return True


def called_hashes(hashfunc, elements not None, hashes not None):
    """Write what a Python function makes of each element, an integer.

    Parameters
    ----------
    hashfunc
        Called with each element; None: the elements are the hashes.
    elements
        list.
    hashes
        uint32 (n,) or uint64 (n,).

    Returns
    -------
    int, object
        How many were written, and what `hashfunc` returned next: short of n, that is no int or
        does not fit.
    """
    cdef uint32_t[::1] narrow = None
    cdef uint64_t[::1] wide = None
    cdef Py_ssize_t n = len(elements)
    cdef Py_ssize_t i = 0
    cdef size_t h
    if hashes.itemsize == 4:
        narrow = hashes
    else:
        wide = hashes
    check_room(narrow, wide, n)
    value = None
    for element in <list?> elements:
        if i == n:
            break
        value = element if hashfunc is None else hashfunc(element)
        if type(value) is not int:
            return i, value
        try:
            h = value
        except OverflowError:
            return i, value
        if wide is not None:
            wide[i] = h
        elif h >> 16 >> 16:
            return i, value
        else:
            narrow[i] = <uint32_t> h
        i += 1
    if i < n:
        raise RuntimeError("the list of elements changed while they were hashed")
    return n, None


cdef int check_room(const uint32_t[::1] narrow, const uint64_t[::1] wide, Py_ssize_t n) except -1:
    cdef Py_ssize_t room = narrow.shape[0] if wide is None else wide.shape[0]
    if room != n:
        raise ValueError(f"hashes has {room} elements, expected {n}")
    memory_of(narrow, "hashes")
    memory_of(wide, "hashes")
    return 0
