"""The command line: `cardan COMMAND FILE ...`."""

from cardan.cli.main import main

__all__ = ["main"]
