"""Forward dynamics of joints that share velocities, by the recursion of articulated bodies over groups.

A group is all nodes with the same velocities, where these hang on one body, the base, by one another alone: the joints
of a cluster, a finger's coupled phalanges. Some may hang on the world instead, such as wheels of drives. The subspace
of a node is S_b G_b, of its joint's own motion S_b and the slopes G_b by which it follows, X_b leads from b to its
parent, and I^c, p^c are inertia and force of a node with all that hangs on it:

    inwards:   (1)  F_b = I^c_b S_b,   M_bb = S_b^T F_b
                    F_b <- X F_b:   M_ab = S_a^T F_b at each node a on the way,   H_b = F_b at the base
               (2)  D = G^T M G + armature + W,   U = H G,   u = tau - sum G_b^T S_b^T p^c_b
               (3)  I^c_base += sum X_b I^c_b - U D^-1 U^T,   p^c_base += sum X_b p^c_b + U D^-1 u
    outwards:  (4)  a = D^-1 (u - U^T dA_base),   dA_b = X_b^-1 dA_p(b) + S_b G_b a

W is what forces that answer to the acceleration add along v (`implicit`): all of it is within groups.

(1) is the mass matrix of the group as if no joint followed another (`crba`), sparse and in axes of their own. The sums
of (3) are over the nodes on the base. If that is one, the root, H is at the root and (3) is done there, before X leads
to the base. So groups of one node take the operations of `aba`.

A cluster on the world falls apart if some of its joints move alone and all others are `legs`. These come first, and
give to their platform what it feels of them. The rest are groups of one node.

Source: Jain, Robot and Multibody Dynamics (2011), chapter 15; Chignoli, Adrian, Kim and Wensing (2023), for clusters.
Cost: O(n).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

from cardan._algebra.errors import MechanismError
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import ArticulatedInertia, Force, Inertia, Motion, MotionSubspace, Scalar
from cardan._dynamics.algorithms.legs import Leg, SubspaceInLeg
from cardan._dynamics.algorithms.linear import (
    Armature,
    Factor,
    Rows,
    SingularError,
    add_block,
    combined,
    dot,
    mirrored,
    ranges,
    transposed,
    with_diagonal,
    zeros,
)
from cardan._dynamics.algorithms.tree import Relative, Vector
from cardan._robot.joints.catalogue.of_another import SubspaceOfFollower
from cardan._robot.model import Model, Node

Felt = Callable[[Node], Inertia | ArticulatedInertia]


class Group(NamedTuple):
    nodes: list[Node]  # outwards
    base: int  # the node they hang on; -1 for the world
    v: tuple[int, ...]  # the velocities that they share
    armature: Sequence[Scalar]  # along these
    leg: Leg | None = None  # what makes them follow a body, whatever moves this
    platform: int = -1  # the node of that body

    @property
    def root(self) -> Node | None:
        """The only node on the base; None if there are several."""
        roots = [node for node in self.nodes if node.parent == self.base]
        return roots[0] if len(roots) == 1 else None


def groups(model: Model) -> list[Group] | None:
    """Return the groups, outwards; None if joints that share velocities are no groups."""
    by_velocity: dict[tuple[int, ...], list[Node]] = {}
    for node in model.nodes:
        by_velocity.setdefault(node.v, []).append(node)
    found = []
    for nodes in by_velocity.values():
        own = {node.index for node in nodes}
        bases = {node.parent for node in nodes} - own - {-1}
        armature = [sum(column, 0.0) for column in zip(*(node.armature for node in nodes), strict=True)]
        found.append(Group(nodes, max(bases, default=-1), nodes[0].v, armature))
        # What hangs on the world does not say that the base comes first: a wrist may follow the joint that carries it.
        if len(bases) > 1 or not bases <= {node.index for group in found[:-1] for node in group.nodes}:
            return None
    return found if sum(map(len, by_velocity)) == model.nv else None


def taken_apart(group: Group, relative: Relative, W: Armature) -> list[Group]:
    """Return the joints of a cluster on the world that move alone, outwards, and its legs (`legs`); or the whole.

    So it is if W couples some that move alone.
    """
    legs: dict[range, list[Node]] = {}
    alone: dict[tuple[int, ...], Node] = {}
    for node in group.nodes:
        S = relative.S[node.index]
        if isinstance(S, SubspaceInLeg):
            legs.setdefault(S.leg.rows, []).append(node)
        elif along := _picked(own_motion(S)[1]):
            alone[along] = node
    parts = [list(alone.values()), *legs.values()]
    hung = all(node.parent in (-1, *(other.index for other in part)) for part in parts for node in part)
    whole = sorted(j for along in alone for j in along) == list(range(len(group.v)))
    velocities = [{group.v[j] for j in along} for along in alone]
    whole = whole and all(own.issuperset(W[i]) for own in velocities for i in own)
    if not (legs and hung and whole and sum(map(len, parts)) == len(group.nodes)):
        return [group]
    found = [
        Group([node], node.parent, tuple(group.v[j] for j in along), [group.armature[j] for j in along])
        for along, node in alone.items()
    ]
    for nodes in legs.values():
        S: Any = relative.S[nodes[0].index]
        found.append(Group(nodes, -1, (), [], S.leg, alone[S.platform].index))
    return found


def _picked(G: Rows) -> tuple[int, ...]:
    """Return which velocity each row of G picks out; nothing if one is another function of them."""
    found = [[(j, e) for j, e in enumerate(row) if not is_zero(e)] for row in G]
    picks = all(len(row) == 1 and isinstance(row[0][1], float) and row[0][1] == 1.0 for row in found)
    return tuple(row[0][0] for row in found) if picks else ()


def own_motion(S: Any) -> tuple[MotionSubspace, Rows]:
    """Return a joint's own S, and G: those of a follower's subspace S G, or else S and 1."""
    return (S.S, S.G) if isinstance(S, SubspaceOfFollower) else (S, identity_rows(len(S)))


class Borne(NamedTuple):
    """What solves for the accelerations of a group: u = D a + U^T dA, of the root before it moves, or of the base."""

    U: list[Force]
    D: Factor
    u: list[Scalar]


def grouped_accelerations(
    model: Model,
    relative: Relative,
    groups: Sequence[Group],
    p: Sequence[Force],
    tau: Vector,
    W: Armature | None = None,
    felt: Felt | None = None,
) -> tuple[list[Scalar], list[Motion]]:
    """Return a and dA, of the bias forces p on nodes. `felt` is what each feels like, by default its own inertia."""
    a: list[Scalar] = [0.0] * model.nv
    W = W or [{} for _ in a]
    own = [felt(node) if felt else node.inertia for node in model.nodes]
    inwards = Inwards(model, relative, tau, W, list(p), own)
    groups = [part for group in groups for part in taken_apart(group, relative, W)]
    borne = [inwards.borne(group) for group in reversed(groups)]
    dA: list[Motion] = [Motion.zero() for _ in model.nodes]

    def before(node: Node) -> Motion:
        return Motion.zero() if node.parent < 0 else relative.X[node.index].inverse_act(dA[node.parent])

    for group, (U, D, u) in zip(groups, reversed(borne), strict=True):
        free = Motion.zero() if group.base < 0 else before(group.root) if group.root else dA[group.base]
        own = D.solve([e - f.dot(free) for e, f in zip(u, U, strict=True)])  # (4)
        for i, e in zip(group.v, own, strict=True):
            a[i] = e
        for node in group.nodes:
            dA[node.index] = before(node) + relative.S[node.index] @ node.velocity(a)
    return a, dA


class Inwards(NamedTuple):
    """The inward pass. I^A of a body is rigid, as most are, until a group gives way on it."""

    model: Model
    relative: Relative
    tau: Vector
    W: Armature
    p: list[Force]  # of nodes, with all that hangs on them
    inertia: list[Inertia | ArticulatedInertia]  # of nodes, as well

    def borne(self, group: Group) -> Borne:
        """Return what a group bears, after all groups on it, and give the rest to its base."""
        parts = {node.index: own_motion(self.relative.S[node.index])[0] for node in group.nodes}
        places, n = dict(zip(parts, ranges(map(len, parts.values())), strict=True)), sum(map(len, parts.values()))
        M, H = zeros(n, n), [Force.zero()] * n
        own: list[Scalar] = [0.0] * n
        for node in reversed(group.nodes):
            at = places[node.index]
            own[at.start : at.stop] = parts[node.index].T @ self.p[node.index]
            H[at.start : at.stop] = self._carried(node, group, parts, places, M)
            if node is not group.root:
                self._give(node)
        columns = transposed(self._slopes(group))
        moved = [[dot(row, column) for row in M] for column in columns]  # G^T M
        D = mirrored([[dot(row, column) for column in columns] for row in moved])  # (2)
        borne = [dot(column, own) for column in columns]
        if group.leg:
            return self._hold(group.leg, group.platform, D, borne)
        U = [combined(H, column) for column in columns]
        u = [self.tau[i] - e for i, e in zip(group.v, borne, strict=True)]
        added = self._added(group)
        D = [[e + more for e, more in zip(*rows, strict=True)] for rows in zip(D, added, strict=True)]
        factor = factored_inertia(group.nodes[0], D)
        if group.base >= 0:
            self._give_way(group, U, factor, u, added)
        return Borne(U, factor, u)

    def _added(self, group: Group) -> Rows:
        """Return armature + W (2) of a group."""
        own = [[self.W[i].get(j, 0.0) for j in group.v] for i in group.v]
        return with_diagonal(own, group.armature)

    def _slopes(self, group: Group) -> Rows:
        """Return G of a group; of a leg, beside what its platform does along T."""
        found: Rows = []
        for node in group.nodes:
            S: Any = self.relative.S[node.index]
            along = [node.v.index(i) for i in group.v]
            found += S.inverse if group.leg else [[row[j] for j in along] for row in own_motion(S)[1]]
        return found

    def _hold(self, leg: Leg, platform: int, L: Rows, f: Vector) -> Borne:
        """Add what a platform feels of a leg to what it bears."""
        inertia, force = leg.felt(L, f)
        self.inertia[platform] = together(self.inertia[platform], inertia)
        self.p[platform] = self.p[platform] + force
        return Borne([], Factor([]), [])

    def _carried(self, node: Node, group: Group, parts: Any, places: Mapping[int, range], M: Rows) -> list[Force]:
        """Return the forces F (1) of a node as the root feels them, or the base; fill its rows and columns of M."""
        at, i = places[node.index], node.index
        F = [self.inertia[i] @ s for s in parts[i]]
        add_block(M, at, at, mirrored([parts[i].T @ f for f in F]))
        while (above := self.model.nodes[i].parent) in parts:
            F, i = [self.relative.X[i] @ f for f in F], above
            block = [parts[i].T @ f for f in F]
            add_block(M, at, places[i], block)
            add_block(M, places[i], at, transposed(block))
        if group.root and i == group.root.index:
            return F
        return [self.relative.X[i] @ f if above >= 0 else Force.zero() for f in F]

    def _give(self, node: Node) -> None:
        """Add the inertia of a node, and the force on it, to those of its parent; the world bears all."""
        i, to, inertia = node.index, node.parent, self.inertia[node.index]
        if to >= 0:
            self.p[to] = self.p[to] + self.relative.X[i] @ self.p[i]
            self.inertia[to] = together(self.inertia[to], self.relative.inwards(node, inertia))

    def _give_way(self, group: Group, U: Sequence[Force], D: Factor, u: Vector, added: Rows) -> None:
        """Take from the root, or the base, what the group's own motion gives way (3), by its armature + W."""
        i = group.root.index if group.root else group.base
        alone = len(group.nodes) == 1 and _picked(self._slopes(group)) == tuple(range(len(group.v)))
        apart = all(is_zero(e) for j, row in enumerate(added) for k, e in enumerate(row) if k != j)
        S, rotors = own_motion(self.relative.S[i])[0], [row[j] for j, row in enumerate(added)]
        S = S if alone and apart else None
        self.inertia[i] = given_way(self.inertia[i].articulated(), S, U, times_inverse(U, D), rotors)
        self.p[i] = self.p[i] + combined(U, D.solve(u))
        if group.root:
            self._give(group.root)


