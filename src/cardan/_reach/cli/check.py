"""`cardan check FILE`: every fault of a robot description, with file and line."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from cardan._reach.cli.options import READING, add, reading, tell
from cardan._reach.formats import check


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, "file", *READING, "--json")


def run(args: argparse.Namespace) -> int:
    faults = check(args.file, **reading(args))
    errors = sum(f.severity == "error" for f in faults)
    counted = f"{args.file}: {errors} errors, {len(faults) - errors} warnings"
    tell(args, [asdict(fault) for fault in faults], "\n".join(map(str, [*faults, counted])))
    return int(errors > 0)
