# Called from Python: where the words of a text stand.
# With checks.pxi, cuts.pxi and words.pxi.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from fastlsh._kernels.common.checks cimport memory_of_rows
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.source cimport CHARACTERS, TOKEN_IDS, Plan, Source, make_plan


def word_places(Spans spans not None, int unit, int64_t[:, ::1] out not None):
    """Write where each word of the only text begins and ends; return how many there are.

    Parameters
    ----------
    spans
        One text.
    unit
        As in `signatures`, but not `CHARACTERS`.
    out
        int64 (m, 2): a row for each code point of the text, and one more.
    """
    cdef Plan plan
    cdef Py_ssize_t found
    check_plan(unit, 1)
    if unit == CHARACTERS or unit == TOKEN_IDS:
        raise ValueError("neither characters nor token ids are words")
    check_documents(spans, unit)
    if spans.n != 1:
        raise ValueError(f"expected one text, got {spans.n}")
    if out.shape[0] <= spans.at[0].length or out.shape[1] != 2:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected "
            f"({spans.at[0].length + 1}, 2)"
        )
    memory_of_rows(out, "out")
    make_plan(&plan, unit, 1)
    with nogil:
        found = write_words(&plan, spans.at, &out[0, 0])
    return found


cdef Py_ssize_t write_words(const Plan* plan, const Span* span, int64_t* out) noexcept nogil:
    cdef Py_ssize_t edge[ROOM_FOR_EDGES]
    cdef Source source
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t n, i
    open_text(&source, plan, span, NULL)
    while source.position <= source.length:
        if span.kind == 1:
            n = find_words(&source, <const uint8_t*> span.text, edge)
        elif span.kind == 2:
            n = find_words(&source, <const uint16_t*> span.text, edge)
        else:
            n = find_words(&source, <const uint32_t*> span.text, edge)
        for i in range(2 * n):
            out[2 * total + i] = edge[i]
        total += n
        if source.length == 0:
            break
    return total
