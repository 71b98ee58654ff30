"""Joints that move as they are told, whatever pushes: belts, lifts, platforms, cranks.

Such joints k have the velocity v' they are told at a step's end, and from its beginning on, so that contacts are those
of bodies that move so; other joints r begin with their own. What they feel of the change, a_k = (v' - v) / dt, is

    M_rr a_r + h_r = tau_r - M_rk a_k + J_r^T f

and a rotor W that outweighs all else keeps the joints k at their velocity, in every solver: what they take up of other
forces is the part M / W of it, below every contact's own softness. It does not add up, for after the step they are

    q_k' = q_k (+) dt v',        v_k' = v'

Source: Featherstone (2008), section 9.2, for joints of known acceleration (hybrid dynamics); the heavy rotor in their
place is made here.
Cost: O(n) for what rides on the joints; nothing for contacts with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.content import apart
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.drives import DriveCommand
from cardan._dynamics.algorithms.tree import Vector, along_joints, relative_kinematics, twists
from cardan._robot.joints import Limits
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.model import Model, Node

HEAVY = 1e10  # W [kg, kg m^2] for each kilogram of all bodies, and one kilogram more

NO_FORCES = ("damping", "friction", "drive_stiffness", "drive_damping", "spring_stiffness")


class KinematicJoints:
    """Joints that move as they are told in a step, and the model and velocity that a step is taken of.

    Without any joints, everything is as it was. The step begins at q and v. Of `velocity`, along v, that of the joints
    counts; None is 0. `model` then has a heavy rotor at each of the joints, and no other forces there; `v` has the
    velocities they are told.
    """

    def __init__(
        self, model: Model, joints: Sequence[str], q: Vector, v: Vector, velocity: Vector | None, dt: float
    ) -> None:
        self.nodes, self.q, self.dt, self.v = [n for n in model.nodes if n.name in joints], q, dt, list(v)
        self.indices = [j for node in self.nodes for j in node.v]
        self.change: list[Scalar] = [0.0] * model.nv
        for j in self.indices:
            self.v[j] = 0.0 if velocity is None else velocity[j]
            self.change[j] = (self.v[j] - v[j]) * (1.0 / dt)
        self.model = heavy(model, self.nodes) if self.nodes else model

    def compensate(self, servo: DriveCommand) -> DriveCommand:
        """Return what drives are asked for, and what else rides on the joints feels of them: -M_rk a_k."""
        if not self.nodes:
            return servo
        relative = relative_kinematics(self.model, self.q)
        forces = [
            -(n.inertia @ A) for n, A in zip(self.model.nodes, twists(self.model, relative, self.change), strict=True)
        ]
        effort = along_joints(self.model, relative, forces, servo.effort)
        for j in self.indices:
            # these joints move as prescribed, whatever acts along them
            effort[j] = 0.0
        return servo._replace(effort=effort)

    def at_end(self, q: Vector, v: Vector, a: Vector) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Return the state after the step and the accelerations in it, of those that the step found."""
        q, v, a = list(q), list(v), list(a)
        for node in self.nodes:
            rates = node.velocity(self.v)
            # not the place that the step found: the heavy rotor lets go by M / W of the way
            own = node.joint.integrate(node.configuration(self.q), [self.dt * e for e in rates])
            for i, e in zip(node.q, own, strict=True):
                q[i] = e
        for j in self.indices:
            v[j], a[j] = self.v[j], self.change[j]
        return q, v, a


def heavy(model: Model, chosen: Sequence[Node]) -> Model:
    """Return the model with a rotor W at some joints, and no other forces along them."""
    names, W = {node.name for node in chosen}, HEAVY * (1.0 + model.mass)
    nodes, connections = list(model.nodes), list(model.connections)
    for node in chosen:
        still = (0.0,) * len(node.v)
        nodes[node.index] = replaced(node, **dict.fromkeys(NO_FORCES, still), armature=(W,) * len(node.v))
    for k, c in enumerate(connections):
        if c.name in names:
            connections[k] = replaced(c, limits=Limits().resolved(c.joint.nv, c.name))
    return replaced(model, nodes=tuple(nodes), connections=tuple(connections), _content=[apart()])
