/* Sections 1 to 6, 9 (for ASCII) and 10 of docs/signature-spec.md, from that page alone, in C99.
 *
 *     cc -std=c99 -O2 -o signature signature.c && ./signature < cases
 *
 * A case is a line of fields, "-" where there is nothing:
 *
 *     scheme unit size num_perm seed bands rows bits options punctuation_characters text
 *
 * Options have commas between them (lowercase,numbers=0), and so have code points, in hexadecimal.
 * With the unit "element" they are the 64-bit numbers of from_hashes. What is printed of a case:
 * the text after its steps, shingle hashes (ascending), signature, band keys, packed signature.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTER_BASE 0x243F6A8885A308D5
#define WORD_BASE 0xB7E151628AED2A6D
#define UNITS 0x6A09E667F3BCC909
#define ONES UINT64_C(0xFFFFFFFF)

static void stop(const char *reason) {
    fprintf(stderr, "signature.c: %s\n", reason);
    exit(2);
}

/* Lists of numbers */
typedef struct { uint64_t *at; size_t count, room; } List;

static void push(List *list, uint64_t value) {
    if (list->count == list->room) {
        list->room = 2 * list->room + 16;
        list->at = realloc(list->at, list->room * sizeof *list->at);
        if (!list->at) stop("out of memory");
    }
    list->at[list->count++] = value;
}

static List parse(const char *text) {
    List list = {0};
    if (strcmp(text, "-") != 0)
        for (char *end; *text; text = *end ? end + 1 : end) push(&list, strtoull(text, &end, 16));
    return list;
}

