"""From band keys to links, families and candidate pairs, against all pairs one by one."""

include "fuzz/native/drive.pxi"
include "candidates/_candidates.pyx"

cdef enum:
    MOST = 48                   # documents
    MOST_BANDS = 4

cdef struct Collection:
    Py_ssize_t n
    Py_ssize_t bands
    Py_ssize_t rows
    uint32_t* signatures
    uint64_t* keys              # [band * n + document]; 0: it is empty
    int32_t* previous           # likewise
    int32_t* parent


def prepare():
    pass


cdef uint64_t key_of(const uint32_t* values, Py_ssize_t rows, uint32_t bits) noexcept nogil:
    # Of the lowest bits: some documents share a key by chance, and no bucket.
    cdef uint64_t h = 1
    cdef Py_ssize_t i
    for i in range(rows):
        h = (h ^ (values[i] & bits)) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 29
    return h * <uint64_t> 0xBF58476D1CE4E5B9 | 1


cdef void read_documents(Given* given, Collection* c, uint32_t bits) noexcept nogil:
    cdef Py_ssize_t k = c.bands * c.rows
    cdef Py_ssize_t d, j, b
    cdef uint8_t how
    cdef bint empty
    for d in range(c.n):
        how = byte(given)
        for j in range(k):                  # anew, none, or as an earlier one up to a place
            if how < 128 or d == 0:
                c.signatures[d * k + j] = byte(given) & 15
            elif how < 144:
                c.signatures[d * k + j] = <uint32_t> 0xFFFFFFFF
            else:
                c.signatures[d * k + j] = c.signatures[(how % d) * k + j]
        if how >= 192 and d:
            c.signatures[d * k + how % k] ^= 1
        empty = 128 <= how < 144 and d > 0
        for b in range(c.bands):
            c.keys[b * c.n + d] = 0
            if not empty and c.signatures[d * k] != <uint32_t> 0xFFFFFFFF:
                c.keys[b * c.n + d] = key_of(c.signatures + d * k + b * c.rows, c.rows, bits)


cdef void link_band(Collection* c, Py_ssize_t b) noexcept nogil:
    cdef Py_ssize_t n = c.n
    cdef const uint64_t* keys = c.keys + b * n
    cdef int32_t* previous = c.previous + b * n
    cdef int32_t* table = <int32_t*> room(8 * n)
    cdef int32_t* later = <int32_t*> room(4 * n)
    cdef int32_t* earlier = <int32_t*> room(4 * n)
    cdef int32_t* depth = <int32_t*> room(4 * n)
    cdef Py_ssize_t empty = 0
    cdef Py_ssize_t none = 0
    cdef Py_ssize_t pairs = 0
    cdef Py_ssize_t found, i, j
    cdef int64_t totals[3]
    found = find_suspects(keys, n, <uint8_t*> table, later, &empty)
    found = link_suspects(keys, found, table, later, earlier)
    memset(previous, 0xFF, 4 * n)
    for i in range(found):
        must(i == 0 or later[i - 1] < later[i], "the order of the links")
        previous[later[i]] = earlier[i]
    for i in range(n):
        none += keys[i] == 0
        j = i - 1
        while j >= 0 and (keys[j] != keys[i] or keys[i] == 0):
            j -= 1
        must(previous[i] == j, "a link")
        for j in range(i):
            pairs += keys[i] == keys[j] != 0
    must(empty == none, "how many are empty")
    must(count_chains(previous, n, depth, totals) and totals[0] == pairs, "the pairs of a band")
    must(find_roots(previous, n, 1, 0, n, depth), "the roots")
    for i in range(n):
        j = 0
        while keys[j] != keys[i]:
            j += 1
        for found in range(n):
            if found != i and keys[found] == keys[i] != 0:
                break
        else:
            j = -1
        must(depth[i] == j, "a root")
    must(unite_links(c.parent, previous, n), "the union")
    free(depth)
    free(earlier)
    free(later)
    free(table)


cdef bint unite_links(int32_t* parent, const int32_t* previous, Py_ssize_t n) noexcept nogil:
    cdef int32_t i
    for i in range(<int32_t> n):
        if previous[i] >= 0 and unite_pairs(parent, n, &i, previous + i, 1) != 1:
            return False
    return True


cdef void check_families(Collection* c) noexcept nogil:
    # By passing the least number on until nothing changes.
    cdef int32_t least[MOST]
    cdef bint changed = True
    cdef Py_ssize_t i, b
    cdef int32_t j
    for i in range(c.n):
        least[i] = <int32_t> i
    while changed:
        changed = False
        for b in range(c.bands):
            for i in range(c.n):
                j = c.previous[b * c.n + i]
                if j >= 0 and least[i] != least[j]:
                    least[i] = least[j] = min(least[i], least[j])
                    changed = True
    must(find_all(c.parent, c.n) == c.n, "the families")
    must(memcmp(c.parent, least, 4 * c.n) == 0, "a family")


cdef void check_pairs(Collection* c, Py_ssize_t space, Py_ssize_t steps) noexcept nogil:
    # Each pair that shares a band, once; in as many calls as it takes.
    cdef uint8_t seen[MOST][MOST]
    cdef int64_t documents[MOST]
    cdef int64_t at[3]
    cdef int32_t* left = <int32_t*> room(4 * space)
    cdef int32_t* right = <int32_t*> room(4 * space)
    cdef Py_ssize_t k = c.bands * c.rows
    cdef Py_ssize_t found, i, j, b, shared
    cdef Bands linked
    memset(seen, 0, sizeof(seen))
    for i in range(c.n):
        documents[i] = i
    linked.signatures = c.signatures
    linked.signed = linked.n = linked.stop = c.n
    linked.k = k
    linked.rows = c.rows
    linked.bands = c.bands
    linked.previous = c.previous
    linked.documents = documents
    at[0] = at[1] = 0
    at[2] = -1
    while at[0] < c.n:
        found = walk(&linked, at, left, right, space, steps)
        must(0 <= found <= space, "how many pairs")
        for i in range(found):
            must(0 <= left[i] < right[i] < c.n, "the order of a pair")
            must(not seen[left[i]][right[i]], "a pair twice")
            seen[left[i]][right[i]] = 1
    for i in range(c.n):
        for j in range(i):
            shared = 0
            for b in range(c.bands):
                if c.keys[i] != 0 and c.keys[j] != 0 and 0 == memcmp(
                    c.signatures + i * k + b * c.rows, c.signatures + j * k + b * c.rows,
                    <size_t> (4 * c.rows),
                ):
                    shared = 1
            must(seen[j][i] == shared, "a pair")
    free(right)
    free(left)


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef Collection c
    cdef Py_ssize_t space, steps, b
    cdef uint32_t bits
    cdef int32_t i
    c.n = 1 + number(&given, MOST)
    c.bands = 1 + number(&given, MOST_BANDS)
    c.rows = 1 + number(&given, 3)
    bits = 3 if byte(&given) & 1 else 15
    space = 1 + number(&given, 40)
    steps = 1 + number(&given, 200)
    c.signatures = <uint32_t*> room(4 * c.n * c.bands * c.rows)
    c.keys = <uint64_t*> room(8 * c.n * c.bands)
    c.previous = <int32_t*> room(4 * c.n * c.bands)
    c.parent = <int32_t*> room(4 * c.n)
    for i in range(<int32_t> c.n):
        c.parent[i] = i
    read_documents(&given, &c, bits)
    for b in range(c.bands):
        link_band(&c, b)
    check_families(&c)
    check_pairs(&c, space, steps)
    free(c.parent)
    free(c.previous)
    free(c.keys)
    free(c.signatures)
    return 0
