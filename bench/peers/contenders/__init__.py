"""How each library makes signatures and finds pairs, by its own fast path, on one thread.

Every contender starts from the same raw texts: who has no shingling of its own pays for slicing
the strings in Python. rensa is used with its full-set digests; its `rho` digests read a sample
of the token positions, are no MinHash of the set, and are not compared with anything here.
"""

import importlib.util
import os
import sys

from bench.peers.contenders.base import (
    EVEN,
    PARAMS,
    SIZE,
    THRESHOLD,
    Contender,
    K,
    Pair,
    shingle_list,
    word_cutter,
)  # fmt: skip
from bench.peers.contenders.datasketch import Datasketch
from bench.peers.contenders.fastsketch import FastSketch
from bench.peers.contenders.gaoya import Gaoya
from bench.peers.contenders.ours import OURS, WITH_THEIR_BANDS
from bench.peers.contenders.rensa import Rensa

__all__ = [
    "EVEN", "PARAMS", "SIZE", "THRESHOLD", "WITH_THEIR_BANDS", "Contender", "K", "Pair",
    "everyone", "installed", "shingle_list", "word_cutter",
]  # fmt: skip

for variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # the libraries read it when they are loaded, which is later

KNOWN: tuple[Contender, ...] = (
    *OURS, Datasketch("datasketch"), Datasketch("datasketch, CRC-32"),
    Rensa("rensa"), Rensa("rensa, from lists"), FastSketch(), Gaoya(),
)  # fmt: skip


def everyone() -> dict[str, Contender]:
    """Return the contenders that are installed, by the names of the results."""
    missing = {c.module: c for c in KNOWN if not installed(c.module)}
    for module in missing:
        print(f"{module} is not installed: left out", file=sys.stderr)
    return {c.name: c for c in KNOWN if c.module not in missing}


def installed(module: str) -> bool:
    """Whether a module is there."""
    return importlib.util.find_spec(module) is not None
