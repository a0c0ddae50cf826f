# Called from Python: where the words of a text stand.
# With plan_checks.pxi.

from libc.stdint cimport int64_t

from fastlsh._kernels.common.checks cimport memory_of_rows
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport CHARACTERS, TOKEN_IDS, Plan, make_plan


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
        found = loops.write_words(&plan, spans.at, &out[0, 0])
    return found
