"""A library's conventions, and a model's vectors as it writes them, joint by joint, both ways.

What kind of joint one is follows from what it does: a user's hinge is a hinge in every library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cardan._algebra.errors import MechanismError, ParameterError
from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import SE3, Force, Representation, Scalar, Vector3, in_body, represented
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.coordinates.chart import Chart, Rule, follower, same
from cardan._dynamics.coordinates.other_coordinates import ChartedJoint, OtherCoordinates, compiled, rows_of
from cardan._robot import joints as J
from cardan._robot.joints import Joint, Revolute, UnboundedRevolute
from cardan._robot.joints.catalogue.of_another import Equipped, Follower
from cardan._robot.joints.joint import Scalars
from cardan._robot.joints.recognise import Hinge, hinge_of
from cardan._robot.model import Connection, Model
from cardan._robot.model.layout import aligned


@dataclass(frozen=True)
class _Unrolled(Joint):
    """A joint whose coordinate is a point on the circle, by the angle instead."""

    joint: Any
    manifold = Euclidean(1)

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(self.joint.manifold.from_angle(q[0]))


def kind_of(joint: Joint) -> type[Joint]:
    """Return the shipped joint whose coordinates these are up to where q = 0 is placed; its own type if none is."""
    if isinstance(joint.manifold, UnitComplex):
        return UnboundedRevolute if turn_of(joint) else type(joint)
    hinge = hinge_of(joint)
    return type(hinge.joint) if hinge else type(joint)


def turn_of(joint: Joint) -> Hinge | None:
    """Return the hinge, by its angle, that a joint is whose coordinate is a point on the circle; None for any other."""
    if not isinstance(joint.manifold, UnitComplex):
        return None
    hinge = hinge_of(_Unrolled(joint))
    return hinge if hinge and isinstance(hinge.joint, Revolute) else None


def is_free(joint: Joint) -> bool:
    """Return whether a joint leaves its child free and its velocity is the child's twist: S = 1."""
    if joint.nv != 6 or not joint.has_constant_motion_subspace:
        return False
    return [list(row) for row in joint.subspace(joint.neutral()).rows()] == identity_rows(6)


Kinds = tuple[type[J.Joint], ...]
ONE_AXIS: Kinds = (J.Revolute, J.Prismatic)
AXIS_BY_AXIS: Kinds = (J.Revolute, J.Prismatic, J.Universal, J.SphericalZYX, J.Translation, J.Cylindrical, J.D6)
"""Joints whose coordinates are those of slides and hinges in a row."""
PLANAR: Kinds = (J.Planar, J.PlanarAngle)
FREE: Kinds = (J.FreeFlyer, J.FloatingMRP)


@dataclass(frozen=True)
class WrenchForm:
    """How a wrench on a body is written there.

    It is taken about the body's origin, its centre of mass, or the origin of its joint's child frame; along the body's
    axes (about a joint, its child frame's) or the world's, and in `"inertial"` about the world's origin.
    """

    point: Literal["origin", "com", "joint"] = "origin"
    representation: Representation = "body"
    moment_first: bool = False


@dataclass(frozen=True)
class Convention:
    """How a library writes what this one calls q, v and what goes along them."""

    title: str
    charts: Mapping[type[J.Joint], Rule]  # of the joints it has, by `kind_of`
    joints: str  # the same in words, for the error about any other joint
    order: Callable[[Model], list[str]]  # names of joints in the order of the coordinates; fixed ones may be among them
    wrench: WrenchForm
    mimics: bool = True  # whether a mimic joint has coordinates of its own there

    def chart(self, model: Model, c: Connection) -> Chart | None:
        """Return how a joint, not a mimic, is written there; None if the library has no such joint."""
        rule = self.charts.get(type(c.joint)) or self.charts.get(kind_of(c.joint))
        return rule(model, c) if rule else None


def each(kinds: Iterable[type[J.Joint]], rule: Rule = same) -> dict[type[J.Joint], Rule]:
    """Return the table of several kinds of joints under one rule."""
    return dict.fromkeys(kinds, rule)


def in_a_row(is_part: Callable[[J.Joint], bool]) -> Rule:
    """Return the rule of a composite whose parts the library has, and writes as they are written here."""
    return lambda model, c: same(model, c) if all(map(is_part, getattr(c.joint, "joints", ()))) else None


