"""The tables of an index through inserts, removals, queries and a sweep, against a list of rows.

Damaged ones give any answer, but they end, and touch no memory but their own.
"""

include "fuzz/native/drive.pxi"
include "index/_index.pyx"
include "sets/blocks.pxi"
include "sets/compare.pxi"

from fastlsh._kernels.candidates.ranks cimport Rank
from fastlsh._kernels.sets.modes cimport NOT_VERIFIED

cdef enum:
    MOST = 100                  # documents, in the tables and at a time: more than a bucket offers
    MOST_K = 16
    WORDS = 64                  # elements of a set, at most: the numbers from 1 on

cdef extern from *:
    """
    #define FUZZ_ALL 100        /* MOST */
    #define FUZZ_K 16

    typedef struct {
        uint32_t row[FUZZ_K];
        uint64_t set;           /* a bit for each element */
        int live, filled;
    } FuzzDocument;

    typedef struct {
        FuzzDocument known[FUZZ_ALL];
        Py_ssize_t n, bands, rows, k, limit;
        int mode;
        double threshold;
    } FuzzIndex;

    FUZZ_OBVIOUS static int fuzz_same(const FuzzIndex *x, const uint32_t *a, const uint32_t *b)
    {
        for (Py_ssize_t i = 0; i < x->rows; i++)
            if (a[i] != b[i])
                return 0;
        return 1;
    }

    FUZZ_OBVIOUS static int fuzz_agree(const FuzzIndex *x, const uint32_t *a, const uint32_t *b)
    {
        int equal = 0;
        for (Py_ssize_t j = 0; j < x->k; j++)
            equal += a[j] == b[j];
        return equal;
    }

    FUZZ_OBVIOUS static double fuzz_alike(
        const FuzzIndex *x, const FuzzDocument *a, const FuzzDocument *b)
    {
        double found = 1.0;
        int common = __builtin_popcountll(a->set & b->set);
        int all = __builtin_popcountll(a->set | b->set);
        if (x->mode == 2)
            return found;
        if (x->mode == 1)
            found = (double) fuzz_agree(x, a->row, b->row) / (double) x->k;
        else
            found = a->set && b->set ? (double) common / (double) all : 0.0;
        return found >= x->threshold ? found : -1.0;
    }

    /* How many buckets it shares with a document that is there; of those that offer it if asked,
       and then says whether a bucket has more than it offers. */
    FUZZ_OBVIOUS static int fuzz_shared(
        const FuzzIndex *x, const FuzzDocument *a, Py_ssize_t c, int *more)
    {
        int shared = 0;
        for (Py_ssize_t b = 0; b < x->bands; b++) {
            const uint32_t *mine = a->row + b * x->rows;
            int before = 0;
            if (!x->known[c].live || !x->known[c].filled || !a->filled
                || !fuzz_same(x, mine, x->known[c].row + b * x->rows))
                continue;
            for (Py_ssize_t i = 0; i < c && more; i++)
                before += x->known[i].live && x->known[i].filled
                    && fuzz_same(x, mine, x->known[i].row + b * x->rows);
            shared += before < 64;
            if (more)
                *more |= before >= 64;
        }
        return shared;
    }

    /* The best answers: the next one is the best of those that are left. */
    FUZZ_OBVIOUS static Py_ssize_t fuzz_ask(
        const FuzzIndex *x, const FuzzDocument *a, double *similarity, double *number)
    {
        double alike[FUZZ_ALL];
        Py_ssize_t n = 0, best = 0;
        for (Py_ssize_t c = 0; c < x->n; c++)
            alike[c] = fuzz_shared(x, a, c, 0) ? fuzz_alike(x, a, &x->known[c]) : -1.0;
        while (n < x->limit && best >= 0) {
            best = -1;
            for (Py_ssize_t c = 0; c < x->n; c++)
                if (alike[c] >= 0.0 && (best < 0 || alike[c] > alike[best]))
                    best = c;
            if (best >= 0) {
                similarity[n] = alike[best];
                number[n++] = (double) best;
                alike[best] = -1.0;
            }
        }
        return n;
    }

    /* 0: like one that is there; 1: new; 2: new, but not compared with every candidate. */
    FUZZ_OBVIOUS static int fuzz_insert(FuzzIndex *x, const FuzzDocument *a)
    {
        int shared[FUZZ_ALL], equal[FUZZ_ALL], more = 0, candidates = 0;
        for (Py_ssize_t c = 0; c < x->n; c++) {
            shared[c] = fuzz_shared(x, a, c, &more);
            equal[c] = shared[c] ? fuzz_agree(x, a->row, x->known[c].row) : 0;
            candidates += shared[c] > 0;
        }
        for (Py_ssize_t c = 0; c < x->n; c++) {
            Py_ssize_t better = 0;
            for (Py_ssize_t i = 0; i < x->n && candidates > x->limit; i++)
                better += shared[i] && (shared[i] > shared[c]
                    || (shared[i] == shared[c] && (equal[i] > equal[c]
                        || (equal[i] == equal[c] && i < c))));
            if (shared[c] && better < x->limit && fuzz_alike(x, a, &x->known[c]) >= 0.0)
                return 0;
        }
        x->known[x->n++] = *a;
        return more || candidates > x->limit ? 2 : 1;
    }
    """
    ctypedef struct Document "FuzzDocument":
        uint32_t row[MOST_K]
        uint64_t elements "set"
        bint live
        bint filled
    ctypedef struct Right "FuzzIndex":
        Document known[MOST]
        Py_ssize_t n
        Py_ssize_t bands
        Py_ssize_t rows
        Py_ssize_t k
        Py_ssize_t limit
        int mode
        double threshold
    Py_ssize_t ask "fuzz_ask"(
        const Right* x, const Document* a, double* similarity, double* number) noexcept nogil
    int insert "fuzz_insert"(Right* x, const Document* a) noexcept nogil

