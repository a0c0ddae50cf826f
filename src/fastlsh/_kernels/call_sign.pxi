# Called from Python: signatures and band keys. The loops run without the GIL.


def signatures(
    Spans spans not None, int unit, Py_ssize_t size,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Write the minima of each text's shingles into `out`, uint32 (n, k); empty text: all ones.

    Parameters
    ----------
    spans
        The texts.
    unit, size
        `CHARACTERS` or `WORDS`, and how many make a shingle.
    a, b
        uint32 (k,): the coefficients of the k functions a * x + b mod 2^32.
    """
    cdef Plan plan
    cdef Source source
    cdef Py_ssize_t i
    check_plan(unit, size)
    check_minima(a, b, out, spans.n)
    cdef uint64_t[::1] ring = new_ring(size, longest_of(spans) if unit == WORDS else 0)
    if spans.n == 0:
        return
    with nogil:
        make_plan(&plan, unit, size)
        for i in range(spans.n):
            open_text(&source, &plan, &spans.at[i], &ring[0])
            sign_source(&source, &a[0], &b[0], a.shape[0], &out[i, 0])


def token_signatures(
    Spans tokens not None, const int64_t[::1] offsets not None, Py_ssize_t size,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Write the minima of token shingles: document d has the tokens offsets[d] ... offsets[d + 1].

    Parameters and result as in `signatures`; offsets int64 (n + 1,).
    """
    cdef Plan plan
    cdef Source source
    cdef Py_ssize_t i
    cdef Py_ssize_t n = offsets.shape[0] - 1
    check_plan(WORDS, size)
    check_offsets(offsets, n, tokens.n, "offsets")
    check_minima(a, b, out, n)
    cdef uint64_t[::1] ring = new_ring(size, tokens.n)
    if n == 0:
        return
    with nogil:
        make_plan(&plan, WORDS, size)
        for i in range(n):
            open_tokens(
                &source, &plan, tokens.at + offsets[i], offsets[i + 1] - offsets[i], &ring[0]
            )
            sign_source(&source, &a[0], &b[0], a.shape[0], &out[i, 0])


ctypedef fused element:
    uint32_t
    uint64_t


def hash_signatures(
    const element[::1] hashes not None, const int64_t[::1] offsets not None,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Write the minima of ready hashes: document d has hashes[offsets[d]:offsets[d + 1]].

    Parameters
    ----------
    hashes
        uint32 or uint64 (total,).
    offsets
        int64 (n + 1,), not decreasing.
    a, b, out
        As in `signatures`.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef const element* values = NULL
    check_offsets(offsets, n, hashes.shape[0], "offsets")
    check_minima(a, b, out, n)
    if n == 0:
        return
    if hashes.shape[0]:
        values = &hashes[0]
        check_aligned(values, sizeof(element), "hashes")
    with nogil:
        for i in range(n):
            sign_hashes(
                values + offsets[i], element is uint64_t, offsets[i + 1] - offsets[i],
                &a[0], &b[0], a.shape[0], &out[i, 0],
            )


def band_keys(
    const uint32_t[:, ::1] signatures not None, Py_ssize_t first, Py_ssize_t rows,
    uint64_t[:, :] out not None,
):
    """Write the keys of the bands first, first + 1, ... into `out`, uint64 (bands, n).

    An empty document (all ones) has the key 0, every other one a key that is not 0. The keys of
    one band lie side by side in `out`, which may be a part of a wider array.
    """
    cdef Py_ssize_t n = signatures.shape[0]
    cdef Py_ssize_t bands = out.shape[0]
    if rows < 1 or first < 0 or (first + bands) * rows > signatures.shape[1]:
        raise ValueError(
            f"bands {first} to {first + bands} of {rows} rows do not lie in "
            f"{signatures.shape[1]} values"
        )
    if out.shape[1] != n:
        raise ValueError(f"out has {out.shape[1]} columns, expected {n}")
    if n == 0 or bands == 0:
        return
    if (n > 1 and out.strides[1] != 8) or out.strides[0] % 8 != 0:
        raise ValueError("the keys of a band must lie side by side in out")
    check_aligned(&signatures[0, 0], 4, "signatures")
    check_aligned(&out[0, 0], 8, "out")
    with nogil:
        keys_of_bands(
            &signatures[0, 0], n, signatures.shape[1], first, bands, rows, &out[0, 0],
            out.strides[0] // 8,
        )
