"""``fastlsh completion``: a script with which a shell completes commands, options and choices."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

HELP = "Print a script that completes commands and options in bash, zsh or fish."
EXAMPLES = """\
examples:
  eval "$(fastlsh completion bash)"          # in ~/.bashrc
  eval "$(fastlsh completion zsh)"           # in ~/.zshrc
  fastlsh completion fish > ~/.config/fish/completions/fastlsh.fish
"""

BASH = """\
_fastlsh() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="" words="" flags="" place=1
    while [[ $place -lt $COMP_CWORD && $place -lt 3 ]]; do
        case "$command${{COMP_WORDS[place]}}" in
            {paths}) command="$command${{COMP_WORDS[place]}} " ;;
            *) break ;;
        esac
        place=$((place + 1))
    done
    COMPREPLY=()
    case "$command$previous" in
{values}
        *) case "$command" in
{options}
        esac ;;
    esac
    [[ "$current" == -* ]] && words="$flags"
    [[ -n "$words" ]] && COMPREPLY=( $(compgen -W "$words" -- "$current") )
    return 0
}}
complete -o default -F _fastlsh fastlsh
"""


class Command(NamedTuple):
    """A command, and what may follow it."""

    path: tuple[str, ...]
    help: str
    parser: argparse.ArgumentParser
    inner: tuple[str, ...]
    """The commands below it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "shell", choices=["bash", "zsh", "fish"], help="the shell that will run the script"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    commands = list(_commands(arguments.parser, (), ""))
    if arguments.shell == "fish":
        print("\n".join(_fish(commands)))
    else:
        if arguments.shell == "zsh":
            print("autoload -U +X compinit bashcompinit && compinit && bashcompinit")
        print(_bash(commands), end="")


def _commands(
    parser: argparse.ArgumentParser, path: tuple[str, ...], text: str
) -> Iterator[Command]:
    """Yield a parser and those below it, outermost first."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    names = tuple(name for action in below for name in action.choices)
    yield Command(path, text, parser, names)
    for action in below:
        told = {each.dest: each.help or "" for each in action._choices_actions}
        for name, inner in action.choices.items():
            yield from _commands(inner, (*path, name), told.get(name, ""))


def _options(command: Command) -> list[argparse.Action]:
    return [action for action in command.parser._actions if action.option_strings]


def _choices(command: Command) -> list[str]:
    """Return what may stand at the next place: commands, or the choices of an argument."""
    places = [a for a in command.parser._actions if not a.option_strings and not command.inner]
    first = [str(choice) for action in places[:1] for choice in action.choices or ()]
    return [*command.inner, *first]


def _bash(commands: list[Command]) -> str:
    paths = [f'"{" ".join(command.path)}"' for command in commands if command.path]
    values, options = [], []
    for command in commands:
        prefix = "".join(f"{name} " for name in command.path)
        for action in _options(command):
            if action.nargs == 0:
                continue
            names = "|".join(f'"{prefix}{name}"' for name in action.option_strings)
            words = " ".join(map(str, action.choices or ()))
            values.append(f'        {names}) words="{words}" ;;')
        flags = " ".join(name for action in _options(command) for name in action.option_strings)
        words = " ".join(_choices(command))
        options.append(f'            "{prefix}") words="{words}" flags="{flags}" ;;')
    return BASH.format(paths="|".join(paths), values="\n".join(values), options="\n".join(options))


def _fish(commands: list[Command]) -> Iterator[str]:
    yield "complete -c fastlsh -e"
    for command in commands:
        known = " ".join(command.inner)
        seen = " ".join(f"__fish_seen_subcommand_from {name};" for name in command.path)
        none = f"not __fish_seen_subcommand_from {known}" if known else "true"
        where = f"{seen.replace(';', '; and')} {none}" if seen else none
        if not command.path:
            where = "__fish_use_subcommand"
        for each in commands:
            if each.path and each.path[:-1] == command.path:
                name = each.path[-1]
                yield f"complete -c fastlsh -f -n '{where}' -a {name} -d {_quoted(each.help)}"
        for choice in _choices(command) if not command.inner else ():
            yield f"complete -c fastlsh -f -n '{where}' -a {choice}"
        for action in _options(command):
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in action.option_strings
            )
            value = "" if action.nargs == 0 else " -r"
            if action.choices:
                value = f" -x -a '{' '.join(map(str, action.choices))}'"
            yield f"complete -c fastlsh -n '{where}' {names}{value} -d {_quoted(action.help or '')}"


def _quoted(text: str) -> str:
    first = text.partition(";")[0].partition(" (")[0]
    return "'" + first.replace("\\", "\\\\").replace("'", "\\'").replace("%%", "%") + "'"