cdef struct Batch:
    # Documents that are asked about, or come in.
    Py_ssize_t n
    Document documents[MOST]
    Question question
    uint32_t* signatures
    uint64_t* hashes
    int64_t* offsets

cdef int[3] MODE = [BY_SETS, BY_SIGNATURE, NOT_VERIFIED]


def prepare():
    loops.count_equal = count_equal
    loops.jaccard_of_sets = jaccard_of_sets
    loops.containment_of_sets = containment_of_sets


cdef void read_document(Given* given, const Right* x, Document* d) noexcept nogil:
    # Anew, empty, or as one that is there with a value changed.
    cdef uint8_t how = byte(given)
    cdef uint8_t what = byte(given)
    cdef Py_ssize_t j
    memset(d, 0, sizeof(Document))
    d.live = d.filled = True
    if how >= 240:
        d.filled = False
        memset(d.row, 0xFF, sizeof(d.row))
        return
    if how >= 128 and x.n:
        memcpy(d, &x.known[what % x.n], sizeof(Document))
        d.live = True
        if how & 1 and d.filled:
            d.row[(how >> 1) % x.k] ^= 1
            d.elements ^= <uint64_t> 1 << (how & 62)
        return
    for j in range(x.k):
        d.row[j] = how >> (j % 5) & 3
    d.elements = ((<uint64_t> 2 << (how >> 2)) - 1) << (what & 31)


cdef void fill_batch(const Right* x, Batch* batch) noexcept nogil:
    # In memory of just the size.
    cdef Py_ssize_t d, e
    cdef int64_t total = 0
    batch.signatures = <uint32_t*> room(4 * batch.n * x.k)
    batch.offsets = <int64_t*> room(8 * (batch.n + 1))
    batch.offsets[0] = 0
    for d in range(batch.n):
        memcpy(batch.signatures + d * x.k, batch.documents[d].row, 4 * x.k)
        total += popcount(batch.documents[d].elements)
        batch.offsets[d + 1] = total
    batch.hashes = <uint64_t*> room(8 * total)
    total = 0
    for d in range(batch.n):
        for e in range(WORDS):
            if batch.documents[d].elements >> e & 1:
                batch.hashes[total] = <uint64_t> (e + 1) << 40
                total += 1
    memset(&batch.question, 0, sizeof(Question))
    batch.question.signatures = batch.signatures
    batch.question.hashes = batch.hashes
    batch.question.offsets = batch.offsets
    batch.question.total = total
    batch.question.threshold = x.threshold
    batch.question.mode = x.mode


