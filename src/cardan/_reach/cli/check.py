"""`cardan check FILE`: every fault of a robot description, with file and line."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import asdict

from cardan._reach.cli.info import closed
from cardan._reach.cli.options import READING, add, reading, tell
from cardan._reach.formats import check, load


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, "file", *READING, "--json")


def run(args: argparse.Namespace) -> int:
    faults = check(args.file, **reading(args))
    errors = sum(f.severity == "error" for f in faults)
    counted = f"{args.file}: {errors} errors, {len(faults) - errors} warnings"
    lines = [*faults, counted] if errors else [*faults, *loops_of(args), counted]
    tell(args, [asdict(fault) for fault in faults], "\n".join(map(str, lines)))
    return int(errors > 0)


def loops_of(args: argparse.Namespace) -> Iterator[str]:
    """Yield how the loops of a robot move, if it has some, and that they cannot, if they leave no freedom."""
    with warnings.catch_warnings():  # these are among the faults
        warnings.simplefilter("ignore")
        found = closed(load(args.file, **reading(args)))
    if found:
        yield f"{args.file}: {found['text']}"
