"""Functions are documented with all of their parameters, each with its own type and default."""

import importlib
import inspect
import re
from typing import Any

import griffe


class Parameters(griffe.Extension):
    """Takes types and defaults from the signature."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Go through everything that has been loaded."""
        self._go_through(pkg)

    def _go_through(self, parent: griffe.Object) -> None:
        for member in parent.members.values():
            if member.is_alias:
                continue
            if member.is_function:
                _share(member)
                if member.docstring:
                    _correct(member)
            self._go_through(member)


def _share(function: griffe.Function) -> None:
    """Add the keyword arguments that `fastlsh.keywords.shares` adds when the module is imported."""
    if not any(
        decorator.callable_path == "fastlsh.keywords.shares" for decorator in function.decorators
    ):
        return
    real: Any = importlib.import_module(function.module.path)
    for name in function.path[len(function.module.path) + 1 :].split("."):
        real = getattr(real, name)
    if function.docstring:
        function.docstring.value = inspect.getdoc(real) or ""
    for each in list(function.parameters):
        if each.kind is griffe.ParameterKind.var_keyword:
            del function.parameters[each.name]
    for shown in inspect.signature(real).parameters.values():
        if shown.name not in function.parameters:
            annotation = re.sub(r"(\w+\.)+", "", inspect.formatannotation(shown.annotation))
            function.parameters.add(
                griffe.Parameter(
                    shown.name,
                    annotation=annotation,
                    kind=griffe.ParameterKind.keyword_only,
                    default=repr(shown.default),
                )
            )


def _correct(function: griffe.Function) -> None:
    for section in function.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for described in section.value:
                if described.name in function.parameters:
                    real = function.parameters[described.name]
                    described.annotation = real.annotation
                    described.value = real.default
