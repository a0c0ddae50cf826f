"""An index that documents are put into, asked for and removed from, one by one or many."""

import os
from typing import Any

from fastlsh.index.asking import in_memory
from fastlsh.index.changing import Changing
from fastlsh.index.in_memory import Memory
from fastlsh.index.loading import map_index, read_index
from fastlsh.index.opening import copy_to, open_store
from fastlsh.index.settings import Settings
from fastlsh.index.stored import Stored
from fastlsh.texts import Shingler


class Index(Changing):
    """Stores documents by id, and finds those that are similar to a given one.

    Any thread may call any method at any time: a lock lets one thread at a time work on the
    tables, while others hash their texts. A document without a shingle is counted but never found.

    Parameters
    ----------
    threshold
        The least Jaccard similarity of what is found, above 0 and at most 1.
    num_perm, seed, scheme
        Parameters of the signatures: see `MinHasher`.
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

    def __init__(
        self,
        threshold: float = 0.8,
        *,
        num_perm: int = 128,
        seed: int = 1,
        shingler: Shingler | None = None,
        scheme: str = "affine32",
        recall: float = 0.98,
        bands: int | None = None,
        rows: int | None = None,
        verify: str = "exact",
        threads: int | None = None,
    ) -> None:
        settings = Settings.of(
            threshold, shingler=shingler, num_perm=num_perm, seed=seed, recall=recall,
            bands=bands, rows=rows, scheme=scheme, verify=verify, threads=threads,
        )  # fmt: skip
        self._hold(Memory(settings))

    def copy(self) -> "Index":
        """Return an independent copy in memory; of a read-only index, one that can be changed."""
        nested = self._guard.held()
        with self._guard.lock:
            tables = in_memory(self._settled(nested))
        index = type(self).__new__(type(self))
        index._hold(tables)
        return index

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Index":
        """Return an independent copy; the ids are the same objects, as they never change."""
        return self.copy()

    def compact(self) -> None:
        """Give back spare memory, and that of removed documents."""
        with self._guard.change():
            self._changeable().pack()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        mmap: bool = False,
        verify: bool = False,
        threads: int | None = None,
        threshold: float | None = None,
        num_perm: int | None = None,
        seed: int | None = None,
        shingler: Shingler | None = None,
        scheme: str | None = None,
        bands: int | None = None,
        rows: int | None = None,
    ) -> "Index":
        """Load an index that `save` has written.

        Parameters
        ----------
        path
            The file.
        mmap
            Leave the index in the file: it is open at once, whatever its size, and read as it is
            asked. Nothing can be put into it or removed. The file must stay as it is.
        verify
            With ``mmap=True``: read the whole file and check it, too. Otherwise only the header
            is; damage further on gives wrong answers or a ValueError, but never a crash.
        threads
            As in `Index`.
        threshold, num_perm, seed, shingler, scheme, bands, rows
            What the index must have been made with, as far as it is given. A shingler with
            functions must be given.

        Raises
        ------
        ValueError
            The file is no index, truncated or altered, or made with other parameters than
            expected; the message names the file, and both values.
        OSError
            It cannot be read.
        """
        expected = {
            "threshold": threshold, "num_perm": num_perm, "seed": seed, "shingler": shingler,
            "scheme": scheme, "bands": bands, "rows": rows,
        }  # fmt: skip
        read = map_index if mmap else read_index
        index = cls.__new__(cls)
        index._hold(read(path, expected, threads, verify=verify))
        return index

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        threshold: float | None = None,
        *,
        read_only: bool = False,
        wait: float = 10.0,
        num_perm: int | None = None,
        seed: int | None = None,
        shingler: Shingler | None = None,
        scheme: str | None = None,
        recall: float | None = None,
        bands: int | None = None,
        rows: int | None = None,
        verify: str | None = None,
        threads: int | None = None,
    ) -> "Index":
        """Open an index that is always saved, or make it if there is none.

        What `insert` or `remove` has changed is on disk when the call returns, in full or not at
        all, whatever happens to the process or the machine; `batch` makes one change of many. Any
        number of processes may read at once, each answer from one state; those that write take
        turns.

        Parameters
        ----------
        location
            A file (SQLite; beside it, in use, two more with -wal and -shm). Or a Redis server,
            ``redis://host:port/db#name`` (with the package redis): how lasting a change is there,
            the server decides.
        read_only
            Only read; the index must exist.
        wait
            Seconds to wait while another process writes.
        threshold, num_perm, seed, shingler, scheme, recall, bands, rows, verify
            As in `Index`, for a new one. An existing one must have been made with what is given
            (`recall` is only for new ones). A shingler with functions must be given.
        threads
            As in `Index`.

        Raises
        ------
        ValueError
            The file is no index, of a newer format, or made with other parameters; the message
            names the file, and both values.
        OSError
            It cannot be opened or made. TimeoutError: another process writes to it.

        Notes
        -----
        Memory: the last 8,192 documents are linked in memory, and the lists of pages, 1 byte for
        10 documents; candidates are fetched when they are compared. Cost: a question looks into
        each of some ten sorted runs, so many at once cost far less than one by one.
        """
        path = os.fspath(location)
        given = {
            "num_perm": num_perm, "seed": seed, "shingler": shingler, "scheme": scheme,
            "bands": bands, "rows": rows, "verify": verify,
        }  # fmt: skip
        store = open_store(
            path, threshold, given, recall, threads, read_only=read_only, wait=float(wait)
        )
        index = cls.__new__(cls)
        index._hold(Stored(store))
        return index

    def copy_to(self, location: str | os.PathLike[str]) -> None:
        """Copy the index to a new file or server, to be opened with `open`; in full or not at all.

        Raises
        ------
        FileExistsError
            There is something already.
        """
        path = os.fspath(location)
        nested = self._guard.held()
        with self._guard.lock:
            copy_to(self._settled(nested), path)

    def close(self) -> None:
        """Let go of files and connections; an index in memory has none."""
        with self._guard.change():
            self._backend.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
