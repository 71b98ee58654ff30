"""A contact at one moment: two material points, one on each side, and what dynamics knows of them.

Everything is at the point of contact p, in the axes of body a's node, or in those of the first node of its tree; b is
another node, or the world at rest.

    V = P (V_a - X_ab V_b)               the relative twist: linear part v, the velocity of the points
    dV/dt = d + P (dA_a - X_ab dA_b)     for dA of the nodes, their accelerations beyond a = 0; d is `drift`

Where surfaces run by themselves, with twists U of the nodes' frames, V has what lies in the plane of the contact of
P (U_a - X_ab U_b) more: its linear part across n, and its angular one about n. It does not change in a step.

P moves a twist from the node's origin to p, fixed in the axes of the world at rest. At a = 0 the points accelerate by
d, a + wd x p + w x (w x c) of a's node less the same of b's, and they turn by wd less wd of b. c are the shapes'
centres, not p: a sphere that rolls does not lift off for the acceleration of its lowest point. What levers turn by in
half a step is added. On the world that is w x r' / 2, of a point that goes over its shape (`moving_point.py`). Of two
bodies it is -w x v_c / 2, where both turn by w and v_c, of one shape's centre beside the other's, is that of this turn.
So what sticks is at rest in axes that turn with both; what meets in passing has none of it. Both bodies feel the force
at one point p, so that no momentum is made.

Source: Featherstone (2008), section 2.8 and 11.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan._algebra.scalar import absolute, is_zero, maximum, minimum, sqrt
from cardan._algebra.spatial import SE3, Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.chains import is_chain
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.drives import joint_inertias
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.spin import BodyMotion
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.collision.candidate import select
from cardan._motion.contact.moving_point import LeverRate, turn_followed
from cardan._robot.model import Model
from cardan._robot.records import Material

if TYPE_CHECKING:
    from cardan._motion.collision import Candidate

WORLD = -1  # the node of the world
# So many times the squared radius of gyration count of a squared lever: of a body whose inertia fits its shape it is 3
# to 4. What lies flat on corners moves by its mass alone, however little it resists to a push on one of them.
FIT = 30.0
STILL = 1e-30  # the square of a velocity below which nothing moves [rad^2/s^2, m^2/s^2]
STANDS = 1e-12  # the square of the sine of a capsule's tilt, below which it lies along no direction of a plane


class AtRest:
    """A model in its neutral configuration: what regularisations are measured by."""

    def __init__(self, model: Model) -> None:
        self.is_chain = is_chain(model)
        self.still = Snapshot(model, model.manifold.neutral(), [0.0] * model.nv)
        self.D = joint_inertias(model)
        self.widest: list[Scalar] = [math.inf] * model.nv  # the square of a lever that counts, of each coordinate
        for node, whole in zip(model.nodes, composite_inertias(model, self.still.relative), strict=True):
            for j in node.v if not is_zero(whole.mass) else ():
                self.widest[j] = FIT * self.D[j] / whole.mass

    def arms(self, X: SE3, half: Sequence[float]) -> list[Vector3]:
        """Return half the sides of a box at a pose in a node, along the node's axes [m]."""
        if self.is_chain:  # those of a cube: fine chains that land fast run away by their own
            half = [math.sqrt(sum(e * e for e in half) / 3.0)] * 3
        return [side * e for side, e in zip(X.rotation.columns(), half, strict=True)]

    def inverse_mass(self, node: int, centre: Vector3, arms: Sequence[Vector3]) -> Scalar:
        """Return the velocity that an impulse on a node's body makes: the mean over corners of a box [1/kg].

        The corners are the centre plus or minus each of the arms, so that their levers add up by squares.
        """
        total: Scalar = 0.0
        for j, column in self.still.columns(node).items():
            if not is_zero(self.D[j]):
                moved = (column.linear + column.angular.cross(centre)).norm_squared()
                turned = sum((column.angular.cross(arm).norm_squared() for arm in arms), 0.0)
                total = total + (moved + minimum(turned, self.widest[j])) / (3.0 * self.D[j])
        return total

    def inverse_mass_of_many(self, node: int, centre: Vector3, arms: Sequence[Vector3]) -> float:
        """Return the same of a model with many nodes, all of whose inertias are numbers."""
        columns, D, pose = self._in_world, np.array(self.D), self.still.poses[node]
        on = [j for i in supports(self.still.model, node) for j in self.still.model.nodes[i].v if D[j] > 0.0]
        linear, angular = columns[on, :3], columns[on, 3:]
        moved = ((linear + np.cross(angular, np.array(pose @ centre))) ** 2).sum(axis=1)
        levers = [np.cross(angular, np.array(pose.rotation @ arm)) for arm in arms]
        turned = np.minimum((np.array(levers) ** 2).sum(axis=(0, 2)), np.array(self.widest)[on])
        return float(((moved + turned) / (3.0 * D[on])).sum())

    @cached_property
    def _in_world(self) -> np.ndarray:
        """The motion that each coordinate makes, at the world's origin in its axes: nv rows of six."""
        model, found = self.still.model, np.zeros((self.still.model.nv, 6))
        for node in model.nodes:
            for j, s in zip(node.v, self.still.relative.S[node.index], strict=True):
                found[j] = [*(self.still.poses[node.index] @ s).scalars()]
        return found


