"""`cardan convert IN OUT`: a robot description in another format."""

from __future__ import annotations

import argparse
from typing import Any

from cardan.cli.options import add_packages, add_trusted
from cardan.errors import ParameterError
from cardan.formats import read_robot, save


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("convert", help="a robot description in another format (to .json, .urdf)")
    parser.add_argument("file", metavar="IN", help="robot description (URDF or JSON)")
    parser.add_argument("output", metavar="OUT", help="file to write; its ending says the format")
    parser.add_argument(
        "--continuous", choices=("angle", "unit_complex"), default="angle", help="coordinates of continuous joints"
    )
    add_packages(parser)
    add_trusted(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read one, write the other."""
    options = {"continuous": args.continuous, "packages": args.package, "trusted": args.trusted}
    thing = read_robot(args.file, **options)
    try:
        save(thing, args.output)
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("file to write", got=args.output, expected=expected) from None
    kind = type(thing).__name__.lower()
    print(f"{args.output}: {kind} {thing.name!r}, {len(thing.bodies)} bodies")
    return 0
