"""Judges any MinHash library by what theory promises: `check`, with an adapter for it.

An adapter is an object with a `name`, a `shingle_size` (None: documents are lists of elements, str;
a number: they are texts, of which the library itself makes shingles of so many characters) and some
of these methods. It must give the same answer to the same question every time.

signatures(documents)
    Integers (n, k) of at most 64 bits, a row for each document.
estimates(left, right)
    The estimated similarities (m,) of left[i] with right[i]. Needs `num_perm`, the number k.
band_keys(signatures)
    What the library looks up in its tables: (n, bands), integers from 0 on or bytes. Needs `bands`
    and `rows`.
candidates(left, right)
    bool (m,): an index of all of `left`, asked for right[i], names left[i]. Needs `bands` and
    `rows`.
filtered(left, right, minimum)
    bool (m,): the same of pairs whose estimated similarity reaches the minimum.
"""

from bench.conformance.checks import CHECKS
from bench.conformance.running import Fastlsh, Finding, Report, Verdict, check

__all__ = ["CHECKS", "Fastlsh", "Finding", "Report", "Verdict", "check"]