@dataclass(eq=False)
class ContactsOfPair:
    """What the contacts of one pair of shapes have in common."""

    rest: AtRest
    nodes: tuple[int, int]  # a and b, `WORLD` for the world at rest
    centres: tuple[Vector3, Vector3]  # of both shapes, each in its node's frame
    arms: tuple[Sequence[Vector3], Sequence[Vector3]]  # half the sides of the boxes about both, likewise [m]
    lever_rate: LeverRate | None = None  # of a's shape on the world
    # of a pair with several candidates: by how much they are nearer than what need not be looked at [m]
    nearness: Scalar | None = None
    axis: Vector3 | None = None  # of a capsule on a plane, in a's frame
    runs: tuple[Motion | None, Motion | None] = (None, None)  # U of both, each in its node's frame

    @property
    def is_rigid(self) -> bool:
        """Whether a blow is one of rigid bodies, which a step of a long chain cannot follow (`whips`)."""
        return not self.rest.is_chain

    @cached_property
    def inverse_mass(self) -> Scalar:
        """The velocity that an impulse on the points makes, about: sum of |J_j|^2 / 3 D_j in the neutral pose."""
        # Regularisations are measured by it. It is a number if the inertias are, whatever the configuration.
        both = zip(self.nodes, self.centres, self.arms, strict=True)
        return sum((self.rest.inverse_mass(node, c, arms) for node, c, arms in both if node != WORLD), 0.0)


