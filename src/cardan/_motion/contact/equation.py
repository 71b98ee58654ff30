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
from itertools import count, groupby
from numbers import Real
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import only_where
from cardan._algebra.arrays.sums import Sums
from cardan._algebra.arrays.symbolic import entries_of, rebuilt
from cardan._algebra.scalar import is_zero, maximum, where
from cardan._algebra.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3
from cardan._dynamics.algorithms.aba import borne_by_bodies, is_tree
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.implicit import Snapshot, add_impedance, closed_solution, implicit_dynamics
from cardan._dynamics.algorithms.linear import Armature, Rows, dot, plus
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


NO_RESPONSE = Response(
    Force.zero(), ArticulatedInertia(Symmetric3.isotropic(0.0), Matrix3.zero(), Symmetric3.isotropic(0.0))
)


def response_of(sums: Sums) -> Response:
    return rebuilt(NO_RESPONSE, map(sums.__getitem__, count()))


class Patch(NamedTuple):
    """Contacts that answer together: a single one at its point, several of one pair at the origin of their node."""

    contacts: tuple[Contact, ...]
    nearness: Scalar | None  # as of `ContactsOfPair`; of a single contact None: it is always looked at

    @property
    def is_single(self) -> bool:
        return self.nearness is None

    @property
    def is_near(self) -> Any:
        """Whether it may touch; None of one that is always looked at."""
        return None if self.nearness is None else self.nearness > 0.0

    @property
    def first(self) -> Contact:
        return self.contacts[0]

    def columns(self) -> dict[int, Motion]:
        """Return the columns of the Jacobian that are not zero, by the index in v, where the patch answers."""
        return self.first.columns() if self.is_single else self.first.node_columns

    def at_node(self, response: Response) -> Response:
        """Return a response of the patch as that at the origin of its node."""
        place = self.first.place
        return Response(place @ response.force, place @ response.impedance) if self.is_single else response


def patches_of(contacts: Sequence[Contact]) -> list[Patch]:
    """Return contacts as patches, in order: those that may be far together are one."""
    alike = groupby(enumerate(contacts), key=lambda item: item[0] if item[1].nearness is None else -id(item[1].pair))
    found = [tuple(contact for _, contact in group) for _, group in alike]
    return [Patch(own, own[0].nearness) for own in found]


class Group(NamedTuple):
    """Patches that are added at once, by their numbers: several between two bodies, or one."""

    patches: list[int]
    is_near: Any  # whether one of them is; None if one of them is always looked at


class Equation(ABC):
    """The equation of motion of a step of length dt, with what touches in it, or may."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], dt: float) -> None:
        self.moment, self.patches, self.dt = moment, patches, dt
        self.groups = _by_nodes(patches)
        # before the regions: what is first asked for in one that may be skipped is not there behind it
        _ = moment.p, moment.V, moment.poses, [patch.is_near for patch in patches]

    @property
    def contacts(self) -> list[Contact]:
        return [contact for patch in self.patches for contact in patch.contacts]

    def over_groups(self, body: Callable[[Group], Any]) -> list[Any]:
        """Return what a body makes of each group; it is defined where one of its patches is near."""
        return [_only_near(group.is_near, lambda own=group: body(own)) for group in self.groups]

    def over_patches(self, group: Group, body: Callable[[int], Any]) -> list[Any]:
        """Return what a body makes of each patch of a group, by its number; it is defined where that is near."""
        if len(group.patches) == 1:
            return [body(group.patches[0])]
        return [_only_near(self.patches[k].is_near, lambda k=k: body(k)) for k in group.patches]

    def of_each_patch(self, body: Callable[[int], Any]) -> list[Any]:
        """Return what a body makes of each patch, by its number; it is defined where that is near."""

        def of_group(group: Group) -> list[Any]:
            _ = self.patches[group.patches[0]].first.node_velocity  # before the patches, which have it in common
            return self.over_patches(group, body)

        return self.of_patches(self.over_groups(of_group))

    def of_patches(self, of_groups: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what groups have of their patches, in the order of patches."""
        numbered = zip(self.groups, of_groups, strict=True)
        found = {k: own for group, parts in numbered for k, own in zip(group.patches, parts, strict=True)}
        return [found[k] for k in range(len(self.patches))]

    def everywhere(self, of_patches: Sequence[Any], otherwise: float = 0.0) -> list[Any]:
        """Return what patches have, with a number where they are far; what is known is there anyway."""

        def of(group: Group) -> list[Any]:
            return [or_number(self.patches[k].is_near, of_patches[k], otherwise) for k in group.patches]

        found = zip(self.groups, self.over_groups(of), strict=True)
        return self.of_patches([or_number(group.is_near, own, otherwise) for group, own in found])

    def together(self, added: Any, responses: Sequence[Response]) -> Any:
        """Add what patches add that are always looked at, by their responses, and return all."""
        for group in self.groups:
            for k in group.patches:
                added.respond(group, k, responses[k])
            added.finish(group)
        return added

    @abstractmethod
    def without_contacts(self, efforts: Efforts) -> Any:
        """Return the equation as it is before contacts add to it by `respond` and `finish`: `OnNodes` or `OnJoints`."""

    @abstractmethod
    def solve(self, added: Any) -> tuple[list[Scalar], Changes]:
        """Return the accelerations a, and what returns J a of a patch, with what contacts have added."""

    @abstractmethod
    def changes(self, a: Vector) -> Changes:
        """Return what returns J a of a patch, where it answers."""

    @abstractmethod
    def quadratic(self, a: Vector) -> Scalar:
        """Return a . M a."""


