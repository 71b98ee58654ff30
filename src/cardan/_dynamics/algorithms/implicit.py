"""Forward dynamics with forces that answer to the acceleration: what an implicit step solves.

Over a step dt the forces of drives, stops and contacts are linearised in the acceleration,

    tau(a) = tau - W a          at the joints: W = dt kd + dt^2 kp of a spring with damping, the armature of a step
    f(dA) = f - Z dA            on the bodies: Z an inertia, the impedance of what they touch; dA = J a, beyond a = 0

so M a + h = tau(a) + J^T f(dA) is once more an equation of motion, with W added to the joints' inertias and Z to the
bodies'. In a tree the articulated bodies take them as they are, in O(n). So they do in groups of joints that share
velocities. With closed loops, in shallow trees and where mimic joints are no groups it is solved in joint space:
(M + W + J^T Z J) a = tau - h + J^T f.

Source: Featherstone (2008), table 7.1, with the inertias of a step; the linearisation is that of Baraff and Witkin,
Large steps in cloth simulation (1998), equation 5, for joints.
Cost: that of `aba`, or of `closed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Protocol

from cardan._algebra.arrays.implicit_function import all_held, derivatives_taken, implicit
from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.aba import SHALLOW, Accelerations, borne_by_bodies, factored, is_tree
from cardan._dynamics.algorithms.along import Nodes
from cardan._dynamics.algorithms.closed import Closed
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.linear import Armature, Rows, plus, times
from cardan._dynamics.algorithms.proximal_loops import Solved
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.spin import BodyMotion, body_motions
from cardan._dynamics.algorithms.tree import (
    Vector,
    deepest,
    efforts_along,
    poses_in_one_frame,
    relative_kinematics,
    supports,
    twists,
    world_poses,
)
from cardan._robot.model import Model

NodeForces = Iterable[tuple[int, Force]]

CLOSING = 0.5  # which share of a loop's gap a step closes: the rest of its error stays below that of the step


class Snapshot:
    """A model at one state: what every force on it wants to know, worked out once."""

    def __init__(self, model: Model, q: Vector, v: Vector, loops: bool = False) -> None:
        self.model, self.q, self.v = model, q, v
        self.coriolis_of = v  # the velocities that Coriolis forces are of
        self.relative = relative_kinematics(model, q, loops, 1)

    def with_coriolis_of(self, u: Vector) -> Snapshot:
        """Return the same with the products of other velocities: in p, or h, and in how points drift."""
        found = copy(self)
        found.coriolis_of = u
        for name in ("p", "motions"):
            found.__dict__.pop(name, None)
        return found

    @cached_property
    def V(self) -> Sequence[Motion]:
        """The twist of every node, in its own frame."""
        return twists(self.model, self.relative, self.v)

    @cached_property
    def motions(self) -> Sequence[BodyMotion]:
        """How every node moves at zero joint acceleration, in its own axes, gravity subtracted."""
        return body_motions(self.model, self.relative, self.q, self.coriolis_of)

    @cached_property
    def p(self) -> Sequence[Force]:
        """The force that every node's own motion asks for at zero joint acceleration, gravity subtracted."""
        motions = self.motions  # a loop of its own
        return self.relative.nodes(self.model).each(lambda node: motions[node.index].force(node.inertia))

    @cached_property
    def poses(self) -> Sequence[SE3]:
        return world_poses(self.model, self.relative)

    @cached_property
    def in_tree(self) -> Sequence[SE3]:
        """The pose of every node in the frame of its tree's first node."""
        return poses_in_one_frame(self.model, self.relative)

    def changes(self, a: Vector) -> Sequence[Motion]:
        """Return what joint accelerations a add to A' of every node."""
        return twists(self.model, self.relative, a)

    def tree_columns(self, node: int, still: Sequence[int] = ()) -> dict[int, Motion]:
        """Return the columns of a node's Jacobian that are not zero, at its origin in its tree's first node's axes.

        Levers are summed from the node on, so that those of a finger at the end of a boom are as exact as those of a
        hand; from the tree's first node they would be differences of two far places. Joints of the nodes `still` move
        nothing: they carry what the motion is relative to as well.
        """
        columns: dict[int, Motion] = {}
        place = Vector3.zero()  # of the joint's node, seen from the origin of the given one
        for i in supports(self.model, node):
            X, above = SE3(self.in_tree[i].rotation, place), self.model.nodes[i].parent
            for j, s in zip(self.model.nodes[i].v, self.relative.S[i], strict=True):
                moved = Motion.zero() if i in still else X @ s
                columns[j] = columns[j] + moved if j in columns else moved
            if above >= 0:
                place = place - self.in_tree[above].rotation @ self.relative.X[i].translation
        return columns

    def columns(self, node: int) -> dict[int, Motion]:
        """Return the columns of a node's Jacobian that are not zero, in its own frame, by the index in v."""
        columns: dict[int, Motion] = {}
        X = SE3.identity()
        for i in supports(self.model, node):
            for j, s in zip(self.model.nodes[i].v, self.relative.S[i], strict=True):
                moved = X.inverse_act(s)
                columns[j] = columns[j] + moved if j in columns else moved
            X = self.relative.X[i] @ X
        return columns


