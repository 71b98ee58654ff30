"""Where two bodies meet in a step: a point that goes with the first of them, and forces there on bodies that turn.

Forces keep their directions in the world while the bodies turn, and both bodies feel them at one point: so no momentum
is made, linear or angular, whatever a step takes for the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cardan._algebra.spatial import Force, Matrix3, Vector3
from cardan._motion.contact import WORLD, Contact
from cardan._motion.maximal_steps.bodies import Placed


class Meeting(NamedTuple):
    """A contact where a step begins, and the bodies on the way.

    Attributes:
        contact: what meets.
        offset: from the first body's centre of mass to the point, in world axes.
        axes: those of the contact, in the world.
    """

    contact: Contact
    offset: Vector3
    axes: Matrix3

    @staticmethod
    def of(contact: Contact, start: Sequence[Placed]) -> Meeting:
        """Return a contact of bodies where the step begins."""
        X = contact.moment.poses[contact.a]
        return Meeting(contact, X @ contact.point - start[contact.a].p, X.rotation)

    def wrenches(self, force: Vector3, placed: Sequence[Placed]) -> Iterable[tuple[int, Force]]:
        """Yield a force on the first body, along the contact's axes, and its reaction, as wrenches on the bodies."""
        f, point = self.axes @ force, placed[self.contact.a].p + self.offset
        for k, sign in zip(self.contact.nodes, (1.0, -1.0), strict=True):
            if k != WORLD:
                b, own = placed[k], f * sign
                turn = b.pose.rotation.transpose_apply
                yield k, Force(turn(own), turn((point - b.p).cross(own)))

    def velocity(self, placed: Sequence[Placed]) -> Vector3:
        """Return the velocity of the first body's point relative to the other's, along the contact's axes."""
        point, found = placed[self.contact.a].p + self.offset, Vector3.zero()
        for k, sign in zip(self.contact.nodes, (1.0, -1.0), strict=True):
            if k != WORLD:
                b = placed[k]
                found = found + (b.v + (b.pose.rotation @ b.w).cross(point - b.p)) * sign
        return self.axes.transpose_apply(found)
