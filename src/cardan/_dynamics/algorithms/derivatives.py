"""Derivatives of inverse dynamics, for joints of every kind.

In the letters of the source, all in one frame for a tree, that of its first node, so that its own coordinates drop out:
S_j is the twist of a coordinate of joint j, v_p and a_p are the velocity and acceleration of the joint's parent, with
gravity in a_p, and v_j its own. Moving coordinate j displaces all that hangs on it as one rigid body. Seen from there
only the motion of joint j has changed, by Psi_dot and Psi_ddot; moving it faster does so by S_j and Upsilon_dot,

    Psi_dot_j     = v_p x S_j + (d_j S) v
    Psi_ddot_j    = a_p x S_j + v_p x Psi_dot_j + v_j x (d_j S) v + d_j(S a + bias)
    Upsilon_dot_j = Psi_dot_j + S_dot_j = (v_p + v_j) x S_j + d bias / d v_j

where d_j is the derivative along j at fixed velocities and accelerations; in the source S is constant, and it is 0.
With the sums I^C, B^C, f^C over all behind a joint, j = i or before i on the way to the root,

    (1)  d tau_i / dq_j = S_i . (I^C_i Psi_ddot_j + 2 B^C_i Psi_dot_j)
    (2)  d tau_j / dq_i = S_j . (I^C_i Psi_ddot_i + 2 B^C_i Psi_dot_i + f^C_i x* S_i)           j before i
    (3)  d tau_i / dv_j = S_i . (I^C_i Upsilon_dot_j + 2 B^C_i S_j)
    (4)  d tau_j / dv_i = S_j . (I^C_i Upsilon_dot_i + 2 B^C_i S_i)
    (5)  d tau_i / da_j = S_i . I^C_i S_j, and its transpose

and within a joint, in (1), (d_j S_m) . f^C more in row m. Of the operator B only what is not 0 is kept,

    2 B [a; b] = -2 [p x b; B b],   p the momentum,   B = [w] Sigma + v h^T - (h.v) 1,   Sigma = tr(J)/2 1 - J

Source: Singh, Russo and Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra
(2022), for (1) to (5), numbered here; derived anew for S that depends on q, by variations in the bodies' frames.
Cost: O(n d), d the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, Force, Inertia, Matrix3, Motion, MotionSubspace, Scalar, Vector3
from cardan._dynamics.algorithms.entries import inverse_dynamics_derivatives_entries, packed_matrices
from cardan._dynamics.algorithms.linear import Rows, add_block, dot, mirrored, transposed, zeros
from cardan._dynamics.algorithms.rnea import node_forces
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics, weightless
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.joints.derivation.derived import JointRates, joint_rates
from cardan._robot.model import Model, Node

Matrix = TypeVar("Matrix")  # rows of scalars here; arrays from the compiled functions


class InverseDynamicsDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the efforts tau [N m, N, each by the argument's unit]: row i, column j is d tau_i / d x_j.

    Attributes:
        dq: by the configuration, along the tangent: q moves to integrate(q, e_j). Shape (..., nv, nv).
        dv: by the velocity, shape (..., nv, nv).
        da: by the acceleration, shape (..., nv, nv): the mass matrix.
    """

    dq: Matrix
    dv: Matrix
    da: Matrix


class Composite:
    """What adds up over the bodies behind a joint: I^C, B^C (as p and B) and f^C."""

    __slots__ = ("B", "I", "f", "p")

    def __init__(self, inertia: Inertia, v: Motion, f: Force) -> None:
        m, h, J = inertia
        linear, w = v
        Sigma = Matrix3.identity() * (0.5 * (J[0] + J[3] + J[5])) - J.matrix()
        self.I, self.f = inertia, f
        self.p = linear * m - h.cross(w)
        self.B = w.skew() @ Sigma + linear.outer(h) - Matrix3.identity() * h.dot(linear)

    def add(self, other: Composite) -> None:
        self.I, self.f, self.p, self.B = self.I + other.I, self.f + other.f, self.p + other.p, self.B + other.B

    def gyroscopic(self, velocity: Motion) -> Force:
        """Return 2 B^C v."""
        b = velocity.angular * -2.0
        return Force(self.p.cross(b), self.B @ b)

    def force(self, acceleration: Motion, velocity: Motion) -> Force:
        """Return I^C a + 2 B^C v."""
        return self.I @ acceleration + self.gyroscopic(velocity)

    def felt(self, s: Motion) -> tuple[Force, Vector3]:
        """Return I^C s and the angular part of 2 B^C^T s, whose linear part is 0: what s feels of `force`."""
        return self.I @ s, (self.B.transpose_apply(s.angular) - self.p.cross(s.linear)) * -2.0


