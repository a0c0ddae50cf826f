"""Builds and calls limit.c: the loop that no MinHash of this scheme can outrun."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__).with_name("limit.c")
KERNELS = {
    "avx512": ("avx512_8", "avx512_4"),
    "avx2": ("avx2_8", "avx2_4"),
    "baseline": ("sse41_8", "sse41_4"),
}
"""By fastlsh's names of the instruction sets: the candidates, of which the fastest counts."""


def available() -> bool:
    """Whether limit.c can be built here (x86-64, gcc or clang)."""
    return os.uname().machine == "x86_64" and compiler() is not None


def compiler() -> str | None:
    """Return the C compiler."""
    return os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")


@cache
def built() -> ctypes.CDLL:
    """Build limit.c."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "limit.so"
        command = [compiler() or "cc", "-O3", "-shared", "-fPIC"]
        subprocess.run([*command, "-o", str(library), str(SOURCE)], check=True)
        return ctypes.CDLL(str(library))


def fold(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return fmix32(lo ^ fmix32(hi)): what the functions of the signature are applied to."""
    low = hashes.astype(np.uint32)
    return fmix32(low ^ fmix32((hashes >> np.uint64(32)).astype(np.uint32)))


def fmix32(h: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """MurmurHash3's finaliser."""
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


class Limit:
    """The loop for one instruction set, with the faster of its two register layouts.

    Parameters
    ----------
    instruction_set
        "avx512", "avx2" or "baseline".
    a, b
        uint32 (128,): the coefficients.
    """

    def __init__(self, instruction_set: str, a: NDArray[np.uint32], b: NDArray[np.uint32]) -> None:
        if len(a) != 128 or len(b) != 128:
            raise ValueError("the limit is written for num_perm=128")
        self.a, self.b = a, b
        self._library = built()
        self.name = min(KERNELS[instruction_set], key=self._seconds)

    def _seconds(self, name: str) -> float:
        x = np.arange(200_000, dtype=np.uint32)
        offsets = np.arange(0, len(x) + 1, 1000)
        times = []
        for _ in range(5):
            start = perf_counter()
            self.run(x, offsets, name)
            times.append(perf_counter() - start)
        return min(times)

    def run(
        self,
        x: NDArray[np.uint32],
        offsets: NDArray[np.int64],
        name: str | None = None,
        out: NDArray[np.uint32] | None = None,
    ) -> NDArray[np.uint32]:
        """Return the minima, uint32 (n, 128); document d has x[offsets[d]:offsets[d + 1]]."""
        if out is None:
            out = np.empty((len(offsets) - 1, 128), np.uint32)
        arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, offsets)]
        more = [array.ctypes.data_as(ctypes.c_void_p) for array in (self.a, self.b, out)]
        count = ctypes.c_int64(len(offsets) - 1)
        name = name or self.name
        if self._library.limit_minima(name.encode(), *arrays, count, *more):
            raise ValueError(f"no kernel {name}")
        return out
