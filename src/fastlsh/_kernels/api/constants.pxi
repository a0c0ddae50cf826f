# The numbers that callers name, from where the kernels have them.

from fastlsh._kernels.greedy.keeper cimport REMEMBERED
from fastlsh._kernels.minhash.signer cimport AFFINE32, AFFINE64, FSS, LEGACY, ROUNDS
from fastlsh._kernels.sets.modes cimport BY_SETS, BY_SIGNATURE, NOT_VERIFIED
from fastlsh._kernels.text.source cimport CHARACTERS, WORDS

globals().update(
    AFFINE32=AFFINE32, AFFINE64=AFFINE64, BY_SETS=BY_SETS, BY_SIGNATURE=BY_SIGNATURE,
    CHARACTERS=CHARACTERS, FSS=FSS, LEGACY=LEGACY, NOT_VERIFIED=NOT_VERIFIED,
    REMEMBERED=REMEMBERED, ROUNDS=ROUNDS, WORDS=WORDS,
)
