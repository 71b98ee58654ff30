"""A contact at one moment: two material points, one on each side, and what dynamics knows of them.

Everything is in the axes of body a's node, at the point of contact p; b is another node, or the world at rest.

    V = P (V_a - X_ab V_b)               the relative twist: linear part v, the velocity of the points
    dV/dt = d + P (dA_a - X_ab dA_b)     for dA of the nodes, their accelerations beyond a = 0; d is `drift`

P moves a twist from the node's origin to p, fixed in the axes of the world at rest. At a = 0 the points accelerate by
d, a + wd x p + w x (w x c) of a's node less the same of b's, and they turn by wd less wd of b. c are the shapes'
centres, not p: a sphere that rolls does not lift off for the acceleration of its lowest point, and points of one body
keep the twists of one rigid motion. Both bodies feel the force
at one point p, so that no momentum is made.

Source: Featherstone (2008), section 2.8 and 11.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.drives import joint_inertias
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.spin import BodyMotion
from cardan._dynamics.algorithms.tree import supports
from cardan._robot.model import Model
from cardan._robot.records import Material

if TYPE_CHECKING:
    from cardan._motion.collision import Candidate

WORLD = -1
"""The node of the world."""


class Contact:
    """A contact of a body with another, or with the world.

    Args:
        moment: the state.
        nodes: a and b, `WORLD` for the world at rest.
        candidate: gap, point and normal in the frame of node a; the normal pushes a away.
        material: friction, stiffness and so on of the pair.
        centres: of both shapes, each in its node's frame.
        extents: how far about its centre a shape reaches [m].
    """

    def __init__(
        self,
        moment: Snapshot,
        nodes: tuple[int, int],
        candidate: Candidate,
        material: Material,
        centres: tuple[Vector3, Vector3] = (Vector3.zero(), Vector3.zero()),
        extents: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.moment, self.nodes, (self.a, self.b) = moment, nodes, nodes
        self.material: Any = material  # its numbers may be symbols; the stiffness is one of a world's pair
        self.candidate, (self.gap, self.point, self.normal) = candidate, candidate
        self.place = SE3(None, self.point)
        self._reaches = tuple(zip(centres, extents, strict=True))

    @property
    def is_with_world(self) -> bool:
        """Whether b is the world."""
        return self.b == WORLD

    @cached_property
    def X_ab(self) -> SE3:
        """The pose of node b in node a."""
        poses = self.moment.poses
        return poses[self.a].inverse() @ poses[self.b]

    @cached_property
    def velocity(self) -> Motion:
        """The relative twist V."""
        return self._difference(self.moment.V)

    def ahead(self, dt: float) -> Motion:
        """Return V after a time at zero joint acceleration."""
        return self.velocity + self.drift * dt

    def change(self, dA: Sequence[Motion]) -> Motion:
        """Return dV/dt beyond that at zero joint acceleration, for such accelerations of the nodes."""
        return self._difference(dA)

    def _difference(self, motions: Sequence[Motion]) -> Motion:
        other = Motion.zero() if self.is_with_world else self.X_ab @ motions[self.b]
        return self.place.inverse_act(motions[self.a] - other)

    @cached_property
    def drift(self) -> Motion:
        """dV/dt at zero joint acceleration."""
        moment, ((own, _), (other, _)) = self.moment, self._reaches
        felt = _at_rest(moment.motions[self.a], self.point, own)
        if self.is_with_world:
            gravity = moment.poses[self.a].rotation.transpose_apply(moment.model.gravity)
            return Motion(felt.linear + gravity, felt.angular)
        R, p = self.X_ab.rotation, self.X_ab.inverse_act(self.point)
        by = _at_rest(moment.motions[self.b], p, other)
        return Motion(felt.linear - R @ by.linear, felt.angular - R @ by.angular)

    def columns(self) -> dict[int, Motion]:
        """Return the columns of the Jacobian of V that are not zero, by the index in v."""
        return {j: self.place.inverse_act(column) for j, column in self.node_columns.items()}

    @cached_property
    def node_columns(self) -> dict[int, Motion]:
        """The same of V_a - X_ab V_b, at the node."""
        columns = dict(self.moment.columns(self.a))
        if not self.is_with_world:
            for j, column in self.moment.columns(self.b).items():
                seen = self.X_ab @ column
                columns[j] = columns[j] - seen if j in columns else -seen
        return columns

    def on_node(self, force: Force) -> Force:
        """Return a wrench at the point in the axes of a's node."""
        return force

    def in_tree(self) -> TreeContact:
        """Return the contact in the axes of the first node of a's tree."""
        return TreeContact(self)

    def forces(self, force: Force) -> list[tuple[int, Force]]:
        """Return a wrench at the point, and its reaction, as wrenches on the nodes."""
        on_a = self.place @ force
        if self.is_with_world:
            return [(self.a, on_a)]
        return [(self.a, on_a), (self.b, -self.X_ab.inverse_act(on_a))]

    def impedance(self, Z: ArticulatedInertia) -> tuple[int, ArticulatedInertia]:
        """Return the impedance of a contact with the world, at the point, as one of the node."""
        return self.a, self.place @ Z

    @cached_property
    def inverse_mass(self) -> Scalar:
        """The velocity that an impulse on the points makes, about: sum of |J_j|^2 / 3 D_j in the neutral configuration.

        It is what regularisations are measured by, a number where the inertias are.
        """
        model, both = self.moment.model, zip(self.nodes, self._reaches, strict=True)
        return sum((_inverse_mass(model, node, *reach) for node, reach in both if node != WORLD), 0.0)