static void print(List list, const char *format, char after) {
    if (!list.count) putchar('-');
    for (size_t i = 0; i < list.count; i++) printf(format, i ? "," : "", list.at[i]);
    putchar(after);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void make_set(List *list) {
    size_t kept = 0;
    if (list->count) qsort(list->at, list->count, sizeof *list->at, compare);
    for (size_t i = 0; i < list->count; i++)
        if (!kept || list->at[i] != list->at[kept - 1]) list->at[kept++] = list->at[i];
    list->count = kept;
}

/* 1. Mixers */
static uint32_t fmix32(uint32_t h) {
    h ^= h >> 16, h *= 0x85EBCA6B, h ^= h >> 13, h *= 0xC2B2AE35;
    return h ^ h >> 16;
}

static uint64_t fmix64(uint64_t h) {
    h ^= h >> 33, h *= 0xFF51AFD7ED558CCD, h ^= h >> 33, h *= 0xC4CEB9FE1A85EC53;
    return h ^ h >> 33;
}

static uint64_t mix(uint64_t c) {
    uint64_t h = (c + 1) * 0x9E3779B97F4A7C15;
    h ^= h >> 32, h *= 0xD6E8FEB86659FD93;
    return h ^ h >> 32;
}

/* 9. Steps of normalisation */
static int has(const char *options, const char *name) {
    size_t length = strlen(name);
    for (const char *at = options; (at = strstr(at, name)); at++)
        if ((at == options || at[-1] == ',') && (!at[length] || at[length] == ',')) return 1;
    return 0;
}

static void only_ascii(List text) {
    for (size_t i = 0; i < text.count; i++)
        if (text.at[i] > 127) stop("beyond ASCII this needs the tables of Unicode");
}

static int in_range(uint64_t c, uint64_t first, uint64_t last) { return first <= c && c <= last; }
static int digit_at(List s, size_t i) { return i < s.count && in_range(s.at[i], '0', '9'); }
static int is_white(uint64_t c) {
    return in_range(c, 0x9, 0xD) || in_range(c, 0x1C, 0x20) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || in_range(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

static int is_alphanumeric(uint64_t c) {
    return in_range(c, '0', '9') || in_range(c, 'A', 'Z') || in_range(c, 'a', 'z') || c == '_';
}

static int is_punctuation(uint64_t c, List characters) {
    for (size_t i = 0; i < characters.count; i++)
        if (characters.at[i] == c) return 1;
    /* In ASCII, category P and the nine other characters are all that is visible but these: */
    return !characters.count && in_range(c, 0x21, 0x7E) && (c == '_' || !is_alphanumeric(c));
}

static List numbers(List text) {
    List out = {0};
    for (size_t i = 0; i < text.count; i++) {
        push(&out, digit_at(text, i) ? '0' : text.at[i]);
        if (!digit_at(text, i)) continue;
        while (digit_at(text, i + 1)) i++;
        if (!digit_at(text, i + 2) || (text.at[i + 1] != '.' && text.at[i + 1] != ',')) continue;
        for (i += 2; digit_at(text, i + 1);) i++;
    }
    return out;
}

static List punctuation(List text, List characters, int space) {
    List out = {0};
    for (size_t i = 0; i < text.count; i++)
        if (space || !is_punctuation(text.at[i], characters))
            push(&out, is_punctuation(text.at[i], characters) ? ' ' : text.at[i]);
    return out;
}

static List whitespace(List text, int collapse) {
    List out = {0};
    int waiting = 0;
    for (size_t i = 0; i < text.count; i++) {
        int white = is_white(text.at[i]);
        if (!white && waiting) push(&out, ' ');
        if (!white) push(&out, text.at[i]);
        waiting = white && collapse && out.count;
    }
    return out;
}

static List steps(List text, const char *options, List characters) {
    if (strstr(options, "unicode_form") || has(options, "lowercase") || has(options, "numbers=0") ||
        has(options, "strip_accents") || (strstr(options, "punctuation") && !characters.count))
        only_ascii(text); /* which unicode_form and strip_accents leave as it is */
    for (size_t i = 0; has(options, "lowercase") && i < text.count; i++)
        if (in_range(text.at[i], 'A', 'Z')) text.at[i] += 32;
    if (has(options, "numbers=0")) text = numbers(text);
    if (has(options, "punctuation=space")) text = punctuation(text, characters, 1);
    if (has(options, "punctuation=remove")) text = punctuation(text, characters, 0);
    if (has(options, "remove_whitespace")) text = whitespace(text, 0);
    if (has(options, "collapse_whitespace")) text = whitespace(text, 1);
    return text;
}

/* 2. Shingle hashes */
static uint64_t hash(const uint64_t *mixed, size_t count, uint64_t base) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum = sum * base + mixed[i];
    return fmix64(sum + count * UNITS);
}

static List bytes(List text) {
    List out = {0};
    for (size_t i = 0; i < text.count; i++) {
        uint64_t c = text.at[i], more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        push(&out, (more ? 0xFF00 >> (more + 1) & 0xFF : 0) | c >> 6 * more);
        while (more--) push(&out, 0x80 | (c >> 6 * more & 63));
    }
    return out;
}

static List words(List text, const char *options) {
    List out = {0}, word = {0};
    int any = !strstr(options, "words="), empty = has(options, "empty_words");
    if (has(options, "words=alphanumeric") || has(options, "words=unicode")) only_ascii(text);
    for (size_t i = 0; i <= text.count && text.count; i++) {
        if (i < text.count && (any ? !is_white(text.at[i]) : is_alphanumeric(text.at[i]))) {
            push(&word, mix(text.at[i]));
        } else {
            if (word.count || empty) push(&out, hash(word.at, word.count, CHARACTER_BASE));
            word.count = 0;
        }
    }
    return out;
}

static List shingle_hashes(List text, const char *unit, size_t size, const char *options) {
    List units = {0}, out = {0};
    int of_words = strcmp(unit, "word") == 0;
    if (of_words) units = words(text, options);
    if (strcmp(unit, "byte") == 0) text = bytes(text);
    for (size_t i = 0; i < text.count && !of_words; i++) push(&units, mix(text.at[i]));
    if (units.count && size > units.count) size = units.count;
    for (size_t i = 0; i + size <= units.count; i++)
        push(&out, hash(units.at + i, size, of_words ? WORD_BASE : CHARACTER_BASE));
    return out;
}

/* 4. The Mersenne Twister, and the coefficients that it draws */
static uint32_t state[624], place;

static void init_genrand(uint32_t seed) {
    state[0] = seed;
    for (uint32_t i = 1, y = seed; i < 624; i++) y = state[i] = 1812433253 * (y ^ y >> 30) + i;
    place = 624;
}

static uint32_t genrand(void) {
    if (place == 624)
        for (uint32_t i = place = 0; i < 624; i++) {
            uint32_t y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF);
            state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908B0DF : 0);
        }
    uint32_t y = state[place++];
    y ^= y >> 11, y ^= y << 7 & 0x9D2C5680, y ^= y << 15 & 0xEFC60000;
    return y ^ y >> 18;
}

