# A document's signature, and its band keys while the signature is in the cache.
# With minima.pxi and fss.pxi.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.candidates.bandkeys cimport band_key, is_empty_row
from fastlsh._kernels.minhash.signer cimport FSS, Signer
from fastlsh._kernels.text.source cimport Source


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
