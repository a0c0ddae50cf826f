"""Each library as an adapter of `bench.conformance`, at k = 128 with 16 bands of 8 rows."""

import importlib.util
import os
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from bench.conformance import Adapter
from bench.peers.adapters.datasketch import Bloom, Datasketch
from bench.peers.adapters.fastsketch import FOLDER, Avx512, FastSketch
from bench.peers.adapters.gaoya import Gaoya
from bench.peers.adapters.lsh import Lsh
from bench.peers.adapters.minhashlib import Minhashlib
from bench.peers.adapters.ours import Tokens, texts
from bench.peers.adapters.rensa import CMinHash, Rensa, Rho

COMPAT = "fastlsh.compat.datasketch"
SCHEMES = ("affine32", "affine64", "legacy")

ADAPTERS: dict[str, Callable[[], Adapter]] = {
    "fastlsh, affine32": partial(texts, "affine32"),
    "fastlsh, fss": partial(texts, "fss"),
    "fastlsh, affine32, keyed": partial(texts, "affine32", keyed=True),
    "fastlsh, fss, keyed": partial(texts, "fss", keyed=True),
    "fastlsh, affine32, tokens": partial(Tokens, "affine32"),
    "fastlsh, fss, tokens": partial(Tokens, "fss"),
    **{f"fastlsh.compat.datasketch, {s}": partial(Datasketch, s, COMPAT) for s in SCHEMES},
    "fastlsh.compat.lsh": partial(Lsh, 8, "fastlsh.compat.lsh"),
    "fastlsh.compat.lsh, 4 bytes": partial(Lsh, 4, "fastlsh.compat.lsh"),
    **{f"datasketch, {s}": partial(Datasketch, s) for s in SCHEMES},
    "datasketch, MinHashLSHBloom": Bloom,
    "rensa, digest": Rensa,
    "rensa, rho": Rho,
    "rensa, CMinHash": CMinHash,
    "FastSketchLSH": FastSketch,
    "FastSketchLSH, AVX-512 emulated": Avx512,
    "gaoya": Gaoya,
    "lsh": partial(Lsh, 8),
    "lsh, 4 bytes": partial(Lsh, 4),
    "minhashlib": Minhashlib,
}
"""How each one is made, by the name of the results: the library first, then what of it."""

MODULES = {"datasketch, MinHashLSHBloom": "pybloomfilter"}
"""What else has to be there."""
FOLDERS = {"FastSketchLSH, AVX-512 emulated": FOLDER}
"""The variable of the environment that has to name a folder."""


def is_installed(name: str) -> bool:
    """Whether what an adapter needs is there."""
    library = name.partition(",")[0].partition(".")[0]
    needed = (library, MODULES.get(name, library))
    if name in FOLDERS and not os.environ.get(FOLDERS[name]):
        return False
    return all(importlib.util.find_spec(module) for module in needed)


def adapter(name: str) -> Adapter:
    """Return an adapter with the name of the results."""
    found: Any = ADAPTERS[name]()
    found.name = name
    return cast(Adapter, found)
