"""Checks of what a signature is of: the set, whole, and nothing but the set."""

import hashlib
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.conformance.estimates import Outcome
from bench.conformance.guard import call
from bench.conformance.lab import Lab

SIZES = (1, 2, 7, 30, 128, 999, 3000)
THREADS = 4
ROUNDS = 3


def order_and_repetition(lab: Lab) -> Outcome:
    """Check that the order of the elements, and how often each comes, change nothing."""
    maker = lab.maker("order")
    pairs = [
        maker.again(document, times)
        for size in SIZES[2:]
        for times in (1, 3)
        for document in maker.documents(size, 8)
    ]
    share = lab.estimates(*_columns(pairs))
    lost = int((share != 1).sum())
    said = (
        f"{lost} of {len(pairs)} sets in another order, or with elements repeated, differ from "
        f"themselves: mean estimate {share.mean():.4f}, lowest {share.min():.4f}; it must be 1"
    )
    return not lost, said, {"differ": lost, "of": len(pairs), "lowest": float(share.min())}


def union_is_minimum(lab: Lab) -> Outcome:
    """Check that the signature of a union is the elementwise minimum of the signatures."""
    maker = lab.maker("union")
    left: list[Any] = []
    right: list[Any] = []
    union: list[Any] = []
    for size in SIZES[2:]:
        for similarity in (0.1, 0.6):
            for pairs in maker.pairs(size, similarity, 8):
                left += pairs.left
                right += pairs.right
                union += pairs.union
    least = np.minimum(lab.signatures(left), lab.signatures(right))
    wrong = int((lab.signatures(union) != least).any(axis=1).sum())
    said = f"{wrong} of {len(union)} signatures of unions are not the minimum of their parts"
    return not wrong, said, {"wrong": wrong, "of": len(union)}


def short(lab: Lab) -> Outcome:
    """Check that different documents of at most one shingle are not alike."""
    maker = lab.maker("short")
    if maker.text:
        lengths = range(min(3, maker.width), maker.width + 1)
        documents = [d for length in lengths for d in maker.sequences(12, length)]
    else:
        documents = maker.documents(1, 48)
    others = documents[1:] + documents[:1]
    different = [i for i, (a, b) in enumerate(zip(documents, others, strict=True)) if a != b]
    share = lab.estimates([documents[i] for i in different], [others[i] for i in different])
    most = 0.05
    alike = int((share > most).sum())
    said = (
        f"{alike} of {len(share)} pairs of different documents of at most one shingle are "
        f"estimated above {most}; highest {share.max():.2f}"
    )
    return not alike, said, {"alike": alike, "of": len(share), "highest": float(share.max())}


def empty(lab: Lab) -> Outcome:
    """Check that an empty document is no error, and no candidate of another empty one."""
    some = lab.maker("empty").documents(30, 1)[0]
    nothing: Any = "" if lab.adapter.shingle_size else []
    left, right = [nothing, some, nothing, some], [nothing, some, some, nothing]
    if "candidates" in lab.parts:
        # Alone in an index each: one that names nobody must not answer for another document.
        found = [bool(lab.candidates([a], [b])[0]) for a, b in zip(left, right, strict=True)]
        said = f"{'a' if found[0] else 'no'} candidate of another empty one"
    else:
        found = [bool(each > 0) for each in lab.estimates(left, right)]
        said = f"{'similar' if found[0] else 'not similar'} to another empty one"
    if found[1:] != [True, False, False]:
        said += "; wrong beside a document that is not empty"
    return found == [False, True, False, False], f"an empty document is {said}", {}


def repeatable(lab: Lab) -> Outcome:
    """Check that documents have the same values again, one by one and in other company."""
    documents = _of_all_sizes(lab)
    first = lab.signatures(documents)
    wrong = []
    if (lab.signatures(documents) != first).any():
        wrong.append("asked again")
    if (lab.signatures(documents[::-1])[::-1] != first).any():
        wrong.append("in another order of documents")
    alone = [lab.signatures([document])[0] for document in documents]
    if any((one != many).any() for one, many in zip(alone, first, strict=True)):
        wrong.append("one by one")
    said = f"the values differ {', '.join(wrong)}" if wrong else "the values are the same"
    return not wrong, f"{said}, for {len(documents)} documents; digest {_digest(first)}", {
        "digest": _digest(first)
    }  # fmt: skip


def recorded(lab: Lab, digest: str) -> Outcome:
    """Check that the values are those of another version, or on another machine."""
    found = _digest(lab.signatures(_of_all_sizes(lab)))
    said = f"the digest of the values is {found}, recorded was {digest}"
    return found == digest, said, {"digest": found, "recorded": digest}


def threads(lab: Lab) -> Outcome:
    """Check that threads at the same time get the values of one after the other."""
    documents = _of_all_sizes(lab) * 4
    begin = perf_counter()
    expected = lab.signatures(documents)
    # It may hold the GIL: then its answers come one after the other.
    fair = 2 * THREADS * ROUNDS * (perf_counter() - begin)
    wrong = call(_asked_by_threads, lab, documents, expected, timeout=lab.timeout + fair)
    said = f"{wrong} of {THREADS * ROUNDS} answers to {THREADS} threads at a time differ"
    return not wrong, said, {"wrong": wrong, "of": THREADS * ROUNDS}


def _asked_by_threads(lab: Lab, documents: list[Any], expected: NDArray[Any]) -> int:
    barrier = threading.Barrier(THREADS)
    wrong: list[int] = []
    failures: list[BaseException] = []

    def work(offset: int) -> None:
        try:
            turned = documents[offset:] + documents[:offset]
            should = np.roll(expected, -offset, axis=0)
            for _ in range(ROUNDS):
                barrier.wait()
                found = lab.unguarded_signatures(turned)
                wrong.append(int(found.shape != should.shape or bool((found != should).any())))
        except BaseException as error:  # a panic of Rust is no Exception
            barrier.abort()
            failures.append(error)

    workers = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for failure in failures:
        if not isinstance(failure, threading.BrokenBarrierError):
            raise failure
    return sum(wrong)


def _of_all_sizes(lab: Lab) -> list[Any]:
    maker = lab.maker("all sizes")
    return [document for size in SIZES for document in maker.documents(size, 5)]


def _digest(signatures: NDArray[Any]) -> str:
    """Return a digest of the values, whatever type and byte order hold them."""
    values = signatures.astype("<i8" if signatures.dtype.kind == "i" else "<u8")
    return hashlib.blake2b(values.tobytes(), digest_size=8).hexdigest()


def _columns(pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    left, right = zip(*pairs, strict=True)
    return list(left), list(right)