def together(a: Inertia | ArticulatedInertia, b: Inertia | ArticulatedInertia) -> Inertia | ArticulatedInertia:
    """Return the sum of two inertias, rigid if both are."""
    return a + b if type(a) is type(b) else a.articulated() + b.articulated()


def given_way(
    inertia: ArticulatedInertia,
    S: MotionSubspace | None,
    U: Sequence[Force],
    scaled: Sequence[Force],
    rotors: Sequence[Scalar],
) -> ArticulatedInertia:
    """Return I^a, `scaled` being U D^-1. Along S of one joint it is I^a S = U D^-1 rotors, which is 0 without any."""
    for s, column in zip(scaled, U, strict=True):
        inertia = inertia.minus_outer(s, column)
    for motion, s, rotor in zip(S, scaled, rotors, strict=True) if S else ():
        axis = [(k, e) for k, e in enumerate(motion.scalars()) if not is_zero(e)]
        if len(axis) == 1 and isinstance(axis[0][1], float) and abs(axis[0][1]) == 1.0:
            ((k, sign),) = axis
            inertia = inertia.with_column(k, s * (rotor * sign))
    return inertia


def times_inverse(U: Sequence[Any], D: Factor) -> list[Any]:
    """Return U D^-1 of forces, or of motions."""
    rows = [D.solve(row) for row in zip(*(column.scalars() for column in U), strict=True)]
    return [type(column).of([row[k] for row in rows]) for k, column in enumerate(U)]


