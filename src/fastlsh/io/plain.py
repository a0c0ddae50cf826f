"""Plain text: a file is a document."""

from collections.abc import Iterator

from fastlsh.io.files import Source
from fastlsh.io.streams import BOM, Record, exact_codec, open_bytes


class PlainText:
    """Reader of ``.txt``: every character as it is, line ends too; the id is the file's name."""

    layout = None
    header = ""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._data = b""

    def records(self) -> Iterator[Record]:
        """Yield the one row, with the bytes kept aside."""
        with open_bytes(self.source) as stream:
            self._data = stream.read()
        yield Record(1, "", [])

    def parse(self, record: Record) -> tuple[str, str]:
        """Return the text and the id."""
        data, self._data = self._data, b""  # for the reader outlives its reading
        return self.decode(data), self.source.path

    def decode(self, data: bytes) -> str:
        """Return the text that the bytes of the file are."""
        codec = exact_codec(self.source.options.encoding, data[:4])
        try:
            text = data.decode(codec)
        except UnicodeDecodeError as error:
            byte = data[error.start]
            reason = f"not {codec}: byte 0x{byte:02x} at offset {error.start}: {error.reason}"
            raise self.source.error(reason) from None
        return text.removeprefix(BOM)
