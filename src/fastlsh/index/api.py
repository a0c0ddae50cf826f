"""An index into which documents are inserted, and in which similar ones are looked up."""

import os
from typing import TYPE_CHECKING, Any

from fastlsh.index.database import DatabaseBackend
from fastlsh.index.in_memory import Memory, in_memory
from fastlsh.index.loading import map_index, read_index
from fastlsh.index.pickling import pickled
from fastlsh.index.settings import Settings
from fastlsh.index.updates import IndexUpdates
from fastlsh.keyed import check_key
from fastlsh.keywords import shares
from fastlsh.parameters import REMOVAL_ONLY, SearchKeywords, SearchParams

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import BandingKeywords


class Index(IndexUpdates):
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
    threads
        Number of threads that hash texts and answer many queries; by default all usable
        processors. It never changes a result.

    Notes
    -----
    Memory besides the ids: 4 * num_perm bytes per document for the signature; for each band 13.5
    bytes after `compact`, 24 at most; and with ``verify="exact"`` the text: 1 byte per character up
    to U+00FF, 2 or 4 for a text with other characters, and 8 to 16 bytes more.

    Examples
    --------
    >>> index = Index(0.7)
    >>> index.insert("a", "the quick brown fox jumps over the lazy dog")
    >>> index.query("the quick brown fox jumps over the lazy dog")
    [('a', 1.0)]
    """

    @shares(SearchParams.of, without=REMOVAL_ONLY)
    def __init__(
        self,
        threshold: float = 0.8,
        *,
        threads: int | None = None,
        **keywords: "Unpack[SearchKeywords]",
    ) -> None:
        self._hold(Memory(Settings.of(threshold, threads=threads, **keywords)))

    def copy(self) -> "Index":
        """Return an independent copy in memory, which can be changed even if this index cannot."""
        with self._guard.hold() as nested:
            return type(self)._over(in_memory(self._settled(nested)))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Index":
        """Return an independent copy; the ids are the same objects, as they never change."""
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._guard.hold() as nested:
            return pickled(type(self), self._settled(nested))

    def compact(self) -> None:
        """Free unused memory, and the space of removed documents."""
        with self._guard.change():
            self._changeable().pack()

    @classmethod
    @shares(
        SearchParams.of,
        without=REMOVAL_ONLY | {"recall", "verify"},
        optional=SearchKeywords.__annotations__,
    )
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        mmap: bool = False,
        check: bool = False,
        threads: int | None = None,
        threshold: float | None = None,
        **keywords: "Unpack[BandingKeywords]",
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
        """
        check_key(keywords.get("key"))
        expected = {"threshold": threshold, **keywords}
        read = map_index if mmap else read_index
        return cls._over(read(path, expected, threads, check=check))

    @classmethod
    @shares(SearchParams.of, without=REMOVAL_ONLY, optional=SearchKeywords.__annotations__)
    def open(
        cls,
        location: str | os.PathLike[str],
        threshold: float | None = None,
        *,
        read_only: bool = False,
        wait: float = 10.0,
        threads: int | None = None,
        **keywords: "Unpack[SearchKeywords]",
    ) -> "Index":
        """Open an index that is always saved, or create it if it does not exist.

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
            How many seconds to wait while another process writes.
        threshold
            As in `Index`, like the further keyword arguments, for a new index. An existing index
            must have been created with the values that are given, except for `recall`. A shingler
            with functions, and a key, are required.
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
        """
        from fastlsh.index.opening import open_store  # most programs open none, and import faster

        check_key(keywords.get("key"))
        how: dict[str, Any] = {"read_only": read_only, "wait": float(wait)}
        store = open_store(os.fspath(location), threshold, keywords, threads, **how)
        return cls._over(DatabaseBackend(store))

    def copy_to(self, location: str | os.PathLike[str]) -> None:
        """Copy the index to a new location, in full or not at all; `open` opens the copy.

        Parameters
        ----------
        location
            A path or the address of a Redis server, as in `open`.

        Raises
        ------
        FileExistsError
            Something exists there already.
        """
        from fastlsh.index.opening import copy_to

        with self._guard.hold() as nested:
            copy_to(self._settled(nested), os.fspath(location))

    def close(self) -> None:
        """Close the files and connections of the index; one in memory has none."""
        with self._guard.change():
            self._backend.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