class OnNodes:
    """Forces that act on nodes at a = 0, and what their inertia is felt as."""

    def __init__(self, moment: Snapshot, patches: Sequence[Patch], efforts: Efforts) -> None:
        self.patches, self.efforts = patches, efforts
        both = zip(moment.p, moment.model.nodes, strict=True)
        alone = [Response(-p, node.inertia.articulated()) for p, node in both]
        self.felt = [Sums(dict(enumerate(entries_of(own)))) for own in alone]

    def respond(self, group: Group, k: int, response: Response) -> None:
        """Add the response of a patch of a group, where the patch is near."""
        patch = self.patches[k]
        self.felt[patch.first.a].add(enumerate(entries_of(patch.at_node(response))), patch.is_near)

    def finish(self, group: Group) -> None:
        """Patches have added all."""


class TreeEquation(Equation):
    """In the articulated bodies of a tree, of which some touch the world: contacts are in the axes of their nodes."""

    def without_contacts(self, efforts: Efforts) -> OnNodes:
        return OnNodes(self.moment, self.patches, efforts)

    def solve(self, added: OnNodes) -> tuple[list[Scalar], Changes]:
        moment, (tau, W) = self.moment, added.efforts
        if not self.patches:
            found = implicit_dynamics(moment, tau, W)
        else:
            felt, touched = [response_of(own) for own in added.felt], {patch.first.a for patch in self.patches}
            p = [-own.force for own in felt]
            found = borne_by_bodies(
                moment.model,
                moment.relative,
                p,
                tau,
                W,
                lambda node: felt[node.index].impedance if node.index in touched else node.inertia,
            )
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
        model, q = moment.model, moment.q
        self.M, self.h = mass_matrix.kernel(model, q), bias_forces.kernel(model, q, moment.coriolis_of)
        self.J: list[dict[int, Motion]] = self.of_patches([self._columns(group) for group in self.groups])

    def _columns(self, group: Group) -> list[dict[int, Motion]]:
        """Return J of a group's patches, where they answer: worked out once, where the group is near."""
        patches, along = [self.patches[k] for k in group.patches], list[int]()

        def found() -> list[list[Motion]]:
            along[:] = patches[0].first.node_columns
            return [list(own.values()) for own in (patches[0].first.node_columns, *(p.columns() for p in patches))]

        at_node, *of_patches = _only_near(group.is_near, found)
        for contact in (contact for patch in patches for contact in patch.contacts):
            contact.node_columns = dict(zip(along, at_node, strict=True))
        return [dict(zip(along, own, strict=True)) for own in of_patches]

    def without_contacts(self, efforts: Efforts) -> OnJoints:
        tau, W = efforts
        return OnJoints(self, plus(self.M, W), [t - h for t, h in zip(tau, self.h, strict=True)])

    def columns(self, group: Group) -> dict[int, Motion]:
        """Return J where one patch answers, or at the node."""
        first = group.patches[0]
        columns = self.J[first] if len(group.patches) == 1 else self.patches[first].first.node_columns
        return dict(sorted(columns.items()))  # those of a base last in products: they are nearly numbers

    def solve(self, added: OnJoints) -> tuple[list[Scalar], Changes]:
        a = list(closed_solution(self.moment, added.A, added.b, self.dt))
        return a, self.changes(a)

    def quadratic(self, a: Vector) -> Scalar:
        return sum((x * y for x, y in zip(a, (dot(row, a) for row in self.M), strict=True)), 0.0)

    def changes(self, a: Vector) -> Changes:
        return lambda k: sum((column * a[j] for j, column in self.J[k].items()), Motion.zero())


class OnJoints:
    """The equation A a = b along v."""

    def __init__(self, equation: JointEquation, A: Rows, b: Sequence[Scalar]) -> None:
        self.equation, self.size = equation, len(b)
        self.felt = defaultdict[int, Sums](Sums)  # by the first patch of each group, where it answers
        self.efforts = Sums(dict(enumerate(b)))
        self.rows = Sums({(j, i): e for j, row in enumerate(A) for i, e in enumerate(row[: j + 1]) if not is_zero(e)})

    def respond(self, group: Group, k: int, response: Response) -> None:
        own, patch = self.felt[group.patches[0]], self.equation.patches[k]
        alone = len(group.patches) == 1  # then it is near where the group is, which answers where the patch does
        own.add(enumerate(entries_of(response if alone else patch.at_node(response))), None if alone else patch.is_near)

    def finish(self, group: Group) -> None:
        """Add what a group's patches do together, where the group is near."""
        (force, Z), columns = response_of(self.felt[group.patches[0]]), self.equation.columns(group)
        A: Rows = [[0.0] * len(columns) for _ in columns]
        add_impedance(A, dict(enumerate(columns.values())), Z)
        self.efforts.add(((j, force.dot(column)) for j, column in columns.items()), group.is_near)
        for j, row in zip(columns, A, strict=True):
            own = ((j, i) for i in columns)
            self.rows.add(((key, Z) for key, Z in zip(own, row, strict=True) if key[1] <= j), group.is_near)

    @property
    def A(self) -> Rows:
        """M + W + J^T Z J."""
        n = range(self.size)
        return [[self.rows[max(i, j), min(i, j)] for i in n] for j in n]

    @property
    def b(self) -> list[Scalar]:
        """Tau - h + J^T f_0."""
        return [self.efforts[j] for j in range(self.size)]


def or_number(is_near: Any, found: Any, otherwise: float = 0.0) -> Any:
    """Return what is found of what may touch, and a number for what is not known of what is far."""
    if is_near is None:
        return found
    entries = (e if e is None or isinstance(e, Real) else where(is_near, e, otherwise) for e in entries_of(found))
    return rebuilt(found, entries)


def _only_near(is_near: Any, body: Callable[[], Any]) -> Any:
    """Return what a body makes of what may touch; of what is far it is undefined."""
    return body() if is_near is None else only_where(is_near, body)


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
