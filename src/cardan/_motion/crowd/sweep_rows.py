"""Contacts of loose bodies as sweeps see them: block Gauss-Seidel on their impulses, a lane for each contact.

With A = J M^-1 J^T of one contact and D not less than it, along the normal and across, a visit goes down the dual with
D in place of A, and adds what the bodies feel of the change to their twists:

    g' = projection of  y = g + omega (D + R)^-1 (v* - u - R g)  on the cone, in the norm of D + R
    V  = V + M^-1 J^T (g' - g),        u = u_0 + J V

The dual falls in each visit for any omega below 2: by (1 / omega - 1 / 2) |g' - g|^2 at least. With 1 a visit is the
minimum of its own contact, with more it also goes ahead of what the neighbours will do.

Everything is along the axes of the world, a body's twist at its centre of mass. The law is that of `contact/cone.py`.

Source: Jourdan, Alart and Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998); Young,
Iterative methods for solving partial difference equations of elliptic type (1954), for omega.
Cost: 250 operations to begin, 150 a visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.scalar import absolute, maximum, sqrt, where
from cardan._algebra.spatial import SE3, Motion, Scalar, Symmetric3, Vector3
from cardan._compiler.program import Program
from cardan._motion.contact.cone import FrictionCone, Impulse
from cardan._motion.crowd.contact_rows import LAW
from cardan._motion.crowd.rows import LANES, NODE, pose_of, row_program

BODY = 10  # numbers of a body: its centre of mass, 1 / m, its inverse inertia about that; 0 where it is the world
ROW = 35
MEMBERS = {"node": "member_node", "free": "member_first", "change": "member_first"}
MEMBERS |= dict.fromkeys(("com", "inverse_mass", "inverse", "body", "twist"), "members")
BODIES = {f"{name}_{end}": f"met_{end}" for name in ("body", "twist", "after") for end in "ab"}
IN_LANES = "met", "met_impulse"
OVER = 1.3
"""Omega. Sweeps of piles of 100, 300, 1000 balls as they fall: with 1 19.5, 45, 30; with 1.3 12, 23, 21; with 1.45 16,
22, 18. At rest there are as many with any of them. Rigid contacts take 1: with 1.3 some steps of 40 balls with friction
of 0.8 do not end."""


class End(NamedTuple):
    """A body at a contact."""

    lever: Vector3  # from its centre of mass
    inverse_mass: Scalar
    inverse_inertia: Symmetric3

    def velocity(self, V: Motion) -> Vector3:
        return V.linear + V.angular.cross(self.lever)

    def answer(self, g: Vector3) -> Motion:
        """Return M^-1 J^T g."""
        return Motion(g * self.inverse_mass, self.inverse_inertia @ self.lever.cross(g))

    def answer_here(self, g: Vector3) -> Vector3:
        return self.velocity(self.answer(g))


class Meeting(NamedTuple):
    """A contact of two bodies."""

    a: End
    b: End
    ahead: Vector3  # u_0
    law: FrictionCone
    per: tuple[Scalar, Scalar]  # omega (D + R)^-1, along the normal and across
    m: Scalar  # mu E_t / E_n of E = D + R: what a projection takes
    share: Scalar  # 1 / (1 + mu m)

    @staticmethod
    def of(row: Sequence[Any]) -> Meeting:
        a, b = (End(Vector3(*row[k : k + 3]), row[k + 3], Symmetric3(row[k + 4 : k + 10])) for k in (0, 10))
        law = FrictionCone(Vector3(*row[23:26]), *row[26:31])
        return Meeting(a, b, Vector3(*row[20:23]), law, (row[31], row[32]), row[33], row[34])

    @staticmethod
    def between(a: End, b: End, ahead: Vector3, law: FrictionCone, over: float) -> Meeting:
        """Return the contact of two bodies, with D of the absolute values of A's rows."""
        axes = law.normal, *_across(law.normal)
        answers = [a.answer_here(e) + b.answer_here(e) for e in axes]
        rows = [[absolute(e.dot(answer)) for answer in answers] for e in axes]
        totals = [row[0] + row[1] + row[2] for row in rows]
        E_n, E_t = totals[0] + law.R_n, maximum(totals[1], totals[2]) + law.R_t
        m = law.lifts * law.friction * E_t / E_n
        return Meeting(a, b, ahead, law, (over / E_n, over / E_t), m, 1.0 / (1.0 + law.friction * m))

    @property
    def numbers(self) -> list[Any]:
        law, ends = self.law, [e for end in self[:2] for e in (*end.lever, end.inverse_mass, *end.inverse_inertia)]
        cone = [*law.normal, *law[1:6]]
        return [*ends, *self.ahead, *cone, *self.per, self.m, self.share]

    def visit(self, Va: Motion, Vb: Motion, g: Vector3, rigid: bool = False) -> Vector3:
        """Return what the impulse becomes; of a `rigid` contact by the law of `rigid_impulses`.

        There the normal goes first, and friction is bounded by what it becomes: then u takes no lift of mu |u_t|, which
        sends sweeps in circles where friction is large.
        """
        law, (per_n, per_t) = self.law, self.per
        u = law.components(self.ahead + self.a.velocity(Va) - self.b.velocity(Vb))
        before = law.components(g)
        if rigid:
            normal = maximum(before.normal + (law.wanted - u.normal) * per_n, 0.0)
            slip = before.slip - u.slip * per_t
            length, most = sqrt(slip.linear.norm_squared()), law.friction * normal
            return law.wrench(Impulse(normal, slip * where(length > most, most / length, 1.0))).linear
        normal = before.normal + (law.wanted - u.normal - law.R_n * before.normal) * per_n
        y = Impulse(normal, before.slip - (u.slip + before.slip * law.R_t) * per_t)
        return law.wrench(law.project(y, self.m, self.share)).linear


