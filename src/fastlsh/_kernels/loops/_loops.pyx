"""The loops of one instruction set. Private: import `fastlsh._kernels`."""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport uint32_t, uint64_t

from fastlsh._kernels.loops.table cimport Loops

include "compat/murmur.pxi"
include "compat/permute.pxi"
include "compat/prime61.pxi"
include "compat/sha1_rounds.pxi"
include "json/lines.pxi"
include "json/names.pxi"
include "json/numbers.pxi"
include "json/strings.pxi"
include "minhash/fss.pxi"
include "minhash/minima.pxi"
include "minhash/sign.pxi"
include "sets/blocks.pxi"
include "sets/compare.pxi"
include "sets/sets.pxi"
include "text/characters.pxi"
include "text/cuts.pxi"
include "text/decimals.pxi"
include "text/hashes.pxi"
include "text/keyed.pxi"
include "text/words.pxi"

cdef Loops table
table.write_words = write_words
table.count_words = count_words
table.write_hashes = write_hashes
table.json_line = json_line
table.json_place = json_place
table.may_have_name = may_have_name
table.sign_texts = sign_texts
table.sign_tokens = sign_tokens
table.sign_hashes_32 = sign_hashes[uint32_t]
table.sign_hashes_64 = sign_hashes[uint64_t]
table.count_equal = count_equal
table.agree_pairs = agree_pairs
table.jaccard_of_sets = jaccard_of_sets
table.containment_of_sets = containment_of_sets
table.sets_of_texts = sets_of_texts
table.sets_of_tokens = sets_of_tokens
table.murmur_32 = minima_of_text32
table.murmur_64 = minima_of_text64
table.permute = permute
table.sha1_compress = sha1_compress

LOOPS = PyCapsule_New(&table, "fastlsh.loops", NULL)
