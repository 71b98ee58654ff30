"""The commands and what they share: errors, exit status.

Exit status: 0 if all is well, 1 if the input is faulty, 2 if the command line is; 3 if a simulation diverged.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cardan._algebra.errors import CardanError, DescriptionWarning, close_names, did_you_mean
from cardan._version import __version__

# Each command is a module of this folder with `fill(parser)` and `run(args)`; only the given one is imported.
COMMANDS = {
    "info": "layout, masses and tree of a robot",
    "check": "all faults of a robot description; exit status 1 if there are errors",
    "compare": "what differs between two robots; exit status 1 if anything does",
    "convert": "a robot description in another format",
    "joints": "the joint types; `verify` for one of your own",
    "dynamics": "torques, energies and poses along a trajectory",
    "simulate": "what a robot does over time, in one world or many",
    "generate": "functions, controllers and simulation steps of a robot as C99, with a C++17 header",
    "compile": "compile functions of a robot now, so that later processes do not",
    "bench": "how fast the functions of a robot are on this machine",
    "view": "show a robot in the browser, move it, drag it, play a trajectory",
    "cache": "where compiled programs are kept, how much there is, remove them",
}
MEANT = dict.fromkeys(("--time", "--duration", "--steps", "-t", "-n"), "--seconds") | {"--timestep": "--dt"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="cardan", description="Articulated rigid-body kinematics and dynamics.")
    parser.add_argument("--version", action="version", version=f"cardan {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    given = next((word for word in words if not word.startswith("-")), None)
    for name, help in COMMANDS.items():
        command = subparsers.add_parser(name, help=help)
        if name == given:
            module = importlib.import_module(f"cardan._reach.cli.{name}")
            command.set_defaults(run=module.run)
            module.fill(command)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        own = subparsers.choices.get(args.command, parser)  # argparse would show the usage of all commands
        known, word = re.findall(r"--[\w-]+", own.format_usage()), unknown[0].partition("=")[0]
        meant = [MEANT[word]] if MEANT.get(word) in known else close_names(word, known, 0.7)
        own.error(f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(meant)}")
    for stream in (sys.stdout, sys.stderr):  # a name may hold what the terminal's encoding does not
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if args.command is None:
        parser.print_help()
        return 0
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        with _ends_cleanly(), warnings.catch_warnings():
            warnings.simplefilter("always", DescriptionWarning)
            warnings.showwarning = lambda message, *_: _print_error(str(message))
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
    _print_error(f"cardan {args.command}: {reason}")
    return status


def _print_error(text: str) -> None:
    from cardan._reach.cli.options import harmless  # here: what commands share imports the formats

    print(harmless(text), file=sys.stderr)


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
