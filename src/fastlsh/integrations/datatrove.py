"""Blocks for datatrove pipelines.

    from fastlsh.integrations.datatrove import Deduplication, MinhashSignatures

`Deduplication` replaces the four stages of datatrove's MinHash deduplication if the documents of a
task fit into memory, and verifies every removal. `MinhashSignatures` replaces only the first of
these stages, by a faster one that writes the same files. Importing this module needs
``pip install datatrove``.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
from datatrove.utils.typeshelper import Languages, StatHints
from numpy.typing import NDArray

from fastlsh._kernels.compat._compat import Permutations
from fastlsh._kernels.minhash._signatures import LEGACY, PRIME61
from fastlsh.integrations.options import checked_options
from fastlsh.search import deduplicate
from fastlsh.texts import Shingler, check_shingler

__all__ = ["Deduplication", "MinhashSignatures"]


class Deduplication(PipelineStep):  # type: ignore[misc]
    """Pass on the documents that `fastlsh.deduplicate` keeps.

    Parameters
    ----------
    threshold, **options
        As in `fastlsh.deduplicate`.
    exclusion_writer
        A datatrove writer for the removed documents. Their metadata contain the proof: ``kept_id``
        and ``similarity``, or ``containment`` with that rule.

    Notes
    -----
    All documents must go through a single task (``tasks=1``), which holds them in memory, because
    documents of different tasks would not be compared. For collections larger than memory, see
    `fastlsh.deduplicate_files`.
    """

    type = "🫂 - DEDUP"
    name = "🔍 fastlsh"

    def __init__(
        self, threshold: float = 0.8, *, exclusion_writer: Any = None, **options: Any
    ) -> None:
        super().__init__()
        self.threshold = threshold
        self.options = checked_options(threshold, options)
        self.exclusion_writer = exclusion_writer

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yield the kept documents, in order.

        Raises
        ------
        ValueError
            There is more than one task.

        Examples
        --------
        >>> from datatrove.data import Document
        >>> documents = [Document("some text", id=name) for name in ("a", "b")]
        >>> [document.id for document in Deduplication(0.8).run(documents)]
        ['a']
        """
        if world_size != 1:
            raise ValueError(
                f"fastlsh's Deduplication must run with tasks=1, got {world_size} tasks: documents"
                " of different tasks would not be compared"
            )
        documents = list(data)
        with self.track_time():
            texts = [document.text for document in documents]
            ids = [document.id for document in documents]
            result = deduplicate(texts, self.threshold, **{"ids": ids, **self.options})
        proofs = iter(result.proofs())
        with self.exclusion_writer or nullcontext() as writer:
            for document, kept in zip(documents, result.kept.tolist(), strict=True):
                self.stat_update(StatHints.total)
                if kept:
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(document)
                    yield document
                    continue
                self.stat_update(StatHints.dropped)
                _, kept_id, similarity = next(proofs)
                document.metadata.update({"kept_id": kept_id, result.measure: similarity})
                if writer is not None:
                    writer.write(document, rank)


class MinhashSignatures(MinhashDedupSignature):  # type: ignore[misc]
    """A replacement for datatrove's `MinhashDedupSignature` that computes the minima with fastlsh.

    It writes the same ``.minhash.sig`` files, to the byte, for the stages `MinhashDedupBuckets`,
    `MinhashDedupCluster` and `MinhashDedupFilter`. Words, n-grams and their hashes still come from
    datatrove. With a `shingler`, fastlsh computes these as well, which is many times faster. The
    same stages can read the result, but all files of a collection must use the same shingler.

    Parameters
    ----------
    output_folder, config, language, skip_existing_sigs
        As in `MinhashDedupSignature`.
    shingler
        How a document is split into a set, instead of into ``config.n_grams`` words of `language`.
        None: as datatrove does it.

    Examples
    --------
    >>> words = Shingler("word", 5, lowercase=True)
    >>> block = MinhashSignatures("signatures", shingler=words)
    >>> block.num_hashes
    112
    """

    name = "🎯 MinHash stage 1, by fastlsh"

    def __init__(
        self,
        output_folder: Any,
        config: MinhashConfig | None = None,
        language: str = Languages.english,
        skip_existing_sigs: bool = False,
        *,
        shingler: Shingler | None = None,
    ) -> None:
        super().__init__(output_folder, config, language, skip_existing_sigs)
        self.shingler = None if shingler is None else check_shingler(shingler)

    def get_shingles(self, text: str) -> NDArray[np.uint64]:
        """Return the hashes of a document's shingles, uint64 (n, 1).

        Those of datatrove may contain a hash several times.
        """
        if self.shingler is None:
            hashes: NDArray[np.uint64] = super().get_shingles(text)
            return hashes
        return self.shingler.hashes(text).reshape(-1, 1)

    def get_signature(self, shingles: NDArray[np.uint64]) -> list[list[int]]:
        """Return the minima of each bucket, as lists.

        Parameters
        ----------
        shingles
            uint64 (n, 1): the hashes of the n-grams.
        """
        config = self.config
        scheme = LEGACY if config.hash_config.precision == 32 else PRIME61
        row = np.full(self.num_hashes, 2**64 - 1, np.uint64)
        functions = Permutations(scheme, np.concatenate(self.parameters))
        functions.add_hashes(np.ascontiguousarray(shingles).ravel(), row)
        values: list[list[int]] = row.reshape(config.num_buckets, -1).tolist()
        return values
