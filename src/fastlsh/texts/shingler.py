"""What a document is a set of: shingles of characters, words or bytes."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import CHARACTERS, WORDS, Spans, shingle_sets, spans_of_list, token_hashes
from fastlsh.arguments import check_choice, check_integer
from fastlsh.texts.forms import Texts, as_texts

UnicodeForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

BATCH_TOKENS = 1 << 16
"""Their hashes stay in the cache."""


class Gathered(NamedTuple):
    """The texts of a batch, ready for a kernel."""

    units: Any
    """The texts, `Spans`; or tokens, uint64, of which document d has those from offsets[d] on."""
    offsets: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.units) if self.offsets is None else len(self.offsets) - 1

    def part(self, first: int, last: int) -> "Gathered":
        """Return the documents first ... last - 1, read in place."""
        if self.offsets is None:
            return Gathered(self.units.part(first, last), None)
        return Gathered(self.units, self.offsets[first : last + 1])

    def window(self, document: int, begin: int, end: int) -> "Gathered":
        """Return the code points (bytes, tokens) begin ... end - 1 of a document as the only one.

        Not for words that are not cut yet.
        """
        if self.offsets is None:
            return Gathered(self.units.window(document, begin, end), None)
        return Gathered(self.units, self.offsets[document] + np.array([begin, end]))

    def lengths(self) -> NDArray[np.int64]:
        """Return the code points (bytes, tokens) of each document, int64 (n,)."""
        if self.offsets is not None:
            return np.diff(self.offsets)
        lengths = np.empty(len(self.units), np.int64)
        self.units.lengths(lengths)
        return lengths


@dataclass(frozen=True)
class Shingler:
    """Cuts a text into its shingles: `size` consecutive units.

    A text shorter than `size` units has one shingle, itself; one without a unit has none, is
    never similar to anything and never removed. Nothing is normalised unless asked for.

    Parameters
    ----------
    unit
        "char": Unicode code points. "word": maximal runs of non-whitespace, as str.split().
        "byte": bytes of UTF-8; bytes input is then taken as it is.
    size
        Units in a shingle. For characters 8 to 10 suits documents, 5 very short texts; with less
        than 8 unrelated long texts begin to share most shingles.
    lowercase, remove_whitespace, collapse_whitespace
        Normalise each text: str.lower(); drop whitespace; or make each run of it one space.
    unicode_form
        "NFC", "NFD", "NFKC" or "NFKD", applied before these.
    normalize
        A function from str to str, applied before all others. It must be deterministic: texts
        are normalised again for verification.
    tokenizer
        A function from the normalised str to a sequence of str or bytes (UTF-8), the units
        instead of words; `unit` must be "word".

    Notes
    -----
    Normalisation and tokenizers run in Python, one text at a time, holding the GIL. Of the speed
    of plain ASCII text on one thread about 0.8 to 0.9 remain with `lowercase` or a
    `unicode_form`, 0.2 to 0.5 with a change of whitespace, and 0.1 to 0.2 with a tokenizer; of
    other text 0.7 to 0.9 with the former.
    """

    unit: str = "char"
    size: int = 9
    lowercase: bool = False
    remove_whitespace: bool = False
    collapse_whitespace: bool = False
    unicode_form: UnicodeForm | None = None
    normalize: Callable[[str], str] | None = None
    tokenizer: Callable[[str], Sequence[str | bytes]] | None = None

    def __post_init__(self) -> None:
        check_choice(self.unit, "unit")
        # Plain ones, which go into JSON.
        object.__setattr__(self, "size", check_integer(self.size, "size"))
        for name in ("lowercase", "remove_whitespace", "collapse_whitespace"):
            object.__setattr__(self, name, bool(getattr(self, name)))
        if self.unicode_form is not None:
            check_choice(self.unicode_form, "unicode_form")
        if self.tokenizer is not None and self.unit != "word":
            raise ValueError(f'a tokenizer makes words: unit must be "word", got {self.unit!r}')

    def shingles(self, text: str | bytes | None) -> list[Any]:
        """Return every window of the text in order, repetitions included.

        Words are joined by one space; for unit "byte" the windows are bytes.
        """
        prepared = self._normalise(_gather_one(text, self._as_bytes))
        units: Any
        joiner: Any = ""
        if self.unit == "word":
            tokens = self.tokenizer(prepared) if self.tokenizer else prepared.split()
            units = [t.decode() if isinstance(t, bytes) else t for t in tokens]
            joiner = " "
        elif self.unit == "byte":
            raw = isinstance(text, bytes) and not self.normalises
            units = text if raw else prepared.encode("utf-8", "surrogatepass")
        else:
            units = prepared
        if not units:
            return []
        windows = range(max(len(units) - self.size, 0) + 1)
        if self.unit == "byte":
            return [units[i : i + self.size] for i in windows]
        return [joiner.join(units[i : i + self.size]) for i in windows]

    def hashes(self, text: str | bytes | None) -> NDArray[np.uint64]:
        """Return the 64-bit hashes of the distinct shingles, uint64, ascending.

        How they arise: docs/signature-spec.md, section 2.
        """
        gathered = self.gather(as_texts([text]), 0, 1)
        room = np.array([0, max(int(gathered.lengths()[0]), 1)], np.int64)
        out = np.empty(room[1], np.uint64)
        count = np.empty(1, np.int64)
        shingle_sets(
            gathered.units, gathered.offsets, self.kernel_unit, self.size, out, room, count
        )
        return out[: count[0]].copy()

    # ---- for the floors above

    @property
    def kernel_unit(self) -> int:
        """The unit by the name that the kernels have for it."""
        return WORDS if self.unit == "word" else CHARACTERS

    @property
    def normalises(self) -> bool:
        """Whether texts go through Python before they are hashed."""
        return bool(
            self.normalize
            or self.unicode_form
            or self.lowercase
            or self.remove_whitespace
            or self.collapse_whitespace
        )

    @property
    def _as_bytes(self) -> bool:
        return self.unit == "byte" and not self.normalises

    def gather(self, texts: Texts, start: int, stop: int) -> Gathered:
        """Gather the documents start ... stop - 1, normalised and tokenised."""
        return self._finish(texts.spans(start, stop, self._as_bytes), start, None)

    def gather_with_texts(self, texts: Texts, start: int, stop: int) -> tuple[Gathered, Spans]:
        """Gather as `gather` does, and the same texts normalised but not tokenised."""
        spans = texts.spans(start, stop, self._as_bytes)
        plain = self._normalised(spans) if self.normalises else spans
        if self.tokenizer is None:
            return Gathered(plain, None), plain
        return gather_tokens([self.tokenizer(text) for text in plain.strings()], start), plain

    def take(self, texts: Texts, documents: NDArray[np.int64]) -> Gathered:
        """Gather the given documents, normalised and tokenised."""
        return self._finish(texts.take(documents, self._as_bytes), 0, documents)

    def take_texts(self, texts: Texts, documents: NDArray[np.int64]) -> Spans:
        """Gather the given documents, normalised but not tokenised."""
        spans = texts.take(documents, self._as_bytes)
        return self._normalised(spans) if self.normalises else spans

    def _finish(self, spans: Spans, first: int, documents: NDArray[np.int64] | None) -> Gathered:
        if self.tokenizer is not None:
            prepared = [self._normalise(text) for text in spans.strings()]
            return gather_tokens([self.tokenizer(text) for text in prepared], first, documents)
        return Gathered(self._normalised(spans) if self.normalises else spans, None)

    def _normalised(self, spans: Spans) -> Spans:
        return spans_of_list(
            [self._normalise(text) for text in spans.strings()], 0, self.unit == "byte"
        )

    def _normalise(self, text: str) -> str:
        if self.normalize is not None:
            text = self.normalize(text)
            if not isinstance(text, str):
                raise TypeError(f"normalize returned {type(text).__name__}, expected str")
        if self.unicode_form is not None:
            text = unicodedata.normalize(self.unicode_form, text)
        if self.lowercase:
            text = text.lower()
        if self.remove_whitespace:
            return "".join(text.split())
        if self.collapse_whitespace:
            return " ".join(text.split())
        return text


def check_shingler(shingler: Shingler | None) -> Shingler:
    """Return the shingler, the default for None; TypeError if it is something else."""
    if shingler is None:
        return Shingler()
    if not isinstance(shingler, Shingler):
        raise TypeError(f"shingler must be a Shingler, got {type(shingler).__name__}")
    return shingler


def gather_tokens(
    documents: list[Sequence[str | bytes]],
    first: int = 0,
    numbers: NDArray[np.int64] | None = None,
) -> Gathered:
    """Gather ready tokens; errors name the document, counted from `first` or in `numbers`."""
    offsets = np.empty(len(documents) + 1, np.int64)
    return Gathered(token_hashes(documents, offsets, first, numbers), offsets)


def tokens_batch(documents: list[Any]) -> int:
    """Return how many documents have about `BATCH_TOKENS` tokens, by a sample."""
    sample = documents[:: len(documents) // 64 + 1]
    lengths = [len(document) for document in sample if hasattr(document, "__len__")]
    return max(BATCH_TOKENS * len(lengths) // (sum(lengths) + 1), 1) if lengths else 1


def _gather_one(text: str | bytes | None, as_bytes: bool) -> str:
    if as_bytes and isinstance(text, bytes):
        return ""
    return as_texts([text]).spans(0, 1).strings()[0]
