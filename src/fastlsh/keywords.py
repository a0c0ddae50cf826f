"""What public functions share: keyword arguments, which are described in one place, and checks."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, cast, get_args

from fastlsh.options import OPTIONS, options_of

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack

Function = TypeVar("Function", bound=Callable[..., Any])
Made = TypeVar("Made")
P = ParamSpec("P")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

_HEADER = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)
"""The head of a section of a docstring, such as Parameters or Returns."""


def shares(
    *makers: Callable[..., Any],
    command: str | None = None,
    refused: str = "",
    without: Collection[str] = (),
    optional: Collection[str] = (),
) -> Callable[[Function], Function]:
    """Return a decorator for functions that take the keyword arguments of other functions.

    The function itself takes them as ``**keywords``, and hands them on with `made`. Its signature,
    `help` and completion show each of them with its type, default and description.

    Parameters
    ----------
    *makers
        The functions whose keyword arguments are shared, such as ``SearchParams.of``.
    command
        The command whose options the function takes: of the keyword arguments that the table of
        options has, the others are left out. None: it takes all.
    refused
        The reasons for which the table refuses options with this function, separated by spaces.
    without
        The names of further keyword arguments that the function does not take.
    optional
        The names of keyword arguments whose default is None, with a meaning of its own.
    """
    left_out = {*without, *(_others(command, {*refused.split()}) if command else ())}

    def decorate(function: Function) -> Function:
        shown = signature(function)
        declared = [
            entry for entry in shown.parameters.values() if entry.kind is not Parameter.VAR_KEYWORD
        ]
        shared = {
            name: entry.replace(default=None) if name in optional else entry
            for maker in makers
            for name, entry in _keywords_of(maker).items()
            if name not in left_out and name not in shown.parameters
        }
        names = {*shared, *(entry.name for entry in declared)}

        @wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            for name in keywords:
                if name not in names:
                    raise TypeError(
                        f"{function.__name__}() got an unexpected keyword argument {name!r}"
                    )
            return function(*arguments, **keywords)

        checked.__signature__ = shown.replace(parameters=[*declared, *shared.values()])  # type: ignore[attr-defined]
        described = "".join(_descriptions(maker.__doc__, shared) for maker in makers)
        checked.__doc__ = _with_parameters(function.__doc__, described)
        return cast(Function, checked)

    return decorate


def _others(command: str, refused: set[str]) -> set[str]:
    """Return the names in the table of options that a command does not have or refuses."""
    taken_names = {
        option.name for option in options_of(command) if not refused & {*option.refused.split()}
    }
    return {option.name for option in OPTIONS} - taken_names


def made(maker: Callable[..., Made], keywords: Mapping[str, Any], *arguments: Any) -> Made:
    """Call a function with those of the shared keyword arguments that it takes."""
    return maker(*arguments, **taken(maker, keywords))


def taken(maker: Callable[..., Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the shared keyword arguments that a function takes."""
    names = _keywords_of(maker)
    return {name: value for name, value in keywords.items() if name in names}


@cache
def _keywords_of(maker: Callable[..., Any]) -> dict[str, Parameter]:
    parameters = signature(maker).parameters
    return {name: entry.replace(kind=Parameter.KEYWORD_ONLY) for name, entry in parameters.items()}


def _descriptions(docstring: str | None, names: Collection[str]) -> str:
    """Return the entries of a Parameters section that describe some of the names."""
    _, parameters, _ = _around_parameters(docstring)
    described = ""
    for entry in re.split(r"\n(?=\S)", parameters.strip("\n")):
        head, _, description = entry.partition("\n")
        described_names = [name for name in head.partition(" : ")[0].split(", ") if name in names]
        if described_names:
            described += f"{', '.join(described_names)}\n{description}\n"
    return described


def _with_parameters(docstring: str | None, described: str) -> str | None:
    """Return a docstring with more entries at the end of its Parameters section."""
    if docstring is None:  # python -OO
        return None
    before, parameters, behind = _around_parameters(docstring)
    return f"{before}{parameters.rstrip()}\n{described}\n{behind}"


def _around_parameters(docstring: str | None) -> tuple[str, str, str]:
    """Return a docstring up to the head of Parameters, this section, and the sections behind it."""
    text = cleandoc(docstring or "")
    heads = list(_HEADER.finditer(text))
    for number, head in enumerate(heads):
        if head[1] == "Parameters":
            end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
            return text[: head.end()], text[head.end() : end], text[end:]
    return text, "", ""


@dataclass(frozen=True)
class Prepared(Generic[Result]):
    """A run whose arguments have been checked."""

    run: Callable[[], Result]
    check: Callable[[], object]
    """Raises what `run` would raise before it begins to work."""


class Checkable(Protocol[P, Result_co]):
    """A public function on files, which works, or only checks what it would work on."""

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> Result_co:
        """Do the work."""

    def check(self, *arguments: P.args, **keywords: P.kwargs) -> None:
        """Raise what the work would raise before it begins."""


def checkable(prepare: Callable[P, Prepared[Result]]) -> Checkable[P, Result]:
    """Make a public function of one that prepares a run; its `check` is called by plans."""

    @wraps(prepare)
    def run(*arguments: P.args, **keywords: P.kwargs) -> Result:
        return prepare(*arguments, **keywords).run()

    def check(*arguments: P.args, **keywords: P.kwargs) -> None:
        prepare(*arguments, **keywords).check()

    shown = signature(prepare)
    (result,) = get_args(shown.return_annotation)
    vars(run).update(check=check, __signature__=shown.replace(return_annotation=result))
    return cast(Checkable[P, Result], run)
