# The state of the keep-or-drop step: buckets with the documents that were kept.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from fastlsh._kernels.candidates.ranks cimport Candidates
from fastlsh._kernels.sets.sets cimport Sets

cdef enum:
    REMEMBERED = 64             # kept documents that a bucket offers
    KEEP_STEPS = 1 << 27        # of one call, about a nanosecond each
    PER_CANDIDATE = 16          # steps to gather, count or sort one
    ASKS = 1                    # only: is no candidate of others in this bucket
    OFFERS = 2                  # only: has no candidates in this bucket

cdef struct Buckets:
    # Rows of `bands` numbers, one row for each document: all that is asked about one lies together,
    # for these look-ups are what takes the time. Where `filled` is 0, `chain` is not set.
    const int32_t* root         # the first document of each one's bucket, -1 where it is alone
    int32_t* chain              # at a root: the latest kept; elsewhere: the kept one before
    const uint8_t* role         # one for each number in root, of ASKS and OFFERS; NULL: all 0
    uint8_t* filled             # at a root: how many are kept; REMEMBERED + 1: more
    Py_ssize_t n
    Py_ssize_t bands
    const uint32_t* signatures
    Py_ssize_t signed           # rows of the signatures
    Py_ssize_t k
    const int64_t* document     # each one's row in the signatures
    const uint8_t* fixed
    int32_t* position           # where among the candidates; -1 between two documents
    Candidates candidates       # of one document
    double threshold            # of the similarity, or of the share with BY_CONTAINMENT
    Sets also                   # the second sets, which must be similar, too
    double also_threshold       # of these; 0: there are none
    int mode
    Py_ssize_t steps            # left to the call under way; not for first_hits, on many threads
    bint clipped                # a bucket, or the limit, left candidates out
    bint changed                # root or document no longer hold what was checked
    bint incomplete             # a set was needed that is not there
