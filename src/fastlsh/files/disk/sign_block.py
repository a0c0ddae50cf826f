"""Sign one block: the keys of its documents, and what else is remembered of them."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import TextColumn
from fastlsh.arrays import rounded
from fastlsh.candidates import keys_apart
from fastlsh.errors import LongRowError
from fastlsh.files.budget import BASE, PER_PIECE
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.disk.encoded import encoded_texts
from fastlsh.files.disk.signed_runs import BlockRecord, SignedBlock, halves_of, narrowed
from fastlsh.files.disk.sorted_keys import keep_first_bits
from fastlsh.files.run.job import Job
from fastlsh.index import refusal_of_id
from fastlsh.io import (
    Block,
    BlockDocuments,
    Ids,
    are_integer_ids,
    identity_hashes,
    without_repetition,
)
from fastlsh.parallel import RunOptions
from fastlsh.stages import characters_of, sign_batch, sign_with_steps
from fastlsh.texts import as_texts

T = TypeVar("T", np.uint32, np.uint64)

SAMPLE_OF_BLOCK = 64
"""Texts of a block whose length is measured."""


def sign_block(job: Job, source: int, block: Block) -> SignedBlock:
    """Sign the documents of a block."""
    documents = block.documents()
    documents.check(skip=job.skip)
    if job.request.saves_ids and source >= job.first_input:
        ids = Ids()
        ids.add(job.sources[source].path, documents.ids, documents.rows)
        ids.check(refusal_of_id)
    counts = echoes = contexts = None
    keys: NDArray[Any]
    identities = identity_hashes(None if job.request.group else documents.ids)
    if job.request.group is not None:
        keys, empty, short = _groups_and_sizes(documents, job.request.group), 0, 0
    elif job.params.partitions:
        keys, short = _minima(documents, job)
        empty = int((keys[job.params.num_perm] == 0).sum())
    elif job.cutting is None:
        keys, short = _keys(documents, job)
        empty = int((keys[0] == 0).sum())
    else:
        pieces, of_pieces, echoes, short = job.cutting.signed(documents, job.params)
        keep_first_bits(of_pieces)
        keys = of_pieces
        counts = np.bincount(pieces.bounds[:, 0], minlength=len(documents)).astype(np.int32)
        empty = int((of_pieces[0] == 0).sum())
        if (most := PER_PIECE * int(counts.max(initial=0))) > job.budget.memory - BASE:
            row = int(documents.rows[counts.argmax()])
            raise LongRowError(job.sources[source].path, most, row, f"cut into {job.cutting.by}s")
        if echoes is not None:
            contexts = narrowed(pieces.bounds)
    characters = 0
    if isinstance(job.cutting, SpanCutting):
        texts = as_texts(documents.texts)
        characters = int(characters_of(texts, job.params.shingler, RunOptions.of(1)).sum())
    bad = tuple(error.row or 1 for error in documents.bad)
    size = _text_bytes(documents.texts)
    record = BlockRecord(source, block.extent, keys.shape[1], bad, size)
    return SignedBlock(
        record,
        keys,
        identities,
        empty,
        short,
        documents.bad,
        block.next_row,
        documents.slow,
        not len(documents) or are_integer_ids(documents.ids),
        counts,
        echoes,
        _columns(job, source, documents),
        contexts,
        characters,
        documents.priorities,
    )


def _columns(job: Job, source: int, documents: BlockDocuments) -> list[NDArray[Any]]:
    """Return the columns that are saved; documents of `against` have none."""
    if source < job.first_input or job.request.group is not None:
        return []
    read = job.request.read
    labels = [documents.labels[name] for name in read.labels]
    return labels + [rounded(documents.numbers[name]) for name in read.counts]


def _groups_and_sizes(documents: BlockDocuments, group: str) -> NDArray[np.uint32]:
    """Return the halves of the hash of each row's group, and of the size of its text."""
    _, sizes, _ = encoded_texts(documents.texts, np.arange(len(documents)))
    halves = halves_of(documents.labels[group]), halves_of(np.asarray(sizes, np.uint64))
    return np.vstack([*halves[0], *halves[1]])


def _keys(documents: BlockDocuments, job: Job) -> tuple[NDArray[np.uint64], int]:
    """Return the band keys, uint64 (bands, n), and how many documents are shorter than a shingle.

    Each value of a dictionary is read once.
    """
    distinct, inverse = without_repetition(documents.texts)
    signed = sign_batch(distinct, job.params, text_hashes=False, threads=1)
    keys, short = _repeated(signed.keys, inverse), _count(signed.short, inverse)
    groups = job.request.groups(documents.labels)
    if groups is not None:
        keys = keys_apart(keys, groups)
    keep_first_bits(keys)
    return keys, short


def _minima(documents: BlockDocuments, job: Job) -> tuple[NDArray[np.uint32], int]:
    """Return what the keys by size are made of, uint32 (num_perm + 1 or + 3, n); and as `_keys`.

    The former are the minima of each hash function, then the steps of the sizes, and, if only
    documents of a group are compared, the lower and upper halves of the groups.
    """
    distinct, inverse = without_repetition(documents.texts)
    prepared = job.params.shingler.prepared(as_texts(distinct))
    signed, steps = sign_with_steps(prepared, job.params, RunOptions.of(1))
    minima = _repeated(np.vstack([signed.signatures.T, steps]), inverse)
    groups = job.request.groups(documents.labels)
    if groups is not None:
        minima = np.vstack([minima, *halves_of(groups)])
    return minima, _count(signed.short, inverse)


def _count(flags: NDArray[np.bool_] | None, inverse: NDArray[np.int64] | None) -> int:
    """Return of how many documents a flag of their values is set; that of null is not."""
    if flags is None:
        return 0
    return int((flags if inverse is None else np.append(flags, False)[inverse]).sum())


def _repeated(values: NDArray[T], inverse: NDArray[np.int64] | None) -> NDArray[T]:
    """Return the columns of values for each document; that of null, the last one, is 0."""
    return values if inverse is None else np.pad(values, ((0, 0), (0, 1)))[:, inverse]


def _text_bytes(texts: Any) -> int:
    """Return about how many bytes of UTF-8 the texts of a block take."""
    if isinstance(texts, TextColumn):
        return texts.nbytes
    step = len(texts) // SAMPLE_OF_BLOCK + 1
    if not hasattr(texts, "nbytes"):
        sample = texts[::step]
    elif str(texts.type).startswith("dictionary"):
        sample = texts.take(np.arange(0, len(texts), step)).to_pylist()
    else:
        return int(texts.nbytes)
    found = sum(len((text or "").encode("utf-8", "surrogatepass")) for text in sample)
    return found * len(texts) // max(len(sample), 1)
