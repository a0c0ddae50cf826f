"""Record what the command lines of commands.txt do now.

    python tests/golden/record.py [NAME...]     # these commands; all of them without a name

It says which files of expected/ have changed: `git diff` shows the lines.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden import outcomes


def record(names: list[str]) -> int:
    """Record some commands, or all; return the exit status."""
    table = outcomes.commands()
    if unknown := [name for name in names if name not in table]:
        print(f"commands.txt has no {', '.join(unknown)}", file=sys.stderr)
        return 2
    refused = 0
    for name in names or table:
        try:
            text = outcomes.recorded(table[name])
        except AssertionError as error:
            print(f"not recorded: {error}", file=sys.stderr)
            refused += 1
            continue
        path = outcomes.EXPECTED / f"{name}.txt"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"recorded: {name}")
    if not names:
        for path in sorted(outcomes.EXPECTED.glob("*.txt")):
            if path.stem not in table:
                path.unlink()
                print(f"removed: {path.stem}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(record(sys.argv[1:]))
