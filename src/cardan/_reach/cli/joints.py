"""`cardan joints`: the catalogue of joint types; `joints verify WHAT`: the certificate of one, or of your own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cardan._algebra.errors import JointError, UnknownNameError, check_known
from cardan._reach.cli.options import add, table, tell
from cardan._reach.generation.library import imported
from cardan._reach.verification import verify_joint
from cardan._robot.joints import CATALOGUE, Joint


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, "--json")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions (none: the list of joint types)")
    checker = actions.add_parser("verify", help="check a joint against its definition and all that follows from it")
    help = "a class, or a joint, in a Python file; or the name of a joint type"
    checker.add_argument("joint", metavar="FILE:NAME", help=help)
    checker.add_argument("--samples", type=int, default=12, metavar="N", help="configurations (default: 12)")
    checker.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    add(checker, "--json")
    checker.set_defaults(run=verify)


def run(args: argparse.Namespace) -> int:
    entries = [described(joint) for joint in CATALOGUE]
    header = ("joint", "nq", "nv", "q", "v", "S constant", "example")
    tell(args, entries, table(header, [_row(entry) for entry in entries]))
    return 0


def described(joint: Joint) -> dict[str, Any]:
    """Return a joint type as plain data; a mimic owns no coordinates."""
    own = not joint.primaries
    return {
        "type": type(joint).__name__,
        "nq": joint.nq if own else 0,
        "nv": joint.nv if own else 0,
        "q": joint.coordinate_names if own else (),
        "v": joint.velocity_names if own else (),
        "constant_motion_subspace": joint.has_constant_motion_subspace,
        "summary": (type(joint).__doc__ or "").split("\n")[0],
        "example": repr(joint),
    }


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    constant = "yes" if entry["constant_motion_subspace"] else "no"
    layouts = (" ".join(entry["q"]) or "-", " ".join(entry["v"]) or "-")
    return entry["type"], str(entry["nq"]), str(entry["nv"]), *layouts, constant, entry["example"][:70]


def verify(args: argparse.Namespace) -> int:
    certificate = verify_joint(joint_of(args.joint), args.samples, args.seed)
    tell(args, certificate.plain(), certificate)
    return 0 if certificate.passed else 1


def joint_of(what: str) -> Joint:
    """Return a joint that ships, by the name of its type, or the one that FILE:NAME is: a joint, or a class of them."""
    file, colon, name = what.rpartition(":")
    if not colon:
        types = {type(j).__name__: j for j in reversed(CATALOGUE)}
        if what not in types:
            where = "cardan joints verify (or a class in a file, as FILE:CLASS)"
            raise UnknownNameError("joint type", what, types, where=where)
        return types[what]
    members = {k: v for k, v in vars(imported(Path(file))).items() if isinstance(v, Joint) or is_joint_class(v)}
    check_known("joint class", name, members, file)
    found = members[name]
    try:
        return found() if isinstance(found, type) else found
    except TypeError as error:
        hint = f"write a line such as `mine = {name}(...)` in the file, and verify {file}:mine"
        raise JointError(f"{name} cannot be made: {error}; {hint}.") from error


def is_joint_class(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Joint) and thing is not Joint
