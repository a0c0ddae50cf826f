"""Run the command line: ``python -m fastlsh``."""

import sys

from fastlsh.cli import main

if __name__ == "__main__":
    sys.exit(main())