cdef Desk make_desk(const Tables* t, Py_ssize_t documents) noexcept nogil:
    cdef Desk desk
    desk.room = max(desk_room(t, documents), <Py_ssize_t> AHEAD + 1)
    desk.tags = <uint32_t*> room(4 * desk.room * (t.count + 1))
    desk.filled = desk.tags + desk.room * t.count
    return desk


cdef void make_room(Tables* t, Py_ssize_t more) noexcept nogil:
    # A slot stays empty in each table.
    cdef Band* band
    cdef uint64_t* slots
    cdef Py_ssize_t b, size
    for b in range(t.count):
        band = &t.bands[b]
        size = band.size
        while band.used + more >= size:
            size = 2 * size + 1
        if size == <Py_ssize_t> band.size:
            continue
        slots = <uint64_t*> room(8 * size)
        memset(slots, 0, 8 * size)
        must(move_slots_to(band.slots, band.size, slots, size) == band.used, "slots")
        band.slots = slots
        band.size = size


cdef bint insert_all(Tables* t, Right* x, Batch* batch) noexcept nogil:
    cdef Desk desk = make_desk(t, batch.n)
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t d
    cdef bint sound = append_all(t, &batch.question, 0, batch.n, &desk)
    must(mark(t, n, NULL, 0) == -batch.n, "how many are there")
    for d in range(batch.n):
        x.known[x.n] = batch.documents[d]
        x.n += 1
    return sound


cdef bint insert_new(Tables* t, Right* x, Batch* batch, bint sound) noexcept nogil:
    cdef Desk desk = make_desk(t, <Py_ssize_t> AHEAD)
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t space = t.count * min(<Py_ssize_t> REMEMBERED, t.n + batch.n)
    cdef Py_ssize_t d
    cdef Stream stream
    memset(&stream, 0, sizeof(Stream))
    stream.fresh = <uint8_t*> room(batch.n)
    stream.own = <uint32_t> n
    stream.heads = <uint32_t*> room(4 * t.count)
    stream.candidates.found = <int32_t*> room(4 * space)
    stream.candidates.shared = <int32_t*> room(4 * space)
    stream.candidates.ranks = <Rank*> room(space * sizeof(Rank))
    stream.candidates.limit = x.limit
    while not insert_some(t, &batch.question, batch.n, &desk, &stream):
        pass
    sound &= not stream.spent.damaged
    if sound:
        for d in range(batch.n):
            must(stream.fresh[d] == insert(x, &batch.documents[d]), "what is new")
        must(t.n == x.n, "how many are new")
    mark(t, n, NULL, 0)
    return sound


cdef bint query_all(
    const Tables* t, const Right* x, Batch* batch, Py_ssize_t space, bint sound
) noexcept nogil:
    # With more room where the answers of one do not fit.
    cdef Answers answers
    cdef Desk desk = make_desk(t, batch.n)
    cdef double similarity[MOST]
    cdef double numbers[MOST]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t d, i, n, at
    cdef int state
    memset(&answers, 0, sizeof(Answers))
    while first < batch.n:
        answers.walk.spent.damaged = answers.walk.spent.dead = 0
        answers.out = <Answer*> room(space * sizeof(Answer))
        answers.counts = <int64_t*> room(8 * (batch.n - first))
        answers.room = space
        answers.limit = x.limit
        answers.first = first
        answers.end = answers.place = answers.held = 0
        answers.walking = False
        memset(answers.counts, 0, 8 * (batch.n - first))
        d = first
        at = 0
        state = PAUSE
        while state == PAUSE:
            state = answer_some(t, &batch.question, batch.n, &desk, &answers)
        sound &= not answers.walk.spent.damaged
        must(state == FULL or answers.first == batch.n, "how far it is")
        answers.counts -= answers.first - first
        while d < answers.first and sound:
            n = ask(x, &batch.documents[d], similarity, numbers)
            must(answers.counts[d - first] == n, "how many answers")
            for i in range(n):
                must(answers.out[at].similarity == similarity[i], "a similarity")
                must(answers.out[at].number == numbers[i], "an answer")
                at += 1
            d += 1
        must(not sound or at == answers.end, "all answers")
        if answers.first == first:
            space += MOST
        first = answers.first
    return sound


