"""The keep-or-drop step in blocks of documents, against one document after the other."""

include "fuzz/native/drive.pxi"
include "candidates/_candidates.pyx"
include "sets/blocks.pxi"
include "sets/compare.pxi"

from fastlsh._kernels.candidates.ranks cimport Rank
from fastlsh._kernels.sets.modes cimport NOT_VERIFIED

cdef enum:
    MOST = 200                  # documents: more than a bucket offers
    MOST_BANDS = 3
    MOST_K = 20
    N_ROWS = 16                 # signatures
    SPAN = 128                  # the elements are numbers below

cdef extern from *:
    """
    #define FUZZ_ALL 200        /* MOST */

    typedef struct {
        Py_ssize_t n, bands, k, limit;
        int mode;
        double threshold;
        const int32_t *root;
        const uint8_t *role, *fixed;
        const uint32_t *signatures;
        const int64_t *document;
        uint64_t elements[FUZZ_ALL][2];     /* a bit for each */
        uint8_t absent[FUZZ_ALL];           /* there is no set */
        uint8_t kept[FUZZ_ALL], unsure[FUZZ_ALL];
        int32_t hit[FUZZ_ALL];
        double similarity[FUZZ_ALL];
        int missed;                         /* a set that is absent was needed */
    } FuzzGreedy;

    FUZZ_OBVIOUS static int fuzz_equal(const FuzzGreedy *g, int a, int b)
    {
        int equal = 0;
        for (Py_ssize_t j = 0; j < g->k; j++)
            equal += g->signatures[g->document[a] * g->k + j]
                == g->signatures[g->document[b] * g->k + j];
        return equal;
    }

    FUZZ_OBVIOUS static int fuzz_size(const FuzzGreedy *g, int a)
    {
        return __builtin_popcountll(g->elements[a][0]) + __builtin_popcountll(g->elements[a][1]);
    }

    FUZZ_OBVIOUS static double fuzz_compare(FuzzGreedy *g, int a, int b)
    {
        double found = 2.0;
        int common, of_a, of_b;
        if (g->mode == 1)
            found = (double) fuzz_equal(g, a, b) / (double) g->k;
        else if (g->mode != 2) {
            if (g->absent[a] || g->absent[b]) {
                g->missed = 1;
                return -1.0;
            }
            common = __builtin_popcountll(g->elements[a][0] & g->elements[b][0])
                + __builtin_popcountll(g->elements[a][1] & g->elements[b][1]);
            of_a = fuzz_size(g, a);
            of_b = fuzz_size(g, b);
            found = of_a && of_b
                ? (double) common / (double) (g->mode == 4 ? of_a : of_a + of_b - common) : 0.0;
        }
        return found >= g->threshold ? found : -1.0;
    }

    /* In how many buckets a later document meets a kept one; says whether one has more. */
    FUZZ_OBVIOUS static int fuzz_shared(const FuzzGreedy *g, int d, int c, int *more)
    {
        int shared = 0;
        for (Py_ssize_t b = 0; b < g->bands; b++) {
            int32_t root = g->root[d * g->bands + b];
            int before = 0;
            if (root < 0 || g->root[c * g->bands + b] != root)
                continue;
            if (g->role && (g->role[d * g->bands + b] == 2 || g->role[c * g->bands + b] == 1))
                continue;
            for (int i = 0; i < c; i++)
                before += g->kept[i] && g->root[i * g->bands + b] == root
                    && !(g->role && g->role[i * g->bands + b] == 1);
            shared += before < 64;
            *more |= before >= 64;
        }
        return shared;
    }

    FUZZ_OBVIOUS static void fuzz_decide(FuzzGreedy *g, int d)
    {
        int shared[FUZZ_ALL], equal[FUZZ_ALL], more = 0, candidates = 0;
        g->kept[d] = 1;
        g->unsure[d] = 0;
        g->hit[d] = -1;
        if (g->fixed[d])
            return;
        for (int c = 0; c < d; c++) {
            shared[c] = g->kept[c] ? fuzz_shared(g, d, c, &more) : 0;
            equal[c] = shared[c] ? fuzz_equal(g, d, c) : 0;
            candidates += shared[c] > 0;
        }
        for (int c = 0; c < d && g->hit[d] < 0; c++) {
            Py_ssize_t better = 0;
            if (shared[c] == 0)
                continue;
            for (int i = 0; i < d && candidates > g->limit; i++)
                better += shared[i] > shared[c]
                    || (shared[i] == shared[c] && (equal[i] > equal[c]
                        || (equal[i] == equal[c] && shared[i] && i < c)));
            if (better >= g->limit)
                continue;
            g->similarity[d] = fuzz_compare(g, d, c);
            if (g->similarity[d] >= 0.0)
                g->hit[d] = c;
        }
        g->kept[d] = g->hit[d] < 0;
        g->unsure[d] = g->kept[d] && (more || candidates > g->limit);
    }

    FUZZ_OBVIOUS static void fuzz_greedy(FuzzGreedy *g)
    {
        g->missed = 0;
        for (int d = 0; d < g->n; d++)
            fuzz_decide(g, d);
    }
    """
    ctypedef struct Greedy "FuzzGreedy":
        Py_ssize_t n
        Py_ssize_t bands
        Py_ssize_t k
        Py_ssize_t limit
        int mode
        double threshold
        const int32_t* root
        const uint8_t* role
        const uint8_t* fixed
        const uint32_t* signatures
        const int64_t* document
        uint64_t elements[MOST][2]
        uint8_t absent[MOST]
        uint8_t unsure[MOST]
        int32_t hit[MOST]
        double similarity[MOST]
        bint missed
    void decide_all "fuzz_greedy"(Greedy* g) noexcept nogil

