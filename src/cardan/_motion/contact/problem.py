"""The convex problem of a step: what its forces shall obey, and its solution where each is on a known part of its law.

    phi(a) = |a - a_free|^2_M / 2 + potentials of the contacts (`cone`) and of the joints' elements

Its gradient is the equation of motion with their forces. With each force on the part of its law that was decided on,
that is linear: contacts are impedances, joints armatures.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022).
Cost: one solution of the equation of motion and 150 operations a contact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import in_loop, when
from cardan._algebra.scalar import is_zero, maximum, sqrt
from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3
from cardan._dynamics.algorithms.drives import JointForces, Lines
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import Cone, Impulse
from cardan._motion.contact.equation import Equation, Patch, Response

NO_IMPEDANCE = ArticulatedInertia(Symmetric3.isotropic(0.0), Matrix3.zero(), Symmetric3.isotropic(0.0))
NOTHING = Impulse(0.0, Force.zero())


class Decision(NamedTuple):
    """What decides on which parts of their laws forces are."""

    efforts: Vector  # held by the elements of the joints
    tests: Sequence[Impulse]  # z of the contacts (`cone`)


class Estimate(NamedTuple):
    """Accelerations, with the forces with which they obey the equation of motion."""

    a: Vector  # of the joints
    impulses: Sequence[Impulse]  # at the contacts
    residual: Scalar  # by how much velocities are wrong, at most [m/s, rad/s]
    efforts: Vector  # held by the elements of the joints


class Row(NamedTuple):
    """A patch (`equation`) as numbers alone: its contacts' laws, velocities at a = 0, and places in its node."""

    laws: list[Cone]
    ahead: list[Motion]
    places: list[SE3] | None  # None of a single contact: it answers where it is
    nearness: Scalar | None  # of several: by how much they are nearer than what need not be looked at

    @staticmethod
    def of(patch: Patch, dt: float) -> Row:
        contacts = patch.contacts
        places = None if patch.is_single else [contact.place for contact in contacts]
        ahead = [contact.ahead(dt) for contact in contacts]
        return Row([Cone.of(contact, dt) for contact in contacts], ahead, places, patch.nearness)

    @property
    def kind(self) -> Any:
        """What rows that share a block have in common."""
        laws = [
            (law.has_friction, is_zero(law.torsional), is_zero(law.rolling), law.narrow is None) for law in self.laws
        ]
        return (self.places is None, *laws)

    def accelerations(self, change: Motion) -> list[Motion]:
        """Return J a of the contacts, from that of the patch."""
        return [change] if self.places is None else [place.inverse_act(change) for place in self.places]

    def twists(self, change: Motion, dt: float) -> list[Motion]:
        """Return the velocities of the contacts at the step's end, from the patch's acceleration."""
        return [v + A * dt for v, A in zip(self.ahead, self.accelerations(change), strict=True)]

    def near(self, found: Callable[[], Any], otherwise: Any) -> Any:
        """Return what is found of a patch that may touch, and something else of one that is far."""
        return found() if self.nearness is None else when(self.nearness > 0.0, found, otherwise)


