"""An index into which documents are inserted, and in which similar ones are looked up."""

import math
import os
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.common._common import Transaction
from fastlsh._kernels.index._index import answer_lists
from fastlsh._kernels.sets._sets import NOT_VERIFIED
from fastlsh.arguments import check_integer, check_wait
from fastlsh.arrays import plain_value
from fastlsh.banding import LSHParams
from fastlsh.index.backend import Backend, at_least
from fastlsh.index.checks import (
    Guard,
    GuardedBatch,
    check_expected,
    check_limit,
    check_mergeable,
    check_on_known,
    check_query_threshold,
    names_of,
    read_documents,
)
from fastlsh.index.database import DatabaseBackend, in_memory
from fastlsh.index.documents import IndexDocuments, check_texts_kept, joined_blocks, texts_of
from fastlsh.index.in_memory import Memory
from fastlsh.index.opening import copy_to, open_store, recipe_of
from fastlsh.index.settings import TEXTS, Settings
from fastlsh.index.sqlite.files import check_closed
from fastlsh.index.storage import Expected, map_index, read_index, write_index
from fastlsh.index.store import T, retry_until_consistent, when_free
from fastlsh.index.stored_counts import all_counts
from fastlsh.index.tables import StoredIds
from fastlsh.keyed import Key
from fastlsh.keywords import shares
from fastlsh.parameters import RemovalKeywords, SearchParams
from fastlsh.texts import Texts

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


READ_BACK = 1 << 12
"""Documents whose texts `Index.items` reads at a time."""