cdef bint sweep_all(Tables* t, Right* x, bint sound) noexcept nogil:
    cdef Sweep sweep
    cdef Py_ssize_t d
    cdef Py_ssize_t kept = 0
    memset(&sweep, 0, sizeof(Sweep))
    sweep.desk = make_desk(t, t.n)
    sweep.phase = MOVING
    while sweep.phase:
        sweep_some(t, &sweep)
    for d in range(x.n):
        if x.known[d].live:
            x.known[kept] = x.known[d]
            kept += 1
    x.n = kept
    must(t.n == kept or not sound, "how many are left")
    return not sweep.damaged


cdef void damage(Given* given, Tables* t) noexcept nogil:
    cdef Band* band = &t.bands[number(given, t.count)]
    cdef Py_ssize_t place = byte(given)
    cdef uint64_t value = byte(given)
    cdef uint8_t what = byte(given)
    value = value - 1 if what & 1 else value | <uint64_t> (what & 6) << 29
    if what & 8:
        band.slots[place % band.size] = value | <uint64_t> byte(given) << 56
    elif t.n:
        band.links[place % t.n] = <uint32_t> value
    count_all(t)


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef Right x
    cdef Tables t
    cdef Batch batch
    cdef Py_ssize_t b, d, space
    cdef Py_ssize_t handled = 0
    cdef int64_t gone
    cdef int what
    cdef bint sound = True
    memset(&x, 0, sizeof(x))
    memset(&t, 0, sizeof(t))
    x.bands = t.count = 1 + number(&given, 6)
    x.rows = t.rows = 1 + number(&given, 2)
    x.k = t.k = t.minima = t.count * t.rows + number(&given, 3)
    x.mode = MODE[number(&given, 3)]
    x.threshold = min(byte(&given) / 250.0, 1.0)
    x.limit = 1 + number(&given, 120)
    space = 1 + byte(&given)
    t.total = WORDS * MOST
    t.longest = -1
    t.signatures = <uint32_t*> room(4 * MOST * t.k)
    t.live = <uint8_t*> room(MOST)
    t.hashes = <uint64_t*> room(8 * t.total)
    t.offsets = <int64_t*> room(8 * (MOST + 1))
    t.offsets[0] = 0
    t.bands = <Band*> room(t.count * sizeof(Band))
    for b in range(t.count):
        t.bands[b].size = 1 + (size & 3)
        t.bands[b].used = 0
        t.bands[b].slots = <uint64_t*> room(8 * t.bands[b].size)
        t.bands[b].links = <uint32_t*> room(4 * MOST)
        memset(t.bands[b].slots, 0, 8 * t.bands[b].size)
    while given.left > 0 and handled < 4 * MOST:
        what = byte(&given)
        batch.n = 1 + (what >> 3) * (3 if what & 1 else 1)      # up to 94
        what &= 7
        if what == 6:
            d = byte(&given)
            if t.n:
                gone = d % t.n
                mark(&t, t.n, &gone, 1)
                if sound:
                    x.known[gone].live = False
        elif what == 7:
            damage(&given, &t)
            sound = False
        elif what == 5:
            must(sweep_all(&t, &x, sound) or not sound, "damaged by a sweep")
        else:
            if what < 4:
                batch.n = min(batch.n, MOST - t.n)
            for d in range(batch.n):
                read_document(&given, &x, &batch.documents[d])
            fill_batch(&x, &batch)
            if batch.n:
                handled += batch.n
                make_room(&t, batch.n)
                if what == 4:
                    must(query_all(&t, &x, &batch, space, sound) or not sound, "damaged")
                elif what < 2:
                    must(insert_all(&t, &x, &batch) or not sound, "damaged by inserting")
                else:
                    must(insert_new(&t, &x, &batch, sound) or not sound, "damaged by new ones")
        if not sound:
            x.n = t.n
    return 0
