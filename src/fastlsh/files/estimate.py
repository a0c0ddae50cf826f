"""Memory or disk: how much memory a collection needs, by a look at its files."""

from contextlib import suppress
from typing import NamedTuple

from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, PER_BATCH, PER_WINDOW, longest_row, stored_bytes
from fastlsh.files.cutting import Cutting
from fastlsh.files.requests import Engine, Request
from fastlsh.io import BlockDocuments, Source, expanded, identity, largest_batch, read_blocks
from fastlsh.parallel import Size, amount
from fastlsh.parameters import SearchParams

LOOKS = 16
"""Files that are looked into."""
LOOK = 1 << 20
"""Bytes of each that are looked at."""
EXPANDS = {"gz": 3.5, "bz2": 5.0, "xz": 5.5, "zst": 4.0}
"""How many times as large texts are where no sample can be read; columnar files likewise."""
SAMPLE = 1 << 22
"""Decompressed bytes of a file that are measured."""
COLUMNAR = 2.5
PER_DOCUMENT = 200
"""Bytes of a document in memory besides its text, signature and keys: where it stands, id, tables,
and of CSV the object that is its text."""
PER_BAND_BY_SIZE = 14
"""The same of each band of a search by containment, where the document shares a bucket."""
PER_CUT_DOCUMENT = 450
"""The same of a document that is cut into pieces."""

PER_EXACT = {"char": 40, "byte": 40}
"""Bytes that an exact search takes for each byte of text, by the unit: about 40 for a shingle."""
PER_EXACT_WORDS = 8
"""The same of shingles of words."""


class Estimate(NamedTuple):
    """What a collection is likely to be."""

    documents: int
    text: int
    """Bytes, decompressed."""
    memory: int
    """Bytes that the memory engine needs."""
    disk: int
    """Bytes of a work directory."""
    signed: int
    """Documents, or the pieces that these are cut into."""


PER_PIECE = 110
"""Bytes of a piece besides its signature: where it stands, its hash, the kept one."""


def estimate(
    sources: list[Source],
    params: SearchParams,
    cutting: Cutting | None = None,
    memory: int = 1 << 62,
    limit: int | None = None,
) -> Estimate:
    """Look at the beginnings of some files, and at the sizes of all.

    `limit` is how many documents are read; None: all. With a limit, no file is looked into behind
    the first one that has a document, for the run may not open it either.
    """
    looks: list[tuple[Source, int, int]] = []
    for source in sampled(sources) if limit is None else sources[:LOOKS]:
        rows, pieces = _beginning(source, cutting, memory)
        looks.append((source, rows, pieces))
        if limit is not None and rows:
            break
    measured = _measured([source for source, *_ in looks])
    sizes = {source: _size(source) * _expansion(source, measured) for source in sources}
    size = int(sum(sizes[source] for source in sources))
    seen_rows = sum(rows for _, rows, _ in looks)
    seen_pieces = sum(pieces for *_, pieces in looks)
    seen_bytes = sum(min(LOOK, int(sizes[source])) for source, rows, _ in looks if rows)
    documents = int(size * seen_rows / seen_bytes) if seen_bytes else len(sources)
    if limit is not None and documents > limit:
        size, documents = size * limit // documents, limit
    keys = stored_bytes(params)
    per_signature = 4 * params.num_perm + keys
    memory, signed = size + documents * per_document(params), documents
    if cutting is not None:
        signed = int(size * seen_pieces / seen_bytes) if seen_bytes else len(sources)
        per_piece = per_signature + PER_PIECE + PER_WINDOW * (cutting.window > 1)
        memory = size + documents * PER_CUT_DOCUMENT + signed * per_piece
    return Estimate(
        documents, int(size), int(memory) + BASE, int(signed * (keys + 8) + size / 2), signed
    )


