"""Arguments several commands share, and the JSON they print."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np

from cardan.formats import load
from cardan.model import WORLD, Model


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add FILE, --base, --continuous and --package."""
    parser.add_argument("file", metavar="FILE", help="robot description (URDF or JSON)")
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed", help="how the root link is held")
    parser.add_argument("--root", default=WORLD, metavar="BODY", help="body or frame that is held by the base instead")
    parser.add_argument(
        "--continuous", choices=("angle", "unit_complex"), default="angle", help="coordinates of continuous joints"
    )
    add_packages(parser)
    add_trusted(parser)


def add_trusted(parser: argparse.ArgumentParser) -> None:
    """Add --trusted."""
    parser.add_argument("--trusted", action="store_true", help="import the joint classes that a .json file names")


def add_packages(parser: argparse.ArgumentParser) -> None:
    """Add --package."""
    parser.add_argument(
        "--package", action="append", metavar="DIR", default=[], help="folder that contains package:// packages"
    )


def load_robot(args: argparse.Namespace) -> Model:
    """Return the model the arguments name."""
    options = {"continuous": args.continuous, "packages": args.package, "trusted": args.trusted}
    return load(args.file, base=args.base, root=args.root, **options)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON for a machine to read")


def print_json(value: Any) -> None:
    """Print as JSON; infinite numbers become null."""
    print(json.dumps(jsonable(value), indent=2, allow_nan=False))


def jsonable(value: Any) -> Any:
    """Return nested data as what JSON can hold."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [jsonable(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows of text in aligned columns."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in [header, *rows]]
    return "\n".join([lines[0], "-" * max(len(line) for line in lines), *lines[1:]])
