"""`cardan convert IN OUT`: a robot description in another format, and with `--check` what that changed."""

from __future__ import annotations

import argparse
import re
import warnings
from typing import Any

from cardan.cli.options import add_continuous, add_file, add_overwrite, check_output, read_file, reading, say
from cardan.comparison import Difference, compare
from cardan.errors import DescriptionWarning, ParameterError
from cardan.formats import save
from cardan.formats.load import FORMATS

_LISTED = {
    **{kind: kind for kind in ("actuators", "groups", "configurations", "contact")},
    "limits.velocity": "velocity limits",
    "uri": "packages of meshes",
}
"""What a difference is of, with what a writer's warning calls it, of which it may name the first few alone."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    endings = ", ".join(ending for ending, form in FORMATS.items() if form.is_written)
    parser = subparsers.add_parser("convert", help=f"a robot description in another format (to {endings})")
    add_file(parser, "IN")
    parser.add_argument("output", metavar="OUT", help="file to write; its ending says the format")
    parser.add_argument(
        "--check", action="store_true", help="read what was written and compare; exit status 1 for a loss not stated"
    )
    add_continuous(parser)
    add_overwrite(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read one, write the other."""
    thing = read_file(args)
    check_output(args, args.file)
    try:
        losses = _saved(thing, args.output)
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("file to write", got=args.output, expected=expected) from None
    say(f"{args.output}: {type(thing).__name__.lower()} {thing.name!r}, {len(thing.bodies)} bodies")
    return _checked(thing, args, losses) if args.check else 0


def _saved(thing: Any, output: str) -> list[str]:
    """Write a file and return what its writer warned of, which is shown as well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(thing, output)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return [str(warning.message) for warning in caught if issubclass(warning.category, DescriptionWarning)]


def _checked(thing: Any, args: argparse.Namespace, losses: list[str]) -> int:
    """Compare what was read with what was written, and return 1 for a difference that the writer did not state."""
    options = {**reading(args), "srdf": None}
    found = compare(thing, args.output, on_inertia="ignore", **options)
    unstated = [difference for difference in found.differences if not _is_stated(difference, losses)]
    say(found)
    stated = len(found.differences) - len(unstated)
    say(f"{len(unstated)} differences that were not stated, {stated} that were")
    return int(bool(unstated))


def _is_stated(difference: Difference, losses: list[str]) -> bool:
    """Return whether a writer's warning names what differs; a body's frame may be anywhere on it."""
    name = re.compile(rf"(?<!\w){re.escape(difference.where.split(',')[0])}(?!\w)")
    kinds = [called for what, called in _LISTED.items() if what in difference.what]
    return difference.kind == "frame" or any(name.search(loss) or any(k in loss for k in kinds) for loss in losses)
