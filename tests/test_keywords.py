"""Shared keyword arguments: every public function shows and checks them."""

import inspect
import typing

import pytest

import fastlsh
from fastlsh.keywords import made, shares, taken
from fastlsh.parallel import RunKeywords, RunOptions
from fastlsh.parameters import RemovalKeywords, SearchParams

SHARING = {
    "near_duplicates": ([], {}),
    "deduplicate": ([], {}),
    "deduplicate_lines": ([], {}),
    "evaluate": ([], {}),
    "explain": ("", {"b": ""}),
    "exact_pairs": ([], {"threshold": 0.5}),
    "compare_bandings": ([], {"bandings": [(4, 4)]}),
}


def maker(first, *, one: int = 1, two: str = "2"):
    """Make a tuple.

    Parameters
    ----------
    one, two
        Two things.
    """
    return first, one, two


def other(three=3):
    """Make something else."""
    return three


@shares(maker, other)
def function(first, *, own=0, **keywords):
    """Do it.

    Parameters
    ----------
    first
        The first.

    Returns
    -------
    tuple
    """
    return own, made(maker, keywords, first), made(other, keywords)


def test_keywords_reach_the_functions_that_take_them():
    assert function("a", own=5, two="x", three=4) == (5, ("a", 1, "x"), 4)
    assert function("a") == (0, ("a", 1, "2"), 3)
    assert taken(maker, {"one": 1, "three": 3}) == {"one": 1}
    with pytest.raises(TypeError, match=r"^function\(\) got an unexpected keyword argument 'four'"):
        function("a", four=4)


def test_what_is_shown_has_names_types_defaults_and_descriptions():
    shown = inspect.signature(function)
    assert str(shown) == "(first, *, own=0, one: int = 1, two: str = '2', three=3)"
    optional = shares(maker, optional={"one"}, without={"two"})(lambda **keywords: keywords)
    assert str(inspect.signature(optional)) == "(*, first, one: int = None)"
    described, returns = inspect.getdoc(function).split("Returns")
    assert described.endswith("first\n    The first.\none, two\n    Two things.\n\n")
    assert returns == "\n-------\ntuple"


def test_the_table_of_options_says_what_a_function_takes():
    pairs = shares(SearchParams.of, command="pairs")(lambda **keywords: keywords)
    shown = inspect.signature(pairs).parameters
    assert {"threshold", "shingler", "num_perm", "key"} <= shown.keys()
    assert not {"rule", "containment", "search"} & shown.keys()
    lines = shares(SearchParams.of, command="dedup", refused="lines")(lambda **keywords: keywords)
    beside = {"ignore_common", "also_threshold"}
    assert inspect.signature(lines).parameters.keys() == shown.keys() - beside


@pytest.mark.parametrize("name", SHARING)
def test_public_functions_show_what_they_take(name):
    texts, more = SHARING[name]
    public = getattr(fastlsh, name)
    shown = inspect.signature(public).parameters
    described = inspect.getdoc(public).split("Parameters\n")[1].split("Returns\n")[0]
    for each in shown.values():
        assert each.kind is not inspect.Parameter.VAR_KEYWORD
        assert each.name in described
    optional = ("bands", "rows", "recall", "num_perm")  # which have to suit each other
    given = {
        each.name: each.default
        for each in shown.values()
        if each.kind is inspect.Parameter.KEYWORD_ONLY and each.default is not each.empty
        if each.name not in optional
        if name != "deduplicate_lines" or each.name not in RemovalKeywords.__annotations__
    }
    public(texts, **{**given, **more})
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'limitt'"):
        public(texts, limitt=0.5, **more)


@pytest.mark.parametrize(
    ("described", "makers"), [(RemovalKeywords, SearchParams.of), (RunKeywords, RunOptions.of)]
)
def test_type_checkers_know_every_keyword(described, makers):
    real = inspect.signature(makers).parameters
    assert typing.get_type_hints(described) == {
        name: each.annotation for name, each in real.items() if name != "threshold"
    }


def test_the_index_shows_what_it_takes():
    assert "num_perm: int = 128" in str(inspect.signature(fastlsh.Index))
    assert "num_perm: int = None" in str(inspect.signature(fastlsh.Index.open))
    with pytest.raises(TypeError, match="unexpected keyword argument 'number'"):
        fastlsh.Index(number=3)
