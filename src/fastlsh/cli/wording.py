"""How the command calls the parameters that messages of the library name.

The library says ``threshold must be ...``, ``raise max_pairs`` and ``give work=`` or
``restart=True``; the command says ``--threshold``, ``--max-pairs``, ``--work`` and ``--restart``.
"""

import re

_UNMISTAKABLE = (
    "num_perm", "max_pairs", "max_candidates", "convert_to", "on_error", "unicode_form",
    "punctuation_characters", "strip_accents", "remove_whitespace", "collapse_whitespace",
    "empty_words", "keep_work", "min_length", "drop_empty", "stop_words",
    "min_share", "min_run", "max_items", "boilerplate_share", "boilerplate_documents", "min_piece",
    "max_pieces", "item_id", "max_copies", "copies_per", "max_share", "merge_gap", "keep_least",
    "join_with", "save_index", "against_text", "against_id", "one_to_one", "skip_unknown",
)  # fmt: skip
"""Names that are no words of English: options wherever they stand."""
_WORDS = (
    "threshold", "recall", "bands", "rows", "seed", "scheme", "verify", "unit", "size", "threads",
    "memory", "engine", "keep", "priority", "limit", "sample", "lowest", "weights", "delimiter",
    "encoding", "split", "words", "numbers", "punctuation", "lowercase", "vocabulary", "text", "id",
    "step", "around", "join", "measure",
    "stage", "part", "roles",
)  # fmt: skip
"""Names that are options as the subject of a message, and with an equals sign."""
_WITH_EQUALS = (
    "format", "work", "restart", "recursive", "key", "quotes", "header", "on_known", "steepest",
    "against", "best", "exact", "estimates", "report", "annotate",
    "source", "count", "clusters", "columns", "components", "most", "within", "group", "search",
    "rule", "containment",
)  # fmt: skip
_OTHERS = {
    "key": "--key-file", "quotes=False": "--no-quotes", "header=False": "--no-header",
    "on_known=replace": "--replace", "split=lines": "--split lines",
    "split=paragraphs": "--split paragraphs", "text=conversations": "--text conversations",
    "text=messages": "--text messages", "text=conversation": "--text conversation",
}  # fmt: skip

_ENDS = r"(?![\w/\\-]|\.\w)"
"""What stands behind a name that is not a part of the name of a file."""
_SUBJECT = re.compile(
    rf"^({'|'.join(_WORDS)})(?: and ({'|'.join((*_WORDS, *_UNMISTAKABLE))}))?"
    r"(?= (?:must|is|needs|has|have)\b)"
)
_ARGUMENT = re.compile(
    rf"(?<![\w/.-])({'|'.join((*_UNMISTAKABLE, *_WORDS, *_WITH_EQUALS))})="
    rf"""(["']?)(\w*|[\d.]*\d)\2(?!=){_ENDS}"""
)
_WORD = re.compile(rf"(?<![\w/.-])({'|'.join(_UNMISTAKABLE)})(?!: ){_ENDS}")


def with_options(message: str) -> str:
    """Return a message of the library in which parameters are called as the options are."""
    message = message.replace("deduplicate()", "fastlsh dedup")
    message = _SUBJECT.sub(
        lambda found: " and ".join(_option(name) for name in found.groups() if name), message
    )
    message = _ARGUMENT.sub(_argument, message)
    return _WORD.sub(lambda found: _option(found[1]), message)


def _argument(found: re.Match[str]) -> str:
    name, value = found[1], found[3] or ""
    if option := _OTHERS.get(f"{name}={value}"):
        return option
    if value == "False":  # of a flag, which is not given
        return found[0]
    return _option(name) if value in ("", "True") else f"{_option(name)}={value}"


def _option(name: str) -> str:
    return _OTHERS.get(name) or f"--{name.replace('_', '-')}"
