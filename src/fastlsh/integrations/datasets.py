"""Deduplicate Hugging Face datasets, including streams, and add signatures to them.

    from fastlsh.integrations.datasets import deduplicate

    clean = deduplicate(load_dataset("json", data_files="pages.jsonl", split="train"))

This needs ``pip install datasets``. ``fastlsh.deduplicate`` itself also accepts a column of a
dataset, which `text_column` returns without a copy.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from fastlsh.index import Index
from fastlsh.integrations.arrow import signatures_to_arrow
from fastlsh.integrations.options import read_many_times
from fastlsh.search import deduplicate as deduplicate_texts
from fastlsh.signatures import MinHasher
from fastlsh.texts import as_texts, joined_texts

__all__ = ["add_signatures", "deduplicate", "text_column"]


def text_column(dataset: Any, text: str = "text") -> Any:
    """Return a column of a Dataset as an Arrow column, without a copy unless rows were selected.

    Raises
    ------
    TypeError, ValueError
        `dataset` is not a Dataset, or does not have the column.

    Examples
    --------
    >>> from datasets import Dataset
    >>> dataset = Dataset.from_dict({"text": ["some text", "another text", "some text"]})
    >>> import fastlsh
    >>> fastlsh.deduplicate(text_column(dataset)).n_kept
    2
    """
    _check(dataset, text, streams=False)
    if dataset._indices is None:
        return dataset.data.column(text)
    return dataset.with_format("arrow")[text][:]


def deduplicate(
    dataset: Any,
    threshold: float = 0.8,
    *,
    text: str = "text",
    reference: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    """Return a dataset without its near-duplicates.

    Parameters
    ----------
    dataset
        A Dataset; an IterableDataset, which is deduplicated while it is read: each row is compared
        with the rows kept before it; or, with `reference`, a DatasetDict.
    threshold
        As in `fastlsh.deduplicate`.
    text
        The column of texts; None counts as an empty document.
    reference
        The splits of a DatasetDict that the others must not resemble, such as
        ``("test", "validation")``: they come back as they are. The other splits lose the rows that
        resemble a row of these, or of each other; they are one collection, in their order.
    **options
        For a Dataset, the options of `fastlsh.deduplicate`. For an IterableDataset, those of
        `Index` and `batch_size`, the number of rows that are looked up at a time (1000 by default;
        it does not change the answer). The default, ``verify="exact"``, keeps the texts of the
        kept rows in memory; "signature" does not, and decides by estimates.

    Returns
    -------
    datasets.Dataset, datasets.IterableDataset or datasets.DatasetDict
        The kept rows, in order, with all columns. For a stream, these are the rows that
        ``fastlsh.deduplicate(keep="first")`` keeps; each pass over it starts from scratch.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable, or `dataset` is a DatasetDict, and no split is the reference.

    Examples
    --------
    >>> from datasets import Dataset
    >>> dataset = Dataset.from_dict({"text": ["some text", "another text", "some text"]})
    >>> deduplicate(dataset)["text"][:]
    ['some text', 'another text']
    """
    from datasets import DatasetDict, IterableDataset

    names = (reference,) if isinstance(reference, str) else tuple(reference)
    if names and isinstance(dataset, DatasetDict):
        return _without_reference(dataset, names, threshold, text, options)
    _check(dataset, text)
    if names:
        raise ValueError("reference names splits of a DatasetDict, which `dataset` is not")
    if not isinstance(dataset, IterableDataset):
        result = deduplicate_texts(text_column(dataset, text), threshold, **options)
        return dataset.select(result.selected)
    batch_size = options.pop("batch_size", 1000)
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be an integer of at least 1, got {batch_size!r}")
    options = {name: read_many_times(value) for name, value in options.items()}
    options["threshold"] = threshold
    Index(**options)  # an unsuitable option raises now, not when the first row is read
    asked = {
        "dataset": dataset.with_format(None),  # whose batches are dicts of lists
        "text": text, "batch_size": batch_size, "options": options,
    }  # fmt: skip
    kept = IterableDataset.from_generator(_fresh, features=dataset.features, gen_kwargs=asked)
    shown = dataset._formatting
    return kept if shown is None else kept.with_format(shown.format_type)


def _without_reference(
    dataset: Any, reference: tuple[str, ...], threshold: float, text: str, options: dict[str, Any]
) -> Any:
    """Return a DatasetDict whose other splits have nothing of those of the reference."""
    for name in reference:
        if name not in dataset:
            raise ValueError(f"there is no split {name!r}; there is {', '.join(dataset)}")
    others = [name for name in dataset if name not in reference]
    if not others:
        raise ValueError("reference names all splits, so that none can lose rows")
    if "against" in options:
        raise ValueError("reference and against cannot be given together")
    against, texts = (_texts_of(dataset, names, text) for names in (reference, others))
    kept = deduplicate_texts(texts, threshold, against=against, **options).kept
    ends = np.cumsum([len(dataset[name]) for name in others])
    rows = dict(zip(others, np.split(kept, ends[:-1]), strict=True))
    return type(dataset)({
        name: split.select(np.flatnonzero(rows[name])) if name in rows else split
        for name, split in dataset.items()
    })  # fmt: skip


def _texts_of(dataset: Any, splits: Sequence[str], text: str) -> Any:
    """Return the texts of some splits, one behind the other."""
    return reduce(joined_texts, (as_texts(text_column(dataset[name], text)) for name in splits))


def _fresh(
    dataset: Any, text: str, batch_size: int, options: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the rows that resemble no earlier row."""
    index, seen = Index(**options), 0
    for batch in dataset.iter(batch_size=batch_size):
        if text not in batch:
            raise ValueError(f"the dataset has no column {text!r}; it has {', '.join(batch)}")
        texts = batch[text]
        new = index.insert_unique(range(seen, seen + len(texts)), texts)
        seen += len(texts)
        for row in np.flatnonzero(new).tolist():
            yield {name: values[row] for name, values in batch.items()}


