"""What XPBD computes of each contact: the programs of `contact_rows` for the law of rigid contact (`rigid_impulses`).

Positions want v* = -gap / h. Velocities want the rebound of what has pushed, and nothing of what has not
(`maximal_steps/non_penetration.py`). The last three numbers of a decision are s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cardan._algebra.spatial import SE3, Force, Matrix3, Motion, Vector3
from cardan._compiler.program import Program
from cardan._motion.contact.cone import FrictionCone, Impulse, Part
from cardan._motion.crowd.contact_rows import BY, COLUMNS, CONE, LAW, contact_of
from cardan._motion.crowd.rows import row_program
from cardan._motion.maximal_steps.non_penetration import closing_velocity, leaving_velocity
from cardan._motion.maximal_steps.rigid_impulses import Decision, first_decision, next_decision, rigid_law


@dataclass(frozen=True)
class RigidRows:
    """The programs of contacts in a step."""

    dt: float
    lengths = False
    twist, impulse = 6, 7

    def begin(self, leaving: bool = False) -> Program:
        """See `ContactRows.begin`; a decision begins with the impulse there is, `pushed` along the world's axes."""

        def begin(a: Any, b: Any, pushed: Any, **given: Any) -> dict[str, Any]:
            contact = contact_of(a, b, given)
            n, V = contact.normal, contact.velocity.linear
            g = Matrix3(a[:9]).transpose_apply(Vector3(*pushed))
            wanted = leaving_velocity(contact, g, self.dt) if leaving else closing_velocity(contact, self.dt)
            law = rigid_law(contact, wanted)
            ahead = Motion(V + Vector3(*given["turning"]) * (0.5 * self.dt), Vector3.zero())
            numbers = [*n, *contact.place.translation, *(getattr(law, key) for key in CONE)]
            first = first_decision(law, law.components(g), ahead)
            return {"law": numbers, "ahead": [*ahead.scalars()], "test": _row(*first)}

        return row_program("contact", COLUMNS | {"pushed": 3}, begin, by=BY | {"pushed": "found_of"})

    def response(self) -> Program:
        """See `ContactRows.response`."""

        def response(law: Any, ahead: Any, test: Any) -> dict[str, Any]:
            cone, place, (part, s) = _of(law, test)
            force = place @ (cone.wrench(part.at(_motion(ahead) - s)) * (1.0 / self.dt))
            rows = (place @ part.impedance).rows()
            return {"answer": [*force.scalars(), *(rows[i][j] for i in range(6) for j in range(i, 6))]}

        return row_program("response", self._columns, response)

    def reaction(self) -> Program:
        """See `ContactRows.reaction`."""

        def reaction(law: Any, ahead: Any, test: Any, change: Any) -> dict[str, Any]:
            cone, place, (part, s) = _of(law, test)
            u = _motion(ahead) + place.inverse_act(_motion(change)) * self.dt
            g = part.at(u - s)
            after, error = next_decision(cone, g, u)
            return {"after": _row(*after), "impulse": _row(g, Vector3.zero()), "error": [error]}

        return row_program("reaction", self._columns | {"change": 6}, reaction)

    @property
    def _columns(self) -> dict[str, Any]:
        return {"law": LAW, "ahead": self.twist, "test": self.impulse}


def _row(g: Impulse, s: Vector3) -> list[Any]:
    return [g.normal, *g.slip.linear, *s]


def _of(law: Any, test: Any) -> tuple[FrictionCone, SE3, tuple[Part, Motion]]:
    """Return a law, its place, its part that was decided on, and from where it sees velocities."""
    cone = FrictionCone(Vector3(*law[:3]), *law[6:11])
    z = Impulse(test[0], Force(tuple(test[1:4]), (0.0, 0.0, 0.0)))
    return cone, SE3(None, Vector3(*law[3:6])), Decision(z, Vector3(*test[4:])).part(cone)


def _motion(row: Any) -> Motion:
    return Motion(tuple(row[:3]), tuple(row[3:]))
