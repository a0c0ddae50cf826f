"""Parameters that a docstring describes together get each its own type and default."""

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
            if member.is_function and member.docstring:
                self._correct(member)
            self._go_through(member)

    def _correct(self, function: griffe.Function) -> None:
        for section in function.docstring.parsed:
            if section.kind is griffe.DocstringSectionKind.parameters:
                for described in section.value:
                    if described.name in function.parameters:
                        real = function.parameters[described.name]
                        described.annotation = real.annotation
                        described.value = real.default