def at_right_angles(model: Model, c: Connection) -> Chart | None:
    """The rule of a universal joint whose axes must be at right angles."""
    joint: Any = c.joint
    return same(model, c) if abs(joint.axis1.dot(joint.axis2)) < 1e-9 else None


def centre_of_mass(merged: bool) -> Callable[[Model, str], Vector3]:
    """Return the function that gives a body's centre of mass in its own frame; the origin if it has no mass.

    If `merged`, all that is fixed to the body is part of it.
    """

    def point(model: Model, body: str) -> Vector3:
        own, at = model.body(body).inertia, model.attachment(body)
        if merged:
            total = model.nodes[at.node].inertia
            return at.pose.inverse_act(total.com) if total.mass > 0.0 else Vector3.zero()
        return own.com if own is not None and own.mass > 0.0 else Vector3.zero()

    return point


# --- the converter, by such a convention ---


HEADER = ("joint", "type", "q here", "q there", "v here", "v there", "what changes")


class PeerConverter(OtherCoordinates):
    """A model's q, v and what goes along them as another library writes them; made by `cardan.conventions.to`.

    Printing it shows a table, joint by joint: where it is here, where it is there, what is written otherwise.

    Attributes:
        model: the model.
        title: the library's name.
        joint_names: the joints with coordinates there, in the order there.
        nq: number of configuration coordinates there.
        nv: number of velocities there.
        followers: names of the mimic joints, if they have coordinates of their own there.

    Args:
        convention: the library's.
        order: names of joints in the order there.
        mimics: whether mimic joints have coordinates of their own there.
        made: the call that makes it, which tells its compiled functions from others.

    Throughout:
        external_forces: wrenches on bodies, shape (..., nbodies, 6): [force; moment] [N, N m] in each body's own axes
            at its origin; of `from_` methods as they are written there.

    Examples:
        >>> there = cardan.conventions.to("mujoco", arm)
        >>> there.nq, there.joint_names[0], there.q_permutation.tolist()
        (7, 'joint1', [0, 1, 2, 3, 4, 5, 6])
        >>> forces = np.zeros((arm.nbodies, 6))
        >>> there.external_forces(q, forces).shape, there.from_external_forces(q, forces).shape
        ((9, 6), (9, 6))
    """

    def __init__(
        self, model: Model, convention: Convention, order: Sequence[str] | None, mimics: bool, made: Any
    ) -> None:
        self.title: str = convention.title
        self._wrench_form = convention.wrench
        super().__init__(model, _rows(model, convention, order, mimics), made)
        self.joint_names: tuple[str, ...] = tuple(row.connection.name for row in self.rows)

    @compiled()
    def external_forces(self, q: Any, external_forces: Any) -> Any:
        """Return wrenches on the bodies as they are written there, shape (..., nbodies, 6), rows as in `body_names`."""
        places = self._places(q)
        return [self._wrench(Force.of(tuple(f)), *at) for f, at in zip(external_forces, places, strict=True)]

    @compiled(q=("nq'",))
    def from_external_forces(self, q: Any, external_forces: Any) -> Any:
        """Return wrenches [N, N m] in the bodies' own axes at their origins, from q' and those there."""
        places = self._places(self._here(q))
        return [self._wrench_back(tuple(f), *at) for f, at in zip(external_forces, places, strict=True)]

    def _places(self, q: Vector) -> list[tuple[SE3, SE3]]:
        """Return, of each body, where in it its wrench is taken, and its pose in the world."""
        kinematics, found = Kinematics(self.model, q), []
        for body in self.model.bodies:
            point, place = self._wrench_form.point, SE3.identity()
            if point == "joint":
                place = self.model.attachment(body.name).pose.inverse()
            elif point == "com" and body.inertia is not None and body.inertia.mass > 0.0:
                place = SE3(translation=body.inertia.com)
            found.append((place, kinematics.pose(body.name)))
        return found

    def _wrench(self, force: Force, place: SE3, pose: SE3) -> list[Scalar]:
        f = represented(place.inverse_act(force), pose, self._wrench_form.representation)
        return [*f.angular, *f.linear] if self._wrench_form.moment_first else [*f.linear, *f.angular]

    def _wrench_back(self, values: Sequence[Scalar], place: SE3, pose: SE3) -> Force:
        f = Force.of((*values[3:], *values[:3]) if self._wrench_form.moment_first else values)
        return place @ in_body(f, pose, self._wrench_form.representation)

    @property
    def q_permutation(self) -> np.ndarray:
        """Of each coordinate there, the index of the one here that it copies; -1 where it is computed, (nq',) [-]."""
        samples = self.model.random_configuration((2,), seed=0)
        moved = np.array([self._there(q) for q in samples.tolist()], dtype=float)
        return _copied(self.nq, [(r.q, r.q_there) for r in self.rows], (moved[:, :, None] == samples[:, None]).all(0))

    @property
    def v_permutation(self) -> np.ndarray:
        """Of each velocity there, the index of the one here that it copies; -1 where it is computed, (nv',) [-]."""
        plain = np.ones((self.nv, self.model.nv), dtype=bool)
        for q in self.model.random_configuration((2,), seed=0).tolist():
            T = np.array(np.eye(self.nv).tolist() @ self._change(q).T, dtype=float).reshape(plain.shape)
            plain &= (T == 1.0) & (np.count_nonzero(T, axis=1) == 1)[:, None]
        return _copied(self.nv, [(r.v, r.v_there) for r in self.rows], plain)

    def __str__(self) -> str:
        sizes = f"nq {self.model.nq} -> {self.nq}, nv {self.model.nv} -> {self.nv}"
        lines = aligned([HEADER, *map(_line, self.rows)])
        return "\n".join([f"{self.model.name} in {self.title}: {sizes}", lines[0], "-" * len(lines[0]), *lines[1:]])

    def __repr__(self) -> str:
        return f"<PeerConverter of {self.model.name!r} to {self.title}: nq = {self.nq}, nv = {self.nv}>"


