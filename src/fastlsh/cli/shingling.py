"""The options of a `Shingler`: the steps of normalisation, and a key."""

import argparse
from dataclasses import replace
from typing import Any

from fastlsh import Key, Shingler


def add_text_options(group: Any) -> None:
    """Add the steps of a `Shingler`."""
    group.add_argument("--unicode-form", choices=["NFC", "NFD", "NFKC", "NFKD"])
    group.add_argument("--lowercase", action="store_const", const=True)
    group.add_argument("--numbers", choices=["0"], help="replace each number by this")
    group.add_argument(
        "--punctuation",
        choices=["space", "remove"],
        help="replace punctuation by spaces, or remove it",
    )
    group.add_argument(
        "--punctuation-characters",
        metavar="CHARS",
        help="characters that count as punctuation (default: Unicode's)",
    )
    group.add_argument("--strip-accents", action="store_const", const=True)
    group.add_argument("--remove-whitespace", action="store_const", const=True)
    group.add_argument("--collapse-whitespace", action="store_const", const=True)
    group.add_argument(
        "--words",
        metavar="W",
        choices=["whitespace", "alphanumeric", "ascii_alphanumeric"],
        help="cut words at whitespace (default), or at all but letters, numbers and _:"
        " alphanumeric, ascii_alphanumeric",
    )
    group.add_argument(
        "--empty-words",
        action="store_const",
        const=True,
        help="two separators in a row enclose an empty word",
    )


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
        help="a file of 16 or more secret bytes, which choose the hash functions: against texts"
        " that are made to collide (docs/guarantees.md)",
    )


def key_of(arguments: argparse.Namespace) -> Key | None:
    """Return the key that was given, if any."""
    return None if arguments.key_file is None else Key.from_file(arguments.key_file)


def shingler_of(arguments: argparse.Namespace, default: Shingler) -> Shingler:
    """Return the shingler that the options ask for, with the key."""
    given = {name: value for name in SHINGLING if (value := getattr(arguments, name)) is not None}
    return replace(default, **given, key=key_of(arguments))
