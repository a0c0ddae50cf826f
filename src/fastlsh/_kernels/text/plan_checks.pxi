# Checks of how shingles are made, and the memory that making them takes.

import numpy as np

from libc.stdint cimport uint64_t

from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport (
    ALPHANUMERIC, ASCII_ALPHANUMERIC, CHARACTERS, TOKEN_IDS, UNICODE_WORDS, WITH_EMPTY, WORDS,
    Plan, make_plan, room_for_window,
)


globals().update(       # for callers
    ALPHANUMERIC=ALPHANUMERIC, ASCII_ALPHANUMERIC=ASCII_ALPHANUMERIC, CHARACTERS=CHARACTERS,
    TOKEN_IDS=TOKEN_IDS, UNICODE_WORDS=UNICODE_WORDS, WITH_EMPTY=WITH_EMPTY, WORDS=WORDS,
)


cdef int check_plan(int unit, Py_ssize_t size) except -1:
    if unit not in (
        CHARACTERS, WORDS, ALPHANUMERIC, ASCII_ALPHANUMERIC, ALPHANUMERIC | WITH_EMPTY,
        ASCII_ALPHANUMERIC | WITH_EMPTY, UNICODE_WORDS, TOKEN_IDS,
    ):
        raise ValueError(
            f"unit must be {CHARACTERS} (characters), {WORDS} (words), {ALPHANUMERIC} or "
            f"{ASCII_ALPHANUMERIC} (of letters and digits), the last two with {WITH_EMPTY} added "
            f"or not, {UNICODE_WORDS} (words of Unicode), or {TOKEN_IDS} (token ids), got {unit}"
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


cdef uint64_t[::1] new_window(Py_ssize_t size, Py_ssize_t longest):
    return np.empty(room_for_window(size, longest), np.uint64)


cdef Py_ssize_t longest_of(Spans spans) noexcept:
    cdef Py_ssize_t i
    cdef Py_ssize_t longest = 0
    for i in range(spans.n):
        longest = max(longest, spans.at[i].length)
    return longest
