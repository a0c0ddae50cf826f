# A document's signature, and its band keys while the signature is in the cache.

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
