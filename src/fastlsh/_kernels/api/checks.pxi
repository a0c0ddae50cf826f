# Checks of the arguments of the vector kernels.

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.checks cimport (
    Memory, check_aligned, check_apart, check_band_rows, memory_of, memory_of_rows,
)
from fastlsh._kernels.minhash.signer cimport AFFINE32, FSS, ROUNDS, Signer
from fastlsh._kernels.sets.modes cimport BY_CONTAINMENT, BY_SETS, BY_SIGNATURE, NOT_VERIFIED
from fastlsh._kernels.text._plans cimport ShinglePlan
from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport (
    ALPHANUMERIC, ASCII_ALPHANUMERIC, CHARACTERS, TOKEN_IDS, WITH_EMPTY, WORDS, Plan, make_plan,
    room_for_window,
)


cdef int check_plan(int unit, Py_ssize_t size) except -1:
    if unit not in (
        CHARACTERS, WORDS, ALPHANUMERIC, ASCII_ALPHANUMERIC, ALPHANUMERIC | WITH_EMPTY,
        ASCII_ALPHANUMERIC | WITH_EMPTY, TOKEN_IDS,
    ):
        raise ValueError(
            f"unit must be {CHARACTERS} (characters), {WORDS} (words), {ALPHANUMERIC} or "
            f"{ASCII_ALPHANUMERIC} (of letters and digits), the last two with {WITH_EMPTY} added "
            f"or not, or {TOKEN_IDS} (token ids), got {unit}"
        )
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    return 0


cdef const Plan* plan_of(Plan* own, int unit, Py_ssize_t size, ShinglePlan prepared) except NULL:
    # The prepared plan, or `own`, which is made.
    check_plan(unit, size)
    if prepared is None:
        make_plan(own, unit, size)
        return own
    if prepared.plan.unit != unit or prepared.plan.size != size:
        raise ValueError(
            f"the plan is for unit {prepared.plan.unit} and size {prepared.plan.size}, not for "
            f"{unit} and {size}"
        )
    return &prepared.plan


cdef int check_documents(Spans spans, int unit) except -1:
    if spans.n and spans.tokens != (unit == TOKEN_IDS):
        raise TypeError("texts are no token ids" if not spans.tokens else "token ids are no texts")
    return 0


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
    memory_of(a, "a")
    memory_of(b, "b")
    memory_of_rows(out, "out")
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
            check_aligned(&keys[0, 0], 8, "keys")
            if keys.strides[1] != 8 and n > 1 or keys.strides[0] % 8:
                raise ValueError("the keys of a band must lie one after the other")
            how.rows = rows
            how.bands = keys.shape[0]
            how.stride = keys.strides[0] // 8
    return 0


cdef uint64_t[::1] new_window(Py_ssize_t size, Py_ssize_t longest):
    return np.empty(room_for_window(size, longest), np.uint64)


cdef Py_ssize_t longest_of(Spans spans) noexcept:
    cdef Py_ssize_t i
    cdef Py_ssize_t longest = 0
    for i in range(spans.n):
        longest = max(longest, spans.at[i].length)
    return longest


cdef int check_mode(int mode) except -1:
    if mode != BY_SETS and mode != BY_SIGNATURE and mode != NOT_VERIFIED:
        raise ValueError(
            f"mode must be {BY_SETS} (sets), {BY_SIGNATURE} (signatures) or {NOT_VERIFIED} "
            f"(not verified), got {mode}"
        )
    return 0


cdef int check_rule(int mode) except -1:
    return 0 if mode == BY_CONTAINMENT else check_mode(mode)


cdef int hold_input(
    Memory* held, const int32_t[:, ::1] root, const uint32_t[:, ::1] signatures,
    const int64_t[::1] document, const uint8_t[::1] fixed, const uint8_t[:, ::1] role,
) except -1:
    # Writes where the five arrays are that a Keeper reads; without `role`, `fixed` once more.
    held[0] = memory_of_rows(root, "root")
    held[1] = memory_of_rows(signatures, "signatures")
    held[2] = memory_of(document, "document")
    held[3] = held[4] = memory_of(fixed, "fixed")
    if role is not None:
        if role.shape[0] != root.shape[0] or role.shape[1] != root.shape[1]:
            raise ValueError("role needs one number for each one in root")
        held[4] = memory_of_rows(role, "role")
    return 0


cdef int clear_state(
    int32_t[:, ::1] chain, uint8_t[:, ::1] filled, Py_ssize_t bands,
    const int64_t[::1] document, Py_ssize_t signed_rows, const Memory* held,
) except -1:
    # Clears what a Keeper writes, made by others, once it is checked, and so are the documents.
    cdef Memory parts[7]
    cdef Py_ssize_t i, n = document.shape[0]
    if not chain.shape[0] == filled.shape[0] == n or not chain.shape[1] == filled.shape[1] == bands:
        raise ValueError(f"empty made an array of another shape than ({n}, {bands})")
    parts[0] = memory_of_rows(chain, "chain")
    parts[1] = memory_of_rows(filled, "filled")
    memcpy(&parts[2], held, 5 * sizeof(Memory))
    for i in range(n):
        if not 0 <= document[i] < signed_rows:
            raise ValueError("document points outside the signatures")
    check_apart(parts, 7, 2, "what empty made and what the Keeper holds")
    chain[:] = -1
    filled[:] = 0
    return 0