cdef int[4] MODE = [BY_SETS, BY_SIGNATURE, NOT_VERIFIED, BY_CONTAINMENT]


def prepare():
    loops.count_equal = count_equal


cdef void read_set(Greedy* right, Py_ssize_t d, uint8_t from_, uint8_t how) noexcept nogil:
    # Numbers in a row; every other one; none, or no set at all.
    cdef Py_ssize_t step = 1 + (how & 1)
    cdef Py_ssize_t count = 1 + (how >> 1) % 40
    cdef Py_ssize_t i, e
    right.absent[d] = how == 254
    right.elements[d][0] = right.elements[d][1] = 0
    if how >= 254:
        return
    for i in range(count):
        e = (from_ + i * step) % SPAN
        right.elements[d][e >> 6] |= <uint64_t> 1 << (e & 63)


cdef void read_documents(
    Given* given, Greedy* right, int32_t* root, uint8_t* role, uint8_t* fixed, int64_t* document
) noexcept nogil:
    # Of four bytes and more, each now and then many times over, with a set that moves on.
    cdef int32_t first[MOST_BANDS][4]
    cdef Py_ssize_t d = 0
    cdef Py_ssize_t times, b
    cdef uint8_t bucket, from_, how, what
    memset(first, 0xFF, sizeof(first))
    while d < right.n:
        bucket = byte(given)
        from_ = byte(given)
        how = byte(given)
        what = byte(given)
        times = byte(given) if what >= 192 else 1
        while times > 0 and d < right.n:
            for b in range(right.bands):
                root[d * right.bands + b] = -1
                if bucket >> (2 * b) & 3:
                    if first[b][bucket >> (2 * b) & 3] < 0:
                        first[b][bucket >> (2 * b) & 3] = <int32_t> d
                    root[d * right.bands + b] = first[b][bucket >> (2 * b) & 3]
                if role != NULL:
                    role[d * right.bands + b] = (what + b) % 3
            fixed[d] = bucket >= 240
            document[d] = (what + times) % N_ROWS
            read_set(right, d, from_, how)
            from_ += 3
            times -= 1
            d += 1


cdef uint64_t* make_sets(
    const Greedy* right, int64_t* start, int64_t* count, Sets* sets
) noexcept nogil:
    cdef uint64_t* words
    cdef Py_ssize_t d, half, total, at
    cdef int made
    for made in range(2):               # how many words, then the words
        total = 0
        for d in range(right.n):
            at = total
            start[d] = at
            count[d] = -1 if right.absent[d] else 0
            if right.absent[d]:
                continue
            total += 1
            for half in range(2):
                if right.elements[d][half] == 0:
                    continue
                if made:
                    words[total] = half
                    words[total + 1] = right.elements[d][half]
                count[d] += popcount(right.elements[d][half])
                total += 2
            if made:
                words[at] = (total - at) // 2
        if not made:
            words = <uint64_t*> room(8 * total)
    sets.words = words
    sets.start = start
    sets.count = count
    sets.total = total
    return words