class Moved(NamedTuple):
    """A node in the frame of its tree's first node: pose, velocity, acceleration."""

    X: SE3
    v: Motion
    a: Motion


class JointMotion(NamedTuple):
    """A joint's coordinates: their numbers in v, and for each what the equations name."""

    v: Sequence[int]
    S: list[Motion]
    Psi_dot: list[Motion]
    Psi_ddot: list[Motion]
    Upsilon_dot: list[Motion]
    S_by_q: list[list[Motion]]  # of each coordinate j, d_j S; empty where S is constant
    p: Moved  # v_p and a_p, and the pose of the joint's own frame


@public(result=InverseDynamicsDerivatives[Reals], simplified=True)
def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    packed: bool = False,
) -> InverseDynamicsDerivatives[Rows]:
    """Return the derivatives of `inverse_dynamics` by q, v and a.

    Args:
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`; constant in the bodies' own frames.

    Examples:
        >>> by = cardan.inverse_dynamics_derivatives(arm, q, v, a)
        >>> bool(np.allclose(by.da, cardan.mass_matrix(arm, q)))
        True

    Peers: Pinocchio `computeRNEADerivatives`, MuJoCo `mjd_inverseFD` (by differences).
    """
    joints, composites = outwards_in_one_frame(model, q, v, a, external_forces)
    for node in reversed(model.nodes):
        if node.parent >= 0:
            composites[node.parent].add(composites[node.index])
    found = InverseDynamicsDerivatives(*(zeros(model.nv, model.nv) for _ in range(3)))
    for node in model.nodes:
        _own_block(joints[node.index], composites[node.index], found)
        _blocks_before(model, node, joints, composites[node.index], found)
        for k, rotor in zip(node.v, node.armature, strict=True):
            found.da[k][k] = found.da[k][k] + rotor
    return packed_matrices(found, inverse_dynamics_derivatives_entries(model)) if packed else found


def outwards_in_one_frame(
    model: Model, q: Vector, v: Vector, a: Vector, external_forces: ArrayLike | None = None
) -> tuple[list[JointMotion], list[Composite]]:
    relative = relative_kinematics(model, q)
    moved: list[Moved] = []
    joints: list[JointMotion] = []
    bodies: list[Composite] = []
    for node in model.nodes:
        X = relative.X[node.index]
        if node.parent < 0:
            p = Moved(SE3.identity(), Motion.zero(), X.inverse_act(weightless(model)))
        else:
            p = moved[node.parent]._replace(X=moved[node.parent].X @ X)
        S = MotionSubspace(p.X @ column for column in relative.S[node.index])
        own, rates, accelerations = node.configuration(q), node.velocity(v), node.velocity(a)
        v_i = p.v + S @ rates
        carried = MotionSubspace(p.v.cross(s) for s in S)  # and v_i x v_J = v_p x v_J, as v_J x v_J = 0
        a_i = p.a + S @ accelerations + p.X @ node.joint.bias(own, rates) + carried @ rates
        moved.append(Moved(p.X, v_i, a_i))
        joints.append(_joint(node, rates, S, carried, p, v_i, joint_rates(node.joint, own, rates, accelerations)))
        inertia = p.X @ node.inertia
        bodies.append(Composite(inertia, v_i, inertia @ a_i + v_i.cross(inertia @ v_i)))
    wrenches = [(i, moved[i].X @ f) for i, f in node_forces(model, external_forces)]
    for i, wrench in wrenches:
        bodies[i].f = bodies[i].f - wrench
    return joints, bodies


