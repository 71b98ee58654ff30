"""The equation of motion of a step with forces at contacts that answer to the accelerations there.

    M a + h = tau - W a + sum J^T f,      f = f_0 - Z J a

with f_0 at a = 0. In the tree's form contacts are impedances of the articulated bodies, O(n); that takes contacts with
the world, and joints that are a tree's alone. In joint space it takes any,

    (M + W + J^T Z J) a = tau - h + J^T f_0

with the sparsity of the tree and of what contacts couple.

Source: Featherstone (2008), table 7.1 and section 6.5.
Cost: that of `aba`; or of the factors of M, and 4 d^2 a contact, d the degrees of freedom that move it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.spatial import ArticulatedInertia, Force, Motion, Scalar
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.implicit import (
    SHALLOW,
    Snapshot,
    add_impedance,
    closed_solution,
    implicit_dynamics,
    is_tree,
)
from cardan._dynamics.algorithms.linear import Rows, with_diagonal
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector, depth, supports
from cardan._motion.contact.point import Contact

Efforts = tuple[Vector, Vector]  # tau and W along v
SHARED = 3  # from so many contacts on it costs less to carry their impedances to the body first


class Response(NamedTuple):
    """A wrench at a contact that answers to the acceleration there: force - impedance J a."""

    force: Force
    impedance: ArticulatedInertia

    def at(self, acceleration: Motion) -> Force:
        """Return the wrench at an acceleration J a."""
        return self.force - self.impedance @ acceleration


class ContactChange(NamedTuple):
    """Accelerations: a of the joints, J a of the contacts."""

    a: list[Scalar]
    twists: list[Motion]


class Equation(ABC):
    """The equation of motion of a step of length dt, with what touches in it, or may."""

    def __init__(self, moment: Snapshot, contacts: Sequence[Contact], dt: float) -> None:
        self.moment, self.contacts, self.dt = moment, contacts, dt

    def carrying(self) -> set[int]:
        """Return the indices in v of the joints that carry a contact."""
        model = self.moment.model
        nodes = {node for contact in self.contacts for node in contact.nodes}
        return {j for node in nodes for i in supports(model, node) for j in model.nodes[i].v}

    @abstractmethod
    def solve(self, efforts: Efforts, responses: Sequence[Response]) -> ContactChange: ...


class TreeEquation(Equation):
    """In the articulated bodies of a tree, of which some touch the world: contacts are in the axes of their nodes."""

    def solve(self, efforts: Efforts, responses: Sequence[Response]) -> ContactChange:
        forces, impedances = [], []
        for contact, (force, Z) in zip(self.contacts, responses, strict=True):
            forces.append((contact.a, contact.place @ force))
            impedances.append((contact.a, contact.place @ Z))
        found = implicit_dynamics(self.moment, *efforts, forces, impedances, self.dt)
        return ContactChange(found.a, [contact.place.inverse_act(found.dA[contact.a]) for contact in self.contacts])


class JointEquation(Equation):
    """In joint space, for any contacts."""

    def __init__(self, moment: Snapshot, contacts: Sequence[Contact], dt: float) -> None:
        super().__init__(moment, contacts, dt)
        model, q, v = moment.model, moment.q, moment.v
        self.M, self.h = mass_matrix.kernel(model, q), bias_forces.kernel(model, q, v)
        self.J = [contact.columns() for contact in contacts]
        self.groups = _by_nodes(contacts)

    def solve(self, efforts: Efforts, responses: Sequence[Response]) -> ContactChange:
        """Return the accelerations; without responses, those of what touches nothing."""
        tau, W = efforts
        A, b = with_diagonal(self.M, W), [t - h for t, h in zip(tau, self.h, strict=True)]
        self.add_responses(A, b, responses)
        return self.change(closed_solution(self.moment, A, b, self.dt))

    def add_responses(self, A: Rows, b: list[Scalar], responses: Sequence[Response]) -> None:
        """Add J^T Z J to A and J^T f_0 to b; nothing without responses."""
        for group in self.groups if responses else ():
            J, force, Z = self._response(group, responses)
            for j, column in J.items():
                b[j] = b[j] + force.dot(column)
            add_impedance(A, J, Z)

    def _response(
        self, group: Sequence[int], responses: Sequence[Response]
    ) -> tuple[dict[int, Motion], Force, ArticulatedInertia]:
        """Return J, the wrench at a = 0 and Z of contacts between the same bodies: at the point, or all at the node."""
        if len(group) < SHARED:
            return self.J[group[0]], responses[group[0]].force, responses[group[0]].impedance
        force, Z = (self.contacts[group[0]].place @ part for part in responses[group[0]])
        for k in group[1:]:
            place = self.contacts[k].place
            force, Z = force + place @ responses[k].force, Z + place @ responses[k].impedance
        return self.contacts[group[0]].node_columns, force, Z

    def change(self, a: Vector) -> ContactChange:
        twists = (sum((column * a[j] for j, column in J.items()), Motion.zero()) for J in self.J)
        return ContactChange(list(a), list(twists))


def _by_nodes(contacts: Sequence[Contact]) -> list[list[int]]:
    """Return the indices of contacts that are added at once: all between two bodies if they are many, else each."""
    found: dict[tuple[int, int], list[int]] = {}
    for k, contact in enumerate(contacts):
        found.setdefault(contact.nodes, []).append(k)
    return [part for group in found.values() for part in ([group] if len(group) >= SHARED else [[k] for k in group])]


def equation_of_motion(moment: Snapshot, contacts: Sequence[Contact], dt: float, passes: int = 1) -> Equation:
    """Return the equation in the form that takes the contacts, or if both do, in the one of fewer operations."""
    model = moment.model
    in_tree = is_tree(model) and all(contact.is_with_world for contact in contacts)
    shallow = passes > 1 and max((depth(model, contact.a) for contact in contacts), default=0) <= SHALLOW
    if in_tree and not shallow:
        return TreeEquation(moment, contacts, dt)
    return JointEquation(moment, [contact.in_tree() for contact in contacts], dt)
