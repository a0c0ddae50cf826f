"""The sources of documents on a server: a set for each document."""

from collections.abc import Callable, Mapping
from typing import NoReturn

from fastlsh.index.redis.scripts import NEW_SOURCES
from fastlsh.index.redis.server import TOGETHER, Server
from fastlsh.index.store import Sources


def key_of(server: Server, number: int) -> bytes:
    """Return the key of the sources of a document."""
    return server.key(f"s:{number}")


def sources_of(server: Server, numbers: list[int], added: Mapping[int, set[int]]) -> Sources:
    """Return the sources of those documents that have some, with those that a batch adds."""
    with server.client.pipeline(transaction=False) as pipe:
        for number in numbers:
            pipe.smembers(key_of(server, number))
        held = zip(numbers, pipe.execute(), strict=True)
    found = {n: sorted({*map(int, some), *added.get(n, ())}) for n, some in held}
    return {number: some for number, some in found.items() if some}


def unknown_sources(
    server: Server,
    given: Sources,
    held: Mapping[int, int],
    added: Mapping[int, set[int]],
    lacks: Callable[[str], NoReturn],
) -> Sources:
    """Return which of the given sources documents do not have.

    `held` says how many each document has, with those that a batch adds; `lacks` is called if the
    server has another number.
    """
    blocks = [
        (number, some[first : first + TOGETHER])
        for number, some in given.items()
        for first in range(0, max(len(some), 1), TOGETHER)
    ]
    with server.client.pipeline(transaction=False) as pipe:
        for number, some in blocks:
            pipe.eval(NEW_SOURCES, 1, key_of(server, number), *some)
        answers = pipe.execute()
    new: Sources = {number: [] for number in given}
    for (number, some), (count, *places) in zip(blocks, answers, strict=True):
        mine = added.get(number, set())
        if count + len(mine) != held[number]:
            lacks(f"sources of document {number}")
        unknown = (some[place - 1] for place in places)
        new[number] += [source for source in unknown if source not in mine]
    return new
