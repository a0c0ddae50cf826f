"""The options that were given, as the library takes them: keyword arguments, a shingler, texts."""

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlsh import InputError, Key, Shingler, preset
from fastlsh.cli.messages import progress_of_files, say, warn_of_skipped
from fastlsh.io import (
    Collection,
    ReadOptions,
    check_content,
    check_used,
    read_files,
    spooled_inputs,
)
from fastlsh.keywords import taken
from fastlsh.options import options_of
from fastlsh.parameters import SearchParams
from fastlsh.texts import TokenizerFile, ids_of_words, plain_strings

OF_IGNORE = "a file of --ignore, which is read as the inputs are, by --format, --text and so on"


def keywords_of(arguments: argparse.Namespace, *uses: str) -> dict[str, Any]:
    """Return the options that were given and have one of these uses, by the library's names."""
    return {
        option.name: getattr(arguments, option.name)
        for option in options_of(arguments.command)
        if option.use in uses and getattr(arguments, option.name) is not None
    }


def search_keywords(arguments: argparse.Namespace, *uses: str) -> dict[str, Any]:
    """Return the keyword arguments of a search, and those of further uses, as "reading"."""
    if arguments.recall is not None and arguments.bands is not None:
        raise ValueError("--recall and --bands are different rules: give one")
    chosen: dict[str, Any] = {"shingler": Shingler()}
    if arguments.preset is not None:
        chosen = dict(preset(arguments.preset))
        if arguments.recall is not None:  # which chooses bands and rows instead
            del chosen["bands"], chosen["rows"]
    chosen |= keywords_of(arguments, "keyword", *uses)
    if arguments.ignore is not None:
        chosen["ignore"] = _texts_to_ignore(arguments)
    return {**chosen, "shingler": shingler_of(arguments, chosen["shingler"])}


def progress_of(arguments: argparse.Namespace) -> bool:
    """Return whether a search shows how far it is."""
    return sys.stderr.isatty() and not arguments.quiet


def files_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the inputs and the output, which functions on files take in any case."""
    return {"inputs": arguments.inputs, "output": arguments.output}


def index_keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `Index.open`: only what was given, and the key."""
    chosen = search_keywords(arguments)
    shingler = chosen["shingler"]
    steps = keywords_of(arguments, "shingler")
    steps.pop("key", None)
    if arguments.preset is None and not steps:
        del chosen["shingler"]
    threads = {} if arguments.threads is None else {"threads": arguments.threads}
    return {**taken(SearchParams.of, chosen), **threads, "key": shingler.key}


def read_inputs(arguments: argparse.Namespace) -> Collection:
    """Read the inputs as the options say; token ids are words of digits."""
    how = ReadOptions(**keywords_of(arguments, "reading"), tokens=arguments.unit == "token")
    tell = (lambda _: None) if arguments.quiet else say
    with spooled_inputs(arguments.inputs, arguments.format, tell, twice=False) as readable:
        collection = read_files(
            readable,
            how,
            mixed=True,
            threads=arguments.threads,
            progress=progress_of_files(arguments),
        )
        sources = [part.source for part in collection.parts]
        check_used(how, sources)
        check_content(how, sources)
    return collection


def _texts_to_ignore(arguments: argparse.Namespace) -> list[Any]:
    """Read the files of ``--ignore`` as the inputs are read; their rows need no ids."""
    options = keywords_of(arguments, "reading")
    tokens = arguments.unit == "token"
    how = ReadOptions(**{**options, "id": None, "limit": None}, tokens=tokens)
    texts: list[Any] = []
    for path in arguments.ignore:
        try:
            collection = read_files([path], how, mixed=True, threads=arguments.threads)
        except InputError as error:
            raise InputError(error.path, f"{error.reason} ({OF_IGNORE})", error.row) from None
        warn_of_skipped(collection)
        of_file = (ids_of_words if tokens else plain_strings)(collection.texts)
        if not any(text is not None and len(text) for text in of_file):
            warnings.warn(f"{path}: there is no text in it that --ignore could use", stacklevel=2)
        texts += of_file
    return texts


def key_of(arguments: argparse.Namespace) -> Key | None:
    """Return the key that was given, if any."""
    return None if arguments.key is None else Key.from_file(arguments.key)


def shingler_of(arguments: argparse.Namespace, default: Shingler) -> Shingler:
    """Return the shingler that the options ask for, with the key."""
    options = keywords_of(arguments, "shingler")
    if options.get("unit", "word") != "word":  # the cuts of the default are for words
        default = replace(default, words="whitespace", empty_words=False)
    for name in options.keys() & {"stop_words", "vocabulary"}:
        options[name] = _words_of(options[name])
    return replace(default, **{**options, "key": key_of(arguments)})


def span_shingler(arguments: argparse.Namespace) -> Shingler:
    """Return the shingler whose units passages are made of; that of a tokenizer takes texts."""
    if arguments.unit != "token":
        if arguments.tokenizer is not None:
            raise ValueError("--tokenizer is for --unit token")
        return shingler_of(arguments, Shingler())
    if arguments.tokenizer is None:
        raise ValueError("--unit token needs --tokenizer FILE with --by span: a tokenizer.json")
    tokenizer: Any = TokenizerFile(arguments.tokenizer)  # of places, which only passages can use
    default = Shingler("word", tokenizer=tokenizer)
    return shingler_of(argparse.Namespace(**{**vars(arguments), "unit": None}), default)


def _words_of(path: str) -> list[str]:
    """Return the words of a text file, which white space separates."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig").split()
    except OSError as error:
        raise InputError(path, str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise InputError(
            path, f"is not valid UTF-8: {error.reason} at byte {error.start}"
        ) from None
