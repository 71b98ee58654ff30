"""How a tree gives way, limb by limb: the accelerations that respond to forces, efforts and imposed motions.

Take the coordinates k one by one, each as if it had a joint of its own (`Coordinate`): D_k is the inertia along S_k of
the articulated body I^A behind it, and Gamma_k = I^A S_k / D_k. A disturbance acts at joint J: a force p and efforts e,
and behind J an acceleration c and a turn psi (`forward_derivatives`). Forces go inwards to the root and accelerations
outwards:

    (1)  u_k = e_k - S_k . p - sum L_sk u_s,                                       p += sum Gamma_s u_s
    (2)  a_k = u_k / D_k - Gamma_k . (A + c) - gamma_k . psi - sum L_ks a_s,   A += c + sum S_s a_s

with L_ks = Gamma_k . S_s, the entries of M = L^T D L. The sums are over the s between k and the body whose p and A are
meant: a few entries of L cost less than the six numbers of p or A, many cost more. So the tree is cut into limbs. From
a coordinate off the way from J to the root, the rest of the tree is the acceleration A of the body its limb hangs on:

    (3)  a_k = -K_k . A - G_k . psi,    K_k = Gamma_k - sum L_ks K_s,   G_k = gamma_k - sum L_ks G_s

with psi if that body is behind J. By reciprocity that body feels p = K_j of a unit effort at j in the limb.
docs/derivatives.md derives this, with a figure.

Source: Featherstone (2008), table 7.1 and section 6.5, for the two ways, by bodies and by L; their mixture and (3) are
derived in docs/derivatives.md.
Cost: a response takes six multiply-adds a coordinate off the way, nine behind J, up to about 20 on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from numbers import Real
from types import MappingProxyType
from typing import NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Force, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.tree import Vector, supports
from cardan._robot.model import Model, Node

LARGEST = 10
"""Coordinates of a limb at most: in longer ones the entries of L come to more than six numbers a body (counted)."""


class Limb(NamedTuple):
    """Joints between which accelerations are coordinates by L."""

    handle: int  # number of the limb at whose last body it hangs; -1 for the world
    nodes: list[Node]  # its joints, outwards

    @property
    def v(self) -> list[int]:
        return [k for node in self.nodes for k in node.v]


def limbs_of(model: Model) -> list[Limb]:
    """Return the limbs of a tree, outwards: stretches without a branch, and branches that are small in all."""
    behind, children = [len(node.v) for node in model.nodes], [0] * len(model.nodes)
    for node in reversed(model.nodes):
        if node.parent >= 0:
            behind[node.parent] += behind[node.index]
            children[node.parent] += 1
    found: list[Limb] = []
    of: list[int] = []
    for node in model.nodes:
        at = of[node.parent] if node.parent >= 0 else -1
        small = at >= 0 and behind[found[at].nodes[0].index] <= LARGEST
        straight = at >= 0 and children[node.parent] == 1 and len(found[at].v) + len(node.v) <= LARGEST
        if not (small or straight):
            found.append(Limb(at, []))
            at = len(found) - 1
        found[at].nodes.append(node)
        of.append(at)
    return found


def moves_all_ways(node: Node, S: Sequence[Motion]) -> bool:
    """Return whether a joint's coordinates are the six numbers of its acceleration, and nothing else feels them."""
    columns = [[e if isinstance(e, Real) else nan for e in s.scalars()] for s in S]
    return columns == [[float(i == k) for i in range(6)] for k in range(6)] and all(map(is_zero, node.armature))


class Coordinate(NamedTuple):
    """What is known of a coordinate, in one frame for a tree; gamma is what it feels of a turn, over D."""

    S: Motion
    D_inverse: Scalar
    Gamma: Force
    gamma: Vector3


UNKNOWN = Coordinate(Motion.zero(), 0.0, Force.zero(), Vector3.zero())


class Disturbance(NamedTuple):
    J: int  # node of the joint
    p: Force  # force on it, of what is behind it
    before: Force = Force.zero()  # force on what is before it
    e: Mapping[int, Scalar] = MappingProxyType({})  # efforts on its coordinates
    c: Motion = Motion.zero()  # acceleration of all that is behind it
    psi: Vector3 = Vector3.zero()  # turn of all that is behind it


UNDISTURBED = Disturbance(-1, Force.zero())


