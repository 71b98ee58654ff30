"""What a step computes of each contact: its law, what it does, and what a change of velocity does to it.

The law is that of `contact/cone.py`, and the velocities are those of `contact/point.py`: a contact of a crowd is one
of a robot, in the axes of its first node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from types import SimpleNamespace
from typing import Any

from cardan._algebra.scalar import maximum, where
from cardan._algebra.spatial import SE3, Force, Matrix3, Motion, Vector3
from cardan._compiler.program import Program
from cardan._motion.collision import Candidate
from cardan._motion.collision.candidate import X
from cardan._motion.contact.cone import FrictionCone, Impulse, Part
from cardan._motion.contact.point import Contact
from cardan._motion.crowd.rows import NODE, NodeRow, row_program
from cardan._motion.maximal_steps.non_penetration import closing_velocity, leaving_velocity
from cardan._motion.maximal_steps.rigid_impulses import Decision, first_decision, next_decision, rigid_law
from cardan._robot.records import Material

SURFACE = ("friction", "restitution", "stiffness", "dissipation", "torsional", "rolling")
CONE = ("friction", "inverse_mass", "R_n", "R_t", "wanted", "torsional", "rolling")
LAW = 6 + len(CONE)  # numbers of a law: normal, place, and those
INVERSE_MASS = 6 + CONE.index("inverse_mass")
WANTED = 6 + CONE.index("wanted")
TORSIONAL = 6 + CONE.index("torsional")  # where the lengths of torsional and rolling friction are

NODES = dict.fromkeys(("a", "b", "motion_a", "motion_b"), NODE)
COLUMNS = NODES | {"gap": 1, "point": 3, "normal": 3, "turning": 3, "surface": len(SURFACE)}
COLUMNS |= {"centre_a": 3, "centre_b": 3, "weight_a": 2, "weight_b": 2, "stiffness": 1}
BY = {name: f"node_{name[-1]}" for name in NODES} | {"surface": "surface_of", "stiffness": "shape_a"}
BY |= {f"{name}_{end}": f"shape_{end}" for name in ("centre", "weight", "runs") for end in "ab"}
BY |= dict.fromkeys(("gap", "point", "normal", "turning"), "found_of")


def contact_of(a: Any, b: Any, given: dict[str, Any]) -> Contact:
    """Return the contact of rows: those of its nodes, and what `COLUMNS` names."""
    ends, surface = (NodeRow.of(a, given["motion_a"]), NodeRow.of(b, given["motion_b"])), list(given["surface"])
    surface[2] = where(surface[2] < 0.0, given["stiffness"][0], surface[2])
    poses, V, motions = ([e[k] for e in ends] for k in range(3))
    moment: Any = SimpleNamespace(poses=poses, V=V, motions=motions, q=[given["gap"][0]])
    both = Vector3(*given["centre_a"]), Vector3(*given["centre_b"])
    weight, chains = (x + y for x, y in zip(given["weight_a"], given["weight_b"], strict=True))
    runs = [_motion(given[f"runs_{end}"]) if f"runs_{end}" in given else None for end in "ab"]
    pair: Any = SimpleNamespace(nodes=(0, 1), centres=both, inverse_mass=weight, lever_rate=None, runs=runs)
    pair.is_rigid = chains < 0.5
    material: Any = SimpleNamespace(**dict(zip(SURFACE, surface, strict=True)), anisotropy=1.0)
    gap, point, normal = given["gap"][0], Vector3(*given["point"]), Vector3(*given["normal"])
    return Contact(moment, pair, Candidate(gap, point, normal), material)


@dataclass(frozen=True)
class ContactRows:
    """The programs of contacts in a step.

    `lengths` says whether surfaces have torsional or rolling friction, and `running` whether some run by themselves.
    Under XPBD contacts are `rigid`: their law is that of `rigid_impulses`, and the last three numbers of a decision are
    its s. If the law is Coulomb's, a column has what `FrictionCone` says of it.
    """

    dt: float
    lengths: bool
    running: bool
    rigid: bool = False
    coulomb: bool = False

    @property
    def twist(self) -> int:
        """How many numbers of a twist count."""
        return 6 if self.lengths or self.rigid else 3

    @property
    def impulse(self) -> int:
        """How many numbers an impulse has: along the normal, and against the slips."""
        return 1 + self.twist

    def begin(self) -> Program:
        """Return the program of what is known of a contact as a step begins.

        It is given the rows of its nodes, of which the world at rest is one, what `turning` adds to the drift, and what
        `SURFACE` names: a negative dissipation is one that nobody gave. It returns the law, the velocity ahead, and the
        decision to begin with.
        """

        def begin(a: Any, b: Any, **given: Any) -> dict[str, Any]:
            contact = contact_of(a, b, given)
            material = contact.material
            if not self.lengths:
                material.torsional = material.rolling = 0.0
            dissipating = FrictionCone.of(contact, self.dt)
            material.dissipation = None
            is_own = given["surface"][SURFACE.index("dissipation")] < 0.0
            cone = FrictionCone.of(contact, self.dt)  # the laws differ in two numbers
            R_n = where(is_own, cone.R_n, dissipating.R_n)
            wanted, lifts = where(is_own, cone.wanted, dissipating.wanted), 0.0 if self.coulomb else 1.0
            cone = cone._replace(R_n=R_n, wanted=wanted, lifts=lifts)
            twist = contact.ahead(self.dt)
            ahead = Motion(twist.linear + Vector3(*given["turning"]) * (0.5 * self.dt), twist.angular)
            test = cone.test(cone.first(contact.velocity), contact.velocity)
            found = {"law": _numbers(cone, contact), "ahead": self._twist(ahead), "test": self._impulse(test)}
            return found | ({"lifts": [lifts]} if self.coulomb else {})

        columns = COLUMNS | ({"runs_a": 6, "runs_b": 6} if self.running else {})
        return row_program("contact", columns, begin, by=BY)

    def begin_rigid(self, leaving: bool) -> Program:
        """Return the program of the same of rigid contacts, for positions or, `leaving`, for velocities.

        Decisions begin with the impulses there are, `pushed` along the world's axes.
        """

        def begin(a: Any, b: Any, pushed: Any, **given: Any) -> dict[str, Any]:
            contact = contact_of(a, b, given)
            g = Matrix3(a[:9]).transpose_apply(Vector3(*pushed))
            wanted = leaving_velocity(contact, g, self.dt) if leaving else closing_velocity(contact, self.dt)
            law = rigid_law(contact, wanted)
            turning = Vector3(*given["turning"]) + contact.turning(self.dt)
            ahead = Motion(contact.velocity.linear + turning * (0.5 * self.dt), Vector3.zero())
            first = first_decision(law, law.components(g), ahead)
            return {"law": _numbers(law, contact), "ahead": self._twist(ahead), "test": _row(*first)}

        return row_program("contact", COLUMNS | {"pushed": 3}, begin, by=BY | {"pushed": "found_of"})

    def response(self) -> Program:
        """Return the program of what a contact does, on the part of its law that is decided on, at its node's origin.

        `answer` has the wrench without accelerations, then the impedance: its upper half, row by row. Both are vectors.
        """

        def response(law: Any, ahead: Any, test: Any, **lifts: Any) -> dict[str, Any]:
            cone, place = self._law_of(law, **lifts)
            part, s = self._decided(cone, test)
            force = place @ (cone.wrench(part.at(self._twist_of(ahead) - s)) * (1.0 / self.dt))
            rows = (place @ part.impedance).rows()
            upper = [rows[i][j] for i in range(6) for j in range(i, 6)]
            return {"answer": [*force.scalars(), *(0.0,) * 2, *upper, *(0.0,) * 3]}

        return row_program("response", self._columns, response)

    def reaction(self) -> Program:
        """Return the program of what an acceleration of its node does to a contact: the impulse, the next decision."""

        def reaction(law: Any, ahead: Any, test: Any, row_change: Any, **lifts: Any) -> dict[str, Any]:
            cone, place = self._law_of(law, **lifts)
            own = place.inverse_act(_motion(row_change))
            twist = self._twist_of(ahead) + own * self.dt
            part, s = self._decided(cone, test)
            g = part.at(twist - s)
            if self.rigid:
                decision, error = next_decision(cone, g, twist)
                return {"after": _row(*decision), "impulse": self._impulse(g), "error": [error]}
            after = cone.test(g, twist)
            found = {"after": self._impulse(after), "impulse": self._impulse(g)}
            return found | {"error": [cone.squared_error(g, after)]}

        return row_program("reaction", self._columns | {"row_change": 6}, reaction)

    def approach(self) -> Program:
        """Return the program of how fast two shapes move towards one another, at most, before and after a step alone.

        These are speeds at the middles of both, and that of turning. After the step they are as the law has them.
        """
        more = {"ending_a": 6, "ending_b": 6, "centre_a": 3, "centre_b": 3}

        def approach(a: Any, b: Any, motion_a: Any, motion_b: Any, **given: Any) -> dict[str, Any]:
            ends = NodeRow.of(a, motion_a), NodeRow.of(b, motion_b)
            ending_a, ending_b, centre_a, centre_b = (given[name] for name in more)
            centres = Vector3(*centre_a), Vector3(*centre_b)
            pair: Any = SimpleNamespace(nodes=(0, 1), centres=centres, lever_rate=None, runs=(None, None))
            poses, motions = [end.X for end in ends], [end.motion for end in ends]

            def contact(point: Vector3, V: list[Motion]) -> Contact:
                moment: Any = SimpleNamespace(poses=poses, V=V, motions=motions)
                return Contact(moment, pair, Candidate(0.0, point, X), Material())

            def twists(point: Vector3) -> tuple[Motion, Motion]:
                after = contact(point, [_motion(ending_a), _motion(ending_b)])
                return contact(point, [end.V for end in ends]).velocity, after.ahead(self.dt)

            of_a, of_b = twists(centres[0]), twists(poses[0].inverse_act(poses[1] @ centres[1]))
            speeds = [reduce(maximum, (twist.linear.norm() for twist in own)) for own in (of_a, of_b)]
            return {"speeds": [*speeds, reduce(maximum, (twist.angular.norm() for twist in of_a))]}

        return row_program("approach", NODES | more, approach, by=BY | {f"ending_{end}": f"node_{end}" for end in "ab"})

    @property
    def _columns(self) -> dict[str, Any]:
        return {"law": LAW, "ahead": self.twist, "test": self.impulse} | ({"lifts": 1} if self.coulomb else {})

    def _law_of(self, row: Any, lifts: Any = (1.0,)) -> tuple[FrictionCone, SE3]:
        values = dict(zip((*CONE, "lifts"), (*row[6:], *lifts), strict=True))
        if not self.lengths:
            values |= {"torsional": 0.0, "rolling": 0.0}
        return FrictionCone(Vector3(*row[:3]), **values), SE3(None, Vector3(*row[3:6]))

    def _decided(self, law: FrictionCone, test: Any) -> tuple[Part, Motion]:
        """Return the part of a law that was decided on, and from where it sees velocities."""
        z = self._impulse_of(test)
        return Decision(z, Vector3(*test[4:])).part(law) if self.rigid else (law.part(z), Motion.zero())

    def _twist(self, V: Motion) -> list[Any]:
        return list(V.scalars())[: self.twist]

    def _twist_of(self, row: Any) -> Motion:
        return Motion(tuple(row[:3]), tuple(row[3:6]) if self.lengths else (0.0, 0.0, 0.0))

    def _impulse(self, g: Impulse) -> list[Any]:
        return [g.normal, *list(g.slip.scalars())[: self.twist]]

    def _impulse_of(self, row: Any) -> Impulse:
        return Impulse(row[0], Force(tuple(row[1:4]), tuple(row[4:7]) if self.lengths else (0.0, 0.0, 0.0)))


def _numbers(law: FrictionCone, contact: Contact) -> list[Any]:
    return [*law.normal, *contact.place.translation, *(getattr(law, key) for key in CONE)]


def _row(z: Impulse, s: Vector3) -> list[Any]:
    return [z.normal, *z.slip.linear, *s]


def _motion(row: Any) -> Motion:
    return Motion(tuple(row[:3]), tuple(row[3:]))
