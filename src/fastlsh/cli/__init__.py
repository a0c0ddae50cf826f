"""The command ``fastlsh``: arguments, messages and exit statuses; the work is done elsewhere."""

from fastlsh.cli.command import main

__all__ = ["main"]