def implicit_dynamics(
    moment: Snapshot, tau: Vector, W: Armature | None = None, dt: float | None = None
) -> Accelerations:
    """Return the accelerations under efforts tau - W a.

    In a step dt the rates of closed loops are brought to zero, and their gaps by
    `CLOSING`; without one they are left as they are.
    """
    model = moment.model
    if is_tree(model) and (model.has_mimics or deepest(model) > SHALLOW):
        return borne_by_bodies(model, moment.relative, moment.p, tau, W)
    A = mass_matrix.kernel(model, moment.q)
    b = [t - h for t, h in zip(tau, bias_forces.kernel(model, moment.q, moment.coriolis_of), strict=True)]
    a = closed_solution(moment, A if W is None else plus(A, W), b, dt)
    return Accelerations(a, moment.changes(a))


def unbalanced(moment: Snapshot, a: Vector, forces: NodeForces, tau: Vector) -> list[Scalar]:
    """Return M a + h - J^T f - tau: efforts that are missing at accelerations a; forces on nodes at their origins."""
    model = moment.model
    f = [p + node.inertia @ dA for node, p, dA in zip(model.nodes, moment.p, moment.changes(a), strict=True)]
    for i, force in forces:
        f[i] = f[i] - force
    return [e - t for e, t in zip(efforts_along(Nodes(model), moment.relative, f, a), tau, strict=True)]


class Equation(Protocol):
    """An equation of motion with forces that answer to the acceleration, and accelerations that solve it."""

    @property
    def a(self) -> Vector: ...
    @property
    def efforts(self) -> tuple[Vector, Armature]:
        """Tau and W along v: efforts tau - W a."""
        ...

    @property
    def H(self) -> Rows:
        """The derivative of what it lacks by a: M + W + J^T Z J."""
        ...

    def forces(self, a: Vector) -> NodeForces:
        """Return the wrenches on the nodes at accelerations a, in their frames at their origins."""
        ...


def accelerations_that_solve(equation: Equation, moment: Snapshot, dt: float | None) -> list[Scalar]:
    """Return the accelerations of an equation with their derivatives (`arrays/implicit_function`)."""
    tau, W = equation.efforts

    def lacking(a: Vector) -> list[Scalar]:
        acting = [t - e for t, e in zip(tau, times(W, a), strict=True)]
        return unbalanced(moment, a, equation.forces(a), acting)

    model = moment.model
    if not model.has_loops:
        return implicit(list(equation.a), lacking, lambda _, b: factored(model, equation.H).held().solve(b))
    if not derivatives_taken(equation.a):
        return list(equation.a)
    closed, opening = _closed_in_step(moment, equation.H, dt)
    # what the loops hold is what is lacking without them
    held_by = closed.direct.solve([-e for e in all_held(lacking(equation.a))]).multipliers
    return closed.with_derivatives(Solved(list(equation.a), held_by), lacking, opening).a


def closed_solution(moment: Snapshot, A: Rows, b: Vector, dt: float | None) -> list[Scalar]:
    """Return the a with A a = b in which loops stay closed."""
    model = moment.model
    if not model.has_loops:
        return factored(model, A).solve(b)
    closed, opening = _closed_in_step(moment, A, dt)
    return closed.solve(b, opening(None)).a


def _closed_in_step(moment: Snapshot, A: Rows, dt: float | None) -> tuple[Closed, Callable[[Any], list[Scalar]]]:
    """Return what solves with loops, and K a + k of accelerations, k of None, as the step wants them closed."""
    closed = Closed(moment.model, moment.q, A)
    rate, gap = (0.0, 0.0) if dt is None else (1.0 / dt, CLOSING / dt**2)
    return closed, lambda a: closed.opening(moment.q, moment.v, a, rate, gap)


def add_impedance(A: Rows, columns: dict[int, Motion], Z: ArticulatedInertia) -> None:
    """Add J^T Z J to A, J given by its columns."""
    for j, column in columns.items():
        felt = Z @ column
        for i, other in columns.items():
            # each pair once, and both halves the same number
            if i <= j:
                A[j][i] = A[j][i] + felt.dot(other)
                A[i][j] = A[j][i]
