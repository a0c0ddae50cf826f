"""The options of a `Shingler`: the steps of normalisation, and a key."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlsh import InputError, Key, Shingler
from fastlsh.arguments import CHOICES
from fastlsh.texts import TokenizerFile


def add_text_options(group: Any, words: str = "whitespace") -> None:
    """Add the steps of a `Shingler`; `words` is the default of --words."""
    group.add_argument(
        "--unicode-form",
        choices=["NFC", "NFD", "NFKC", "NFKD"],
        help="convert texts to a normalisation form of Unicode",
    )
    _add_step(group, "--lowercase", "convert texts to lower case")
    group.add_argument("--numbers", choices=["0"], help="replace each number by 0")
    group.add_argument(
        "--punctuation",
        choices=["space", "remove"],
        help="replace punctuation by spaces, or remove it",
    )
    group.add_argument(
        "--punctuation-characters",
        metavar="CHARS",
        type=text,
        help="characters that count as punctuation (default: Unicode's)",
    )
    _add_step(
        group,
        "--strip-accents",
        "remove accents; texts stay decomposed, so that a syllable of Hangul is two or three"
        " characters and --size needs to be larger",
    )
    _add_step(group, "--remove-whitespace", "remove all white space")
    _add_step(group, "--collapse-whitespace", "replace each run of white space by one space")
    group.add_argument(
        "--words",
        metavar="W",
        choices=CHOICES["words"],
        help="split words at white space (whitespace); at everything except letters, numbers and _"
        " (alphanumeric, ascii_alphanumeric); or at everything except these and marks, with each"
        " letter of scripts that are written without spaces as a word (unicode); default:"
        f" {words}",
    )
    _add_step(group, "--empty-words", "count an empty word between two adjacent separators")
    group.add_argument(
        "--stop-words", metavar="FILE", help="leave these words out; a text file of words"
    )
    group.add_argument(
        "--vocabulary", metavar="FILE", help="leave all words out but these; a text file of words"
    )


def text(value: str) -> str:
    """Return an option that is a text, or raise what argparse tells with the option's name."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise argparse.ArgumentTypeError(f"{value!r} has a byte that is no UTF-8")
    return value


def _add_step(group: Any, name: str, description: str) -> None:
    group.add_argument(name, action="store_const", const=True, help=description)


SHINGLING = (
    "unit", "size", "unicode_form", "lowercase", "numbers", "punctuation",
    "punctuation_characters", "strip_accents", "remove_whitespace", "collapse_whitespace",
    "words", "empty_words",
)  # fmt: skip
"""The options that are arguments of a `Shingler`."""


def add_key_option(group: Any) -> None:
    """Add the file of a key."""
    group.add_argument(
        "--key-file",
        metavar="FILE",
        help="a file of 16 or more secret bytes, which choose the hash functions, to protect"
        " against texts that are built to collide (docs/guarantees.md)",
    )


def key_of(arguments: argparse.Namespace) -> Key | None:
    """Return the key that was given, if any."""
    return None if arguments.key_file is None else Key.from_file(arguments.key_file)


def shingler_of(arguments: argparse.Namespace, default: Shingler) -> Shingler:
    """Return the shingler that the options ask for, with the key."""
    options = {name: value for name in SHINGLING if (value := getattr(arguments, name)) is not None}
    if options.get("unit", "word") != "word":  # the cuts of the default are for words
        default = replace(default, words="whitespace", empty_words=False)
    for name in ("stop_words", "vocabulary"):
        path = getattr(arguments, name)
        if path is not None:
            options[name] = _words_of(path)
    return replace(default, **options, key=key_of(arguments))


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
