"""Lines of JSON, in memory of the size that is needed, against a parser that reads byte by byte."""

include "fuzz/native/drive.pxi"
include "fuzz/native/texts.pxi"
include "json/lines.pxi"
include "json/numbers.pxi"
include "json/strings.pxi"

from libc.string cimport strlen

from fastlsh._kernels.json.rows cimport MOST_JOIN, PADDING

cdef extern from *:
    """
    #include <string.h>

    /* Pieces of lines, for inputs of bytes that are mostly not. */
    static const char *fuzz_pieces[64] = {
        "{\\"t\\":\\"", "\\"}", "{", "}", "[", "]", ",", ":", "\\"", "\\"t\\":", "\\"i\\":",
        "\\"p\\":",
        "\\"x\\":", "null", "true", "false", "NaN", "Infinity", "-", "0", "7",
        "[{\\"from\\":\\"u\\",\\"value\\":\\"", ".5", "e2",
        "E-3", "9223372036854775807", "-9223372036854775808", " ", "\\t", "\\r", "\\\\", "\\\\n",
        "\\\\u00e9", "\\\\ud83d\\\\ude00", "\\\\ud83d", "\\\\ude00", "\\\\u", "\\\\/",
        "\\\\\\"", "abc",
        "0123456789abcdefghijklmnopqrstuvwxyz", "\\xC3\\xA9", "\\xE4\\xB8\\xAD",
        "\\xF0\\x9F\\x98\\x80",
        "\\xED\\xA0\\x80", "\\xC0\\xAF", "\\xE4\\xB8", "\\x01", "\\"}]",
        "{\\"role\\":\\"u\\",\\"content\\":\\"",
        "[[[[[[[[", "]]]]]]]]",
        "{\\"t\\":null,", "\\"i\\":5,", "\\"p\\":1.25,", "\\\\u0000", "\\\\f",
        "\\\\b", "\\\\r", "\\\\t"};

    typedef struct {
        const uint8_t *at, *end;
        uint8_t text[4096];
        int64_t text_size;          /* -1: null, -2: absent or no text */
        int with_p, i_kind, p_kind, depth;  /* as rows.pxd has them */
        int64_t i_value;
    } FuzzLine;

    static int fuzz_value(FuzzLine *s, int which);

    FUZZ_OBVIOUS static void fuzz_space(FuzzLine *s)
    {
        while (s->at < s->end && (*s->at == ' ' || *s->at == '\\t' || *s->at == '\\r'))
            s->at++;
    }

    FUZZ_OBVIOUS static int fuzz_is(FuzzLine *s, const char *word)
    {
        size_t n = strlen(word);
        if ((size_t) (s->end - s->at) < n || memcmp(s->at, word, n) != 0)
            return 0;
        s->at += n;
        return 1;
    }

    FUZZ_OBVIOUS static int fuzz_hex(FuzzLine *s)
    {
        int i, value = 0;
        for (i = 0; i < 4; i++, s->at++) {
            const char *digits = "0123456789abcdef0123456789ABCDEF", *found;
            if (s->at >= s->end || !*s->at || !(found = strchr(digits, *s->at)))
                return -1;
            value = value * 16 + (int) ((found - digits) % 16);
        }
        return value;
    }

    /* Returns how many bytes the string has as UTF-8, -1 if it is none, -2 with a lone surrogate;
       `plain` says whether it has no backslash. */
    FUZZ_OBVIOUS static int64_t fuzz_string(FuzzLine *s, uint8_t *out, int *plain)
    {
        int64_t n = 0, lone = 0;
        *plain = 1;
        if (!fuzz_is(s, "\\""))
            return -1;
        for (;;) {
            int64_t c, low;
            if (s->at >= s->end || *s->at < 32)
                return -1;
            if (*s->at == '"') {
                s->at++;
                return lone ? -2 : n;
            }
            if (*s->at != '\\\\') {
                out[n++] = *s->at++;
                continue;
            }
            *plain = 0;
            s->at++;
            if (s->at >= s->end)
                return -1;
            if (*s->at != 'u') {
                const char *from = "nrtbf\\"\\\\/", *to = "\\n\\r\\t\\b\\f\\"\\\\/";
                const char *found = *s->at ? strchr(from, *s->at) : NULL;
                if (!found)
                    return -1;
                out[n++] = (uint8_t) to[found - from];
                s->at++;
                continue;
            }
            s->at++;
            c = fuzz_hex(s);
            if (c < 0)
                return -1;
            if (c >= 0xD800 && c < 0xDC00 && fuzz_is(s, "\\\\u")) {
                low = fuzz_hex(s);
                if (low < 0)
                    return -1;
                if (low >= 0xDC00 && low < 0xE000)
                    c = 0x10000 + (c - 0xD800) * 0x400 + (low - 0xDC00);
                else {                  /* it may begin a pair itself */
                    s->at -= 6;
                }
            }
            if (c >= 0xD800 && c < 0xE000)
                lone = 1;
            else if (c < 0x80)
                out[n++] = (uint8_t) c;
            else if (c < 0x800) {
                out[n++] = (uint8_t) (0xC0 + c / 64);
                out[n++] = (uint8_t) (0x80 + c % 64);
            } else {
                if (c >= 0x10000) {
                    out[n++] = (uint8_t) (0xF0 + c / 262144);
                    out[n++] = (uint8_t) (0x80 + c / 4096 % 64);
                } else
                    out[n++] = (uint8_t) (0xE0 + c / 4096);
                out[n++] = (uint8_t) (0x80 + c / 64 % 64);
                out[n++] = (uint8_t) (0x80 + c % 64);
            }
        }
    }

    FUZZ_OBVIOUS static int fuzz_digits(FuzzLine *s)
    {
        int n = 0;
        for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; n++)
            s->at++;
        return n;
    }

    /* Returns 0: none, 3: an integer of 64 bits, 5: a real, 6: a longer integer. */
    FUZZ_OBVIOUS static int fuzz_number(FuzzLine *s, int64_t *value)
    {
        const uint8_t *digits;
        int n, negative = fuzz_is(s, "-"), is_real = 0;
        __int128 sum = 0;
        if (negative && fuzz_is(s, "Infinity"))
            return 6;
        digits = s->at;
        n = fuzz_digits(s);
        if (n == 0 || n > 640 || (n > 1 && *digits == '0'))
            return 0;
        if (fuzz_is(s, ".")) {
            is_real = 1;
            if (!fuzz_digits(s))
                return 0;
        }
        if (fuzz_is(s, "e") || fuzz_is(s, "E")) {
            is_real = 1;
            if (!fuzz_is(s, "+"))
                fuzz_is(s, "-");
            if (!fuzz_digits(s))
                return 0;
        }
        if (is_real)
            return 5;
        if (n > 19)
            return 6;
        for (; n; n--)
            sum = sum * 10 + (*digits++ - '0');
        *value = (int64_t) (negative ? -sum : sum);
        return sum > INT64_MAX ? 6 : 3;
    }

    /* The members of an object, behind its brace. */
    FUZZ_OBVIOUS static int fuzz_members(FuzzLine *s, int top)
    {
        uint8_t key[4096];
        int plain;
        fuzz_space(s);
        if (fuzz_is(s, "}"))
            return 1;
        for (;;) {
            int64_t n;
            int which = 0;
            fuzz_space(s);
            n = fuzz_string(s, key, &plain);
            if (n == -1 || (top && !plain))
                return 0;
            if (top && n == 1)
                which = key[0] == 't' || key[0] == 'i' || (s->with_p && key[0] == 'p') ? key[0] : 0;
            fuzz_space(s);
            if (!fuzz_is(s, ":"))
                return 0;
            fuzz_space(s);
            if (!fuzz_value(s, which))
                return 0;
            fuzz_space(s);
            if (fuzz_is(s, "}"))
                return 1;
            if (!fuzz_is(s, ","))
                return 0;
        }
    }

    FUZZ_OBVIOUS static int fuzz_value(FuzzLine *s, int which)
    {
        static uint8_t scratch[4096];
        int kind, plain, right;
        int64_t n, value = 0;
        if (s->at >= s->end)
            return 0;
        if (*s->at == '{' || *s->at == '[') {
            int is_object = *s->at++ == '{';
            if (which || s->depth++ == 64)
                return 0;
            if (is_object)
                right = fuzz_members(s, 0);
            else {
                fuzz_space(s);
                right = fuzz_is(s, "]");
                while (!right) {
                    fuzz_space(s);
                    if (!fuzz_value(s, 0))
                        return 0;
                    fuzz_space(s);
                    right = fuzz_is(s, "]");
                    if (!right && !fuzz_is(s, ","))
                        return 0;
                }
            }
            s->depth--;
            return right;
        }
        if (*s->at == '"') {
            n = fuzz_string(s, which == 't' ? s->text : scratch, &plain);
            if (n == -1 || (which && n == -2))
                return 0;
            if (which == 't')
                s->text_size = n;
            kind = 1;
        } else if (*s->at == '-' || (*s->at >= '0' && *s->at <= '9')) {
            kind = fuzz_number(s, &value);
            if (kind == 0)
                return 0;
        } else if (fuzz_is(s, "null"))
            kind = 2;
        else if (fuzz_is(s, "true") || fuzz_is(s, "false") || fuzz_is(s, "NaN")
                 || fuzz_is(s, "Infinity"))
            kind = 6;
        else
            return 0;
        if (which == 't' && kind != 1)
            s->text_size = kind == 2 ? -1 : -2;
        if (which == 'i') {
            s->i_kind = kind;
            s->i_value = value;
        }
        if (which == 'p')
            s->p_kind = kind;
        return 1;
    }

    FUZZ_OBVIOUS static int fuzz_line(FuzzLine *s, const uint8_t *data, int64_t n, int with_p)
    {
        static uint32_t points[4096];
        memset(s, 0, sizeof *s);
        s->at = data;
        s->end = data + n;
        s->text_size = -2;
        s->with_p = with_p;
        if (fuzz_decode(data, n, points) < 0)
            return 0;
        fuzz_space(s);
        if (!fuzz_is(s, "{") || !fuzz_members(s, 1))
            return 0;
        fuzz_space(s);
        return s->at == s->end && s->text_size != -2
            && (!with_p || s->p_kind == 3 || s->p_kind == 5);
    }
    """
    ctypedef struct FuzzLine:
        uint8_t text[4096]
        int64_t text_size
        int i_kind
        int64_t i_value
    bint right_line "fuzz_line"(FuzzLine* line, const uint8_t* data, int64_t n, int with_p) nogil
    const char** fuzz_pieces

