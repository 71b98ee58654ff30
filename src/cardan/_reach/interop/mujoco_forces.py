"""Forces at the contacts of MuJoCo's worlds, in cardan's convention.

MuJoCo tells the force of a contact in the contact's frame, whose first axis points from its first geom to its second:
as it acts on the second. A pair has as many places as `cardan.interop.MujocoCollision` gives it. If it has more
contacts, the last place has the sum of the rest, at its own point, so that no force or moment is lost.

Source: MuJoCo documentation, `mj_contactForce`; "Computation: contact".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan._motion.simulation.pairs import ContactPair
from cardan._reach.interop.mujoco_collision import places_of
from cardan._robot.geometry.contacts import ContactForces


class ContactReader:
    """Reads the forces of a world's contacts out of MuJoCo's data.

    Args:
        mj: the package.
        model: the compiled `mujoco.MjModel`.
        pairs: of the world.
        ends: the names of both geoms of each of them there.
    """

    def __init__(self, mj: Any, model: Any, pairs: Sequence[ContactPair], ends: Sequence[tuple[str, str]]) -> None:
        self._mj, self._model = mj, model
        self.pair = places_of(pairs)
        self._first = np.searchsorted(self.pair, np.arange(len(pairs)))
        self._count = np.bincount(self.pair, minlength=len(pairs))
        ids = [(model.geom(a).id, model.geom(b).id) for a, b in ends]
        self._pair_of = {frozenset(both): (k, both[0]) for k, both in enumerate(ids)}

    def empty(self, worlds: int, dtype: Any) -> ContactForces:
        """Return as many places as the worlds' contacts have, without a force."""
        force, torque, point = (np.zeros((worlds, len(self.pair), 3), dtype) for _ in range(3))
        return ContactForces(force, torque, point, self.pair.copy())

    def read(self, data: Any, found: ContactForces, row: int) -> None:
        """Write the forces of one world, whose data is that of `mj_forward`, the deepest contacts of a pair first."""
        used, wrench = np.zeros(len(self._count), dtype=int), np.zeros(6)
        for k in np.argsort(data.contact.dist, kind="stable"):
            contact = data.contact[int(k)]
            number, first = self._pair_of[frozenset(contact.geom.tolist())]
            self._mj.mj_contactForce(self._model, data, int(k), wrench)
            sign = -1.0 if contact.geom[0] == first else 1.0  # on the pair's first shape
            axes = contact.frame.reshape(3, 3)
            force, torque = sign * wrench[:3] @ axes, sign * wrench[3:] @ axes
            slot = self._first[number] + min(used[number], self._count[number] - 1)
            if used[number] < self._count[number]:
                found.point[row, slot] = contact.pos
            found.force[row, slot] += force
            found.torque[row, slot] += torque + np.cross(contact.pos - found.point[row, slot], force)
            used[number] += 1
