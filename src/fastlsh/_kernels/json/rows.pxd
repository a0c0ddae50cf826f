# What is wanted of a line of JSON, and what was found.

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef enum:
    PADDING = 64        # bytes that may be read behind a line, and written behind its strings

    # Kinds of a text:
    REFUSED = 0         # the line: it is wrong, or unusual, and somebody else must read it
    STRING = 1          # start and size of UTF-8
    NULL_VALUE = 2
    # Kinds of other members, besides these two:
    ABSENT = 0
    INTEGER = 3         # the number itself
    REAL = 4            # the bits of a double
    LONG_REAL = 5       # start and size of the number as it stands in the line
    TOKEN = 6           # the same, of a long integer or a literal
    # Kind of a text, while its line is read:
    MESSAGES = 7        # start and size of the joined contents of a chat

    MOST_KEYS = 16
    MOST_ROLES = 16
    MOST_JOIN = 16      # bytes; a message has more around its content

cdef struct Key:
    const uint8_t* name
    Py_ssize_t size     # -1: not wanted

cdef struct Wanted:
    Key[MOST_KEYS] keys     # of the texts, the id, columns of numbers, and columns of labels
    int n
    int texts               # how many keys are those of texts; at least 1
    int labels              # the first key of a label; above that of the id
    Key join                # what stands between texts, and between messages
    bint messages           # whether a text may be a chat
    Key[MOST_ROLES] roles   # of the messages that are read
    int n_roles             # 0: all messages are read

cdef struct Names:          # that no key of a line may be
    Key[MOST_KEYS] keys
    int n
    uint8_t[MOST_KEYS] first    # each first character once; a quote for an empty name
    int n_first
    uint8_t lowest      # digit d: escapes from \u00d0 on may stand for a character of them; 0: all

cdef struct Member:
    int64_t value       # start of the bytes, or a number
    int64_t size        # of the bytes
    uint8_t kind

cdef struct Found:
    Member[MOST_KEYS] members   # in the order of the keys
    uint8_t* pieces             # where several texts are written, before they are joined
    uint8_t* pieces_end

cdef struct Place:          # of a value in a line
    Py_ssize_t start
    Py_ssize_t stop
    bint ascii              # whether all of the line is

cdef struct Line:
    const uint8_t* at
    uint8_t* out        # where the next wanted string is written
    uint64_t high       # not 0: the strings so far have bytes that are not ASCII

cdef struct Number:
    uint8_t kind        # INTEGER, REAL, LONG_REAL, or TOKEN: a long integer
    int64_t value
