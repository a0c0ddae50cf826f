"""datasketch 2.0's MinHash and LSH on fastlsh's kernels: the same names, numbers and answers."""

from typing import NoReturn

from fastlsh.compat.datasketch.b_bit_minhash import bBitMinHash
from fastlsh.compat.datasketch.hashfunc import sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch.lean_minhash import LeanMinHash
from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.lshensemble import MinHashLSHEnsemble
from fastlsh.compat.datasketch.lshforest import MinHashLSHForest
from fastlsh.compat.datasketch.minhash import MinHash
from fastlsh.compat.datasketch.weighted_minhash import WeightedMinHash, WeightedMinHashGenerator

WeightedMinHashLSH = MinHashLSH
WeightedMinHashLSHForest = MinHashLSHForest

__all__ = [
    "LeanMinHash",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
    "bBitMinHash",
    "sha1_hash32",
    "sha1_hash64",
]

__version__ = "2.0.0"
"""The version of datasketch whose answers these are."""

NOT_HERE = {
    "HyperLogLog": "counts distinct elements and is no MinHash",
    "HyperLogLogPlusPlus": "counts distinct elements and is no MinHash",
    "HNSW": "is a graph index and no MinHash",
    "MinHashLSHBloom": "answers only yes or no; MinHashLSH is here",
    "AsyncMinHashLSH": "needs asyncio storage; MinHashLSH is here",
}


def __getattr__(name: str) -> NoReturn:
    if name in NOT_HERE:
        raise AttributeError(
            f"fastlsh.compat.datasketch has no {name}: it {NOT_HERE[name]}; "
            "take it from datasketch itself"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