def factored_inertia(node: Node, D: Rows) -> Factor:
    """Return D, factored; `MechanismError` if a joint moves nothing that has inertia."""
    check_moves([row[k] for k, row in enumerate(D)], node)
    try:
        return Factor(D)
    except SingularError:
        raise singular(node) from None


def check_moves(D: Vector, node: Node) -> None:
    """Raise `MechanismError` for a joint along which there is no inertia, of those D [kg, kg m^2]."""
    if any(map(is_zero, D)):
        raise singular(node)


def check_outweighed(model: Model, rotors: Callable[[Node], Vector], *, known: bool) -> None:
    """Raise `MechanismError` for a joint behind which more velocities are free than the bodies there can resist.

    M of what is behind a joint is a sum over bodies, each of the rank of its inertia: 6, and of a point mass 3. Seven
    hinges in a row with one body are singular in every configuration, and rounding hides it. Rotors make joints count
    for themselves, and velocities that several joints share are left out. Inertias that are not `known` count for 6.
    Bodies are asked, since the nodes of a simplified tree have what no joint of theirs feels.
    """
    excess = [-e if known else -6 for e in _ranks(model)]
    shared = Counter(j for node in model.nodes for j in node.v)
    for node in reversed(model.nodes):
        free = (is_zero(e) for j, e in zip(node.v, rotors(node), strict=True) if shared[j] == 1)
        excess[node.index] += sum(free)
        if excess[node.index] > 0:
            raise singular(node)
        if node.parent >= 0:
            excess[node.parent] += excess[node.index]


def _ranks(model: Model) -> list[int]:
    """Return the rank of every node's inertia, or more: 6 of one that is made of symbols, or of more than a point."""
    found = [0 if all(isinstance(e, Real) for e in node.inertia.parameters()) else 6 for node in model.nodes]
    for body in model.bodies:
        k = model.attachments[body.name].node
        if k >= 0 and body.inertia is not None:
            turns = not all(map(is_zero, body.inertia.inertia_at_com))
            found[k] = min(found[k] + (6 if turns else 3 * (not is_zero(body.inertia.mass))), 6)
    return found


def singular(node: Node) -> MechanismError:
    """Return the error of a joint that moves nothing that has inertia."""
    return MechanismError(
        f"joint {node.name!r} moves nothing that has inertia, in one direction at least, so its acceleration is not "
        "determined; give the bodies it carries mass and inertia, or the joint an armature, or lock the joint. Bodies "
        "beyond a joint that is free do not count along it."
    )
