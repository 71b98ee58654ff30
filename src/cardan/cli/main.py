"""The commands and what they share: arguments, errors, exit status.

Exit status: 0 if all is well, 1 if the input is faulty, 2 if the command line is.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from cardan._version import __version__
from cardan.cli import bench, cache, check, convert, dynamics, generate, info, joints, tour
from cardan.errors import CardanError, DescriptionWarning

COMMANDS = (info, check, convert, joints, dynamics, generate, bench, tour, cache)
"""One module a command, each with `add_parser(subparsers)`; a new command adds a line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(prog="cardan", description="Articulated rigid-body kinematics and dynamics.")
    parser.add_argument("--version", action="version", version=f"cardan {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    args = parser.parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DescriptionWarning)
            warnings.showwarning = lambda message, *_: print(message, file=sys.stderr)
            return args.run(args)
    except CardanError as error:
        print(f"cardan {args.command}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has gone; say nothing more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"cardan {args.command}: interrupted", file=sys.stderr)
        return 130