class Contact:
    """A contact of a body with another, or with the world."""

    def __init__(
        self,
        moment: Snapshot,
        pair: ContactsOfPair,
        candidate: Candidate,  # in the frame of node a; the normal pushes a away
        material: Material,
        axes: Matrix3 | None = None,  # those of node a in the axes that all is wanted in; None for node a's own
    ) -> None:
        self.moment, self.pair, self.nodes, (self.a, self.b) = moment, pair, pair.nodes, pair.nodes
        self.material: Any = material  # its numbers may be symbols; the stiffness is one of a world's pair
        self.candidate, self.axes = candidate, axes
        self.gap, self.point, self.normal = candidate.gap, self.in_axes(candidate.point), self.in_axes(candidate.normal)
        self.place = SE3(None, self.point)

    def in_tree(self) -> Contact:
        """Return the contact in the axes of the first node of a's tree, which joint space is written in."""
        # There the columns of a base that floats are 0 and 1 but for the levers of its turns, and those of what carries
        # both bodies are 0.
        axes = self.moment.in_tree[self.a].rotation
        return Contact(self.moment, self.pair, self.candidate, self.material, axes)

    def in_axes(self, vector: Vector3) -> Vector3:
        """Return a vector in the axes of a's node in those of the contact."""
        return vector if self.axes is None else self.axes @ vector

    def on_node(self, force: Force) -> Force:
        if self.axes is None:
            return force
        return Force(self.axes.transpose_apply(force.linear), self.axes.transpose_apply(force.angular))

    @property
    def along(self) -> Vector3 | None:
        """The direction of the first of two coefficients of friction; None if there is one."""
        if self.material.anisotropy == 1.0:
            return None
        R, n, axis = self.moment.poses[self.a].rotation, self.candidate.normal, self.pair.axis
        _, y, z = R.rows()
        first = select(absolute(n.dot(y)) < 0.5, y, z)
        if axis is not None:
            first = select(axis.cross(n).norm_squared() > STANDS, axis, first)
        lying = first - n * n.dot(first)
        return self.in_axes(lying * (1.0 / sqrt(lying.norm_squared())))

    @property
    def is_with_world(self) -> bool:
        return self.b == WORLD

    @property
    def X_ab(self) -> SE3:
        poses = self.moment.poses
        return poses[self.a].inverse() @ (SE3() if self.is_with_world else poses[self.b])

    # These are asked for where what is far is skipped, and again elsewhere: so none of them is kept.

    @property
    def velocity(self) -> Motion:
        """The relative twist V, of the surfaces."""
        own, other = self.pair.runs
        if own is None and other is None:
            return self.body_velocity
        U = Motion.zero() if own is None else own
        U = SE3(None, self.candidate.point).inverse_act(U if other is None else U - self.X_ab @ other)
        n = self.candidate.normal
        along, about = U.linear - n * n.dot(U.linear), n * n.dot(U.angular)
        return self.body_velocity + Motion(self.in_axes(along), self.in_axes(about))

    @property
    def body_velocity(self) -> Motion:
        """The relative twist of the bodies at the point."""
        if self.axes is not None and self.nearness is None:  # its columns are needed anyway
            return sum((column * self.moment.v[j] for j, column in self.columns().items()), Motion.zero())
        return self.place.inverse_act(self.node_velocity)

    @property
    def node_velocity(self) -> Motion:
        """The same at the origin of a's node."""
        if self.axes is not None:
            return sum((column * self.moment.v[j] for j, column in self.node_columns.items()), Motion.zero())
        V = self.moment.V
        return V[self.a] - (Motion.zero() if self.is_with_world else self.X_ab @ V[self.b])

    def ahead(self, dt: float) -> Motion:
        """Return V after a time at zero joint acceleration."""
        return self.velocity + self.drift(dt) * dt

    def drift(self, dt: float) -> Motion:
        """Return dV/dt at zero joint acceleration, in a step."""
        moment, point, (own, other) = self.moment, self.candidate.point, self.pair.centres
        rate = _at_rest(moment.motions[self.a], point, own)
        turning = self.turning(dt) * 0.5  # half a step on, as its mean sees it
        if self.is_with_world:
            gravity = moment.poses[self.a].rotation.transpose_apply(moment.model.gravity)
            return Motion(self.in_axes(rate.linear + gravity) + turning, self.in_axes(rate.angular))
        R, p = self.X_ab.rotation, self.X_ab.inverse_act(point)
        by = _at_rest(moment.motions[self.b], p, other)
        linear = self.in_axes(rate.linear - R @ by.linear) + turning
        return Motion(linear, self.in_axes(rate.angular - R @ by.angular))

    def turning(self, dt: float) -> Vector3:
        """Return by what the points' velocity changes because levers turn: on the world w x r', else -w x v_c."""
        w, (own, other) = self.moment.motions[self.a].spin.w, self.pair.centres
        if not self.is_with_world:
            X, spin_b = self.X_ab, self.moment.motions[self.b].spin.w
            w_b = X.rotation @ spin_b
            w = turn_followed((w + w_b) * (0.5 * _alike(w, w_b)), dt)
            V, V_b = (self.moment.V[node] for node in self.nodes)
            apart = V.linear + V.angular.cross(own) - X.rotation @ (V_b.linear + V_b.angular.cross(other))
            share = _alike(apart, w.cross(own - X @ other))
            return self.in_axes(apart.cross(w) * (share * share))
        if self.pair.lever_rate is None:
            return Vector3.zero()
        w = turn_followed(w, dt)
        lever = self.candidate.point - own
        return self.in_axes(w.cross(self.pair.lever_rate(w, self.candidate.normal, lever, dt)))

    def change(self, dA: Sequence[Motion]) -> Motion:
        """Return by what dV/dt changes with the accelerations dA of the nodes; in the axes of a's."""
        return self.place.inverse_act(dA[self.a] if self.is_with_world else dA[self.a] - self.X_ab @ dA[self.b])

    def on_nodes(self, force: Force) -> list[tuple[int, Force]]:
        """Return a force at the point, in the axes of a's node, as both nodes feel it."""
        own = self.place @ force
        return [(self.a, own)] if self.is_with_world else [(self.a, own), (self.b, -(self.X_ab.inverse() @ own))]

    def columns(self) -> dict[int, Motion]:
        """Return the columns of the Jacobian of V that are not zero, by the index in v."""
        return {j: self.place.inverse_act(column) for j, column in self.node_columns.items()}

    @cached_property
    def node_columns(self) -> dict[int, Motion]:
        """The same of V_a - X_ab V_b, at the origin of a's node."""
        moment, model = self.moment, self.moment.model
        both = [] if self.is_with_world else [i for i in supports(model, self.a) if i in supports(model, self.b)]

        def of(node: int) -> dict[int, Motion]:
            return moment.columns(node) if self.axes is None else moment.tree_columns(node, both)

        columns = of(self.a)
        if not self.is_with_world:
            X = self.X_ab if self.axes is None else self._between_nodes
            for j, column in of(self.b).items():
                seen = X @ column
                columns[j] = columns[j] - seen if j in columns else -seen
        return columns

    @property
    def _between_nodes(self) -> SE3:
        """The origin of b's node, with the axes of its tree, in that of a's."""
        moment, place = self.moment, self.in_axes(self.X_ab.translation)
        first, other = (supports(moment.model, node)[-1] for node in self.nodes)
        turn = None if first == other else moment.poses[first].rotation.T @ moment.poses[other].rotation
        return SE3(turn, place)

    @property
    def nearness(self) -> Scalar | None:
        return self.pair.nearness

    @property
    def inverse_mass(self) -> Scalar:
        return self.pair.inverse_mass


def _alike(a: Vector3, b: Vector3) -> Scalar:
    """Return how alike two vectors are: 1 if they are the same, 0 if they are across one another, or one is 0."""
    return maximum(a.dot(b), 0.0) * 2.0 / maximum(a.norm_squared() + b.norm_squared(), STILL)


def _at_rest(motion: BodyMotion, p: Vector3, centre: Vector3) -> Motion:
    """Return the acceleration of a body's points at p that turn about a centre, a + wd x p + w x (w x c), and wd."""
    spin = motion.spin
    return Motion(motion.origin + spin.at(centre) + spin.rate.cross(p - centre), spin.rate)
