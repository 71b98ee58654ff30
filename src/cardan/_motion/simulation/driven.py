"""Drives at all joints of a mechanism."""

from __future__ import annotations

from cardan._robot.description import Mechanism
from cardan._robot.joints import Mimic
from cardan._robot.model import Drive


def driven(mechanism: Mechanism, drive: Drive) -> Mechanism:
    """Return a mechanism with a drive at every joint that has coordinates: no mimic, none that closes a loop."""
    tree = {c.name for c in mechanism.model().connections}
    for c in mechanism.joints:
        if c.name in tree and c.joint.nv and not isinstance(c.joint, Mimic):
            mechanism = mechanism.replace_joint(c.name, c.joint, drive=drive).mechanism
    return mechanism
