"""Only the first documents of a collection, for a trial on large files."""

from collections.abc import Iterable, Iterator

from fastlsh.io.blocks.contract import Block, BlockDocuments


class Limit:
    """Ends the reading of a collection behind a number of documents.

    Parameters
    ----------
    documents : int or None
        The number of good documents; None: all.
    group : str, optional
        The column, one of `Options.labels`, whose values the rows of a document share. Reading ends
        before the first row of another document; by default, each row is one.
    begun : iterable of int
        The values of that column in the documents before these, of which more rows may come.
    """

    def __init__(
        self, documents: int | None, group: str | None = None, begun: Iterable[int] = ()
    ) -> None:
        self._left = documents
        self.is_given = documents is not None
        """Whether there is a limit."""
        self._group = group
        self._begun = set(begun)
        self.reached = documents == 0 and group is None
        """Whether all of these documents have been read."""

    def first(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of a file, up to the last one of the documents.

        With a limit, each block is parsed here to count its documents, and again by the caller.
        """
        if self._left is None:
            yield from blocks
            return
        for block in blocks:
            wanted = self._wanted(block.documents())
            if self.reached:
                if wanted:
                    yield from block.first(wanted)
                return
            yield block

    def _wanted(self, found: BlockDocuments) -> int:
        """Count the documents of a block; return how many of its good rows are wanted."""
        assert self._left is not None
        if self._group is None:
            wanted = min(len(found), self._left)
            self._left -= wanted
            self.reached = not self._left
            return wanted
        for row, value in enumerate(found.labels[self._group].tolist()):
            if value not in self._begun:
                if not self._left:
                    self.reached = True
                    return row
                self._begun.add(value)
                self._left -= 1
        return len(found)
