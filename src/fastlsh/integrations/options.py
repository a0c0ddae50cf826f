"""The options of `fastlsh.deduplicate`, which an integration gets long before the texts."""

from collections.abc import Iterator
from typing import Any

from fastlsh.search import deduplicate

OF_EACH = ("ids", "priority", "within")
"""Options with a value for each document."""


def checked_options(threshold: float, options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Check the options that do not depend on the texts, and let them be read many times.

    Parameters
    ----------
    threshold, options
        As in `fastlsh.deduplicate`.
    **more
        Options that are only checked.

    Returns
    -------
    dict
        The options; an iterator is read to its end.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable; the message names it.
    """
    options = {name: read_many_times(value) for name, value in options.items()}
    early = {name: value for name, value in options.items() if not name.startswith("against")}
    early.update(more)
    early.update({name: () for name in OF_EACH if early.get(name) is not None})  # of no documents
    deduplicate([], threshold, **early)
    return options


def read_many_times(value: Any) -> Any:
    """Return what can be read many times."""
    if not isinstance(value, Iterator):
        return value
    read_all = getattr(value, "read_all", None)  # of a RecordBatchReader
    return read_all() if read_all else list(value)
