"""How far reading and writing are."""

from collections.abc import Callable, Sequence

from fastlsh.io import filesystems
from fastlsh.io.blocks.contract import BlockExtent
from fastlsh.io.folders import COLUMNAR
from fastlsh.io.sources import Source
from fastlsh.io.streams import stored_bytes_read

ProgressOption = Callable[[str, int, int], None]
"""A function of (stage, bytes done, bytes in all)."""


class ByteProgress:
    """Reports the bytes of the inputs that are done; a table counts when it is.

    Of a compressed file, the bytes count that have been read of it, some blocks ahead.

    Parameters
    ----------
    stage : str
        What is done to them.
    sources : sequence of Source
        The files.
    progress : callable or None
        Called in the calling thread.
    """

    def __init__(
        self, stage: str, sources: Sequence[Source], progress: ProgressOption | None
    ) -> None:
        self._stage = stage
        self._progress = progress
        if progress is None:
            return
        sizes = [_size(source) for source in sources]
        self._total = sum(sizes)
        self._whole = 0
        self._starts: dict[int, tuple[int, int]] = {}
        start = 0
        for source, size in zip(sources, sizes, strict=True):
            self._starts[id(source)] = start, size
            start += size

    def __call__(self, source: Source, extent: BlockExtent) -> None:
        """Tell that a block of a file is done."""
        if self._progress is None:
            return
        start, size = self._starts[id(source)]
        if source.compression is not None:
            read = stored_bytes_read(source)
        else:
            read = 0 if source.format in COLUMNAR else extent.stop
        done = start + (size if read is None else min(read, size))
        if done < self._total:
            self._progress(self._stage, done, self._total)

    def whole(self, source: Source) -> None:
        """Tell that a file is done, where files are not done in their order."""
        if self._progress is None:
            return
        self._whole += self._starts[id(source)][1]
        if self._whole < self._total:
            self._progress(self._stage, self._whole, self._total)

    def by_parts(self, parts: int) -> Callable[[int], None]:
        """Return a function that tells that so many more of the parts are done, in any order."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if self._progress is not None and done < parts:
                self._progress(self._stage, self._total * done // parts, self._total)

        return advance

    def end(self) -> None:
        """Tell that all is done."""
        if self._progress is not None and self._total:
            self._progress(self._stage, self._total, self._total)


def _size(source: Source) -> int:
    return filesystems.identity(source.path).size if filesystems.is_regular(source.path) else 0
