"""``fastlsh completion``: a script with which a shell completes commands, options and choices."""

import argparse
from typing import Any

from fastlsh.cli.parser import Command

HELP = "Print a script that completes commands, options and files in bash, zsh or fish."
EXAMPLES = """\
examples:
  eval "$(fastlsh completion bash)"          # in ~/.bashrc
  eval "$(fastlsh completion zsh)"           # in ~/.zshrc
  fastlsh completion fish > ~/.config/fish/completions/fastlsh.fish

needs shtab: pip install shtab
"""
ZSH = "(( $+functions[compdef] )) || { autoload -U compinit && compinit }"
"""The script registers itself with `compdef`, which exists only after `compinit`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "shell", choices=["bash", "zsh", "fish"], help="the shell that will run the script"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    try:
        import shtab
    except ImportError:
        raise ValueError("completion needs shtab: pip install shtab") from None
    _complete_files(arguments.parser, shtab.FILE)
    if arguments.shell == "zsh":
        print(ZSH)
    print(shtab.complete(arguments.parser, arguments.shell))


def _complete_files(parser: argparse.ArgumentParser, files: dict[str, Any]) -> None:
    """Let shtab complete files wherever an argument has a value and no choices."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _complete_files(inner, files)
        elif action.nargs != 0 and not action.choices:
            action.complete = files  # type: ignore[attr-defined]


COMMAND = Command("completion", HELP, EXAMPLES, run, add_arguments)
