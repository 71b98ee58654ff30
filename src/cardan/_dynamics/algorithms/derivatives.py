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
from typing import Any, Generic, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, Force, Inertia, Matrix3, Motion, MotionSubspace, Scalar, Vector3
from cardan._dynamics.algorithms.along import NodeRows, nodes_of_rows
from cardan._dynamics.algorithms.branch_matrices import branch_matrices
from cardan._dynamics.algorithms.crba import inertia_along
from cardan._dynamics.algorithms.entries import inverse_dynamics_derivatives_entries
from cardan._dynamics.algorithms.linear import Rows, dot
from cardan._dynamics.algorithms.rnea import external
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


class Composite(NamedTuple):
    """What adds up over the bodies behind a joint: I^C, B^C (as p and B) and f^C."""

    B: Matrix3
    I: Inertia  # noqa: E741 -- the letter of the source
    f: Force
    p: Vector3

    @staticmethod
    def of(inertia: Inertia, v: Motion, f: Force) -> Composite:
        """Return what a body of a twist adds."""
        m, h, J = inertia
        linear, w = v
        Sigma = Matrix3.identity() * (0.5 * (J[0] + J[3] + J[5])) - J.matrix()
        p = linear * m - h.cross(w)
        return Composite(w.skew() @ Sigma + linear.outer(h) - Matrix3.identity() * h.dot(linear), inertia, f, p)

    def __add__(self, other: Any) -> Composite:
        return Composite(self.B + other.B, self.I + other.I, self.f + other.f, self.p + other.p)

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
    """A node in the frame of its tree's first node: pose, velocity and acceleration of its parent, and its own."""

    X: SE3
    v_p: Motion
    a_p: Motion
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
    p: Moved


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
    joints, bodies = outwards_in_one_frame(model, q, v, a, external_forces, loops=True)
    nodes = nodes_of_rows(model, joints)
    composites = nodes.inwards(bodies, lambda _, whole: (whole, lambda: whole))

    def own(node: Node) -> tuple[Rows, Rows, Rows]:
        return _own_blocks(node, joints[node.index], composites[node.index])

    def freedoms(node: Node) -> list[_Freedom]:
        return _freedoms(joints[node.index], composites[node.index])

    places = inverse_dynamics_derivatives_entries(model) if packed else [None] * 3
    return InverseDynamicsDerivatives(*branch_matrices(nodes, places, own, freedoms, _entries))


def outwards_in_one_frame(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    external_forces: ArrayLike | None = None,
    loops: bool = False,
) -> tuple[Sequence[JointMotion], Sequence[Composite]]:
    """Return the joints and bodies of every node, in the frame of its tree's first node; in loops, of the world."""
    relative = relative_kinematics(model, q, loops)
    nodes = relative.nodes(model)
    in_loops = isinstance(nodes, NodeRows)

    def subspace(node: Node, p: Moved) -> tuple[MotionSubspace, MotionSubspace]:
        S = MotionSubspace(p.X @ column for column in relative.S[node.index])
        return S, MotionSubspace(p.v_p.cross(s) for s in S)  # and v_i x v_J = v_p x v_J, as v_J x v_J = 0

    def move(node: Node, parent: Moved) -> Moved:
        X = relative.X[node.index]
        p = Moved(parent.X @ X, parent.v, parent.a, parent.v, parent.a)
        if not in_loops and node.parent < 0:
            p = p._replace(X=SE3.identity(), a_p=X.inverse_act(parent.a))
        S, carried = subspace(node, p)
        rates = node.velocity(v)
        bias = p.X @ node.joint.bias(node.configuration(q), rates) + carried @ rates
        return p._replace(v=p.v_p + S @ rates, a=p.a_p + S @ node.velocity(a) + bias)

    def joint(node: Node) -> JointMotion:
        own, rates, accelerations = node.configuration(q), node.velocity(v), node.velocity(a)
        p = moved[node.index]
        return _joint(node, rates, *subspace(node, p), p, joint_rates(node.joint, own, rates, accelerations))

    def body(node: Node) -> Composite:
        X, _, _, v_i, a_i = moved[node.index]
        inertia = X @ node.inertia
        f = inertia @ a_i + v_i.cross(inertia @ v_i) + X @ borne[node.index]
        return Composite.of(inertia, v_i, f)

    rest = Motion.zero()
    borne = nodes.less(nodes.each(lambda _: Force.zero()), external(model, external_forces))
    moved = nodes.outwards(move, Moved(SE3.identity(), rest, rest, rest, weightless(model)))
    return nodes.each(joint), nodes.each(body)


