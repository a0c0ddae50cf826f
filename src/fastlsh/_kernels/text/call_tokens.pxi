# Called from Python: the hashes of ready tokens.
#
# With the GIL held, as measured: fetching the tokens from memory takes the time, and hashing them
# goes on meanwhile. To hold references and release the GIL before the hashing takes 1.5 to 2 times
# as long in all, and a quarter more with the GIL held.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.text._texts cimport number_of
from fastlsh._kernels.text.keyed cimport SHORT, Keyed, keyed_points
from fastlsh._kernels.text.keyed_runs cimport keyed_polynomial
from fastlsh._kernels.text.polynomials cimport of_points, polynomial
from fastlsh._kernels.text.unicode cimport (
    PyUnicode_Check, PyUnicode_DATA, PyUnicode_DecodeUTF8, PyUnicode_GET_LENGTH,
    PyUnicode_IS_COMPACT, PyUnicode_KIND, fastlsh_ready,
)

cdef extern from *:
    """
    #if defined(Py_GIL_DISABLED)
    #define FASTLSH_STABLE_LISTS 0
    #else
    #define FASTLSH_STABLE_LISTS 1
    #endif
    """
    bint STABLE_LISTS "FASTLSH_STABLE_LISTS"    # the GIL keeps other threads from changing them

cdef extern from "Python.h":
    bint PyList_CheckExact(object items)
    tuple PySequence_Tuple(object items)
    Py_ssize_t PySequence_Fast_GET_SIZE(object items)
    PyObject* PySequence_Fast_GET_ITEM(object items, Py_ssize_t i)

cdef enum:
    TOKENS_AHEAD = 24                  # tokens whose heads are on their way from memory


cdef inline uint64_t str_polynomial(object token, const Keyed* key) except? 0:
    cdef Py_ssize_t n
    fastlsh_ready(token)
    if key != NULL:
        return str_polynomial_keyed(token, key)
    n = PyUnicode_GET_LENGTH(token)
    if PyUnicode_KIND(token) == 1:
        # In front of compact text lies the head of the object.
        return polynomial(
            <const uint8_t*> PyUnicode_DATA(token), n, PyUnicode_IS_COMPACT(token) or n >= SHORT
        )
    if PyUnicode_KIND(token) == 2:
        return of_points(<const uint16_t*> PyUnicode_DATA(token), n)
    return of_points(<const uint32_t*> PyUnicode_DATA(token), n)


cdef uint64_t str_polynomial_keyed(object token, const Keyed* key) noexcept:
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(token)
    if PyUnicode_KIND(token) == 1:
        return keyed_polynomial(
            key, <const uint8_t*> PyUnicode_DATA(token), n,
            PyUnicode_IS_COMPACT(token) or n >= SHORT,
        )
    if PyUnicode_KIND(token) == 2:
        return keyed_points(key, <const uint16_t*> PyUnicode_DATA(token), n)
    return keyed_points(key, <const uint32_t*> PyUnicode_DATA(token), n)


cdef uint64_t bytes_polynomial(object token, const Keyed* key) except? 0:
    cdef const uint8_t* data = <const uint8_t*> PyBytes_AS_STRING(token)
    cdef Py_ssize_t n = PyBytes_GET_SIZE(token)
    cdef uint8_t seen = 0
    cdef Py_ssize_t i
    for i in range(n):
        seen |= data[i]
    if seen < 0x80:
        return polynomial(data, n, True) if key == NULL else keyed_polynomial(key, data, n, True)
    return str_polynomial(PyUnicode_DecodeUTF8(<const char*> data, n, "strict"), key)


cdef Py_ssize_t read_document(
    object tokens, Py_ssize_t n, const Keyed* key, uint64_t* out
) except -1:
    # A list or tuple of at least n tokens, which nobody changes meanwhile. Returns how many are
    # str or bytes: less than n if one is of another type.
    cdef PyObject* token        # borrowed: counting references takes as long as hashing
    cdef Py_ssize_t i
    for i in range(n):
        prefetch(<const void*> PySequence_Fast_GET_ITEM(tokens, min(i + TOKENS_AHEAD, n - 1)))
        token = PySequence_Fast_GET_ITEM(tokens, i)
        if PyUnicode_Check(<object> token):
            out[i] = str_polynomial(<object> token, key)
        elif PyBytes_Check(<object> token):
            out[i] = bytes_polynomial(<object> token, key)
        else:
            return i
    return n


def token_hashes(
    list documents not None, int64_t[::1] offsets not None, Py_ssize_t first=0, ids=None,
    ShinglePlan prepared=None,
):
    """Return what `token_signatures` takes for the tokens of each document, uint64 (total,).

    Parameters
    ----------
    documents
        Of each an iterable of str or bytes (UTF-8). They may be changed at any time.
    offsets
        int64 (n + 1,), written: document d has the tokens offsets[d] ... offsets[d + 1] - 1.
    first
        The number of the first document, for error messages.
    ids
        The numbers of the documents where they do not follow each other.
    prepared
        Hashes with a key.
    """
    cdef const Keyed* key = NULL if prepared is None else prepared.plan.keyed
    cdef Py_ssize_t count = len(documents)
    cdef Py_ssize_t d, n, good
    cdef Py_ssize_t total = 0
    if offsets.shape[0] != count + 1:
        raise ValueError(f"offsets has {offsets.shape[0]} elements, expected {count + 1}")
    memory_of(offsets, "offsets")
    offsets[0] = 0
    out = np.empty(64 * count, np.uint64)
    cdef uint64_t[::1] view = out
    for d in range(count):
        if d >= len(documents):             # what makes a tuple of tokens may be anyone's code
            raise RuntimeError("the list of documents changed while it was read")
        tokens = documents[d]
        if isinstance(tokens, (str, bytes)):
            raise TypeError(
                f"document {number_of(first, ids, d)} is one "
                f"{type(tokens).__name__}, expected a list of tokens"
            )
        if not (STABLE_LISTS and PyList_CheckExact(tokens)):
            tokens = PySequence_Tuple(tokens)
        n = PySequence_Fast_GET_SIZE(tokens)
        while total + n > view.shape[0]:
            out = grown(out, total, total + n)
            view = out
            n = PySequence_Fast_GET_SIZE(tokens)    # other code ran, which may have changed it
        if n:
            try:
                good = read_document(tokens, n, key, &view[total])
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"document {number_of(first, ids, d)} is not valid UTF-8: "
                    f"{error.reason} at byte {error.start}"
                ) from None
            if good < n:
                raise TypeError(
                    f"document {number_of(first, ids, d)} has a token of type "
                    f"{type(tokens[good]).__name__}, expected str or bytes (UTF-8)"
                )
        total += n
        offsets[d + 1] = total
    return out[:total]


cdef object grown(object values, Py_ssize_t used, Py_ssize_t needed):
    larger = np.empty(max(needed, 2 * len(values)), np.uint64)
    larger[:used] = values[:used]
    return larger
