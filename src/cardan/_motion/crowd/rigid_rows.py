"""What XPBD computes of each contact: the programs of `contact_rows` for Coulomb's law without regularisation.

    v* - u + n (-mu |u_t|)  in the normal cone of  |g_t| <= mu g_n  at g

That is u_n >= v*, g_n >= 0, one of them exact, and friction against the slip (de Saxce). Newton's method takes it by
laws of `cone` with R, whose velocities are seen from s: u - s with s = R g - n mu |u_t| of the iteration before. At the
solution R has no part any more (proximal point). The last three numbers of a decision are s.

Positions want v* = -gap / h. Velocities want the rebound of what has pushed, and nothing of what has not.

Source: de Saxce and Feng, The bipotential method (1998); Rockafellar, Augmented Lagrangians and applications of the
proximal point algorithm (1976); `maximal_steps/non_penetration.py` for both solves of a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cardan._algebra.scalar import sqrt, where
from cardan._algebra.spatial import SE3, Force, Matrix3, Motion, Vector3
from cardan._compiler.program import Program
from cardan._motion.collision import FAR
from cardan._motion.contact.cone import IMPACT, STICKING, FrictionCone, Impulse
from cardan._motion.crowd.contact_rows import BY, COLUMNS, CONE, LAW, contact_of
from cardan._motion.crowd.rows import row_program


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
            n, w, V = contact.normal, contact.inverse_mass, contact.velocity.linear
            g = Matrix3(a[:9]).transpose_apply(Vector3(*pushed))
            v_n, e = n.dot(V), contact.material.restitution
            wanted = contact.gap * (-1.0 / self.dt)
            if leaving:
                wanted = where(n.dot(g) > 0.0, where(v_n < -IMPACT, -e * v_n, 0.0), -FAR / self.dt)
            law = FrictionCone(n, contact.material.friction, w, w * STICKING, w * STICKING, wanted)
            impulse, ahead = law.components(g), Motion(V + Vector3(*given["turning"]) * (0.5 * self.dt), Vector3.zero())
            first = law.test(impulse, ahead)
            first = Impulse(where(impulse.normal > 0.0, impulse.normal, first.normal), impulse.slip)
            numbers = [*n, *contact.place.translation, *(getattr(law, key) for key in CONE)]
            return {"law": numbers, "ahead": [*ahead.scalars()], "test": _row(first, _softened(law, impulse))}

        return row_program("contact", COLUMNS | {"pushed": 3}, begin, by=BY | {"pushed": "found_of"})

    def response(self) -> Program:
        """See `ContactRows.response`."""

        def response(law: Any, ahead: Any, test: Any) -> dict[str, Any]:
            cone, place, z, s = _of(law, test)
            part = cone.part(z)
            force = place @ (cone.wrench(part.at(_motion(ahead) - s)) * (1.0 / self.dt))
            rows = (place @ part.impedance).rows()
            return {"answer": [*force.scalars(), *(rows[i][j] for i in range(6) for j in range(i, 6))]}

        return row_program("response", self._columns, response)

    def reaction(self) -> Program:
        """See `ContactRows.reaction`."""

        def reaction(law: Any, ahead: Any, test: Any, change: Any) -> dict[str, Any]:
            cone, place, z, s = _of(law, test)
            u = _motion(ahead) + place.inverse_act(_motion(change)) * self.dt
            g = cone.part(z).at(u - s)
            lifted = cone.normal * (cone.friction * sqrt(cone.slip(u).linear.norm_squared()))
            exact = cone._replace(R_n=0.0, R_t=0.0)
            after = exact.test(g, u + Motion(lifted, Vector3.zero()))
            found = {"after": _row(after, _softened(cone, g) - lifted), "impulse": _row(g, Vector3.zero())}
            return found | {"error": [cone.squared_error(g, after)]}

        return row_program("reaction", self._columns | {"change": 6}, reaction)

    @property
    def _columns(self) -> dict[str, Any]:
        return {"law": LAW, "ahead": self.twist, "test": self.impulse}


def _softened(law: FrictionCone, g: Impulse) -> Vector3:
    """Return R g."""
    return law.normal * (law.R_n * g.normal) + g.slip.linear * law.R_t


def _row(g: Impulse, s: Vector3) -> list[Any]:
    return [g.normal, *g.slip.linear, *s]


def _of(law: Any, test: Any) -> tuple[FrictionCone, SE3, Impulse, Motion]:
    """Return a law, its place, what is decided by, and s."""
    cone = FrictionCone(Vector3(*law[:3]), *law[6:11])
    z = Impulse(test[0], Force(tuple(test[1:4]), (0.0, 0.0, 0.0)))
    return cone, SE3(None, Vector3(*law[3:6])), z, Motion(tuple(test[4:]), (0.0, 0.0, 0.0))


def _motion(row: Any) -> Motion:
    return Motion(tuple(row[:3]), tuple(row[3:]))
