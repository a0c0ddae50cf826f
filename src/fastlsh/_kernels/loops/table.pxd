# The loops that gain from newer instructions, as pointers: one table for each instruction set.
#
# They are compiled once for each set (`_loops.pyx`), all else once. A call through the table costs
# nothing for a batch, little for a document or a pair of documents, and too much for an element.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from fastlsh._kernels.compat.functions cimport Functions
from fastlsh._kernels.compat.murmur cimport Murmur
from fastlsh._kernels.compat.sha1 cimport SHA1_LANES
from fastlsh._kernels.json.rows cimport Found, Key, Names, Place, Wanted
from fastlsh._kernels.minhash.signer cimport Signer
from fastlsh._kernels.sets.sets cimport Workbench
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.source cimport Hashing


cdef struct Loops:      # only pointers to functions: tests/_kernels/test_loops.py reads their names
    # text
    Py_ssize_t (*write_words)(const Hashing* plan, const Span* span, int64_t* out) noexcept nogil
    Py_ssize_t (*count_words)(const Hashing* plan, const Span* span, Py_ssize_t most) noexcept nogil
    Py_ssize_t (*write_hashes)(const Hashing* plan, const Span* span, uint64_t* out) noexcept nogil
    # json
    Py_ssize_t (*json_line)(
        const uint8_t* data, Py_ssize_t size, const Wanted* wanted, uint8_t* out, Py_ssize_t used,
        Found* found
    ) noexcept nogil
    bint (*json_place)(
        const uint8_t* data, Py_ssize_t size, const Key* key, Place* place
    ) noexcept nogil
    bint (*may_have_name)(
        const uint8_t* line, Py_ssize_t size, const Names* names
    ) noexcept nogil
    # minhash
    void (*sign_texts)(
        const Span* at, Py_ssize_t n, const Hashing* plan, const Signer* how, uint64_t* window,
        uint32_t* rows, uint64_t* keys
    ) noexcept nogil
    void (*sign_tokens)(
        const uint64_t* tokens, const int64_t* offsets, Py_ssize_t n, const Hashing* plan,
        const Signer* how, uint64_t* window, uint32_t* rows, uint64_t* keys
    ) noexcept nogil
    void (*sign_hashes_32)(
        const uint32_t* hashes, const int64_t* offsets, Py_ssize_t n, const Signer* how,
        uint32_t* rows
    ) noexcept nogil
    void (*sign_hashes_64)(
        const uint64_t* hashes, const int64_t* offsets, Py_ssize_t n, const Signer* how,
        uint32_t* rows
    ) noexcept nogil
    # sets
    void (*count_equal)(
        const uint32_t* a, const uint32_t* b, Py_ssize_t k, Py_ssize_t* count
    ) noexcept nogil
    void (*agree_pairs)(
        const uint32_t* signatures, Py_ssize_t k, const int64_t* left, const int64_t* right,
        Py_ssize_t n, double* out
    ) noexcept nogil
    double (*jaccard_of_sets)(
        const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double threshold
    ) noexcept nogil
    double (*containment_of_sets)(
        const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double share
    ) noexcept nogil
    Py_ssize_t (*sets_of_texts)(
        const Span* at, Py_ssize_t n, const Hashing* plan, uint64_t* window, uint64_t* out,
        const int64_t* start, int64_t* count, bint thinned, Workbench* bench
    ) noexcept nogil
    Py_ssize_t (*sets_of_tokens)(
        const uint64_t* tokens, const int64_t* offsets, Py_ssize_t n, const Hashing* plan,
        uint64_t* window, uint64_t* out, const int64_t* start, int64_t* count, bint thinned,
        Workbench* bench
    ) noexcept nogil
    # compat
    void (*murmur_32)(
        Murmur* m, const uint8_t* text, Py_ssize_t length, Py_ssize_t size, uint32_t* row
    ) noexcept nogil
    void (*murmur_64)(
        Murmur* m, const uint8_t* text, Py_ssize_t length, Py_ssize_t size, uint64_t* row
    ) noexcept nogil
    void (*permute)(
        const Functions* f, const void* hashes, Py_ssize_t n, void* row
    ) noexcept nogil
    void (*sha1_compress)(
        uint32_t (*state)[SHA1_LANES], uint32_t (*words)[SHA1_LANES]
    ) noexcept nogil
