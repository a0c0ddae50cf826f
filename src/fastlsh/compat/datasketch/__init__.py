"""datasketch 2.0's MinHash and LSH on fastlsh's kernels: the same names, numbers and answers."""

from fastlsh.compat.datasketch.hashfunc import sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch.minhash import MinHash

__all__ = ["MinHash", "sha1_hash32", "sha1_hash64"]
