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
from itertools import groupby
from typing import Any, NamedTuple

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
from cardan._dynamics.algorithms.linear import Rows, dot, with_diagonal
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


class Patch(NamedTuple):
    """Contacts that answer together: a single one at its point, several of one pair at the origin of their node."""

    contacts: tuple[Contact, ...]
    nearness: Scalar | None  # as of `ContactsOfPair`; of a single contact None: it is always looked at

    @property
    def is_single(self) -> bool:
        return self.nearness is None

    @property
    def first(self) -> Contact:
        return self.contacts[0]

    def columns(self) -> dict[int, Motion]:
        """Return the columns of the Jacobian that are not zero, by the index in v, where the patch answers."""
        return self.first.columns() if self.is_single else self.first.node_columns

    def at_node(self, quantity: Any) -> Any:
        """Return a wrench or an impedance of the patch at the origin of its node."""
        return self.first.place @ quantity if self.is_single else quantity


def patches_of(contacts: Sequence[Contact]) -> list[Patch]:
    """Return contacts as patches, in order: those of a pair that may be far are one."""
    alike = groupby(enumerate(contacts), key=lambda item: item[0] if item[1].nearness is None else -id(item[1].pair))
    found = [tuple(contact for _, contact in group) for _, group in alike]
    return [Patch(own, own[0].nearness) for own in found]


def singles(contacts: Sequence[Contact]) -> list[Patch]:
    """Return each contact as a patch of its own, always looked at."""
    return [Patch((contact,), None) for contact in contacts]


class Equation(ABC):
    """The equation of motion of a step of length dt, with what touches in it, or may."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], dt: float) -> None:
        self.moment, self.patches, self.dt = moment, patches, dt

    @property
    def contacts(self) -> list[Contact]:
        return [contact for patch in self.patches for contact in patch.contacts]

    def carrying(self) -> set[int]:
        """Return the indices in v of the joints that carry a contact."""
        model = self.moment.model
        nodes = {node for contact in self.contacts for node in contact.nodes}
        return {j for node in nodes for i in supports(model, node) for j in model.nodes[i].v}

    @abstractmethod
    def solve(self, efforts: Efforts, responses: Sequence[Response]) -> ContactChange: ...

    @abstractmethod
    def changes(self, a: Vector) -> list[Motion]:
        """Return J a of the patches, where they answer."""

    @abstractmethod
    def quadratic(self, a: Vector) -> Scalar:
        """Return a . M a."""


class TreeEquation(Equation):
    """In the articulated bodies of a tree, of which some touch the world: contacts are in the axes of their nodes."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], dt: float) -> None:
        super().__init__(moment, patches, dt)
        _ = moment.p  # before the loops: what is first asked for in one that may be skipped is not there behind it

    def solve(self, efforts: Efforts, responses: Sequence[Response]) -> ContactChange:
        forces, impedances = [], []
        for patch, (force, Z) in zip(self.patches, responses, strict=True):
            forces.append((patch.first.a, patch.at_node(force)))
            impedances.append((patch.first.a, patch.at_node(Z)))
        found = implicit_dynamics(self.moment, *efforts, forces, impedances, self.dt)
        return ContactChange(found.a, self._of_patches(found.dA))

    def changes(self, a: Vector) -> list[Motion]:
        return self._of_patches(self.moment.changes(a))

    def quadratic(self, a: Vector) -> Scalar:
        nodes = self.moment.model.nodes
        bodies = sum((dA.dot(n.inertia @ dA) for n, dA in zip(nodes, self.moment.changes(a), strict=True)), 0.0)
        return sum((x * a[j] * a[j] for n in nodes for j, x in zip(n.v, n.armature, strict=True)), bodies)

    def _of_patches(self, of_nodes: Sequence[Motion]) -> list[Motion]:
        at = ((patch, of_nodes[patch.first.a]) for patch in self.patches)
        return [patch.first.place.inverse_act(dA) if patch.is_single else dA for patch, dA in at]


class JointEquation(Equation):
    """In joint space, for any contacts."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], dt: float) -> None:
        super().__init__(moment, patches, dt)
        model, q, v = moment.model, moment.q, moment.v
        self.M, self.h = mass_matrix.kernel(model, q), bias_forces.kernel(model, q, v)
        self.J = [patch.columns() for patch in patches]
        self.groups = _by_nodes(patches)

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
        """Return J, the wrench at a = 0 and Z of patches between the same bodies: where one answers, or at the node."""
        first = self.patches[group[0]]
        if len(group) == 1:
            return self.J[group[0]], responses[group[0]].force, responses[group[0]].impedance
        force, Z = (first.at_node(part) for part in responses[group[0]])
        for k in group[1:]:
            force, Z = (a + self.patches[k].at_node(b) for a, b in zip((force, Z), responses[k], strict=True))
        return first.first.node_columns, force, Z

    def change(self, a: Vector) -> ContactChange:
        return ContactChange(list(a), self.changes(a))

    def quadratic(self, a: Vector) -> Scalar:
        return sum((x * y for x, y in zip(a, (dot(row, a) for row in self.M), strict=True)), 0.0)

    def changes(self, a: Vector) -> list[Motion]:
        return [sum((column * a[j] for j, column in J.items()), Motion.zero()) for J in self.J]


def _by_nodes(patches: Sequence[Patch]) -> list[list[int]]:
    """Return the indices of patches that are added at once: all between two bodies if they are many, else each."""
    found: dict[tuple[int, int], list[int]] = {}
    for k, patch in enumerate(patches):
        found.setdefault(patch.first.nodes, []).append(k)
    parts = []
    for group in found.values():
        count = sum(len(patches[k].contacts) for k in group)
        parts += [group] if count >= SHARED else [[k] for k in group]
    return parts


def equation_of_motion(
    moment: Snapshot, contacts: Sequence[Contact], dt: float, passes: int = 1, grouped: bool = False
) -> Equation:
    """Return the equation in the form that takes the contacts, or if both do, in the one of fewer operations.

    If they are grouped, contacts of one pair answer together.
    """
    model = moment.model
    in_tree = is_tree(model) and all(contact.is_with_world for contact in contacts)
    shallow = passes > 1 and max((depth(model, contact.a) for contact in contacts), default=0) <= SHALLOW
    of = patches_of if grouped else singles
    if in_tree and not shallow:
        return TreeEquation(moment, of(contacts), dt)
    return JointEquation(moment, of([contact.in_tree() for contact in contacts]), dt)
