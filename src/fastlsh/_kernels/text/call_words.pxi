# Called from Python: where the words of texts stand, and how many there are.
# With plan_checks.pxi.

from libc.stdint cimport int64_t

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of, memory_of_rows
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.source cimport CHARACTERS, TOKEN_IDS, Plan, make_plan


def word_places(
    Spans spans not None, int unit, int64_t[::1] counts not None, int64_t[:, ::1] out not None
):
    """Write where each word of each text begins and ends; return how many words there are.

    Parameters
    ----------
    spans
        Texts.
    unit
        As in `signatures`, but not `CHARACTERS`.
    counts
        int64 (n,), written: how many words each text has.
    out
        int64 (m, 2), written: the words of all texts, text by text. There is room for a row for
        each code point of the texts, and one more for each text.
    """
    cdef Plan plan
    cdef Py_ssize_t found
    cdef Py_ssize_t room = spans.n
    cdef Py_ssize_t i
    check_plan(unit, 1)
    check_words_of(spans, unit, counts)
    for i in range(spans.n):
        room += spans.at[i].length
    if out.shape[0] < room or out.shape[1] != 2:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected ({room}, 2)"
        )
    cdef Memory parts[2]
    parts[0], parts[1] = memory_of(counts, "counts"), memory_of_rows(out, "out")
    check_apart(parts, 2, 2, "counts and out")
    if spans.n == 0:
        return 0
    make_plan(&plan, unit, 1)
    with nogil:
        found = write_places(&plan, spans.at, spans.n, &counts[0], &out[0, 0])
    return found


def word_counts(
    Spans spans not None, int unit, Py_ssize_t size, Py_ssize_t most, int64_t[::1] counts not None,
    ShinglePlan prepared=None,
):
    """Count the words of each text, without those that are left out.

    Parameters
    ----------
    spans
        Texts.
    unit, size, prepared
        As in `signatures`, but neither `CHARACTERS` nor `TOKEN_IDS`.
    most
        Where there are so many, any number from it on will do.
    counts
        int64 (n,), written.
    """
    cdef Plan own
    cdef const Plan* plan = plan_of(&own, unit, size, prepared)
    check_words_of(spans, unit, counts)
    if spans.n:
        with nogil:
            count_each(plan, spans.at, spans.n, most, &counts[0])


cdef int check_words_of(Spans spans, int unit, const int64_t[::1] counts) except -1:
    if unit == CHARACTERS or unit == TOKEN_IDS:
        raise ValueError("neither characters nor token ids are words")
    check_documents(spans, unit)
    if counts.shape[0] != spans.n:
        raise ValueError(f"counts has {counts.shape[0]} elements, expected {spans.n}")
    memory_of(counts, "counts")
    return 0


cdef void count_each(
    const Plan* plan, const Span* at, Py_ssize_t n, Py_ssize_t most, int64_t* counts
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        counts[i] = loops.count_words(plan, at + i, most)


cdef Py_ssize_t write_places(
    const Plan* plan, const Span* at, Py_ssize_t n, int64_t* counts, int64_t* out
) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        counts[i] = loops.write_words(plan, at + i, out + 2 * total)
        total += counts[i]
    return total
