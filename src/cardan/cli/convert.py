"""`cardan convert IN OUT`: a robot description in another format."""

from __future__ import annotations

import argparse
from typing import Any

from cardan.cli.options import add_continuous, add_file, add_overwrite, check_output, read_file, say
from cardan.errors import ParameterError
from cardan.formats import save


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("convert", help="a robot description in another format (to .json, .urdf)")
    add_file(parser, "IN")
    parser.add_argument("output", metavar="OUT", help="file to write; its ending says the format")
    add_continuous(parser)
    add_overwrite(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read one, write the other."""
    thing = read_file(args)
    check_output(args, args.file)
    try:
        save(thing, args.output)
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("file to write", got=args.output, expected=expected) from None
    say(f"{args.output}: {type(thing).__name__.lower()} {thing.name!r}, {len(thing.bodies)} bodies")
    return 0
