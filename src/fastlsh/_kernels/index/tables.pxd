# The tables of an index, and the structures of queries and changes.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from fastlsh._kernels.greedy.ranks cimport Candidates
from fastlsh._kernels.sets.sets cimport Workbench
from fastlsh._kernels.text.source cimport Plan

cdef struct Band:
    uint64_t* slots
    uint64_t size
    uint32_t* links
    int64_t used                # slots that are not empty


cdef struct Slice:
    # Where the values of a band are, and which documents share a bucket of it, by the steps of
    # their sizes. The group of a document in the tables is (step + odd) >> shift; a document that
    # is looked up finds those of the group that is `distance` above its own.
    Py_ssize_t start
    Py_ssize_t rows
    uint64_t band               # its number among the bands that its key is made for
    uint64_t number             # of the first group: no other slice has the same groups
    uint32_t distance
    uint32_t odd
    uint32_t shift


cdef struct Tables:
    Band* bands
    Py_ssize_t count            # of the bands
    Py_ssize_t rows
    const Slice* slices         # of each band; NULL: each has `rows` values, one after the other
    Py_ssize_t k                # values of a row: the minima, and the step if there are slices
    Py_ssize_t minima
    Py_ssize_t n                # documents
    uint32_t* signatures
    uint8_t* live               # 0: removed, or not yet inserted in full; NULL: all are
    uint64_t* hashes            # sets or packed texts, one after the other; NULL: none
    int64_t* offsets
    Py_ssize_t total            # room for hashes
    int64_t longest             # words of any text; -1: not known


cdef struct Desk:
    # Documents that are looked up together: all of them in one band, then all in the next. So only
    # one table at a time is in the caches, including those for addresses.
    Py_ssize_t room             # for documents
    uint32_t* tags              # of each document; later the first of each chain, with MORE
    uint32_t* filled            # 0: the document is empty


cdef struct Spent:
    # The steps that a call has made, and what it has met.
    int64_t budget              # steps that are left until a pause
    int64_t dead                # removed documents that were met
    bint damaged


cdef struct Walk:
    # A walk through the chains of one document, band by band.
    const uint32_t* row
    const uint32_t* heads       # the first document of the chain in each band, with MORE
    Py_ssize_t band
    uint32_t here
    uint32_t recent[4]          # returned last: most of them are met again in the next band
    int turn
    uint32_t bound              # later documents are skipped
    Spent spent


cdef enum:
    SETS_HELD = 1 << 10              # sets that a reader holds at most

cdef struct Reader:
    # Makes the sets of texts, and keeps the latest ones; for one caller at a time.
    const Plan* plan
    uint64_t* window
    Workbench* bench
    Py_ssize_t longest          # words of the longest text that there is room for
    uint64_t* sets              # first the set of the document that is looked up
    Py_ssize_t room
    Py_ssize_t end
    Py_ssize_t document         # the number of this document, or -1
    Py_ssize_t count            # of its hashes
    int64_t number[SETS_HELD]        # by place: of which document there is a set, or -1
    int64_t start[SETS_HELD]
    int64_t size[SETS_HELD]


cdef struct Question:
    # Documents that are compared with those in the tables.
    const uint32_t* signatures
    const uint64_t* hashes
    const int64_t* offsets
    int64_t total               # of the hashes
    double threshold
    int mode
    bint contained              # the share of the question that a document has is compared
    Reader* reader              # for texts


cdef struct Answer:
    double similarity
    double number               # of the document, exact up to 2^53


cdef struct Answers:
    Answer* out
    Py_ssize_t room
    Py_ssize_t limit
    int64_t* counts             # of each document
    Py_ssize_t end
    Py_ssize_t first            # the document that is next
    Py_ssize_t place            # of this document on the desk
    Py_ssize_t held             # documents on the desk
    bint walking                # its walk has begun
    Py_ssize_t found            # for it so far
    Walk walk


cdef struct Stream:
    # Documents of which only those are inserted that are like no other.
    uint8_t* fresh              # of each document
    int64_t* matches            # of each document, the first that it is like; NULL: any will do
    Py_ssize_t first            # the document that is next
    Py_ssize_t place            # of this document on the desk
    Py_ssize_t held             # documents on the desk
    uint32_t* heads             # the first of its chain in each band, with MORE
    Py_ssize_t band             # that its candidates are gathered from next
    Candidates candidates
    Py_ssize_t n                # of them
    Py_ssize_t compared         # of them
    bint eager                  # no limit applies: each candidate is compared when it is found
    bint limited                # a bucket, or the limit, left candidates out
    uint32_t own                # this and later ones count as live: they come with this call
    Spent spent


cdef struct Sweep:
    # A compaction: the documents are moved together, the tables are emptied, and the documents are
    # linked again. It is done in parts, and nothing else is done before it has ended.
    int phase                   # 0: there is none
    Py_ssize_t next             # document, or band
    Py_ssize_t kept             # documents
    int64_t end                 # of the sets that are kept
    bint damaged
    Desk desk