def add_signatures(
    dataset: Any,
    hasher: MinHasher | None = None,
    *,
    text: str = "text",
    name: str = "signature",
    batch_size: int = 1000,
    num_proc: int | None = None,
) -> Any:
    """Return a Dataset with an additional column of signatures, which `map` computes and caches.

    Parameters
    ----------
    dataset
        A Dataset.
    hasher
        Computes the signatures; by default ``MinHasher()``.
    text, name
        The column of texts, and the name of the new column.
    batch_size, num_proc
        As in `Dataset.map`. The hasher uses several threads in any case, so a single process is
        enough.

    Returns
    -------
    datasets.Dataset
        The new column has the type List(Value("uint32"), length=num_perm);
        `signatures_from_arrow` reads it in place.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable, or a column `name` exists already.

    Examples
    --------
    >>> from datasets import Dataset
    >>> dataset = Dataset.from_dict({"text": ["some text", "another text", "some text"]})
    >>> add_signatures(dataset, MinHasher(64)).column_names
    ['text', 'signature']
    """
    from datasets import Dataset, Features, List, Value

    _check(dataset, text, streams=False)
    if name in dataset.column_names:
        raise ValueError(f"the dataset has a column {name!r} already: choose another name")
    signer = _Signer(hasher or MinHasher(), text, name)
    if len(dataset):
        signed = dataset.with_format("arrow").map(
            signer, batched=True, batch_size=batch_size, num_proc=num_proc
        )
    else:  # `map` adds no column to a dataset without rows
        kind = List(Value("uint32"), length=signer.hasher.num_perm)
        schema = Features({**dataset.features, name: kind}).arrow_schema
        signed = Dataset(schema.empty_table(), split=dataset.split)
    shown = dataset.format  # as it was, and the new column where all are shown
    columns = None if shown["columns"] == dataset.column_names else shown["columns"]
    return signed.with_format(
        shown["type"], columns, shown["output_all_columns"], **shown["format_kwargs"]
    )


class _Signer:
    """The function for `map`: at module level and without other state, so that workers unpickle it.

    Its pickle, by which `map` recognises cached results, is the same in every process.
    """

    def __init__(self, hasher: MinHasher, column: str, name: str) -> None:
        self.hasher = hasher
        self.column = column
        self.name = name

    def __call__(self, table: Any) -> Any:
        signatures = self.hasher.signatures(table.column(self.column))
        return table.append_column(self.name, signatures_to_arrow(signatures))


def _check(dataset: Any, column: str, *, streams: bool = True) -> None:
    """Raise unless this is a dataset with such a column."""
    from datasets import Dataset, DatasetDict, IterableDataset, IterableDatasetDict

    if isinstance(dataset, (DatasetDict, IterableDatasetDict)):
        splits = ", ".join(map(repr, dataset))
        raise TypeError(
            f"dataset must be one split, got {type(dataset).__name__} of {splits}; `deduplicate`"
            " takes a whole DatasetDict if reference= names the splits that stay as they are"
        )
    if not isinstance(dataset, (Dataset, IterableDataset) if streams else Dataset):
        kinds = "a Dataset or an IterableDataset" if streams else "a Dataset"
        raise TypeError(f"dataset must be {kinds}, got {type(dataset).__name__}")
    names = dataset.column_names  # None: a stream that does not know yet
    if names is not None and column not in names:
        raise ValueError(f"the dataset has no column {column!r}; it has {', '.join(names)}")