def _across(n: Vector3) -> tuple[Vector3, Vector3]:
    """Return two directions that are orthogonal to one and to each other.

    Source: Duff et al., Building an orthonormal basis, revisited (2017).
    """
    x, y, z = n
    s = where(z < 0.0, -1.0, 1.0)
    k = -1.0 / (s + z)
    return Vector3(1.0 + s * x * x * k, s * x * y * k, -s * x), Vector3(x * y * k, s + y * y * k, -y)


def body_program(dt: float) -> Program:
    """Return the program of a body as sweeps have it: `body`, and by what its twist changes without contact."""

    def begin(node: Any, com: Any, inverse_mass: Any, inverse: Any, free: Any) -> dict[str, Any]:
        X, centre = pose_of(node), Vector3(*com)
        a = SE3(None, centre).inverse_act(Motion(tuple(free[:3]), tuple(free[3:6])))
        change = Motion(X.rotation @ a.linear, X.rotation @ a.angular) * dt
        body = [*(X @ centre), inverse_mass[0], *Symmetric3(inverse).rotated(X.rotation)]
        return {"body": body, "twist": [*change.scalars(), 0.0, 0.0]}

    columns = {"node": NODE, "com": 3, "inverse_mass": 1, "inverse": 6, "free": LANES}
    return row_program("body", columns, begin, by=MEMBERS)


def accelerated_program(dt: float) -> Program:
    """Return the program of a body's acceleration, in its own axes at its origin, by the change of its twist."""

    def accelerate(node: Any, com: Any, twist: Any) -> dict[str, Any]:
        R = pose_of(node).rotation.T
        V = SE3(None, -Vector3(*com)).inverse_act(Motion(R @ Vector3(*twist[:3]), R @ Vector3(*twist[3:6])))
        return {"change": [*(V * (1.0 / dt)).scalars(), 0.0, 0.0]}

    return row_program("accelerated", {"node": NODE, "com": 3, "twist": LANES}, accelerate, by=MEMBERS)


def meeting_program(twist: int, rigid: bool = False, coulomb: bool = False) -> Program:
    """Return the program of what sweeps know of a contact: `met` from its node, its law, and both bodies.

    Also what its impulse does to both, which is added to their twists.
    """

    def begin(
        node: Any, point: Any, law: Any, ahead: Any, pushed: Any, lifts: Any = (1.0,), **own: Any
    ) -> dict[str, Any]:
        X = pose_of(node)
        at, n = X @ Vector3(*point), X.rotation @ Vector3(*law[:3])
        cone = FrictionCone(n, *law[6:11], lifts=lifts[0])
        end_a, end_b = (End(at - Vector3(*e[:3]), e[3], Symmetric3(e[4:])) for e in (own["body_a"], own["body_b"]))
        over = 1.0 if rigid else OVER
        met, g = Meeting.between(end_a, end_b, X.rotation @ Vector3(*ahead[:3]), cone, over).numbers, Vector3(*pushed)
        return {"met": met, "met_impulse": [*g, 0.0]} | _moved((end_a, end_b), (own["twist_a"], own["twist_b"]), g)

    columns = {"node": NODE, "point": 3, "law": LAW, "ahead": twist, "body_a": BODY, "body_b": BODY}
    columns |= {"twist_a": LANES, "twist_b": LANES, "pushed": 3} | ({"lifts": 1} if coulomb else {})
    by = {"node": "met_node", "point": "met_found", "law": "met_contact", "ahead": "met_contact", "pushed": "met_found"}
    by |= {"lifts": "met_contact"}
    return row_program("meeting", columns, begin, in_lanes=IN_LANES, by=by | BODIES)


def _moved(ends: Sequence[End], twists: Sequence[Any], g: Vector3) -> dict[str, Any]:
    """Return the twists of both bodies with what an impulse does to them."""
    V = [Motion(tuple(own[:3]), tuple(own[3:6])) for own in twists]
    after = V[0] + ends[0].answer(g), V[1] - ends[1].answer(g)
    return {name: [*own.scalars(), 0.0, 0.0] for name, own in zip(("after_a", "after_b"), after, strict=True)}


def visit_program(rigid: bool = False) -> Program:
    """Return the program of a visit: the twists of both bodies, the impulse, the square of its error [m^2/s^2]."""

    def visit(met: Any, twist_a: Any, twist_b: Any, met_impulse: Any) -> dict[str, Any]:
        meeting, g = Meeting.of(met), Vector3(*met_impulse[:3])
        Va, Vb = (Motion(tuple(V[:3]), tuple(V[3:6])) for V in (twist_a, twist_b))
        found = meeting.visit(Va, Vb, g, rigid)
        change = found - g
        error = change.norm_squared() * (meeting.law.inverse_mass * meeting.law.inverse_mass)
        return {"met_impulse": [*found, error]} | _moved(meeting[:2], (twist_a, twist_b), change)

    columns = {"met": ROW, "twist_a": LANES, "twist_b": LANES, "met_impulse": 4}
    return row_program("visit", columns, visit, in_lanes=IN_LANES, by=BODIES)
