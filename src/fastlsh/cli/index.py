"""``fastlsh index``: an index in a file or on a Redis server, which is always saved."""

import argparse
import json
import re
from typing import Any

import numpy as np

from fastlsh import Index
from fastlsh.cli.keywords import index_keywords, key_of, read_inputs
from fastlsh.cli.messages import say, warn_of_rows
from fastlsh.cli.options import add_options, check_rule
from fastlsh.cli.parser import Command
from fastlsh.cli.paths import check_paths
from fastlsh.files import build_index
from fastlsh.index import exists, finish_outputs, forget, is_address, refusal_of_id, shown
from fastlsh.io import Collection, Lookup, check_target, write_table
from fastlsh.options import takes
from fastlsh.parallel import plural
from fastlsh.parameters import SearchParams
from fastlsh.texts import ids_of_words

HELP = "Create, change and query an index that is always saved, in a file or on a Redis server."
EXAMPLES = """\
examples:
  fastlsh index build seen.index monday.jsonl
  fastlsh index query seen.index tuesday.jsonl --limit 1
  fastlsh index build redis://localhost:6379/0#seen monday.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands and their options."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (
        ("build", _build, "Create an index that contains the documents."),
        ("add", _add, "Insert documents into an index."),
        ("query", _query, "Find documents in an index that are similar to each input document."),
        ("remove", _remove, "Remove documents from an index by their ids."),
        ("export", _export, "Write how often each document of an index has come."),
        ("info", _info, "Print the parameters and sizes of an index as JSON."),
    ):
        sub = commands.add_parser(name, help=text, description=text)
        sub.allow_abbrev = False
        add_options(sub, f"index {name}")
        sub.set_defaults(do=command)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    check_paths(arguments)
    arguments.do(arguments)


def opened(arguments: argparse.Namespace, *, new: bool = False, read_only: bool = False) -> Index:
    """Open the index of a command, and complete what an interrupted command left unfinished."""
    path = arguments.index
    _check_place(path, new=new)
    if takes(arguments.command, "threshold"):
        keywords = index_keywords(arguments)
        if read_only:  # of the matches
            keywords.pop("threshold", None)
    else:
        keywords = {"key": key_of(arguments)}
    if new:
        check_rule(arguments)
        keywords.setdefault("threshold", 0.8)
    try:
        index = Index.open(path, read_only=False, **keywords)
    except PermissionError:
        if not read_only:
            raise
        index = Index.open(path, read_only=True, **keywords)
    try:
        if not new and "recall" in keywords:
            _check_recall(index.search_params, path, keywords["recall"])
        if not index.read_only:
            finish_outputs(index)
    except BaseException:
        index.close()
        raise
    return index


def _check_recall(search: SearchParams, path: str, recall: float) -> None:
    """Raise ValueError if the bands of an index are not those of a recall, which has no effect."""
    changed = {**search.removal_keywords, "recall": recall, "bands": None, "rows": None}
    requested = SearchParams.of(search.threshold, **changed)
    if (requested.lsh, requested.bandings) != (search.lsh, search.bandings):
        raise ValueError(
            f"{shown(path)}: the index was saved with {search.lsh.bands} bands of"
            f" {search.lsh.rows} rows, not {requested.lsh.bands} of {requested.lsh.rows}, which"
            f" recall={recall!r} chooses"
        )


def _check_place(path: str, *, new: bool) -> None:
    """Raise if there is an index where a new one is made, or none where one is needed."""
    if new and not is_address(path):
        check_target(path)
    if new and exists(path):
        raise ValueError(f"{shown(path)}: it exists already; `fastlsh index add` adds to it")
    if not new and not exists(path):
        raise ValueError(f"{shown(path)}: there is no index; `fastlsh index build` creates one")


def _documents(arguments: argparse.Namespace, unit: str | None) -> Collection:
    """Read the inputs for an index with shingles of such units."""
    collection = read_inputs(argparse.Namespace(**{**vars(arguments), "unit": unit}))
    warn_of_rows(collection)
    if unit == "token":
        collection.texts = ids_of_words(collection.texts)
    return collection


def _build(arguments: argparse.Namespace) -> None:
    if arguments.index_texts is not None and is_address(arguments.index):
        raise ValueError("--texts is for an index in a file: a server keeps texts as they are")
    collection = _documents(arguments, arguments.unit)
    collection.ids.check(refusal_of_id)
    collection.ids.check_different("an index needs different ids")
    if not is_address(arguments.index):
        check_rule(arguments)
        _check_place(arguments.index, new=True)
        keywords = {"threshold": 0.8, **index_keywords(arguments)}
        threads = keywords.pop("threads", None)
        texts = arguments.index_texts or "full"
        build_index(arguments.index, texts, collection, SearchParams.of(**keywords), threads)
        if not arguments.quiet:
            say(f"{len(collection)} documents inserted; {arguments.index} has {len(collection)}")
        return
    with opened(arguments, new=True) as index:
        try:
            index.insert_many(collection.ids, collection.texts)
        except BaseException:
            forget(index)
            raise
        _say_size(arguments, index, f"{len(collection)} documents inserted")


def _add(arguments: argparse.Namespace) -> None:
    with opened(arguments) as index:
        collection = _documents(arguments, index.search_params.shingler.unit)
        collection.ids.check(refusal_of_id)
        index.insert_many(collection.ids, collection.texts, on_known=arguments.on_known or "raise")
        _say_size(arguments, index, f"{len(collection)} documents inserted")


def _query(arguments: argparse.Namespace) -> None:
    if arguments.output is not None:
        check_target(arguments.output)
    with opened(arguments, read_only=True) as index:
        collection = _documents(arguments, index.search_params.shingler.unit)
        matches_by_document = index.query_many(
            collection.texts, limit=arguments.limit, threshold=arguments.threshold
        )
        measure = index.search_params.measure
    counts = [len(matches) for matches in matches_by_document]
    columns = {
        "id": Lookup(collection.ids, np.repeat(np.arange(len(matches_by_document)), counts)),
        "match": [name for matches in matches_by_document for name, _ in matches],
        measure: np.array(
            [similarity for matches in matches_by_document for _, similarity in matches]
        ),
    }
    write_table(arguments.output, columns)
    if not arguments.quiet:
        matched = sum(map(bool, counts))
        say(
            f"{plural(len(matches_by_document), 'document')}, {matched:,} with a match,"
            f" {plural(sum(counts), 'match')}"
        )


def _remove(arguments: argparse.Namespace) -> None:
    with opened(arguments) as index, index.batch():
        names = dict.fromkeys(arguments.ids)
        for name in names:
            if not any(map(index.discard, _ids_named(name))):
                raise ValueError(f"{shown(arguments.index)}: no document has the id {name}")
        _say_size(arguments, index, f"{len(names)} documents removed")


def _ids_named(name: str) -> list[Any]:
    """Return the ids that a word of the command line can stand for: itself, and a number."""
    return [name, int(name)] if re.fullmatch(r"-?\d{1,19}", name) else [name]


def _export(arguments: argparse.Namespace) -> None:
    if arguments.output is not None:
        check_target(arguments.output)
    with opened(arguments, read_only=True) as index:
        columns = index.counts()
    write_table(arguments.output, columns)


def _info(arguments: argparse.Namespace) -> None:
    with opened(arguments, read_only=True) as index:
        params = index.search_params
        properties = {
            "documents": len(index), "bytes": index.nbytes, "threshold": params.threshold,
            "bands": params.lsh.bands, "rows": params.lsh.rows, "num_perm": params.num_perm,
            "seed": params.seed, "scheme": params.scheme, "verify": params.verify,
            "shingler": repr(params.shingler),
        }  # fmt: skip
    if params.rule != "jaccard":
        properties.update(
            {name: getattr(params, name) for name in ("rule", "containment", "search")}
        )
    print(json.dumps(properties, indent=1))


def _say_size(arguments: argparse.Namespace, index: Index, done: str) -> None:
    if not arguments.quiet:
        say(f"{done}; {shown(arguments.index)} has {len(index)}")


COMMAND = Command("index", HELP, EXAMPLES, run, add_arguments)
