# What is to be done with a text, and how far it is done.

from libc.stdint cimport int64_t, uint8_t, uint32_t

from fastlsh._kernels.text.unicode_data cimport Form

cdef enum:
    TABLE = 1 << 17             # planes 0 and 1: the entries of others are found when needed
    WINDOW = 64                 # code units that are changed at once if all are ASCII
    PIECE = 1 << 22             # and before Ctrl-C is listened to: a tenth of a second

    # An entry: the code point that one becomes, and
    POINT = 0x1FFFFF
    BLANK = 1 << 24             # a space, of which one is kept of several
    DROPPED = 1 << 25
    SPECIAL = 1 << 26           # none of these, but
    DIGIT = SPECIAL                 # the beginning of a number,
    SIGMA = SPECIAL | 1 << 27       # a capital sigma,
    SEVERAL = SPECIAL | 2 << 27     # or what may become several code points
    KIND = SPECIAL | 3 << 27
    SEPARATOR = 1 << 29         # one between two digits belongs to a number

cdef enum Marks:
    MARKS_STAY, MARKS_TO_SPACE, MARKS_REMOVED

cdef enum Blanks:
    BLANKS_STAY, BLANKS_REMOVED, BLANKS_COLLAPSED

cdef struct Ascii:
    # Which of the code points below 128 ... : bit h of byte l says it of 16 * h + l.
    uint8_t blank[16]           # become a space
    uint8_t dropped[16]
    uint8_t separator[16]
    uint8_t case                # 0x20: capitals become small letters

cdef struct Plan:
    Form form
    bint lowercase
    bint numbers
    Marks marks
    bint accents                # are stripped
    Blanks blanks
    const uint32_t* chosen      # code points that count as punctuation, ascending; or NULL
    Py_ssize_t n_chosen
    bint rewrites               # does anything besides the form
    bint plain_ascii            # `ascii` says all of the code points below 128
    Ascii ascii
    uint32_t zero               # the entry of a number's 0
    uint32_t sigma[2]           # the entries of small sigma, within a word and at its end
    uint32_t* entry             # TABLE entries
    uint8_t* loose              # a bit of each code point: no starter that the form leaves alone

cdef struct Work:
    Py_ssize_t at               # code units that are done
    Py_ssize_t made             # code points written
    bint blank                  # the last one is a space, or there is none
    bint narrow                 # one did not fit
    int64_t* origin             # where each came from, begin and end; or NULL
    uint32_t* spare             # room for as many code points as are written

cdef struct Walk:
    # How far a batch is.
    Py_ssize_t text             # the one that is worked on
    char* out                   # where it is written
    bint begun                  # this is said of it:
    const void* units
    Py_ssize_t length
    int kind
    bint apart                  # it is decomposed, and this many code points long
    Py_ssize_t points
    Py_ssize_t run              # where its last starter, or what follows it, was written
    uint32_t last               # the class of what was written last
    Work work