cdef Py_ssize_t decide_block(
    Buckets* s, const Sets* sets, Py_ssize_t first, Py_ssize_t last, Py_ssize_t space,
    Py_ssize_t steps, const Greedy* right
) noexcept nogil:
    # As `stages.decisions` does; returns the first document that is not decided on.
    cdef int32_t* found = <int32_t*> room(4 * space)
    cdef int64_t* offsets = <int64_t*> room(8 * (last - first + 1))
    cdef int32_t* hit
    cdef double* similarity
    cdef uint8_t* unsure
    cdef Py_ssize_t most = min(min(REMEMBERED * s.bands, s.n), s.candidates.limit)
    cdef Py_ssize_t done = 0
    cdef Py_ssize_t before, d
    s.steps = steps
    last = put_candidates(s, first, last, found, space, most, offsets)
    must(first < last, "no candidates")
    hit = <int32_t*> room(4 * (last - first))
    similarity = <double*> room(8 * (last - first))
    unsure = <uint8_t*> room(last - first)
    find_hits(s, first, last, found, offsets, sets, hit, similarity)
    while done < last - first:
        before = done
        s.steps = steps
        done = decide(s, first, last, done, sets, hit, similarity, unsure)
        must(before < done <= last - first, "how many are decided on")
    must(not s.changed, "what nobody has changed")
    must(by_sets(s) or not s.incomplete, "a set that nobody needs")
    for d in range(first, last):
        must(hit[d - first] == right.hit[d], "a decision")
        must(unsure[d - first] == right.unsure[d], "whether it is unsure")
        if hit[d - first] >= 0:
            must(similarity[d - first] == right.similarity[d], "a similarity")
    free(unsure)
    free(similarity)
    free(hit)
    free(offsets)
    free(found)
    return last


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef Greedy right
    cdef Buckets s
    cdef Sets sets
    cdef Py_ssize_t n, bands, block, space, steps, d, i
    cdef int32_t* root
    cdef uint8_t* role = NULL
    cdef uint8_t* fixed
    cdef uint32_t* signatures
    cdef int64_t* document
    cdef int64_t* start
    cdef int64_t* count
    cdef uint64_t* words
    right.n = n = 1 + number(&given, MOST)
    right.bands = bands = 1 + number(&given, MOST_BANDS)
    right.k = 1 + number(&given, MOST_K)
    right.mode = MODE[number(&given, 4)]
    right.threshold = min(byte(&given) / 250.0, 1.0)
    right.limit = 1 + number(&given, 200)
    block = 1 + number(&given, MOST)
    steps = byte(&given) * 8            # at once, or only now and then
    space = min(min(REMEMBERED * bands, n), right.limit) + byte(&given)
    if byte(&given) & 1:
        role = <uint8_t*> room(n * bands)
    root = <int32_t*> room(4 * n * bands)
    fixed = <uint8_t*> room(n)
    signatures = <uint32_t*> room(4 * N_ROWS * right.k)
    document = <int64_t*> room(8 * n)
    start = <int64_t*> room(8 * n)
    count = <int64_t*> room(8 * n)
    for d in range(N_ROWS):
        for i in range(right.k):
            signatures[d * right.k + i] = <uint32_t> (d >> (i & 3)) & 1
    read_documents(&given, &right, root, role, fixed, document)
    words = make_sets(&right, start, count, &sets)
    right.root = root
    right.role = role
    right.fixed = fixed
    right.signatures = signatures
    right.document = document
    decide_all(&right)

    memset(&s, 0, sizeof(s))
    s.n = n
    s.bands = bands
    s.root = root
    s.role = role
    s.fixed = fixed
    s.signatures = signatures
    s.signed = N_ROWS
    s.k = right.k
    s.document = document
    s.threshold = right.threshold
    s.mode = right.mode
    s.chain = <int32_t*> room(4 * n * bands)
    s.filled = <uint8_t*> room(n * bands)
    s.position = <int32_t*> room(4 * n)
    memset(s.chain, 0xFF, 4 * n * bands)
    memset(s.filled, 0, n * bands)
    memset(s.position, 0xFF, 4 * n)
    i = n if REMEMBERED >= n // bands else REMEMBERED * bands
    s.candidates.limit = right.limit
    s.candidates.found = <int32_t*> room(4 * i)
    s.candidates.shared = <int32_t*> room(4 * i)
    s.candidates.ranks = <Rank*> room(i * sizeof(Rank))
    must(check_roots(&s) == -1, "the roots")
    d = 0
    while d < n:
        d = decide_block(&s, &sets, d, min(d + block, n), space, steps, &right)
    must(not right.missed or s.incomplete, "a set that is missing")
    free(s.candidates.ranks)
    free(s.candidates.shared)
    free(s.candidates.found)
    free(s.position)
    free(s.filled)
    free(s.chain)
    free(words)
    free(count)
    free(start)
    free(document)
    free(signatures)
    free(fixed)
    free(root)
    free(role)
    return 0
