"""The options of `fastlsh.deduplicate`, which an integration gets long before the texts."""

from collections.abc import Iterator
from typing import Any

from fastlsh.search import deduplicate


def checked_options(threshold: float, options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Check the options that do not depend on the texts, and let `against` be read many times.

    Parameters
    ----------
    threshold, options
        As in `fastlsh.deduplicate`.
    **more
        Options that are only checked.

    Returns
    -------
    dict
        The options; an iterator given as `against` is read to its end.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable; the message names it.
    """
    early = {name: value for name, value in options.items() if not name.startswith("against")}
    early.update(more)
    if early.get("priority") is not None:
        early["priority"] = ()  # for no documents
    deduplicate([], threshold, **early)
    against = options.get("against")
    if isinstance(against, Iterator):
        read_all = getattr(against, "read_all", None)  # of a RecordBatchReader
        options = {**options, "against": read_all() if read_all else list(against)}
    return options