def _rows(model: Model, convention: Convention, order: Sequence[str] | None, mimics: bool) -> tuple[ChartedJoint, ...]:
    """Return the joints with coordinates there, in their order there."""
    movable = {c.name: c for c in model.connections if c.joint.nv > 0 and (mimics or not c.joint.primaries)}
    for c in movable.values():
        if c.joint.is_placed:
            raise MechanismError(
                f"joint {c.name!r} is one of a cluster, which {convention.title} does not have: convert states to the "
                "model whose loops are constraints (cardan.converter(clustered, loops)), and these."
            )
    names = [n for n in convention.order(model) if n in movable] if order is None else list(order)
    if sorted(names) != sorted(movable):
        wrong = sorted(set(names) ^ set(movable)) or sorted({n for n in names if names.count(n) > 1})
        expected = f"the names of the {len(movable)} joints with coordinates, each once"
        raise ParameterError("order", got=names, expected=expected, hint=f"Missing, unknown or twice: {wrong}.")
    nodes = {node.name: node for node in model.nodes}
    return rows_of([(movable[n], nodes[n], _chart(model, convention, movable[n], nodes[n].joint)) for n in names])


def _chart(model: Model, convention: Convention, c: Connection, joint: Joint) -> Chart:
    inner = joint.joint if isinstance(joint, Follower) else joint
    inner = inner.joint if isinstance(inner, Equipped) else inner
    chart = convention.chart(model, replace(c, joint=inner))
    if chart is None:
        where = f" between {c.parent!r} and {c.child!r}"
        raise MechanismError(
            f"joint {c.name!r}{where}, a {type(inner).__name__}, has no counterpart in {convention.title}; it has "
            f"{convention.joints}. Lock it (model.lock), or replace it."
        )
    return follower(joint, chart) if isinstance(joint, Follower) else chart


def _copied(size: int, places: Sequence[tuple[range, range]], is_copy: np.ndarray) -> np.ndarray:
    """Return for each index there the first of the joint's own here that it is a copy of, or -1."""
    found = np.full(size, -1)
    for here, there in places:
        for k in there:
            found[k] = next((i for i in here if is_copy[k, i]), -1)
    return found


def _line(row: ChartedJoint) -> tuple[str, ...]:
    places = (f"{r.start}" if len(r) == 1 else f"{r.start}:{r.stop}" for r in (row.q, row.q_there, row.v, row.v_there))
    return row.connection.name, type(row.joint).__name__, *places, row.chart.note or "-"
