"""Signatures and band keys."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.candidates.bandkeys cimport band_key, four_band_keys, is_empty_row
from fastlsh._kernels.common.checks cimport (
    check_address, check_array, check_band_rows, check_matrix, check_offsets,
)
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.minhash.signer cimport (
    AFFINE32, AFFINE64, FSS, LEGACY, PRIME61, ROUNDS, Signer,
)
from fastlsh._kernels.text._plans cimport (
    ShinglePlan, check_documents, longest_of, new_window, plan_of,
)
from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport CHARACTERS, WORDS, Hashing, element


# ---- The keys of some bands of many signatures.

cdef enum:
    ROWS_AHEAD = 24         # of a few bands only pieces are read: no hardware sees that coming


cdef void keys_of_bands(
    const uint32_t* signatures, Py_ssize_t n, Py_ssize_t k,
    Py_ssize_t first, Py_ssize_t bands, Py_ssize_t rows, uint64_t* keys, Py_ssize_t stride
) noexcept nogil:
    # keys[b * stride + d] for the bands first ... first + bands - 1 of n signatures
    cdef const uint32_t* row
    cdef const uint32_t* values
    cdef Py_ssize_t d, b, i
    cdef Py_ssize_t width = bands * rows
    for d in range(n):
        row = signatures + d * k
        values = row + first * rows
        if d + ROWS_AHEAD < n:
            for i in range(0, width, 16):
                prefetch(values + ROWS_AHEAD * k + i)
            prefetch(values + ROWS_AHEAD * k + width - 1)
        if values[0] == <uint32_t> 0xFFFFFFFF and is_empty_row(row, k):     # no cache line more
            for b in range(bands):
                keys[b * stride + d] = 0
            continue
        b = 0
        while b + 4 <= bands:
            four_band_keys(values + b * rows, rows, first + b, keys + b * stride + d, stride)
            b += 4
        while b < bands:
            keys[b * stride + d] = band_key(values + b * rows, rows, first + b)
            b += 1


# ---- Called from Python: signatures and band keys. The loops run without the GIL.

globals().update(       # for callers
    AFFINE32=AFFINE32, AFFINE64=AFFINE64, FSS=FSS, LEGACY=LEGACY, PRIME61=PRIME61, ROUNDS=ROUNDS,
)


cdef int make_signer(
    Signer* how, int scheme, const uint32_t[::1] a, const uint32_t[::1] b,
    uint32_t[:, ::1] out, Py_ssize_t n, Py_ssize_t rows, uint64_t[:, :] keys
) except -1:
    cdef Py_ssize_t k = out.shape[1]
    cdef Py_ssize_t functions = k + ROUNDS if scheme == FSS else k
    if scheme != AFFINE32 and scheme != FSS:
        raise ValueError(f"scheme must be {AFFINE32} (affine32) or {FSS} (fss), got {scheme}")
    if out.shape[0] != n or not 1 <= k < 1 << 31:
        raise ValueError(f"out has shape ({out.shape[0]}, {k}), expected ({n}, at least 1)")
    if a.shape[0] != functions or b.shape[0] != functions:
        raise ValueError(
            f"{k} values need {functions} functions, got a of {a.shape[0]} and b of {b.shape[0]}"
        )
    check_array(a, "a")
    check_array(b, "b")
    check_matrix(out, "out")
    memset(how, 0, sizeof(Signer))
    how.scheme = scheme
    how.a = &a[0]
    how.b = &b[0]
    how.k = k
    if keys is not None and keys.shape[0]:
        check_band_rows(0, keys.shape[0], rows, k)
        if keys.shape[1] != n:
            raise ValueError(f"keys has {keys.shape[1]} columns, expected {n}")
        if n:
            check_address(&keys[0, 0], 8, "keys")
            if keys.strides[1] != 8 and n > 1 or keys.strides[0] % 8:
                raise ValueError("the keys of a band must lie one after the other")
            how.rows = rows
            how.bands = keys.shape[0]
            how.stride = keys.strides[0] // 8
    return 0


def signatures(
    Spans spans not None, int unit, Py_ssize_t size, int scheme,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
    Py_ssize_t rows=0, uint64_t[:, :] keys=None, ShinglePlan prepared=None,
):
    """Write the signature of each text into `out`, uint32 (n, k); empty text: all ones.

    Parameters
    ----------
    spans
        The texts.
    unit, size
        `CHARACTERS`, `WORDS`, `ALPHANUMERIC` or `ASCII_ALPHANUMERIC`, the last two with
        `WITH_EMPTY` or without, or `UNICODE_WORDS`; and how many make a shingle.
    scheme
        `AFFINE32` or `FSS`.
    a, b
        uint32: the coefficients of the functions a * x + b mod 2^32: k, with `FSS` k + `ROUNDS`.
    rows, keys
        Also write the keys of the first bands of `rows` rows: uint64 (bands, n).
    prepared
        Hashes with a key, or without some words; for this unit and size.
    """
    cdef Signer how
    cdef Hashing own
    cdef const Hashing* plan = plan_of(&own, unit, size, prepared)
    check_documents(spans, unit)
    make_signer(&how, scheme, a, b, out, spans.n, rows, keys)
    cdef uint64_t[::1] window = new_window(size, longest_of(spans) if unit != CHARACTERS else 0)
    cdef uint64_t* to_keys = &keys[0, 0] if how.bands else NULL
    if spans.n == 0:
        return
    with nogil:
        loops.sign_texts(spans.at, spans.n, plan, &how, &window[0], &out[0, 0], to_keys)


def token_signatures(
    const uint64_t[::1] tokens not None, const int64_t[::1] offsets not None, Py_ssize_t size,
    int scheme, const uint32_t[::1] a not None, const uint32_t[::1] b not None,
    uint32_t[:, ::1] out not None, Py_ssize_t rows=0, uint64_t[:, :] keys=None,
    ShinglePlan prepared=None,
):
    """Sign documents of tokens: document d has the tokens offsets[d] ... offsets[d + 1].

    Parameters and result as in `signatures`; tokens and offsets as `token_hashes` makes them,
    with the same key, which is for `WORDS`.
    """
    cdef Signer how
    cdef Hashing own
    cdef const Hashing* plan = plan_of(&own, WORDS, size, prepared)
    cdef Py_ssize_t n = offsets.shape[0] - 1
    check_offsets(offsets, n, tokens.shape[0], "offsets")
    check_array(tokens, "tokens")
    make_signer(&how, scheme, a, b, out, n, rows, keys)
    cdef uint64_t[::1] window = new_window(size, tokens.shape[0])
    cdef const uint64_t* base = &tokens[0] if tokens.shape[0] else NULL
    cdef uint64_t* to_keys = &keys[0, 0] if how.bands else NULL
    if n == 0:
        return
    with nogil:
        loops.sign_tokens(base, &offsets[0], n, plan, &how, &window[0], &out[0, 0], to_keys)


def hash_signatures(
    const element[::1] hashes not None, const int64_t[::1] offsets not None, int scheme,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Sign documents of ready hashes: document d has hashes[offsets[d]:offsets[d + 1]].

    Parameters
    ----------
    hashes
        uint32 or uint64 (total,).
    offsets
        int64 (n + 1,), not decreasing.
    scheme, a, b, out
        As in `signatures`.
    """
    cdef Signer how
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef const element* values = NULL
    check_offsets(offsets, n, hashes.shape[0], "offsets")
    make_signer(&how, scheme, a, b, out, n, 0, None)
    if n == 0:
        return
    if hashes.shape[0]:
        values = &hashes[0]
        check_address(values, sizeof(element), "hashes")
    with nogil:
        if element is uint32_t:
            loops.sign_hashes_32(values, &offsets[0], n, &how, &out[0, 0])
        else:
            loops.sign_hashes_64(values, &offsets[0], n, &how, &out[0, 0])


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
    check_band_rows(first, bands, rows, signatures.shape[1])
    if out.shape[1] != n:
        raise ValueError(f"out has {out.shape[1]} columns, expected {n}")
    if n == 0 or bands == 0:
        return
    if (n > 1 and out.strides[1] != 8) or out.strides[0] % 8 != 0:
        raise ValueError("the keys of a band must lie side by side in out")
    check_matrix(signatures, "signatures")
    check_address(&out[0, 0], 8, "out")
    with nogil:
        keys_of_bands(
            &signatures[0, 0], n, signatures.shape[1], first, bands, rows, &out[0, 0],
            out.strides[0] // 8,
        )
