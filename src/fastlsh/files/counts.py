"""The fields of results that all functions on files fill alike."""

from typing import Any

from fastlsh.errors import InputError, warn_caller
from fastlsh.files.disk.sign import Summary
from fastlsh.files.requests import Request
from fastlsh.files.run.manifest import plain_shingler
from fastlsh.io import Collection
from fastlsh.parallel import Stopwatch


def counts_of(*collections: Collection) -> dict[str, Any]:
    """Return what results tell of the rows in memory, of the inputs and then of `against`."""
    # As documents are numbered: those of `against` are the first ones.
    reasons = [str(reason) for each in collections[::-1] for reason in each.skipped_reasons]
    examples = (each.repeated_example for each in collections[::-1])
    return {
        "skipped": sum(each.skipped for each in collections),
        "skipped_reasons": reasons[:10],
        "repeated_ids": sum(each.repeated_ids for each in collections),
        "repeated_example": next(filter(None, examples), ""),
        "slow_rows": sum(each.slow_rows for each in collections),
        "against_documents": sum(map(len, collections[1:])),
    }


def warn_if_none_left(request: Request, found: int, left: int, name: str = "document") -> None:
    """Warn if all documents, lines or passages of a run are removed.

    No document of the inputs can have removed the first of them, so `against` has.
    """
    if request.against and found and not left:
        warn_caller(
            f"every {name} of the inputs is removed because of against=: check that these files"
            " are not a copy of the inputs",
            UserWarning,
        )


def shared_fields(request: Request, reason: str, clock: Stopwatch, **more: Any) -> dict[str, Any]:
    """Return the fields of every result that describe the search, the engine and the times.

    `more` are the parameters besides those of the search.
    """
    search = request.search
    parameters = {"threshold": search.threshold, **search.removal_keywords, **more}
    return {
        "threshold": search.threshold, "params": search.lsh, "reason": reason, "seconds": clock,
        "parameters": {**parameters, "shingler": plain_shingler(search.shingler)},
        "recall_at_threshold": search.recall_at_threshold,
    }  # fmt: skip


def counts_of_summary(summary: Summary) -> dict[str, Any]:
    """Return what results tell of the rows that were signed on disk."""
    return {
        "skipped": summary.skipped,
        "skipped_reasons": [str(InputError(*reason)) for reason in summary.reasons],
        "repeated_ids": summary.repeated,
        "repeated_example": summary.repeated_example,
        "slow_rows": summary.slow,
        "against_documents": summary.n_against,
    }