def sampled(sources: list[Source]) -> list[Source]:
    """Return the files that are looked into."""
    return sources[:: max(len(sources) // LOOKS, 1)][:LOOKS]


def _beginning(source: Source, cutting: Cutting | None, memory: int) -> tuple[int, int]:
    """Return how many documents and pieces the beginning of a file has."""
    documents = first_documents(source, memory)
    if documents is None:
        return 0, 0
    return len(documents), 0 if cutting is None else len(cutting.pieces(documents))


def first_documents(source: Source, memory: int) -> BlockDocuments | None:
    """Return the documents that a file begins with; None if there are none.

    A row or a batch that is too large for the memory ends the look into its file.
    """
    with suppress(InputError):  # it will be raised where the file is read
        if source.format == "arrow" and largest_batch(source)[0] > (memory - BASE) // PER_BATCH:
            return None
        block = next(iter(read_blocks(source, LOOK, max_row=longest_row(memory))), None)
        return None if block is None else block.documents()
    return None


def per_document(params: SearchParams) -> int:
    """Return the bytes of memory that a document takes besides its text."""
    keys = PER_BAND_BY_SIZE * params.n_keys if params.partitions else 8 * (params.n_keys + 1)
    return 4 * params.num_perm + keys + PER_DOCUMENT


class Choice(NamedTuple):
    """The engine of a run."""

    engine: Engine
    """Memory or disk."""
    why: str
    estimate: Estimate | None = None
    """What the engine was chosen by, if it was chosen by an estimate."""

    @property
    def by_estimate(self) -> bool:
        """Whether an estimate says that the memory is enough."""
        return self.engine is Engine.MEMORY and self.estimate is not None

    @property
    def reason(self) -> str:
        """The name of the engine, and why it was chosen."""
        return f"{self.engine.value} ({self.why})"

    def per_document(self, params: SearchParams) -> int | None:
        """Return the bytes that a document takes besides its text, if an estimate was made."""
        return per_document(params) if self.by_estimate else None


def choose(request: Request, sources: list[Source], first_input: int = 0) -> Choice:
    """Choose the engine.

    Parameters
    ----------
    request
        What is searched for, and the memory that may be taken.
    sources, first_input
        The files, those of `against` first, and how many these are.
    """
    engine, memory = request.engine.engine, request.engine.memory
    if engine is Engine.MEMORY:
        return Choice(engine, "as asked for")
    limit = (
        f"memory= is {memory.text}" if isinstance(memory, Size) else f"{amount(memory)} are allowed"
    )
    if engine is Engine.DISK:
        return Choice(engine, f"as asked for, {limit}")
    if any(identity(source) is None for source in sources):
        return Choice(Engine.MEMORY, "an input is a pipe, which cannot be read twice")
    estimated = estimate_of(request, sources, first_input)
    enough = estimated.memory <= memory
    why = f"needs {amount(estimated.memory)}, {limit}"
    return Choice(Engine.MEMORY if enough else Engine.DISK, why, estimated)


def choose_for_index(request: Request, sources: list[Source]) -> Choice:
    """Return the engine in memory, for new documents that are compared with an index.

    Raises
    ------
    InputError
        More memory is likely to be needed than may be taken.
    """
    why = "new documents are compared with an index there"
    if any(identity(source) is None for source in sources):
        return Choice(Engine.MEMORY, why)
    estimated = estimate_of(request, sources, 0)
    if estimated.memory > request.engine.memory:
        raise InputError(
            sources[0].path,
            f"with an index, new documents are compared in memory, where about"
            f" {amount(estimated.memory)} would be needed, and {amount(request.engine.memory)} are"
            " allowed: give fewer files at a time, or more memory=",
        )
    return Choice(Engine.MEMORY, why, estimated)


def check_exact_fits(request: Request, sources: list[Source]) -> None:
    """Raise ValueError if an exact search is likely to need more memory than it may take."""
    engine = request.engine
    if engine.engine is Engine.MEMORY or any(identity(source) is None for source in sources):
        return
    estimated = estimate_of(request, sources, 0)
    per_byte = PER_EXACT.get(request.search.shingler.unit, PER_EXACT_WORDS)
    needed = BASE + estimated.documents * PER_DOCUMENT + estimated.text * (1 + per_byte)
    if needed > engine.memory:
        raise ValueError(
            f"exact=True works in memory, where about {amount(needed)} would be needed, and"
            f" {amount(engine.memory)} are allowed: give more as memory=, or try it with"
            ' engine="memory"'
        )


def estimate_of(request: Request, sources: list[Source], first_input: int) -> Estimate:
    """Estimate what a request needs; `first_input` of the files are of `against`."""
    # Documents of `against` come on top of those that a limit allows.
    limit = None if first_input else request.read.limit
    estimated = estimate(sources, request.search, request.cutting, request.engine.memory, limit)
    if request.group is None:
        return estimated
    more = 2 * estimated.text  # as rows, and as documents
    return estimated._replace(memory=estimated.memory + more, disk=estimated.disk + more)


def _size(source: Source) -> int:
    file = identity(source)
    return 0 if file is None else file.size


def _measured(sources: list[Source]) -> dict[str, float]:
    """Return how many times as large samples are without compression, by its kind."""
    stored: dict[str, int] = {}
    plain: dict[str, int] = {}
    for source in sources:
        kind = source.compression
        if not kind or identity(source) is None:
            continue
        with suppress(InputError):
            before, after = expanded(source, SAMPLE)
            stored[kind] = stored.get(kind, 0) + before
            plain[kind] = plain.get(kind, 0) + after
    return {kind: plain[kind] / stored[kind] for kind in stored if stored[kind]}


def _expansion(source: Source, measured: dict[str, float]) -> float:
    if source.compression:
        return measured.get(source.compression, EXPANDS[source.compression])
    return COLUMNAR if source.format in ("parquet", "arrow") else 1.0