@dataclass(frozen=True, slots=True)
class Problem:
    """The equation of motion with what its forces shall obey."""

    equation: Equation
    elements: JointForces
    rows: Sequence[Row]
    is_short: bool = False  # whether patches that are alike go through one block: a shorter program, and a slower one

    @staticmethod
    def of(equation: Equation, elements: JointForces) -> Problem:
        return Problem(equation, elements, [Row.of(patch, equation.dt) for patch in equation.patches])

    @property
    def laws(self) -> list[Cone]:
        return [law for row in self.rows for law in row.laws]

    def start(self) -> tuple[Decision, Estimate]:
        """Return what keeps the velocities as they are."""
        contacts, tests = self.equation.contacts, []
        for contact, law in zip(contacts, self.laws, strict=True):
            tests.append(law.test(law.first(contact.velocity), contact.velocity))
        efforts = [element.at(0.0) for _, element in self.elements]
        nothing = Estimate([0.0] * self.equation.moment.model.nv, [NOTHING] * len(tests), 1.0, efforts)
        return Decision(efforts, tests), nothing

    def lines(self, decision: Decision, a: Vector) -> Lines:
        return self.elements.linear(decision.efforts, a)

    def of_patches(self, of_contacts: Sequence[Any]) -> list[list[Any]]:
        """Return what each contact has, by patch."""
        ends = accumulate((len(row.laws) for row in self.rows), initial=0)
        return [list(of_contacts[start:end]) for start, end in pairwise(ends)]

    def over_patches(self, body: Callable[..., Any], *of_patches: Sequence[Any]) -> list[Any]:
        """Return what a body makes of each patch's row and what else it has."""
        if not self.is_short:
            return [body(*row) for row in zip(self.rows, *of_patches, strict=True)]
        alike: dict[Any, list[int]] = {}
        for k, row in enumerate(self.rows):
            alike.setdefault(row.kind, []).append(k)
        found: dict[int, Any] = {}
        for members in alike.values():
            columns = ([column[k] for k in members] for column in (self.rows, *of_patches))
            found |= zip(members, in_loop(body, *columns), strict=True)
        return [found[k] for k in range(len(self.rows))]

    def solved(self, decision: Decision, lines: Lines) -> tuple[Decision, Estimate]:
        """Return the solution with all forces on the parts of their laws that are decided on, and the next decision."""
        dt, own = self.equation.dt, self.of_patches(decision.tests)
        responses = self.over_patches(partial(_response, dt), own)
        a, changes = self.equation.solve(self.elements.total(lines), responses)
        reactions = self.over_patches(partial(_reaction, dt), own, changes)
        efforts = self.elements.on(lines, a)
        worst = reduce(maximum, (reaction.squared_error for reaction in reactions), 0.0)
        tests, impulses = ([g for reaction in reactions for g in reaction[k]] for k in (0, 1))
        residual = maximum(self.elements.residual(efforts, a), sqrt(worst))
        return Decision(efforts, tests), Estimate(a, impulses, residual, efforts)


def _response(dt: float, row: Row, tests: Sequence[Impulse]) -> Response:
    """Return what the contacts of a patch do together, on the parts of their laws that they are on."""

    def found() -> Response:
        force, Z = Force.zero(), NO_IMPEDANCE
        for k, (law, ahead, z) in enumerate(zip(row.laws, row.ahead, tests, strict=True)):
            part = law.part(z)
            wrench, impedance = law.wrench(part.at(ahead)) * (1.0 / dt), part.impedance
            if row.places is None:
                return Response(wrench, impedance)
            force, Z = force + row.places[k] @ wrench, Z + row.places[k] @ impedance
        return Response(force, Z)

    return row.near(found, Response(Force.zero(), NO_IMPEDANCE))


class _Reaction(NamedTuple):
    """What a change of velocity does to the contacts of a patch."""

    tests: list[Impulse]
    impulses: list[Impulse]
    squared_error: Scalar


def _reaction(dt: float, row: Row, tests: Sequence[Impulse], change: Motion) -> _Reaction:
    """Return what the contacts of a patch feel, on the parts of their laws that they were on, from the change."""

    def found() -> _Reaction:
        reaction = _Reaction([], [], 0.0)
        for law, z, twist in zip(row.laws, tests, row.twists(change, dt), strict=True):
            g = law.part(z).at(twist)
            test = law.test(g, twist)
            worst = maximum(reaction.squared_error, law.squared_error(g, test))
            reaction = _Reaction([*reaction.tests, test], [*reaction.impulses, g], worst)
        return reaction

    none = [NOTHING] * len(tests)
    return row.near(found, _Reaction(none, none, 0.0))
