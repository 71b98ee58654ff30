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
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import groupby, starmap
from operator import add
from typing import Any, NamedTuple

from cardan._algebra.arrays.nested import entries_of, rebuilt
from cardan._algebra.scalar import maximum, where
from cardan._algebra.spatial import ArticulatedInertia, Force, Motion, Scalar
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.implicit import Snapshot, add_impedance, closed_solution, implicit_dynamics, is_tree
from cardan._dynamics.algorithms.linear import Armature, Rows, diagonal, dot, plus
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.point import Contact

Efforts = tuple[Vector, Armature]  # tau and W along v
# What returns J a of a patch, by its number: it may be asked where what is far is skipped.
Changes = Callable[[int], Motion]
SHARED = 3  # from so many contacts on it costs less to carry their impedances to the body first


class Response(NamedTuple):
    """A wrench at a contact that answers to the acceleration there: force - impedance J a."""

    force: Force
    impedance: ArticulatedInertia

    def at(self, acceleration: Motion) -> Force:
        """Return the wrench at an acceleration J a."""
        return self.force - self.impedance @ acceleration


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
    """Return contacts as patches, in order: those that may be far together are one."""
    alike = groupby(enumerate(contacts), key=lambda item: item[0] if item[1].nearness is None else -id(item[1].pair))
    found = [tuple(contact for _, contact in group) for _, group in alike]
    return [Patch(own, own[0].nearness) for own in found]


class Group(NamedTuple):
    """Patches that are added at once, by their numbers: several between two bodies, or one."""

    patches: list[int]
    is_near: Any  # whether one of them is; None if one of them is always looked at


Contribution = Any
"""What a group adds to the equation of motion where it is near: numbers, nested as its form wants them."""


