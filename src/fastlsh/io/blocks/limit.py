"""Only the first documents of a collection, for a trial on large files."""

from collections.abc import Iterable, Iterator

from fastlsh.io.blocks.contract import Block


class Limit:
    """Ends the reading of a collection behind a number of documents.

    Parameters
    ----------
    documents : int or None
        The number of good documents; None: all.
    """

    def __init__(self, documents: int | None) -> None:
        self._left = documents

    @property
    def is_given(self) -> bool:
        """Whether there is a limit."""
        return self._left is not None

    @property
    def reached(self) -> bool:
        """Whether all of these documents have been read."""
        return self._left == 0

    def first(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of a file, up to the last one of the documents.

        With a limit, each block is parsed here to count its documents, and again by the caller.
        """
        if self._left is None:
            yield from blocks
            return
        for block in blocks:
            found = len(block.documents())
            if found >= self._left:
                yield from block.first(self._left)
                self._left = 0
                return
            self._left -= found
            yield block
