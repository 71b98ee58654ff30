"""The minimum of the convex law as the solution of an equation, of which its derivatives are found.

    r(a) = M a + h - tau(a) - J^T g(V + dt J a) / dt = 0,        H = dr/da = M + W + J^T Z J

with every force on the part of its law that the minimum is on: efforts tau - W a (`drives`), impulses g = W (v* - v) on
a part of the cone (`cone`). The part is decided at the solution, and held. What it turns by does not matter: along an
edge the turn of t cancels between the force on the edge and its drag, and `drag` multiplies a slip that is 0. Second
derivatives need that turn: for them t is against the slip of a.

Where loops are closed, r has the forces K^T l of the closing joints, too, and K a + k = 0 goes with it (`closed`).

Source: the implicit function theorem (`arrays/implicit_function`), at the minimum of Castro, Permenter and Han (2022).
Cost: of a derivative, that of r's and one solution with the factors of H.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cardan._algebra.arrays.implicit_function import all_held, derivatives_taken, implicit
from cardan._algebra.spatial import ArticulatedInertia, Motion, Scalar
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.drives import JointForces
from cardan._dynamics.algorithms.implicit import NodeForces, Snapshot, accelerations_that_solve, add_impedance
from cardan._dynamics.algorithms.linear import Armature, Rows, plus
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import FrictionCone, Impulse, Part
from cardan._motion.contact.point import Contact


@dataclass
class AtMinimum:
    """The equation of a step with contacts in the axes of their nodes, at accelerations and impulses that solve it."""

    moment: Snapshot
    elements: JointForces
    contacts: Sequence[Contact]
    a: Vector
    impulses: Sequence[Impulse]  # in the axes of the contacts
    held: Vector  # by the elements of the joints
    dt: float

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of their laws that the contacts are on."""
        laws = [FrictionCone.of(contact, self.dt) for contact in self.contacts]
        found = zip(laws, all_held(self.impulses), self._twists(all_held(self.a)), strict=True)
        return [law.part(all_held(law.test(g, twist))) for law, g, twist in found]

    def _twists(self, a: Vector) -> list[Motion]:
        """Return the relative twists at the step's end."""
        dA = self.moment.changes(a)
        return [contact.ahead(self.dt) + contact.change(dA) * self.dt for contact in self.contacts]

    def impulses_at(self, a: Vector) -> list[Impulse]:
        found, is_twice = zip(self.parts, self._twists(a), strict=True), derivatives_taken(self.a) > 1
        return [(part.turned(twist) if is_twice else part).at(twist) for part, twist in found]

    def forces(self, a: Vector) -> NodeForces:
        found = zip(self.contacts, self.parts, self.impulses_at(a), strict=True)
        wrenches = [(contact, part.law.wrench(g) * (1.0 / self.dt)) for contact, part, g in found]
        return [on_node for contact, wrench in wrenches for on_node in contact.on_nodes(wrench)]

    @property
    def efforts(self) -> tuple[Vector, Armature]:
        """Tau and W along v."""
        return self.elements.total(self.elements.linear(all_held(self.held), all_held(self.a)))

    @property
    def H(self) -> Rows:
        found = plus(mass_matrix.kernel(self.moment.model, self.moment.q), self.efforts[1])
        impedances: dict[tuple[int, int], ArticulatedInertia] = {}
        for contact, part in zip(self.contacts, self.parts, strict=True):
            Z = contact.place @ part.impedance
            impedances[contact.nodes] = impedances[contact.nodes] + Z if contact.nodes in impedances else Z
        of_nodes = {contact.nodes: contact for contact in self.contacts}
        for nodes, Z in impedances.items():
            add_impedance(found, of_nodes[nodes].node_columns, Z)
        return found


def with_derivatives(at: AtMinimum) -> tuple[list[Scalar], list[Impulse]]:
    """Return the accelerations and impulses with their derivatives."""
    a = accelerations_that_solve(at, at.moment, at.dt)
    impulses = implicit(list(at.impulses), lambda g: _lacking(g, at.impulses_at(a)), lambda g, d: d)
    return a, impulses


def _lacking(impulses: Sequence[Impulse], wanted: Sequence[Impulse]) -> list[Scalar]:
    both = zip(impulses, wanted, strict=True)
    return [x - y for g, e in both for x, y in zip((g[0], *g[1].scalars()), (e[0], *e[1].scalars()), strict=True)]
