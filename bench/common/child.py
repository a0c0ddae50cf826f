"""What `children.call` starts: python -m bench.common.child MODULE:FUNCTION ARGUMENTS."""

import contextlib
import importlib
import json
import sys


def main() -> None:
    """Call the function; nothing but its result goes to stdout."""
    module, _, name = sys.argv[1].partition(":")
    with contextlib.redirect_stdout(sys.stderr):
        result = getattr(importlib.import_module(module), name)(*json.loads(sys.argv[2]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