class Index:
    """Stores documents by id, and finds those that are similar to a given one.

    Any thread may call any method at any time: a lock lets one thread at a time work on the
    tables, while others hash their texts. An index can be pickled: one in memory with its
    documents, any other as its location. A document without a shingle is counted but never found.

    Parameters
    ----------
    threshold
        The least Jaccard similarity of what is found, above 0 and at most 1.
    num_perm, seed, scheme, key
        Parameters of the signatures: see `MinHasher`. The index stores the fingerprint of the key.
    shingler
        How texts are split into sets; by default ``Shingler()``, 9 characters.
    recall
        Probability of finding a document exactly at the threshold; it is higher for more similar
        documents. Determines bands and rows: see `LSHParams.for_threshold`.
    bands, rows
        Given explicitly, instead of `recall`.
    verify
        "exact": by the Jaccard similarity of the sets of 64-bit shingle hashes. For that, the
        index keeps the normalised texts, and hashes them again when they are compared. (With a
        `tokenizer`, it keeps the sets, at 8 bytes per shingle.) "signature": by the share of equal
        minima, without keeping texts. This is an estimate with the standard error
        sqrt(J (1 - J) / num_perm), so some documents just below the threshold are found, and some
        just above are missed. "none": all documents that share a band, with similarity NaN.
    rule, containment
        "jaccard": a document is similar if the similarity reaches `threshold`. "contained": a
        document is found if it contains at least the share `containment` of the shingles of the
        text that is looked up, however many more it has; answers give this share. Requires
        ``verify="exact"``.
    search
        With ``rule="contained"``, how documents are found: "jaccard", by bands and rows for
        `threshold`; or "containment", by bands and rows for each ratio of sizes, so that documents
        are found that are up to 32 times as long (with the default `num_perm`), each with
        probability `recall`: docs/parameters.md states it.
    threads
        Number of threads that hash texts and answer many queries; by default all usable
        processors. It never changes a result.

    Notes
    -----
    Memory besides the ids: 4 * num_perm bytes per document for the signature; for each band 13.5
    bytes after `compact`, 24 at most; and with ``verify="exact"`` the text: 1 byte per character up
    to U+00FF, 2 or 4 for a text with other characters, and 8 to 16 bytes more. With
    ``search="containment"``, a document has 430 keys instead of 17 (with the default parameters),
    each in a table of its own, and a query looks into all of these.

    Examples
    --------
    >>> index = Index(0.7)
    >>> index.insert("a", "the quick brown fox jumps over the lazy dog")
    >>> index.query("the quick brown fox jumps over the lazy dog")
    [('a', 1.0)]
    """

    @shares(SearchParams.of, without={"also_threshold"})
    def __init__(
        self,
        threshold: float = 0.8,
        *,
        threads: int | None = None,
        **keywords: "Unpack[RemovalKeywords]",
    ) -> None:
        self._hold(Memory(Settings.of(threshold, threads=threads, **keywords)))

    # ---- other indexes, files and databases

    @classmethod
    @shares(
        SearchParams.of, without={"recall", "verify", "ignore_common", "also_threshold"},
        optional=RemovalKeywords.__annotations__,
    )  # fmt: skip
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        mmap: bool = False,
        check: bool = False,
        threads: int | None = None,
        threshold: float | None = None,
        **keywords: "Unpack[RemovalKeywords]",
    ) -> "Index":
        """Load an index from a file that `save` has written.

        Parameters
        ----------
        path
            The file.
        mmap
            Map the file into memory instead of reading it: the index opens at once, whatever its
            size, and queries read what they need. It is read-only, and the file must not change.
        check
            With ``mmap=True``, read and check the whole file. By default, only the header is
            checked; damage elsewhere leads to wrong answers or a ValueError, but never to a crash.
            (Without ``mmap=True``, the whole file is always checked.)
        threads
            As in `Index`.
        threshold
            If given, the index must have been created with this value, and so on for the further
            keyword arguments. A shingler that contains functions is required, and so is a key.

        Raises
        ------
        ValueError
            The file is not an index, is truncated or damaged, or was created with other parameters
            than expected; the message names the file and both values.
        OSError
            The file cannot be read.

        Examples
        --------
        >>> index = Index(0.7)
        >>> index.insert("a", "the quick brown fox jumps over the lazy dog")
        >>> index.save("seen.index")
        >>> Index.load("seen.index", mmap=True).query("the quick brown fox jumps over the lazy dog")
        [('a', 1.0)]
        """
        expected = check_expected(threads, {"threshold": threshold, **keywords})
        must = Expected(expected, threads)
        return cls._over(map_index(path, must, check=check) if mmap else read_index(path, must))

    @classmethod
    @shares(
        SearchParams.of,
        without={"ignore_common", "also_threshold"},
        optional=RemovalKeywords.__annotations__,
    )
    def open(
        cls,
        location: str | os.PathLike[str],
        threshold: float | None = None,
        *,
        read_only: bool = False,
        wait: float = 10.0,
        threads: int | None = None,
        **keywords: "Unpack[RemovalKeywords]",
    ) -> "Index":
        """Open an index that is always saved; create it if there is none and a threshold is given.

        When a call such as `insert` or `remove` returns, its change is on disk. If the process or
        the machine fails before, the change is there in full or not at all. `batch` combines many
        changes into one. Any number of processes can read at the same time, and each answer
        reflects a single state; processes that write take turns.

        Parameters
        ----------
        location
            A path: the index is an SQLite file, with two more files, ending in -wal and -shm,
            beside it while it is in use. Or ``redis://host:port/db#name``: the index is on a Redis
            server, which decides how durable a change is (requires the package redis).
        read_only
            Open the index for reading only; it must exist.
        wait
            How many seconds to wait while another process writes; 0 is one attempt.
        threshold
            As in `Index`, like the further keyword arguments, for a new index. Without a threshold
            (a containment, if `search` is "containment"), the index must exist, so that a mistyped
            location does not become an empty index. An existing index must have been created with
            the values that are given, except for `recall`: it keeps the bands that were chosen
            when it was created. A shingler with functions, and a key, are required.
        threads
            As in `Index`.

        Raises
        ------
        ValueError
            The file is not an index, has a newer format, or was created with other parameters; the
            message names the file and both values.
        OSError
            The index cannot be opened or created. TimeoutError: another process is writing to it.

        Notes
        -----
        Memory: the last 8,192 documents are linked in memory; the lists of pages take 1 byte per
        10 documents; candidates are fetched when they are compared. Cost: a query searches each of
        about ten sorted runs, so many queries at once cost far less than one at a time.

        Examples
        --------
        >>> with Index.open("seen.db", 0.7) as index:
        ...     index.insert("a", "the quick brown fox jumps over the lazy dog")
        >>> with Index.open("seen.db", read_only=True) as index:
        ...     print(index.query("the quick brown fox jumps over the lazy dog"))
        [('a', 1.0)]
        """
        expected = check_expected(threads, {"threshold": threshold, **keywords})
        must = Expected(expected, threads, read_only, check_wait(wait))
        return cls._over(DatabaseBackend(open_store(os.fspath(location), must)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, which appears complete or not at all.

        docs/index-format.md describes the format. Functions cannot be saved: to load an index
        whose shingler has some, give the shingler again.

        Raises
        ------
        TypeError
            The ids are not all str, all bytes or all int of 64 bits; the message names the first.
        FileExistsError
            The file is a database that is in use, perhaps the one that this index is in.
        ValueError
            SQLite gives such a name to a file beside a database: it ends in -wal, for example.

        Examples
        --------
        >>> index = Index()
        >>> index.insert("a", "some text")
        >>> index.save("seen.index")
        >>> len(Index.load("seen.index"))
        1
        """
        check_closed(os.fspath(path))
        with self._guard.change():
            backend = self._settled()
            tables = backend if isinstance(backend, Memory) else in_memory(backend)
            if tables.kernel.dead:
                tables.compact()
            ids = tables.ids
            write_index(path, tables, ids if isinstance(ids, StoredIds) else StoredIds.of(ids))

    def copy(self) -> "Index":
        """Return an independent copy in memory, which can be changed even if this index cannot.

        Examples
        --------
        >>> index = Index()
        >>> copy = index.copy()
        >>> copy.insert("a", "some text")
        >>> len(index), len(copy)
        (0, 1)
        """
        return type(self)._over(self._ask(in_memory))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Index":
        """Return an independent copy; the ids are the same objects, as they never change."""
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), *self._ask(recipe_of))

    def copy_to(self, location: str | os.PathLike[str]) -> None:
        """Copy the index to a new location, in full or not at all; `open` opens the copy.

        Parameters
        ----------
        location
            A path or the address of a Redis server, as in `open`.

        Raises
        ------
        FileExistsError
            Something exists there already, or another database of this name has left its log.

        Examples
        --------
        >>> index = Index()
        >>> index.insert("a", "some text")
        >>> index.copy_to("seen.db")
        >>> Index.open("seen.db")
        <fastlsh.Index of 1 documents, threshold=0.8, num_perm=128, bands=17, rows=7>
        """
        self._ask(lambda backend: copy_to(backend, os.fspath(location)))

    def close(self) -> None:
        """Close the files and connections of the index, which cannot be used any more.

        An index in memory has none, and stays as it is.

        Examples
        --------
        >>> index = Index.open("seen.db", 0.8)
        >>> index.close()
        """
        with self._guard.change():
            self._backend.close()

    def __enter__(self) -> "Index":
        if isinstance(self._backend, DatabaseBackend):
            _ = self._backend.store  # ValueError if it is closed
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- queries

    def __repr__(self) -> str:
        what = f"({ended})" if (ended := self._backend.ended) else f"of {len(self)} documents"
        return f"<fastlsh.Index {what}, {self._settings.described()}>"

    def __len__(self) -> int:
        return self._ask(len)

    def __contains__(self, id: Hashable) -> bool:  # noqa: A002
        return self._ask(lambda backend: backend.find(plain_value(id))) >= 0

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the ids that are in the index now, in the order of insertion."""
        with self._guard.hold() as nested:
            backend = self._settled(nested)
            names = backend.names()
        return names if isinstance(backend, Memory) else self._under_lock(names)

    def _under_lock(self, names: Iterator[Any]) -> Iterator[Any]:
        """Read some ids at a time, as other threads use the same connection."""
        while True:
            with self._guard.hold():
                chunk = list(islice(names, 1 << 14))
            if not chunk:
                return
            yield from chunk

    @property
    def params(self) -> LSHParams:
        """The numbers of bands and rows; by containment, those for documents of about one size."""
        return self._settings.params

    @property
    def search_params(self) -> SearchParams:
        """All parameters."""
        return self._settings.search

    @property
    def key(self) -> Key | None:
        """The key; locked in an index that comes out of a pickle."""
        return self._settings.search.shingler.key

    @property
    def threshold(self) -> float:
        """The lowest similarity of documents that are found; the lowest share by containment."""
        return self._settings.threshold

    @property
    def read_only(self) -> bool:
        """Whether the index cannot be changed (``mmap=True`` or ``read_only=True``)."""
        return self._backend.read_only

    @property
    def nbytes(self) -> int:
        """Bytes of the signatures, tables and texts, including unused space but not the ids.

        For an index in a database, all bytes that it takes there.
        """
        return self._ask(lambda backend: backend.nbytes)

    @property
    def limited(self) -> int:
        """How many documents `insert_unique` inserted without comparing all their candidates.

        This happens if a bucket holds more than 64 documents or `max_candidates` is reached. The
        count begins when the index is created, copied or loaded.
        """
        return self._ask(lambda backend: backend.limited)

    def signature(self, id: Hashable) -> NDArray[np.uint32]:  # noqa: A002
        """Return the signature of a document, uint32 (num_perm,).

        Raises
        ------
        KeyError
            No document has this id.

        Examples
        --------
        >>> index = Index(num_perm=64)
        >>> index.insert("a", "some text")
        >>> index.signature("a").shape
        (64,)
        """
        row = self._fetched(id).signatures[0]
        signature: NDArray[np.uint32] = row[: self._settings.hasher.num_perm]
        return signature

    def text(self, id: Hashable) -> Any:  # noqa: A002
        """Return the text of a document as the index keeps it, normalised.

        It is a str; bytes if the unit of the shingler is "byte", and a list of token ids if it is
        "token".

        Raises
        ------
        KeyError
            No document has this id.
        ValueError
            The index keeps no texts: it has another `verify` than "exact", or a `tokenizer`.

        Examples
        --------
        >>> from fastlsh import Shingler
        >>> index = Index(shingler=Shingler(lowercase=True))
        >>> index.insert("a", "Some text")
        >>> index.text("a")
        'some text'
        """
        check_texts_kept(self._settings)
        return texts_of(self._settings, self._fetched(id))[0]

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over (id, text) of all documents, in the order of insertion.

        The texts are those of `text`. The ids are those that are there when this is called: a
        document that is inserted or removed meanwhile is left out. If a document is replaced, its
        text may be the new one.

        Raises
        ------
        ValueError
            As in `text`; iterate over the index itself for the ids alone.

        Examples
        --------
        >>> index = Index()
        >>> index.insert_many(["a", "b"], ["some text", "another text"])
        >>> dict(index.items())
        {'a': 'some text', 'b': 'another text'}
        """
        check_texts_kept(self._settings)
        return self._items(iter(self))

    def counts(self) -> dict[str, Any]:
        """Return how often each document has come, as `fastlsh index export` writes it.

        A document that `deduplicate_with_index` removes is counted for the document of the index
        that it resembles. A document that was inserted otherwise has come once, with no source,
        and a removed or replaced document takes its counts with it. `copy_to` copies the counts;
        `copy`, `save` and `merge` do not. All counts are in memory together.

        Returns
        -------
        dict
            Columns with a value for each document, in the order of insertion: id, a list;
            documents, int64 (n,), how many have come; sources, int64 (n,), the number of different
            sources, if the index counts these; and for each column that it sums, sum_NAME (n,),
            int64 if all sums are integers, and otherwise float64. Floats are added one by one in
            the order in which documents come.

        Raises
        ------
        ValueError
            The index is not in a database, where alone counts are kept; or it is damaged.

        Examples
        --------
        >>> import json
        >>> from fastlsh import deduplicate_with_index
        >>> with open("day.jsonl", "w") as file:
        ...     for number, text in enumerate(("some text", "another text", "some text")):
        ...         print(json.dumps({"id": number, "text": text}), file=file)
        >>> with Index.open("seen.db", 0.8) as index:
        ...     done = deduplicate_with_index(index, "day.jsonl", "new.jsonl")
        ...     counts = index.counts()
        >>> counts["id"], counts["documents"].tolist()
        ([0, 1], [2, 1])
        """
        return self._ask(all_counts)

    def _items(self, names: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        while chunk := list(islice(names, READ_BACK)):
            texts = texts_by_id(self, chunk)
            yield from ((name, texts[name]) for name in chunk if name in texts)

    def _fetched(self, id: Hashable) -> IndexDocuments:  # noqa: A002
        hash(id)
        names, documents = self._ask(lambda backend: backend.fetch([plain_value(id)]))
        if not names:
            raise KeyError(id)
        return documents

    def query(
        self,
        text: str | bytes | None = None,
        *,
        signature: NDArray[np.uint32] | None = None,
        limit: int | None = None,
        threshold: float | None = None,
    ) -> list[tuple[Any, float]]:
        """Return the similar documents as (id, similarity), the most similar first.

        Among equally similar documents, the one inserted first comes first. A similar document is
        found with probability ``params.probability(similarity)``. With ``rule="contained"``, the
        documents are those that contain the text, with the share of its shingles that they have.

        Parameters
        ----------
        text
            A str, or bytes (UTF-8).
        signature
            The signature of the text, uint32 (num_perm,), from an equal `MinHasher`. Give it
            instead of the text or, with ``verify="exact"``, in addition, which saves computing it.
        limit
            The most documents to return. The search ends early once that many documents with
            similarity 1 are found.
        threshold
            The least similarity of the documents to return, if more than that of the index.

        Raises
        ------
        TypeError, ValueError
            Neither is given, or the one given is unsuitable.

        Examples
        --------
        >>> index = Index(0.6)
        >>> index.insert_many([1, 2, 3], ["one text", "one text here", "another document"])
        >>> index.query("one text here", limit=1)
        [(2, 1.0)]
        """
        limit, least = check_limit(limit), check_query_threshold(threshold, self._settings)
        documents = read_documents(self._settings, text, signature, one=True)
        return self._answer(documents, limit, least)[0]

    def query_many(
        self,
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        limit: int | None = None,
        threshold: float | None = None,
    ) -> list[list[tuple[Any, float]]]:
        """Return for each of many documents what `query` returns for one, using several threads.

        Parameters
        ----------
        texts
            Anything that `MinHasher.signatures` takes.
        signatures
            uint32 (n, num_perm), as in `query`.
        limit
            The most documents to return for each.
        threshold
            As in `query`.

        Examples
        --------
        >>> index = Index(0.7)
        >>> index.insert_many(["a", "b"], ["the first text", "the second text"])
        >>> index.query_many(["the second text", "something else"])
        [[('b', 1.0)], []]
        """
        limit, least = check_limit(limit), check_query_threshold(threshold, self._settings)
        documents = read_documents(self._settings, texts, signatures)
        return self._answer(documents, limit, least)

    # ---- changes

    def insert(
        self,
        id: Hashable,  # noqa: A002
        text: str | bytes | None = None,
        *,
        signature: NDArray[np.uint32] | None = None,
        on_known: str = "raise",
    ) -> None:
        """Insert a document.

        Parameters
        ----------
        id
            Any hashable value; only str, bytes and int can be saved. An instance of a subclass of
            these, such as a member of a str enumeration, counts as its value.
        text, signature
            As in `query`.
        on_known
            What to do if the id exists already. "raise": raise ValueError. "replace": remove the
            old document, and insert the new one as the latest.

        Examples
        --------
        >>> index = Index()
        >>> index.insert("a", "some text")
        >>> index.insert("a", "its new version", on_known="replace")
        >>> index.query("its new version")
        [('a', 1.0)]
        """
        check_on_known(on_known)
        documents = read_documents(self._settings, text, signature, one=True)
        self._change(lambda backend: backend.add([plain_value(id)], documents, on_known))

    def insert_many(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        on_known: str = "raise",
    ) -> None:
        """Insert documents in order: all of them or, if there is an error, none.

        Parameters
        ----------
        ids
            An id for each document.
        texts, signatures
            As in `query_many`.
        on_known
            As in `insert`; it also applies to an id that is given twice.

        Examples
        --------
        >>> index = Index()
        >>> index.insert_many(["a", "b"], ["the first text", "the second text"])
        >>> len(index)
        2
        """
        check_on_known(on_known)
        documents = read_documents(self._settings, texts, signatures)
        names = names_of(ids, documents)
        self._change(lambda backend: backend.add(names, documents, on_known))

    # fmt: off
    @overload
    def insert_unique(
        self, ids: Iterable[Hashable], texts: Iterable[Any] | None = ..., *,
        signatures: NDArray[np.uint32] | None = ..., max_candidates: int = ...,
        with_matches: Literal[False] = ...,
    ) -> NDArray[np.bool_]: ...
    @overload
    def insert_unique(
        self, ids: Iterable[Hashable], texts: Iterable[Any] | None = ..., *,
        signatures: NDArray[np.uint32] | None = ..., max_candidates: int = ...,
        with_matches: Literal[True],
    ) -> tuple[NDArray[np.bool_], list[Any]]: ...
    # fmt: on
    def insert_unique(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        max_candidates: int = 1000,
        with_matches: bool = False,
    ) -> Any:
        """Insert, in order, each document that resembles no document in the index.

        A document is also compared with the earlier ones of the same call, so a stream can be
        deduplicated in parts. The decision is that of `deduplicate`, and just as fast, however many
        documents are similar: a document is compared with the first 64 documents of each of its
        buckets, and with at most `max_candidates`.

        Parameters
        ----------
        ids, texts, signatures
            As in `insert_many`.
        max_candidates
            The most documents that one is compared with: those with the most shared bands, then
            the most equal minima, then the earliest. `limited` counts the documents for which this
            limit, or a bucket with more than 64 documents, left out a comparison.
        with_matches
            Whether to return, too, which document each of the others duplicates. This takes longer,
            because the first one is looked for and not any one.

        Returns
        -------
        ndarray of bool, shape (n,)
            True for a document that was new and has been inserted, as is every one without a
            shingle.
        list
            Only with `with_matches`: for each document that was not inserted, the id of the first
            document in the index, among those that it was compared with, that it resembles; None
            for a document that was inserted.

        Raises
        ------
        ValueError
            An id is in the index already or given twice; nothing is inserted.

        Notes
        -----
        With the same parameters, a stream that begins with an empty index gives the answer of
        ``deduplicate(keep="first")``, in any number of calls, with one difference: an identical
        document is not recognised before its buckets are searched. If a limit leaves out its
        comparisons, it may be inserted here, whereas `deduplicate` would remove it.

        Examples
        --------
        >>> index = Index()
        >>> index.insert_unique([1, 2, 3], ["some text", "another text", "some text"]).tolist()
        [True, True, False]
        >>> list(index)
        [1, 2]
        >>> index.insert_unique([4], ["another text"], with_matches=True)[1]
        [2]
        """
        max_candidates = check_integer(max_candidates, "max_candidates")
        documents = read_documents(self._settings, texts, signatures)
        names = names_of(ids, documents)
        arguments = names, documents, max_candidates, with_matches
        new, matches = self._change(lambda backend: backend.add_unique(*arguments))
        return (new, matches) if with_matches else new

    def remove(self, id: Hashable) -> None:  # noqa: A002
        """Remove a document.

        If this is called during another call of the same thread (from a `__del__` method or a
        signal handler), the document is removed when that other call has ended.

        Raises
        ------
        KeyError
            No document has this id.

        Examples
        --------
        >>> index = Index()
        >>> index.insert("a", "some text")
        >>> index.remove("a")
        >>> "a" in index
        False
        """
        if not self.discard(id):
            raise KeyError(id)

    def discard(self, id: Hashable) -> bool:  # noqa: A002
        """Remove a document if it exists, and return whether it did. See also `remove`.

        Examples
        --------
        >>> index = Index()
        >>> index.discard("a")
        False
        """
        name = plain_value(id)
        if not self._guard.held():
            return self._change(lambda backend: backend.discard(name))
        exists = self._changeable(nested=True).find(name) >= 0
        if exists:
            self._later.append(name)
        return exists

    def merge(self, other: "Index", on_known: str = "raise") -> None:
        """Insert all documents of another index, all of them or, if there is an error, none.

        Parameters
        ----------
        other
            An index with the same num_perm, seed, scheme and shingler, which keeps texts if this
            one does. Bands, rows and threshold may differ.
        on_known
            As in `insert`.

        Examples
        --------
        >>> today, ever = Index(), Index()
        >>> today.insert("a", "some text")
        >>> ever.merge(today)
        >>> list(ever)
        ['a']
        """
        check_on_known(on_known)
        if not isinstance(other, Index):
            raise TypeError(f"other must be an Index, got {type(other).__name__}")
        check_mergeable(self._settings, other._settings)
        # Never both locks at once.
        blocks = other._ask(lambda its: retry_until_consistent(lambda: list(its.blocks())))
        names, documents = joined_blocks(blocks)
        if not self._settings.keeps:
            documents = IndexDocuments(documents.signatures)
        self._change(lambda backend: backend.add(names, documents, on_known))

    def batch(self) -> AbstractContextManager[None]:
        """Combine many changes into one: ``with index.batch(): ...``.

        An index on disk or on a server writes all changes at the end, or none of them if there is
        an error. Other processes see all changes or none, while this index sees those made so far.
        What other threads do with this index meanwhile belongs to the batch, too. For an index in
        memory, `batch` has no effect.

        Examples
        --------
        >>> index = Index.open("seen.db", 0.8)
        >>> with index.batch():
        ...     index.insert("a", "some text")
        ...     index.insert("b", "another text")
        >>> len(index)
        2
        >>> index.close()
        """
        wait = self._backend.wait
        return Transaction(GuardedBatch(self._guard, lambda: self._changeable().batch(), wait))

    def compact(self) -> None:
        """Free unused memory, and the space of removed documents.

        Examples
        --------
        >>> index = Index()
        >>> index.insert("a", "some text")
        >>> index.remove("a")
        >>> index.compact()
        """
        self._change(lambda backend: backend.pack())

    # ---- the backend and its lock

    def _hold(self, backend: Backend) -> None:
        self._settings = backend.settings
        self._guard = Guard(backend)
        self._backend = backend
        self._later: deque[Hashable] = deque()
        """Ids to remove, as a call in the middle of another one wished."""

    @classmethod
    def _over(cls, backend: Backend) -> "Index":
        index = cls.__new__(cls)
        index._hold(backend)
        return index

    def _answer(
        self, documents: IndexDocuments, limit: int, least: float
    ) -> list[list[tuple[Any, float]]]:
        with self._guard.hold() as nested:
            backend = self._settled(nested)
            names, answers, counts = backend.answer(documents, limit)
            if not nested:
                backend.tidy()
        if least > self.threshold:
            names, answers, counts = at_least(least, names, answers, counts)
        alike = math.nan if self._settings.verify == NOT_VERIFIED else None
        return answer_lists(names, answers, counts, alike)

    def _ask(self, ask: Callable[[Backend], T]) -> T:
        """Ask something, under the lock."""
        with self._guard.hold() as nested:
            return ask(self._settled(nested))

    def _change(self, make: Callable[[Backend], T]) -> T:
        """Make a change, as soon as no other process is writing."""
        return self._guard.changed(lambda: make(self._changeable()), self._backend.wait)

    def _settled(self, nested: bool = False) -> Backend:
        """Return the backend, after completing what an earlier call could not complete."""
        backend = self._backend
        backend.settle()
        while self._later and not nested:
            when_free(lambda: backend.discard(self._later[0]), backend.wait)
            self._later.popleft()
        return backend

    def _changeable(self, nested: bool = False) -> Backend:
        if self._backend.read_only:
            raise ValueError(
                "a memory-mapped index is read-only: copy() can be changed"
                if isinstance(self._backend, Memory)
                else "the index was opened with read_only=True"
            )
        return self._settled(nested)


def known_documents(
    index: Index, documents: IndexDocuments, texts: Texts
) -> tuple[list[Any], IndexDocuments]:
    """Return the ids and documents that decide which of the given documents are kept.

    The documents have signatures as `MinHasher` makes them; `texts` are those of the documents.
    """
    settings = index._settings
    rows = settings.rows(documents.signatures, texts, settings.search.shingler)
    return index._ask(lambda backend: backend.candidates(documents._replace(signatures=rows)))


def found_texts(index: Index, ids: list[Any]) -> list[Any]:
    """Return the texts of documents as the index keeps them; None for one that it does not have."""
    if index._settings.keeps != TEXTS:
        return [None] * len(ids)
    texts = texts_by_id(index, ids)
    return [texts.get(name) for name in ids]


def texts_by_id(index: Index, ids: list[Any]) -> dict[Any, Any]:
    """Return the texts of those ids that have a document."""
    names, documents = index._ask(lambda backend: backend.fetch(ids))
    return dict(zip(names, texts_of(index._settings, documents), strict=True))


def _unpickled(
    kind: type[Index], make: Callable[..., Backend], arguments: tuple[Any, ...]
) -> Index:
    return kind._over(make(*arguments))
