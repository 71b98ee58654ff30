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
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import is_zero, maximum, sqrt
from cardan._algebra.spatial import SE3, Force, Motion, Scalar
from cardan._dynamics.algorithms.drives import JointForces, Lines
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import FrictionCone, Impulse, Part
from cardan._motion.contact.equation import (
    NO_RESPONSE,
    Changes,
    Equation,
    Group,
    Patch,
    Response,
    or_number,
)

NOTHING = Impulse(0.0, Force.zero())

Tests = Sequence[Impulse]  # z of the contacts of a patch (`cone`)


class Decision(NamedTuple):
    """What decides on which parts of their laws forces are; tests of a patch are defined where it is near."""

    efforts: Vector  # held by the elements of the joints
    tests: list[Tests]  # of each patch


class Estimate(NamedTuple):
    """Accelerations that obey the equation of motion, with forces on the parts of their laws that were decided on."""

    a: Vector  # of the joints
    residual: Scalar  # by how much velocities are wrong, at most [m/s, rad/s]
    of_joints: Scalar  # the same of joints alone, beyond rounding
    efforts: Vector  # held by the elements of the joints
    lifts: Vector  # of the laws it was found with, as of a `Problem`


class Row(NamedTuple):
    """A patch (`equation`) as numbers alone: its contacts' laws, velocities at a = 0, and places in its node.

    They are defined where it is near.
    """

    laws: list[FrictionCone]
    ahead: list[Motion]
    places: list[SE3] | None  # None of a single contact: it answers where it is
    nearness: Scalar | None  # of several: by how much they are nearer than what need not be looked at

    @staticmethod
    def of(patch: Patch, dt: float) -> Row:
        contacts = patch.contacts
        places = None if patch.is_single else [contact.place for contact in contacts]
        ahead = [contact.ahead(dt) for contact in contacts]
        return Row([FrictionCone.of(contact, dt) for contact in contacts], ahead, places, patch.nearness)

    def lifting(self, lifts: Vector) -> Row:
        """Return the row with laws that are convex or Coulomb's, as a `Problem` says."""
        return self._replace(laws=[law._replace(lifts=e) for law in self.laws for e in lifts]) if lifts else self

    @property
    def kind(self) -> Any:
        """What rows that share a block have in common."""
        lengths = [(is_zero(law.torsional), is_zero(law.rolling)) for law in self.laws]
        laws = [(law.has_friction, law.narrow is None, *own) for law, own in zip(self.laws, lengths, strict=True)]
        return (self.places is None, *laws)

    def accelerations(self, change: Motion) -> list[Motion]:
        """Return J a of the contacts, from that of the patch."""
        return [change] if self.places is None else [place.inverse_act(change) for place in self.places]

    def twists(self, change: Motion, dt: float) -> list[Motion]:
        """Return the velocities of the contacts at the step's end, from the patch's acceleration."""
        return [v + A * dt for v, A in zip(self.ahead, self.accelerations(change), strict=True)]

    def response(self, parts: Sequence[Part], dt: float) -> Response:
        """Return what the contacts do together, on parts of their laws."""
        force, Z = NO_RESPONSE
        for k, (law, ahead, part) in enumerate(zip(self.laws, self.ahead, parts, strict=True)):
            wrench, impedance = law.wrench(part.at(ahead)) * (1.0 / dt), part.impedance
            if self.places is None:
                return Response(wrench, impedance)
            force, Z = force + self.places[k] @ wrench, Z + self.places[k] @ impedance
        return Response(force, Z)

    def near(self, found: Callable[[], Any], otherwise: Any) -> Any:
        """Return what is found of a patch that may touch, and something else of one that is far."""
        return found() if self.nearness is None else when(self.nearness > 0.0, found, otherwise)


class _Reaction(NamedTuple):
    """What a change of velocity does to the contacts of a patch, or of a group: their tests."""

    tests: Any
    squared_error: Scalar


