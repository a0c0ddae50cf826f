"""Sketches that elements can be added to."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Permutations
from fastlsh.compat.datasketch import elements
from fastlsh.compat.datasketch.hashfunc import DEFAULT_HASHFUNC, HashFunction
from fastlsh.compat.datasketch.schemes import SCHEMES
from fastlsh.compat.datasketch.sketch import Sketch
from fastlsh.parallel import batches

STEP = 1 << 26
"""Permutations in one call, about a tenth of a second, so that Ctrl-C is answered soon."""


class GrowingSketch(Sketch):
    """A sketch with its hash function and permutations, to which elements can be added."""

    __slots__ = ("_compiled",)  # not part of the pickled state

    hashfunc: HashFunction
    permutations: Any
    _gpu_mode: str
    _compiled: Permutations

    def update(self, b: Any) -> None:
        """Add one element.

        Parameters
        ----------
        b
            An element that `hashfunc` takes; bytes by default.
        """
        if self.hashfunc is not DEFAULT_HASHFUNC[self.scheme] or type(b) is not bytes:
            hashes = elements.hash_set(self.hashfunc, [b], self.scheme)
            if isinstance(hashes, list):
                values = elements.permuted_one(hashes[0], self._functions(), self.scheme)
                self.hashvalues = np.minimum(values, self.hashvalues)
            else:
                self._add(hashes)
            return
        row = self._row()
        self._functions().add_token(b, row)
        self.hashvalues = row

    def update_batch(self, b: Iterable[Any]) -> None:
        """Add many elements: the same as `update` for each, but many times faster.

        Parameters
        ----------
        b
            Elements that `hashfunc` takes; an array of integers with ``hashfunc=lambda x: x``.

        Raises
        ------
        ValueError
            A hash does not fit the scheme.
        RuntimeError
            `gpu_mode` is "always".
        """
        if isinstance(b, (list, tuple, bytes)) and not b:
            return
        hashes = elements.hash_set(self.hashfunc, b, self.scheme)
        if not len(hashes):
            return
        if self._gpu_mode == "always":
            raise RuntimeError("gpu_mode='always', but there is no GPU code: use 'detect'")
        if isinstance(hashes, list):
            values = elements.permuted(hashes, self._functions(), self.scheme)
            self.hashvalues = np.minimum(self.hashvalues, values.min(axis=0))
        else:
            self._add(hashes)

    def _add(self, hashes: NDArray[Any]) -> None:
        row = self._row()
        functions = self._functions()
        for start, stop in batches(len(hashes), max(STEP // len(row), 1)):
            functions.add_hashes(hashes[start:stop], row)
        self.hashvalues = row

    def _row(self) -> NDArray[Any]:
        """Return a copy of the hash values that a kernel may write."""
        dtype = SCHEMES[self.scheme].dtype
        values = self.hashvalues
        return values.copy() if values.dtype is dtype else np.array(values, dtype)

    def _functions(self) -> Permutations:
        """Return the permutations for the kernels, which follow the attribute if it was changed."""
        try:
            if self._compiled.coefficients is self.permutations:
                return self._compiled
        except AttributeError:  # unpickled
            pass
        self._compiled = Permutations(SCHEMES[self.scheme].kernel, self.permutations)
        return self._compiled