cdef enum:
    MOST_BYTES = 1024

cdef FuzzLine right


cdef void as_key(Key* key, const char* name) noexcept nogil:
    key.name, key.size = <const uint8_t*> name, strlen(name)


cdef void read_chat(const uint8_t* line, Py_ssize_t n, bint all_roles) noexcept nogil:
    # Two texts, either of which may be a chat, with the longest join: only the memory is checked.
    cdef uint8_t* out = <uint8_t*> room(n + MOST_JOIN + PADDING)
    cdef Wanted wanted
    cdef Found found
    cdef Member* member
    cdef Py_ssize_t used
    cdef int i
    memset(&wanted, 0, sizeof(Wanted))
    as_key(&wanted.keys[0], b"t")
    as_key(&wanted.keys[1], b"x")
    as_key(&wanted.keys[2], b"i")
    wanted.n, wanted.texts, wanted.labels = 3, 2, 3
    as_key(&wanted.join, b"0123456789abcdef")
    wanted.messages = True
    as_key(&wanted.roles[0], b"u")
    wanted.n_roles = 0 if all_roles else 1
    found.pieces = <uint8_t*> room(n + PADDING)
    used = json_line(line, n, &wanted, out, 0, &found)
    must(0 <= used <= n, "the bytes that are used for an id")
    if found.members[1].kind != REFUSED:
        for i in range(2):
            member = &found.members[i]
            if member.kind != NULL_VALUE:
                must(0 <= member.value and 0 <= member.size, "where a piece is")
                must(member.value + member.size <= found.pieces_end - found.pieces, "a piece")


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef uint8_t written[MOST_BYTES]
    cdef bint with_p = size > 0 and data[0] & 2
    cdef Py_ssize_t n = write_pieces(&given, fuzz_pieces, written, MOST_BYTES)
    cdef uint8_t* line = <uint8_t*> room(n + 1 + PADDING)
    cdef uint8_t* out = <uint8_t*> room(n + 1 + PADDING)
    cdef Wanted wanted
    cdef Found found
    cdef Member* text = &found.members[0]
    cdef Member* id = &found.members[1]
    cdef bint sound
    cdef Py_ssize_t used, i
    for i in range(n):
        written[i] = 32 if written[i] == 10 else written[i]
    memcpy(line, written, n)
    memset(line + n, 10, 1 + PADDING)
    memset(&wanted, 0, sizeof(Wanted))
    as_key(&wanted.keys[0], b"t")
    as_key(&wanted.keys[1], b"i")
    as_key(&wanted.keys[2], b"p")
    wanted.texts = 1
    wanted.n = wanted.labels = 3 if with_p else 2
    found.pieces = NULL
    used = json_line(line, n + 1, &wanted, out, 0, &found)
    must(0 <= used <= n, "the bytes that are used")
    sound = right_line(&right, written, n, with_p)
    must(sound == (text.kind != REFUSED), "whether a line is taken")
    if sound:
        must((text.kind == NULL_VALUE) == (right.text_size == -1), "a null")
        if text.kind == STRING:
            must(text.size == right.text_size, "the size of a text")
            must(memcmp(out + text.value, right.text, text.size) == 0, "a text")
        must(
            id.kind == right.i_kind or (id.kind == REAL and right.i_kind == LONG_REAL),
            "what an id is",
        )
        if id.kind == INTEGER:
            must(id.value == right.i_value, "an id")
    read_chat(line, n + 1, size > 0 and data[0] & 4)
    return 0
