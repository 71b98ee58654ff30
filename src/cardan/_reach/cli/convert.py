"""`cardan convert IN OUT`: a robot description in another format; the writer warns of what that cannot hold."""

from __future__ import annotations

import argparse

from cardan._algebra.errors import ParameterError
from cardan._reach.cli.options import READING, add, check_output, read_file, say
from cardan._reach.formats import save
from cardan._reach.formats.reading import FORMATS


def fill(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"Written: {', '.join(ending for ending, form in FORMATS.items() if form.is_written)}."
    add(parser, "file", metavar="IN")
    parser.add_argument("output", metavar="OUT", help="file to write; its ending says the format")
    add(parser, *READING, "--continuous", "--lock", "--overwrite")


def run(args: argparse.Namespace) -> int:
    thing = read_file(args)
    check_output(args, args.file)
    try:
        save(thing, args.output)
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("file to write", got=args.output, expected=expected) from None
    say(f"{args.output}: {type(thing).__name__.lower()} {thing.name!r}, {len(thing.bodies)} bodies")
    return 0
