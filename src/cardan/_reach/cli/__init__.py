"""The command line: `cardan COMMAND FILE ...`."""

from cardan._reach.cli.main import main

__all__ = ["main"]
