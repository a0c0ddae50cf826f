# The hashes of the units of texts, and of grams of these.

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of, memory_of_rows
from fastlsh._kernels.common.mixing cimport mix_code_point
from fastlsh._kernels.grams.finder cimport gram_hash
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._plans cimport ShinglePlan, check_documents, longest_of, plan_of
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.source cimport CHARACTERS, TOKEN_IDS, UNICODE_WORDS, WITH_EMPTY, Plan


cdef const Plan* plan_of_units(
    Plan* own, Spans texts, int unit, ShinglePlan prepared
) except NULL:
    cdef const Plan* plan = plan_of(own, unit, 1, prepared)
    if unit == TOKEN_IDS or unit & WITH_EMPTY:
        raise ValueError("grams are of characters or of words that are not empty")
    check_documents(texts, unit)
    return plan


cdef uint64_t[::1] room_for_units(Spans texts, int unit):
    cdef Py_ssize_t longest = longest_of(texts)
    cdef bint adjoin = unit == CHARACTERS or unit == UNICODE_WORDS      # without separators
    return np.empty(longest + 1 if adjoin else longest // 2 + 2, np.uint64)


cdef void mix_points(const code_unit* text, Py_ssize_t n, uint64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = mix_code_point(text[i])


cdef Py_ssize_t units_of(const Plan* plan, const Span* text, uint64_t* out) noexcept nogil:
    if plan.unit != CHARACTERS:
        return loops.write_hashes(plan, text, out)
    if text.kind == 1:
        mix_points(<const uint8_t*> text.text, text.length, out)
    elif text.kind == 2:
        mix_points(<const uint16_t*> text.text, text.length, out)
    else:
        mix_points(<const uint32_t*> text.text, text.length, out)
    return text.length


def hash_grams(
    Spans texts not None, int unit, const int64_t[:, ::1] grams not None, uint64_t mask,
    uint64_t[::1] out not None, ShinglePlan prepared=None,
):
    """Hash grams of texts.

    Parameters
    ----------
    texts
        Of characters or words.
    unit, prepared
        As in `signatures`, for shingles of one unit; words are not empty.
    grams
        int64 (n, 3): text, ascending; the first unit, and how many units there are.
    mask
        Which bits of a hash are used; fewer of them make different grams collide.
    out
        uint64 (n,), written; no hash is 0.
    """
    cdef Plan own
    cdef const Plan* plan = plan_of_units(&own, texts, unit, prepared)
    cdef Py_ssize_t n = grams.shape[0]
    cdef Py_ssize_t bad
    if grams.shape[1] != 3 or out.shape[0] != n:
        raise ValueError("grams need three columns, and out as many elements as there are grams")
    cdef Memory parts[2]
    parts[0], parts[1] = memory_of(out, "out"), memory_of_rows(grams, "grams")
    check_apart(parts, 2, 1, "out and grams")
    cdef uint64_t[::1] room = room_for_units(texts, unit)
    if n == 0:
        return
    with nogil:
        bad = hash_all(plan, texts.at, texts.n, &grams[0, 0], n, mask, &room[0], &out[0])
    if bad >= 0:
        raise IndexError(f"gram {bad} is in no text, or not behind the one before it")


cdef Py_ssize_t hash_all(
    const Plan* plan, const Span* at, Py_ssize_t texts, const int64_t* grams, Py_ssize_t n,
    uint64_t mask, uint64_t* room, uint64_t* out
) noexcept nogil:
    # Returns the first gram that is not there, or -1.
    cdef int64_t text = -1
    cdef int64_t units = 0
    cdef int64_t first, size
    cdef Py_ssize_t i
    for i in range(n):
        if grams[3 * i] < max(text, <int64_t> 0) or grams[3 * i] >= texts:
            return i
        if grams[3 * i] != text:
            text = grams[3 * i]
            units = units_of(plan, at + text, room)
        first, size = grams[3 * i + 1], grams[3 * i + 2]
        if first < 0 or first > units or size < 1 or size > units - first:
            return i
        out[i] = gram_hash(room + first, size, mask)
    return -1
