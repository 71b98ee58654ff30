"""`cardan joints`: the catalogue of joint types; `joints new` and `joints verify`: the kit for one of your own."""

from __future__ import annotations

import argparse
from typing import Any

from cardan._reach.cli import joints_new, joints_verify
from cardan._reach.cli.options import add, table, tell
from cardan._robot.joints import CATALOGUE, Joint, Mimic


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, "--json")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions (none: the list of joint types)")
    joints_new.add_parser(actions)
    joints_verify.add_parser(actions)


def run(args: argparse.Namespace) -> int:
    entries = [described(joint) for joint in CATALOGUE]
    header = ("joint", "nq", "nv", "q", "v", "S constant", "example")
    tell(args, entries, table(header, [_row(entry) for entry in entries]))
    return 0


def described(joint: Joint) -> dict[str, Any]:
    """Return a joint type as plain data; a mimic owns no coordinates."""
    own = not isinstance(joint, Mimic)
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
