# A document's signature, and its band keys while the signature is in the cache.
# With minima.pxi, fss.pxi, words.pxi and hashes.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.candidates.bandkeys cimport band_key, is_empty_row
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.minhash.signer cimport FSS, Signer
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.source cimport Hashing, Source, element

cdef enum:
    FETCHED = 4096      # bytes of a text


cdef void sign(
    const Source* document, const Signer* how, uint32_t* row, uint64_t* keys
) noexcept nogil:
    cdef Py_ssize_t band
    cdef bint empty
    memset(row, 0xFF, how.k * sizeof(uint32_t))
    if how.scheme == FSS:
        sign_fss(document, how, row)
    else:
        sign_affine32(document, how, row)
    if how.bands == 0:
        return
    empty = is_empty_row(row, how.k)
    for band in range(how.bands):
        keys[band * how.stride] = 0 if empty else band_key(row + band * how.rows, how.rows, band)


cdef inline void fetch_text(const Span* span) noexcept nogil:
    # The text is needed when that of its predecessor has been signed. The processor itself fetches
    # most of a long text.
    cdef const char* text = <const char*> span.text
    cdef Py_ssize_t place = 0
    cdef Py_ssize_t size = min(span.length * span.kind, <Py_ssize_t> FETCHED)
    while place < size:
        prefetch(text + place)
        place += 64


cdef void sign_texts(
    const Span* at, Py_ssize_t n, const Hashing* plan, const Signer* how, uint64_t* window,
    uint32_t* rows, uint64_t* keys
) noexcept nogil:
    cdef Source source
    cdef Py_ssize_t i
    for i in range(n):
        if i + 1 < n:
            fetch_text(at + i + 1)
        open_text(&source, plan, at + i, window)
        sign(&source, how, rows + i * how.k, keys + i if how.bands else NULL)


cdef void sign_tokens(
    const uint64_t* tokens, const int64_t* offsets, Py_ssize_t n, const Hashing* plan,
    const Signer* how, uint64_t* window, uint32_t* rows, uint64_t* keys
) noexcept nogil:
    cdef Source source
    cdef Py_ssize_t i
    for i in range(n):
        open_tokens(&source, plan, tokens + offsets[i], offsets[i + 1] - offsets[i], window)
        sign(&source, how, rows + i * how.k, keys + i if how.bands else NULL)


cdef void sign_hashes(
    const element* hashes, const int64_t* offsets, Py_ssize_t n, const Signer* how, uint32_t* rows
) noexcept nogil:
    cdef Source source
    cdef Py_ssize_t i
    for i in range(n):
        open_hashes(
            &source, hashes + offsets[i], element is uint64_t, offsets[i + 1] - offsets[i]
        )
        sign(&source, how, rows + i * how.k, NULL)
