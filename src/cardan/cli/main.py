"""The commands and what they share: arguments, errors, exit status.

Exit status: 0 if all is well, 1 if the input is faulty, 2 if the command line is; 3 if a simulation diverged.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cardan._version import __version__
from cardan.cli import (
    bench,
    cache,
    check,
    compare,
    compile,
    convert,
    dynamics,
    generate,
    info,
    joints,
    simulate,
    tour,
    view,
)
from cardan.cli.options import harmless
from cardan.errors import CardanError, DescriptionWarning

COMMANDS = (info, check, compare, convert, joints, dynamics, simulate, generate, compile, bench, tour, view, cache)
"""One module a command, each with `add_parser(subparsers)`; a new command adds a line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(prog="cardan", description="Articulated rigid-body kinematics and dynamics.")
    parser.add_argument("--version", action="version", version=f"cardan {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    args = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):  # a name may hold what the terminal's encoding does not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    if args.command is None:
        parser.print_help()
        return 0
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        with _ends_cleanly(), warnings.catch_warnings():
            warnings.simplefilter("always", DescriptionWarning)
            warnings.showwarning = lambda message, *_: print(harmless(str(message)), file=sys.stderr)
            status = args.run(args)
            sys.stdout.flush()
            return status
    except CardanError as error:
        return _failed(args, str(error))
    except BrokenPipeError:  # the reader of our output has gone; say nothing more
        _close_output()
        return 0
    except OSError as error:
        _close_output()
        return _failed(args, f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
    except MemoryError:
        return _failed(args, "there is not enough memory")
    except KeyboardInterrupt:
        return _failed(args, "interrupted", 130)


def _failed(args: argparse.Namespace, reason: str, status: int = 1) -> int:
    print(harmless(f"cardan {args.command}: {reason}"), file=sys.stderr)
    return status


def _close_output() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Let SIGTERM end the command as an exception, so that half-written files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