class Equation(ABC):
    """The equation of motion of a step of length dt, with what touches in it, or may."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], dt: float) -> None:
        self.moment, self.patches, self.dt = moment, patches, dt
        self.groups = _by_nodes(patches)
        # before the regions: what is first asked for in one that may be skipped is not there behind it
        _ = moment.p, moment.V, moment.poses

    @property
    def contacts(self) -> list[Contact]:
        return [contact for patch in self.patches for contact in patch.contacts]

    def together(self, responses: Sequence[Response]) -> list[Contribution]:
        """Return the contributions of all groups, by the responses of their patches."""
        return [self.contribution(group, [responses[k] for k in group.patches]) for group in self.groups]

    @abstractmethod
    def contribution(self, group: Group, responses: Sequence[Response]) -> Contribution: ...

    @abstractmethod
    def solve(self, efforts: Efforts, contributions: Sequence[Contribution]) -> tuple[list[Scalar], Changes]:
        """Return the accelerations a, and what returns J a of a patch; without contributions, if nothing touches."""

    @abstractmethod
    def changes(self, a: Vector) -> Changes:
        """Return what returns J a of a patch, where it answers."""

    @abstractmethod
    def quadratic(self, a: Vector) -> Scalar:
        """Return a . M a."""

    def _summed(self, group: Group, responses: Sequence[Response]) -> tuple[Force, ArticulatedInertia]:
        """Return the wrench at a = 0 and Z of a group at its node."""
        both = list(zip((self.patches[k] for k in group.patches), responses, strict=True))
        wrenches = [patch.at_node(own.force) for patch, own in both]
        impedances = [patch.at_node(own.impedance) for patch, own in both]
        return reduce(add, wrenches), reduce(add, impedances)


class TreeEquation(Equation):
    """In the articulated bodies of a tree, of which some touch the world: contacts are in the axes of their nodes."""

    def contribution(self, group: Group, responses: Sequence[Response]) -> Contribution:
        return self._summed(group, responses)

    def solve(self, efforts: Efforts, contributions: Sequence[Contribution]) -> tuple[list[Scalar], Changes]:
        both = zip(self.groups, contributions, strict=False)
        near = [(self.patches[group.patches[0]].first.a, or_zeros(group.is_near, own)) for group, own in both]
        forces, impedances = ([(i, own[k]) for i, own in near] for k in (0, 1))
        tau, W = efforts
        found = implicit_dynamics(self.moment, tau, diagonal(W), forces, impedances, self.dt)
        return list(found.a), self._of_patches(found.dA)

    def changes(self, a: Vector) -> Changes:
        return self._of_patches(self.moment.changes(a))

    def quadratic(self, a: Vector) -> Scalar:
        nodes = self.moment.model.nodes
        bodies = sum((dA.dot(n.inertia @ dA) for n, dA in zip(nodes, self.moment.changes(a), strict=True)), 0.0)
        return sum((x * a[j] * a[j] for n in nodes for j, x in zip(n.v, n.armature, strict=True)), bodies)

    def _of_patches(self, of_nodes: Sequence[Motion]) -> Changes:
        def of(k: int) -> Motion:
            patch = self.patches[k]
            dA = of_nodes[patch.first.a]
            return patch.first.place.inverse_act(dA) if patch.is_single else dA

        return of


class JointEquation(Equation):
    """In joint space, for any contacts."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], dt: float) -> None:
        super().__init__(moment, patches, dt)
        model, q, v = moment.model, moment.q, moment.v
        self.M, self.h = mass_matrix.kernel(model, q), bias_forces.kernel(model, q, v)
        self.J = [patch.columns() for patch in patches]

    def contribution(self, group: Group, responses: Sequence[Response]) -> Contribution:
        """Return J^T f_0 and J^T Z J, along those of v that move the group."""
        columns = list(self._columns(group).values())
        force, Z = responses[0] if len(group.patches) == 1 else self._summed(group, responses)
        A: Rows = [[0.0] * len(columns) for _ in columns]
        add_impedance(A, dict(enumerate(columns)), Z)
        return [force.dot(column) for column in columns], [row[: k + 1] for k, row in enumerate(A)]

    def _columns(self, group: Group) -> dict[int, Motion]:
        """Return J where one patch answers, or at the node."""
        first = group.patches[0]
        columns = self.J[first] if len(group.patches) == 1 else self.patches[first].first.node_columns
        return dict(sorted(columns.items()))  # those of a base last in products: they are nearly numbers

    def solve(self, efforts: Efforts, contributions: Sequence[Contribution]) -> tuple[list[Scalar], Changes]:
        tau, W = efforts
        A, b = plus(self.M, W), [t - h for t, h in zip(tau, self.h, strict=True)]
        self.add(A, b, contributions)
        a = list(closed_solution(self.moment, A, b, self.dt))
        return a, self.changes(a)

    def add(self, A: Rows, b: list[Scalar], contributions: Sequence[Contribution]) -> None:
        """Add J^T Z J to A and J^T f_0 to b, of what is near; nothing without contributions."""
        added = defaultdict[tuple[int, int], list[tuple[Any, Scalar]]](list)
        for group, (force, rows) in zip(self.groups, contributions, strict=False):
            own = list(self._columns(group))
            for j, f, row in zip(own, force, rows, strict=True):
                b[j] = b[j] + or_zeros(group.is_near, f)
                for i, Z in zip(own, row, strict=False):
                    added[j, i].append((group.is_near, Z))
        for (j, i), terms in added.items():  # what is chosen is added at once: it does not wait in memory
            A[j][i] = A[i][j] = reduce(add, starmap(or_zeros, terms), A[j][i])

    def quadratic(self, a: Vector) -> Scalar:
        return sum((x * y for x, y in zip(a, (dot(row, a) for row in self.M), strict=True)), 0.0)

    def changes(self, a: Vector) -> Changes:
        return lambda k: sum((column * a[j] for j, column in self.J[k].items()), Motion.zero())


def or_zeros(is_near: Any, found: Any) -> Any:
    """Return what is found of what may touch, and zeros of what is far."""
    return found if is_near is None else rebuilt(found, (where(is_near, e, 0.0) for e in entries_of(found)))


def _by_nodes(patches: Sequence[Patch]) -> list[Group]:
    """Return the patches that are added at once: all between two bodies if they are many, else each."""
    found: dict[tuple[int, int], list[int]] = {}
    for k, patch in enumerate(patches):
        found.setdefault(patch.first.nodes, []).append(k)
    parts: list[list[int]] = []
    for group in found.values():
        count = sum(len(patches[k].contacts) for k in group)
        parts += [group] if count >= SHARED else [[k] for k in group]
    return [Group(part, _is_one_near([patches[k].nearness for k in part])) for part in parts]


def _is_one_near(of_patches: Sequence[Scalar | None]) -> Any:
    known = [nearness for nearness in of_patches if nearness is not None]
    return reduce(maximum, known) > 0.0 if len(known) == len(of_patches) else None


def equation_of_motion(moment: Snapshot, contacts: Sequence[Contact], dt: float) -> Equation:
    """Return the equation in the form of the tree, if it takes the contacts; else in joint space."""
    if is_tree(moment.model) and all(contact.is_with_world for contact in contacts):
        return TreeEquation(moment, patches_of(contacts), dt)
    return JointEquation(moment, patches_of([contact.in_tree() for contact in contacts]), dt)