def _joint(
    node: Node,
    rates: Sequence[Scalar],
    S: MotionSubspace,
    carried: MotionSubspace,
    p: Moved,
    v_i: Motion,
    own: JointRates | None,
) -> JointMotion:
    """Return a joint's coordinates; `carried` is v_p x S, `own` is None where S is constant."""
    Upsilon_dot = [psi * 2.0 + _across(S, rates, j) for j, psi in enumerate(carried)]  # (v_p + v_j) x S_j
    if own is None:
        Psi_ddot = [p.a.cross(s) + p.v.cross(psi) for s, psi in zip(S, carried, strict=True)]
        return JointMotion(node.v, list(S), list(carried), Psi_ddot, Upsilon_dot, [], p)
    dS, dS_v, dS_a, bias_v = own.in_frame(p.X)
    Psi_dot = [psi + d for psi, d in zip(carried, dS_v, strict=True)]
    Psi_ddot = [
        p.a.cross(s) + v_i.cross(d) + e + p.v.cross(psi) for s, d, e, psi in zip(S, dS_v, dS_a, Psi_dot, strict=True)
    ]
    Upsilon_dot = [upsilon + d for upsilon, d in zip(Upsilon_dot, bias_v, strict=True)]
    return JointMotion(node.v, list(S), Psi_dot, Psi_ddot, Upsilon_dot, dS, p)


def _across(S: MotionSubspace, rates: Sequence[Scalar], j: int) -> Motion:
    """Return v_J x S_j: of the other coordinates, as S_j x S_j = 0."""
    found = Motion.zero()
    for m, (s, rate) in enumerate(zip(S, rates, strict=True)):
        found = found if m == j else found + s.cross(S[j]) * rate
    return found


def _own_block(i: JointMotion, behind: Composite, found: InverseDynamicsDerivatives) -> None:
    """Add the derivatives of a joint's own efforts by its own coordinates: (1), (3) and (5) for j = i."""
    by_q = [behind.force(*motion) for motion in zip(i.Psi_ddot, i.Psi_dot, strict=True)]
    by_v = [behind.force(*motion) for motion in zip(i.Upsilon_dot, i.S, strict=True)]
    by_a = [behind.I @ s for s in i.S]
    add_block(found.dq, i.v, i.v, [[s.dot(f) for f in by_q] for s in i.S])
    if i.S_by_q:
        add_block(found.dq, i.v, i.v, transposed([[s.dot(behind.f) for s in dS] for dS in i.S_by_q]))
    add_block(found.dv, i.v, i.v, [[s.dot(f) for f in by_v] for s in i.S])
    add_block(found.da, i.v, i.v, mirrored([[s.dot(f) for s in i.S] for f in by_a]))


def _blocks_before(
    model: Model, node: Node, joints: list[JointMotion], behind: Composite, found: InverseDynamicsDerivatives
) -> None:
    """Add what couples joint i with the joints j between it and the root, both ways."""
    i = joints[node.index]
    by_q = [behind.force(*motion) for motion in zip(i.Psi_ddot, i.Psi_dot, strict=True)]
    by_q = [f + s.cross(behind.f) for f, s in zip(by_q, i.S, strict=True)]
    by_v = [behind.force(*motion) for motion in zip(i.Upsilon_dot, i.S, strict=True)]
    felt = [behind.felt(s) for s in i.S]
    while node.parent >= 0:
        node = model.nodes[node.parent]
        j = joints[node.index]
        at_q, at_v = zip(j.Psi_ddot, j.Psi_dot, strict=True), zip(j.Upsilon_dot, j.S, strict=True)
        block = [[s.dot(I_s) for s in j.S] for I_s, _ in felt]
        add_block(found.dq, i.v, j.v, _dot(felt, list(at_q)))  # (1)
        add_block(found.dq, j.v, i.v, [[s.dot(f) for f in by_q] for s in j.S])  # (2)
        add_block(found.dv, i.v, j.v, _dot(felt, list(at_v)))  # (3)
        add_block(found.dv, j.v, i.v, [[s.dot(f) for f in by_v] for s in j.S])  # (4)
        add_block(found.da, i.v, j.v, block)  # (5)
        add_block(found.da, j.v, i.v, transposed(block))


def _dot(felt: Sequence[tuple[Force, Vector3]], motions: Sequence[tuple[Motion, Motion]]) -> Rows:
    """Return S . (I^C a + 2 B^C v) for what each coordinate feels, and pairs (a, v)."""
    return [[dot((*a.scalars(), *v.angular), (*I_s.scalars(), *B_s)) for a, v in motions] for I_s, B_s in felt]