/* 3, 4, 5. Signatures */
static List signature(List set, int fss, size_t k, uint32_t seed) {
    List s = {0}, a = {0}, b = {0}, x = {0};
    size_t drawn = fss ? k + 8 : k;
    init_genrand(seed);
    for (size_t j = 0; j < drawn; j++) push(&a, 2 * (genrand() & 0x7FFFFFFF) + 1);
    for (size_t j = 0; j < drawn; j++) push(&b, genrand());
    for (size_t i = 0; i < set.count; i++)
        push(&x, fmix32((uint32_t)set.at[i] ^ fmix32((uint32_t)(set.at[i] >> 32))));
    for (size_t j = 0; j < k; j++) {
        uint32_t least = ONES;
        for (size_t i = 0; i < x.count; i++) {
            uint32_t h = (uint32_t)(a.at[j] * x.at[i] + b.at[j]);
            if (h < least) least = h;
        }
        push(&s, fss && x.count ? 0xFF000000 + (least >> 8) : least);
    }
    for (size_t r = 0; r < 8 && fss; r++)
        for (size_t i = 0; i < x.count; i++) {
            uint64_t hk = fmix32((uint32_t)(a.at[k + r] * x.at[i] + b.at[k + r])) * (uint64_t)k;
            uint64_t value = (ONES << (32 - r) & ONES) + ((hk & ONES) >> (r + 1));
            /* Every value of a round is less than what an empty slot got above. */
            if (value < s.at[hk >> 32]) s.at[hk >> 32] = value;
        }
    return s;
}

/* 6. Band keys */
static int is_empty(List s) {
    size_t j = 0;
    while (j < s.count && s.at[j] == ONES) j++;
    return j == s.count;
}

static List band_keys(List s, size_t bands, size_t rows) {
    List keys = {0};
    for (size_t t = 0; t < bands; t++) {
        uint64_t h = (t + 1) * 0x9E3779B97F4A7C15;
        for (size_t j = t * rows; j < (t + 1) * rows; j++)
            h = (h ^ s.at[j]) * 0xD6E8FEB86659FD93, h ^= h >> 32;
        h = fmix64(h);
        push(&keys, is_empty(s) ? 0 : h ? h : 1);
    }
    return keys;
}

/* 10. Packed signatures */
static List packed(List s, size_t bits) {
    List row = {0};
    for (size_t bit = 0; bit < s.count * bits; bit += bits) {
        if (bit % 8 == 0) push(&row, is_empty(s) ? 0xFF : 0);
        row.at[bit / 8] |= (fmix32((uint32_t)s.at[bit / bits]) & ((1u << bits) - 1)) << bit % 8;
    }
    return row;
}

int main(void) {
    static char scheme[16], unit[16], options[512], own[1 << 16], units[1 << 20];
    size_t size, k, bands, rows, bits;
    uint32_t seed;
    while (scanf("%15s %15s %zu %zu %" SCNu32, scheme, unit, &size, &k, &seed) == 5 &&
           scanf("%zu %zu %zu %511s", &bands, &rows, &bits, options) == 4 &&
           scanf("%65535s %1048575s", own, units) == 2) {
        List text = steps(parse(units), options, parse(own));
        List set = strcmp(unit, "element") ? shingle_hashes(text, unit, size, options) : text;
        print(text, "%s%" PRIx64, ' ');
        make_set(&set);
        List s = signature(set, !strcmp(scheme, "fss"), k, seed);
        print(set, "%s%016" PRIx64, ' ');
        print(s, "%s%" PRIu64, ' ');
        print(band_keys(s, bands, rows), "%s%016" PRIx64, ' ');
        print(packed(s, bits), "%s%02" PRIx64, '\n');
    }
    if (!feof(stdin)) stop("a case is a line of 11 fields");
}