@dataclass(frozen=True, slots=True)
class Problem:
    """The equation of motion with what its forces shall obey."""

    equation: Equation
    elements: JointForces
    rows: Sequence[Row]
    first: list[Tests]  # of patches, at their present velocities
    lifts: Vector  # one of all laws (`cone`), as long as they are Coulomb's 0; none of those that are convex

    @staticmethod
    def of(equation: Equation, elements: JointForces, lifts: Vector = ()) -> Problem:
        found = equation.of_each_patch(lambda k: _row_and_tests(equation.patches[k], equation.dt, lifts))
        rows = [row._replace(nearness=patch.nearness) for (row, _), patch in zip(found, equation.patches, strict=True)]
        return Problem(equation, elements, rows, [tests for _, tests in found], lifts)

    def start(self) -> tuple[Decision, Estimate]:
        """Return what keeps the velocities as they are."""
        still = [0.0] * self.equation.moment.model.nv
        efforts = self.elements.at(still)
        nothing = Estimate(still, 1.0, 1.0, efforts, self.lifts)
        return Decision(efforts, self.first), nothing

    def solved(self, decided: Callable[[int], Tests], lines: Lines) -> tuple[list[Tests], Decision, Estimate]:
        """Return the solution with all forces on the parts of their laws that are decided on, and the next decision.

        `decided` gives the tests of a patch, and is asked where that is near; they are returned first.
        """
        equation = self.equation
        added = equation.without_contacts(self.elements.total(lines))
        acting = equation.over_groups(lambda group: self._acting(group, decided, added))
        a, changes = equation.solve(added)
        held = equation.of_patches([[tests for tests, _ in own] for own in acting])
        parts = equation.of_patches([[parts for _, parts in own] for own in acting])
        reactions: list[_Reaction] = equation.over_groups(lambda group: self._reaction(group, parts, changes))
        errors = [
            or_number(group.is_near, own.squared_error) for group, own in zip(equation.groups, reactions, strict=True)
        ]
        efforts = self.elements.on(lines, a)
        of_joints = self.elements.residual(efforts, a)
        residual = maximum(of_joints, sqrt(reduce(maximum, errors, 0.0)))
        tests = equation.of_patches([reaction.tests for reaction in reactions])
        return held, Decision(efforts, tests), Estimate(a, residual, of_joints, efforts, self.lifts)

    def impulses(self, decided: Callable[[int], Tests], a: Vector, lifts: Vector = ()) -> list[Impulse]:
        """Return the impulses of contacts at accelerations, on the parts of their laws that are decided on."""
        changes, dt = self.equation.changes(a), self.equation.dt

        def of(k: int) -> list[Impulse]:
            row = self.rows[k].lifting(lifts)
            acting = zip(row.laws, decided(k), row.twists(changes(k), dt), strict=True)
            return [law.part(z).at(twist) for law, z, twist in acting]

        return [g for own in self.equation.everywhere(self.equation.of_each_patch(of)) for g in own]

    def _acting(self, group: Group, decided: Callable[[int], Tests], added: Any) -> list[Any]:
        """Return the tests of a group's patches, with the parts of laws they decide on, and add what they do."""

        def of(k: int) -> tuple[Tests, list[Part]]:
            row, tests = self.rows[k].lifting(self.lifts), decided(k)
            parts = [law.part(z) for law, z in zip(row.laws, tests, strict=True)]
            added.respond(group, k, row.response(parts, self.equation.dt))
            return tests, parts

        found = self.equation.over_patches(group, of)
        added.finish(group)
        return found

    def _reaction(self, group: Group, parts: Sequence[Sequence[Part]], changes: Changes) -> _Reaction:
        """Return what the contacts of a group feel, on the parts of their laws that they were on."""
        of_patches = {k: changes(k) for k in group.patches}  # before the patches: those of one node have it in common

        def of(k: int) -> _Reaction:
            found, worst = [], 0.0
            row = self.rows[k].lifting(self.lifts)
            for law, part, twist in zip(row.laws, parts[k], row.twists(of_patches[k], self.equation.dt), strict=True):
                g = part.at(twist)
                test = law.test(g, twist)
                found, worst = [*found, test], maximum(worst, law.squared_error(g, test))
            return _Reaction(found, worst)

        reactions = self.equation.over_patches(group, of)
        errors = [own.squared_error for own in reactions]
        if len(errors) > 1:
            near = (self.equation.patches[k].is_near for k in group.patches)
            errors = [or_number(*both) for both in zip(near, errors, strict=True)]
        return _Reaction([own.tests for own in reactions], reduce(maximum, errors))


def _row_and_tests(patch: Patch, dt: float, lifts: Vector) -> tuple[Row, Tests]:
    """Return a patch's row, and the tests at its present velocities."""
    row = Row.of(patch, dt)
    both = [(law, c.velocity) for law, c in zip(row.lifting(lifts).laws, patch.contacts, strict=True)]
    return row, [law.test(law.first(velocity), velocity) for law, velocity in both]
