"""datasketch 2.0's MinHash and LSH on fastlsh's kernels: the same names, numbers and answers."""

from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.lsh_bloom import MinHashLSHBloom
from fastlsh.compat.datasketch.lshensemble import MinHashLSHEnsemble
from fastlsh.compat.datasketch.lshforest import MinHashLSHForest

WeightedMinHashLSH = MinHashLSH
WeightedMinHashLSHForest = MinHashLSHForest

__all__ = [
    "MinHashLSH",
    "MinHashLSHBloom",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
]
