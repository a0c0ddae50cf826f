"""The table of options: every option is a keyword of the function of its command, as it says."""

import inspect

import pytest

import fastlsh
from fastlsh import Index, Shingler
from fastlsh.cli.command import COMMANDS
from fastlsh.files import deduplicate_with_index, evaluate_decontamination_files
from fastlsh.io import ReadOptions
from fastlsh.options import DECONTAMINATION_PRESETS, OPTIONS, PRESETS, REFUSALS, options_of, takes

FUNCTIONS = {
    "pairs": [fastlsh.near_duplicate_files],
    "dedup": [
        fastlsh.deduplicate_files, fastlsh.deduplicate_line_files, fastlsh.deduplicate_span_files,
        deduplicate_with_index,
    ],
    "overlap": [fastlsh.overlap_files],
    "decontaminate": [fastlsh.decontaminate_files, evaluate_decontamination_files],
    "evaluate": [fastlsh.evaluate, fastlsh.compare_bandings],
    "explain": [fastlsh.near_duplicates],
    "audit": [fastlsh.audit_files],
    "tune": [fastlsh.tune],
    "index build": [Index.open], "index add": [Index.open], "index query": [Index.open],
}  # fmt: skip
"""The functions that get the keywords of a command. `explain` takes those of a search."""

KEYWORDS = [
    (command, option)
    for command in FUNCTIONS
    for option in options_of(command)
    if option.use == "keyword"
]


def parameters(function):
    return inspect.signature(function).parameters


@pytest.mark.parametrize(
    ("command", "option"), KEYWORDS, ids=lambda value: getattr(value, "name", value)
)
def test_an_option_is_a_keyword_of_its_functions(command, option):
    functions = [each for each in FUNCTIONS[command] if option.name in parameters(each)]
    assert functions
    for function in functions:
        documented = inspect.getdoc(function).split("Parameters\n")[1].split("Returns\n")[0]
        assert option.name in documented
    default = parameters(functions[0])[option.name].default
    if isinstance(option.default, (int, float)) and default is not None:
        assert default == option.default


@pytest.mark.parametrize(("use", "of"), [("reading", ReadOptions), ("shingler", Shingler)])
def test_options_of_reading_and_shingles_are_keywords_too(use, of):
    for option in OPTIONS:
        if option.use == use:
            assert option.name in parameters(of)
            if isinstance(option.default, (int, float)) and option.name != "size":
                assert parameters(of)[option.name].default == option.default


def test_every_command_has_its_options():
    names = {command.name for command in COMMANDS}
    for option in OPTIONS:
        assert {command.split()[0] for command in option.commands} <= names
        assert bool(option.commands) == bool(option.help)
        if option.commands:
            assert option.use in ("keyword", "reading", "shingler", "command")
    for command in {name for option in OPTIONS for name in option.commands}:
        taken = [option.name for option in options_of(command)]
        assert len(set(taken)) == len(taken)
    assert takes("pairs", "best")
    assert not takes("dedup", "best")


def test_reasons_and_presets_are_those_that_exist():
    used = {reason for option in OPTIONS for reason in option.refused.split()}
    assert used == set(REFUSALS)
    assert all("{option}" in sentence for sentence in REFUSALS.values())

    assert tuple(fastlsh.presets.PRESETS) == PRESETS
    assert tuple(fastlsh.presets.DECONTAMINATION_PRESETS) == DECONTAMINATION_PRESETS
