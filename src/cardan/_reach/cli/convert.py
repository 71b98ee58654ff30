"""`cardan convert IN OUT`: a robot description in another format, and with `--check` what that changed."""

from __future__ import annotations

import argparse
import re
import warnings
from typing import Any

from cardan._algebra.errors import DescriptionWarning, ParameterError
from cardan._reach.cli.options import READING, add, check_output, read_file, reading, say
from cardan._reach.comparison import Difference, compare
from cardan._reach.formats import save
from cardan._reach.formats.reading import FORMATS

# What a difference is of, with what a writer's warning calls it, of which it may name the first few alone.
_LISTED = {
    **{kind: kind for kind in ("actuators", "groups", "configurations", "contact", "gravity")},
    "limits.velocity": "velocity limits",
    "rgba": "digits of colours",
    "uri": "packages of meshes",
}
_OF_SHAPES = {"surface": "surfaces", "group": "groups", "margin": "margins", "density": "densities", "rgba": "colours"}
# Kinds of differences, with what a warning that names the body or joint calls all of the kind.
_CALLED = {"inertia": "inertias of their own", "state": "their own coordinates"}


def fill(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"Written: {', '.join(ending for ending, form in FORMATS.items() if form.is_written)}."
    add(parser, "file", metavar="IN")
    parser.add_argument("output", metavar="OUT", help="file to write; its ending says the format")
    help = "read what was written and compare; exit status 1 for a loss not stated"
    parser.add_argument("--check", action="store_true", help=help)
    add(parser, *READING, "--continuous", "--lock", "--overwrite")


def run(args: argparse.Namespace) -> int:
    thing = read_file(args)
    check_output(args, args.file)
    try:
        losses = _saved(thing, args.output)
    except OSError as error:
        expected = f"a writable place ({error.strerror or error})"
        raise ParameterError("file to write", got=args.output, expected=expected) from None
    say(f"{args.output}: {type(thing).__name__.lower()} {thing.name!r}, {len(thing.bodies)} bodies")
    if not args.check:
        return 0
    options = {**reading(args), "srdf": None}  # what was written holds the groups itself
    found = compare(thing, args.output, on_inertia="ignore", **options)
    # A body's frame may be anywhere on it.
    stated = [d for d in found.differences if d.kind == "frame" or any(_names(loss, d) for loss in losses)]
    say(found)
    unstated = len(found.differences) - len(stated)
    say(f"{unstated} differences that were not stated, {len(stated)} that were")
    return int(unstated > 0)


def _saved(thing: Any, output: str) -> list[str]:
    """Write a file and return what its writer warned of, which is shown as well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # a warning that was shown before counts, too
        save(thing, output)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    stated = [str(warning.message) for warning in caught if issubclass(warning.category, DescriptionWarning)]
    return [text.removeprefix(f"{thing.name}: ") for text in stated]


def _names(loss: str, difference: Difference) -> bool:
    """Return whether a warning is about a difference: how a robot moves and weighs is not excused by a name alone."""
    if any(what in difference.what and called in loss for what, called in _LISTED.items()):
        return True
    if difference.kind == "shape" and "shapes on" in loss:
        return any(difference.what.startswith(what) and said in loss for what, said in _OF_SHAPES.items())
    # Whole words: `arm` is not in `forearm`.
    name = re.compile(rf"(?<!\w){re.escape(difference.where.split(',')[0])}(?!\w)")
    words = re.findall("[a-z]+", difference.what) if difference.kind in ("motion", "inertia", "joint", "state") else []
    says_all = difference.kind in _CALLED and _CALLED[difference.kind] in loss
    return bool(name.search(loss)) and (says_all or all(word in loss for word in words))
