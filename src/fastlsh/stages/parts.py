"""A part: whole families of a collection, which are worked on together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import steps_of
from fastlsh.candidates import Families, find_families, find_families_by_size
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.sets import ShingleSets, set_sizes
from fastlsh.stages.signing import Signed
from fastlsh.texts import Texts


@dataclass(frozen=True)
class Part:
    """Whole families, so that nothing outside can change what is decided inside.

    In memory, all families of a collection are one part.
    """

    texts: Texts
    signed: Signed
    families: Families

    def sets(self, params: SearchParams, options: RunOptions) -> ShingleSets:
        """Return the shingle sets of the documents in families, by row; no set is made yet."""
        documents = self.families.documents
        lengths = self.signed.lengths[documents]
        return ShingleSets(
            self.texts, params.shingler, documents, self.families.starts, lengths, options.threads,
            options.empty,
        )  # fmt: skip


def part_of(
    texts: Texts,
    signed: Signed,
    order: NDArray[np.int64] | None,
    params: SearchParams,
    options: RunOptions,
) -> Part:
    """Link the documents that share a bucket, and gather their families.

    Parameters
    ----------
    texts, signed
        The collection, with signatures and lengths; the band keys are taken.
    order
        int64: the documents that take part, in priority order; None: all, as they come.
    params, options
        Of the search.
    """
    if params.partitions:
        families = find_families_by_size(
            signed.signatures,
            steps_of(set_sizes(texts, params.shingler, options)),
            params.partitions,
            order,
            within=signed.groups,
            threads=options.threads,
            empty=options.empty,
        )
        return Part(texts, signed, families)
    families = find_families(
        signed.signatures,
        params.lsh,
        order,
        keys=signed.take_keys(),
        groups=signed.groups,
        threads=options.threads,
        empty=options.empty,
    )
    return Part(texts, signed, families)
