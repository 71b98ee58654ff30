"""States of a model with clusters as states of the tree that they move, and back.

    x = q in other order,    dx/dt = G v,    d2x/dt2 = G a + g,    tau = G^T tau_tree

Back, velocities and accelerations are those of the independent coordinates. An effort tau is one along these.
Source: `algorithms/cluster`, equations (1) and (2).
"""

from __future__ import annotations

from dataclasses import replace

from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.cluster import ClosedSet, ClusterMember
from cardan._dynamics.algorithms.linear import dot
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.joints.catalogue.of_another import Equipped
from cardan._robot.model import Connection, Model
from cardan._robot.model.annotations import Annotations


def unfolded(model: Model) -> Model:
    """Return the model with its clusters as joints and loops; itself, if it has none."""
    if not any(isinstance(c.joint, ClusterMember) for c in model.connections):
        return model

    def own(c: Connection) -> Connection:
        joint = c.joint.joint if isinstance(c.joint, ClusterMember) else c.joint
        joint = joint.joint if isinstance(joint, Equipped) else joint  # as the loops have it: coordinates are copied
        return Connection(c.name, joint, c.parent, c.child, c.parent_pose, c.child_pose)

    members = [c.joint for c in model.connections if isinstance(c.joint, ClusterMember) and not c.joint.by]
    closing = [loop for member in members for loop in member.closed.part.closures]
    connections = tuple(map(own, model.connections))
    return replace(model, connections=connections, closures=(*model.closures, *closing), annotations=Annotations())


class Unfolding:
    """A model beside the tree that its clusters move; vectors are of the model's or of the tree's coordinates."""

    def __init__(self, model: Model) -> None:
        self.model, self.tree = model, unfolded(model)
        self.places: list[int] = []  # in the tree's q of those in the model's
        self.free: list[int] = []  # in the tree's v of those in the model's
        self.clusters: list[tuple[Connection, ClosedSet, list[int]]] = []  # each with its coordinates in the tree's v
        tree = self.tree
        for c in model.connections:
            if not c.joint.primaries:
                closed = c.joint.closed if isinstance(c.joint, ClusterMember) else None
                names = closed.joint_names if closed else (c.name,)
                along = [i for name in names for i in range(tree.nv)[tree.v_slice(name)]]
                self.places += [i for name in names for i in range(tree.nq)[tree.q_slice(name)]]
                self.free += [along[j] for j in closed.free] if closed else along
                self.clusters += [(c, closed, along)] if closed else []

    def configuration(self, q: Vector) -> list[Scalar]:
        """Return q of the tree."""
        return [e for _, e in sorted(zip(self.places, q, strict=True), key=lambda pair: pair[0])]

    def folded_configuration(self, of_tree: Vector) -> list[Scalar]:
        return [of_tree[i] for i in self.places]

    def effort(self, tau: Vector) -> list[Scalar]:
        """Return efforts of the tree that are 0 at dependent coordinates; or any vector along v, likewise."""
        found: list[Scalar] = [0.0] * self.tree.nv
        for i, e in zip(self.free, tau, strict=True):
            found[i] = e
        return found

    def folded_velocity(self, of_tree: Vector) -> list[Scalar]:
        """Return v, or accelerations."""
        return [of_tree[i] for i in self.free]

    def velocity(self, q: Vector, v: Vector) -> list[Scalar]:
        """Return dx/dt of the tree."""
        found = self.effort(v)
        for c, closed, along in self.clusters:
            rates = closed.constraints(q[self.model.slices[c.name][0]]).along(v[self.model.slices[c.name][1]])
            for i, e in zip(along, rates, strict=True):
                found[i] = e
        return found

    def acceleration(self, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
        """Return d2x/dt2 of the tree."""
        found = self.velocity(q, a)
        for c, closed, along in self.clusters:
            constraints = closed.constraints(q[self.model.slices[c.name][0]])
            g = constraints.curvature(q[self.model.slices[c.name][0]], v[self.model.slices[c.name][1]])
            for i, e in zip(along, g, strict=True):
                found[i] = found[i] + e
        return found

    def folded_effort(self, q: Vector, of_tree: Vector) -> list[Scalar]:
        """Return the efforts that do the same work."""
        found = self.folded_velocity(of_tree)
        for c, closed, along in self.clusters:
            G = closed.constraints(q[self.model.slices[c.name][0]]).slopes
            own = [of_tree[i] for i in along]
            found[self.model.slices[c.name][1]] = [dot(column, own) for column in zip(*G, strict=True)]
        return found