def minus_dot(x: Scalar, a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    """Return x - a . b, term by term: each is a multiply-add."""
    for p, q in zip(a, b, strict=True):
        x = x - p * q
    return x


class Limbs:
    """The limbs of a tree, and how they give way, by what is known of each coordinate."""

    def __init__(self, model: Model, coordinates: Sequence[Coordinate]) -> None:
        self.model, self.coordinates, self.limbs = model, coordinates, limbs_of(model)
        self.at = {node.index: i for i, limb in enumerate(self.limbs) for node in limb.nodes}
        self.way = [supports(model, node.index) for node in model.nodes]
        self.behind: list[set[int]] = [set() for _ in model.nodes]
        self.L: list[dict[int, Scalar]] = [{} for _ in range(model.nv)]  # L_ks of each k
        self.L_T: list[dict[int, Scalar]] = [{} for _ in range(model.nv)]  # L_sk of each k
        self.K, self.G = [Force.zero()] * model.nv, [Vector3.zero()] * model.nv
        for node in model.nodes:
            self._see(node)

    def _see(self, node: Node) -> None:
        """Find L between a joint and those before it in its limb, and how it is seen from where that hangs."""
        for i in self.way[node.index][1:]:
            self.behind[i].add(node.index)
        own = [i for i in reversed(self.way[node.index]) if self.at[i] == self.at[node.index]]
        before = [s for i in own for s in self.model.nodes[i].v]
        for k in node.v:
            _, _, K, G = self.coordinates[k]
            self.L[k] = {s: self.coordinates[s].S.dot(K) for s in before[: before.index(k)]}
            for s, L_ks in self.L[k].items():
                self.L_T[s][k] = L_ks
                K, G = K - self.K[s] * L_ks, G - self.G[s] * L_ks  # (3)
            self.K[k], self.G[k] = K, G

    def accelerations(self, bias: Sequence[Force], tau: Vector) -> list[Scalar]:
        """Return the accelerations of the joints, for the efforts tau and a force p on every body."""
        p, u = list(bias), dict[int, Scalar]()
        for node in reversed(self.model.nodes):
            rest = self._inwards(node, p[node.index], tau, u)
            if node.parent >= 0:
                p[node.parent] = p[node.parent] + rest
        return self._outwards(u, UNDISTURBED)

    def response(self, disturbance: Disturbance) -> list[Scalar]:
        p, u = disturbance.p, dict[int, Scalar]()
        e = [disturbance.e.get(k, 0.0) for k in range(self.model.nv)]
        for i in self.way[disturbance.J]:
            p = self._inwards(self.model.nodes[i], p, e, u)
            p = p + disturbance.before if i == disturbance.J else p
        return self._outwards(u, disturbance)

    def unit(self, J: int, j: int) -> list[Scalar]:
        """Return the accelerations that respond to a unit effort at coordinate j of joint J: a column of M^-1."""
        u: dict[int, Scalar] = {j: 1.0}
        for k in reversed(self.L[j]):
            u[k] = self._less_entries(0.0, k, u)
        e, p = [0.0] * self.model.nv, self.K[j]
        for i in self.way[J]:
            if self.at[i] != self.at[J]:
                p = self._inwards(self.model.nodes[i], p, e, u)
        return self._outwards(u, UNDISTURBED)

    def _less_entries(self, x: Scalar, k: int, u: Mapping[int, Scalar]) -> Scalar:
        behind = [s for s in self.L_T[k] if s in u]
        return minus_dot(x, [self.L_T[k][s] for s in behind], [u[s] for s in behind])

    def _inwards(self, node: Node, p: Force, e: Vector, u: dict[int, Scalar]) -> Force:
        """Add u of a joint, (1), and return p as its parent feels it: by L in limbs on the world, else by p."""
        by_entries = self.limbs[self.at[node.index]].handle < 0
        for k in reversed(node.v):
            u[k] = minus_dot(e[k], self.coordinates[k].S.scalars(), p.scalars())
            if by_entries:
                u[k] = self._less_entries(u[k], k, u)
            else:
                p = p + self.coordinates[k].Gamma * u[k]
        return p

    def _outwards(self, u: Mapping[int, Scalar], disturbance: Disturbance) -> list[Scalar]:
        a: list[Scalar] = [0.0] * self.model.nv
        ends: list[Motion] = []
        behind = self.behind[disturbance.J] if disturbance.J >= 0 else set[int]()
        for limb in self.limbs:
            A = ends[limb.handle] if limb.handle >= 0 else Motion.zero()
            if any(k in u for k in limb.v):
                A = self._along(limb, A, u, disturbance, behind, a)
            else:
                psi = disturbance.psi if limb.nodes[0].index in behind else Vector3.zero()
                for k in limb.v:
                    a[k] = minus_dot(0.0, (*self.K[k].scalars(), *self.G[k]), (*A.scalars(), *psi))  # (3)
            for k in limb.v:
                A = A + self.coordinates[k].S * a[k]
            ends.append(A)
        return a

    def _along(
        self,
        limb: Limb,
        A: Motion,
        u: Mapping[int, Scalar],
        disturbance: Disturbance,
        behind: set[int],
        a: list[Scalar],
    ) -> Motion:
        """Find the accelerations of a limb on the way, (2), and return its last body's but for its own joints'."""
        beyond = A + disturbance.c
        for node in limb.nodes:
            imposed, psi = (beyond, disturbance.psi) if node.index in behind else (A, Vector3.zero())
            for k in node.v:
                _, D_inverse, Gamma, gamma = self.coordinates[k]
                own = minus_dot(u.get(k, 0.0) * D_inverse, Gamma.scalars(), imposed.scalars())
                own = minus_dot(own, gamma, psi)
                a[k] = minus_dot(own, self.L[k].values(), [a[s] for s in self.L[k]])
        return beyond if any(node.index == disturbance.J for node in limb.nodes) else A