def _joint(
    node: Node,
    rates: Sequence[Scalar],
    S: MotionSubspace,
    carried: MotionSubspace,
    p: Moved,
    own: JointRates | None,
) -> JointMotion:
    """Return a joint's coordinates; `carried` is v_p x S, `own` is None where S is constant."""
    Upsilon_dot = [psi * 2.0 + _across(S, rates, j) for j, psi in enumerate(carried)]  # (v_p + v_j) x S_j
    if own is None:
        Psi_ddot = [p.a_p.cross(s) + p.v_p.cross(psi) for s, psi in zip(S, carried, strict=True)]
        return JointMotion(node.v, list(S), list(carried), Psi_ddot, Upsilon_dot, [], p)
    dS, dS_v, dS_a, bias_v = own.in_frame(p.X)
    Psi_dot = [psi + d for psi, d in zip(carried, dS_v, strict=True)]
    Psi_ddot = [
        p.a_p.cross(s) + p.v.cross(d) + e + p.v_p.cross(psi)
        for s, d, e, psi in zip(S, dS_v, dS_a, Psi_dot, strict=True)
    ]
    Upsilon_dot = [upsilon + d for upsilon, d in zip(Upsilon_dot, bias_v, strict=True)]
    return JointMotion(node.v, list(S), Psi_dot, Psi_ddot, Upsilon_dot, dS, p)


def _across(S: MotionSubspace, rates: Sequence[Scalar], j: int) -> Motion:
    """Return v_J x S_j: of the other coordinates, as S_j x S_j = 0."""
    found = Motion.zero()
    for m, (s, rate) in enumerate(zip(S, rates, strict=True)):
        found = found if m == j else found + s.cross(S[j]) * rate
    return found


def _own_blocks(node: Node, i: JointMotion, behind: Composite) -> tuple[Rows, Rows, Rows]:
    """Return the derivatives of a joint's own efforts by its own coordinates: (1), (3) and (5) for j = i."""
    by_q = [behind.force(*motion) for motion in zip(i.Psi_ddot, i.Psi_dot, strict=True)]
    by_v = [behind.force(*motion) for motion in zip(i.Upsilon_dot, i.S, strict=True)]
    dq, dv = ([[s.dot(f) for f in forces] for s in i.S] for forces in (by_q, by_v))
    for j, dS in enumerate(i.S_by_q):
        for m, s in enumerate(dS):
            dq[m][j] = dq[m][j] + s.dot(behind.f)
    return dq, dv, inertia_along(MotionSubspace(i.S), [behind.I @ s for s in i.S], node.armature)


class _Freedom(NamedTuple):
    """A coordinate: what it moves, and what it and its moving take of all behind it."""

    S: Motion
    Psi_dot: Motion
    Psi_ddot: Motion
    Upsilon_dot: Motion
    felt: tuple[Force, Vector3]
    by_q: Force  # I^C Psi_ddot + 2 B^C Psi_dot + f^C x* S
    by_v: Force  # I^C Upsilon_dot + 2 B^C S


def _freedoms(i: JointMotion, behind: Composite) -> list[_Freedom]:
    own = zip(i.S, i.Psi_dot, i.Psi_ddot, i.Upsilon_dot, strict=True)
    return [
        _Freedom(
            S,
            Psi_dot,
            Psi_ddot,
            Upsilon_dot,
            behind.felt(S),
            behind.force(Psi_ddot, Psi_dot) + S.cross(behind.f),
            behind.force(Upsilon_dot, S),
        )
        for S, Psi_dot, Psi_ddot, Upsilon_dot in own
    ]


def _entries(i: _Freedom, j: _Freedom) -> list[tuple[Scalar, Scalar]]:
    """Return what couples coordinate i with one between it and the root, both ways."""
    by_a = j.S.dot(i.felt[0])
    return [
        (_feels(i.felt, j.Psi_ddot, j.Psi_dot), j.S.dot(i.by_q)),  # (1), (2)
        (_feels(i.felt, j.Upsilon_dot, j.S), j.S.dot(i.by_v)),  # (3), (4)
        (by_a, by_a),  # (5)
    ]


def _feels(felt: tuple[Force, Vector3], a: Motion, v: Motion) -> Scalar:
    """Return S . (I^C a + 2 B^C v) for what a coordinate feels."""
    return dot((*a.scalars(), *v.angular), (*felt[0].scalars(), *felt[1]))