class TreeContact(Contact):
    """A contact in the axes of the first node of a's tree, which joint space is written in, at the origin of a's node.

    There the columns of a base that floats are 0 and 1 but for the levers of its turns, and those of what carries both
    bodies are 0.

    Args:
        contact: in the axes of a's node.
    """

    def __init__(self, contact: Contact) -> None:
        R = contact.moment.in_tree[contact.a].rotation
        seen = contact.candidate._replace(point=R @ contact.point, normal=R @ contact.normal)
        super().__init__(contact.moment, contact.nodes, seen, contact.material)
        self._in_node = contact

    @cached_property
    def node_columns(self) -> dict[int, Motion]:
        """The columns of V_a - V_b at the origin of a's node, by the index in v."""
        moment, model = self.moment, self.moment.model
        both = [] if self.is_with_world else [i for i in supports(model, self.a) if i in supports(model, self.b)]
        columns = moment.tree_columns(self.a, both)
        if not self.is_with_world:
            X = self._between_nodes
            for j, column in moment.tree_columns(self.b, both).items():
                seen = X @ column
                columns[j] = columns[j] - seen if j in columns else -seen
        return columns

    @property
    def _between_nodes(self) -> SE3:
        """The origin of b's node, with the axes of its tree, in that of a's."""
        moment, place = self.moment, self._axes @ self._in_node.X_ab.translation
        first, other = (supports(moment.model, node)[-1] for node in self.nodes)
        turn = None if first == other else moment.poses[first].rotation.T @ moment.poses[other].rotation
        return SE3(turn, place)

    @cached_property
    def velocity(self) -> Motion:
        """The relative twist V."""
        return sum((column * self.moment.v[j] for j, column in self.columns().items()), Motion.zero())

    @cached_property
    def drift(self) -> Motion:
        """dV/dt at zero joint acceleration."""
        R, drift = self._axes, self._in_node.drift
        return Motion(R @ drift.linear, R @ drift.angular)

    @property
    def _axes(self) -> Matrix3:
        return self.moment.in_tree[self.a].rotation

    def change(self, dA: Sequence[Motion]) -> Motion:
        """Return dV/dt beyond that at zero joint acceleration, for such accelerations of the nodes."""
        R, change = self._axes, self._in_node.change(dA)
        return Motion(R @ change.linear, R @ change.angular)

    def on_node(self, force: Force) -> Force:
        """Return a wrench at the point in the axes of a's node."""
        return Force(self._axes.transpose_apply(force.linear), self._axes.transpose_apply(force.angular))

    def in_axes(self, force: Vector3) -> Vector3:
        """Return a force in the axes of a's node in those of the tree."""
        return self._axes @ force

    def forces(self, force: Force) -> list[tuple[int, Force]]:
        """Return a wrench at the point, and its reaction, as wrenches on the nodes."""
        return self._in_node.forces(self.on_node(force))

    def impedance(self, Z: ArticulatedInertia) -> tuple[int, ArticulatedInertia]:
        """Return the impedance of a contact with the world, at the point, as one of the node."""
        return self._in_node.impedance(SE3(self._axes.T) @ Z)

    @cached_property
    def inverse_mass(self) -> Scalar:
        """The velocity that an impulse on the points makes, about."""
        return self._in_node.inverse_mass


def _inverse_mass(model: Model, node: int, centre: Vector3, extent: float) -> Scalar:
    """Return the mean over points that far from the centre, 2/3 extent^2 being the mean squared lever about an axis."""
    still = Snapshot(model, model.manifold.neutral(), [0.0] * model.nv)
    D, total = joint_inertias(model), 0.0
    for j, column in still.columns(node).items():
        if not is_zero(D[j]):
            moved = (column.linear + column.angular.cross(centre)).norm_squared()
            moved = moved + column.angular.norm_squared() * (2.0 / 3.0 * extent**2)
            total = total + moved / (3.0 * D[j])
    return total


def _at_rest(motion: BodyMotion, p: Vector3, centre: Vector3) -> Motion:
    """Return the acceleration of a body's points at p that turn about a centre, a + wd x p + w x (w x c), and wd."""
    spin = motion.spin
    return Motion(motion.origin + spin.at(centre) + spin.rate.cross(p - centre), spin.rate)
