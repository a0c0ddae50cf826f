"""Only the first documents of a collection, for a trial on large files."""

from collections.abc import Iterable, Iterator
from copy import copy

from fastlsh.io.blocks.contract import Block


class Limit:
    """Counts documents, and ends the reading behind the last one that is wanted.

    Parameters
    ----------
    documents : int or None
        How many good documents are wanted; None: all.
    """

    def __init__(self, documents: int | None) -> None:
        self._left = documents

    @property
    def reached(self) -> bool:
        """Whether no further document is wanted."""
        return self._left == 0

    def first(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of a file, up to the last document that is wanted.

        The documents of each block are counted here, so that they are parsed twice.
        """
        if self._left is None:
            yield from blocks
            return
        for block in blocks:
            found = len(copy(block).documents())  # a copy, since a block remembers its bad rows
            if found >= self._left:
                yield from block.first(self._left)
                self._left = 0
                return
            self._left -= found
            yield block
