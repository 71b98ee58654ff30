"""What moves fast keeps its momentum where it floats, and gains no energy but by what acts on it.

A step finds accelerations at its beginning, and moves joints one by one. What all bodies have together then, P and the
angular momentum L about the centre of mass c, is off by the square of the step, and so is their kinetic energy T. In
a long chain whose first body is light that is much: its whole length hangs on that body's turn. It is much in any tree
of which a joint turns by more than `TURN` in a step: small links of a robot would run away.

    (1)  P' = P + dt F,   L' = L + dt (N - c x F),   F, N = sum X_i f_i and the weight,   f_i = p_i + I_i J_i a
    (2)  T' <= T + dt (sum f_i . (V_i + V_i') / 2 + g . (P + P') / 2)

all in the axes of the world. Forces f_i and the weight are what does work on the bodies, as the step found it. The
couples of `gyroscopic` are none of them: they are a better form of what (2) takes from the motion itself. The twist of
a floating tree's first body is corrected by what (1) lacks. If a step ends with more than (2) says, of a long chain by
`MORE` of it, all that moves bodies against one another is slowed alike: of a tree that hangs on the world all that
moves. P' has no more energy than that, either: ground gives what it gives by impulses that the step found too large.
That happens where bodies turn or move by more than their size in a step.

A chain that is almost a straight line would have to spin about it for (1): more than `MOST` in a step it does not.

Source: Featherstone (2008), section 9.1, for the momentum of a floating base.
Cost: six sums inwards; of a robot three operations a joint, where none of its joints turns so fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from cardan._algebra.arrays.repeat import recomputed, when
from cardan._algebra.scalar import held, logical_and, logical_or, maximum, sqrt, where
from cardan._algebra.spatial import SE3, Force, Inertia, Motion, Scalar, Vector3
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.chains import chains_of, is_chain
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_couple
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import Factor
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.tree import Relative, Vector, relative_kinematics, sums, twists
from cardan._robot.model import Model, Node

MOST = 0.1
"""By how much a step turns a chain at most for its angular momentum's sake [rad]."""
MORE = 0.02
"""Which part of its energy a step of a long chain may make: gentle motion gains and loses less, in turns."""
TURN = 0.05
"""By how much a joint of a robot turns in a step from which on that makes nothing [rad]: 25 rad/s at 2 ms."""
ROUNDING, ROUNDING_IN_SINGLE = 1e-13, 1e-5
"""Which part of all kinetic energy that between bodies may be wrong by."""


def moved_by(moment: Snapshot, a: Vector, dt: float, loops: bool = False) -> stepping.Moved:
    """Return the state after an implicit step, balanced as equations (1) and (2) say if something moves fast."""
    model = moment.model
    q, v = stepping.implicit(model, moment.q, moment.v, a, dt, loops, moment.coriolis_of)
    if is_chain(model):
        return stepping.Moved(q, _balanced(moment, a, dt, loops, q, v))
    trees = chains_of(model)
    # a share for each tree would open the loops between them
    if model.has_loops or not trees:
        return stepping.Moved(q, v)

    def balanced(q_0: Vector, v_0: Vector, a: Vector, q: Vector, v: Vector) -> tuple[Vector, ...]:
        start = Snapshot(model, q_0, v_0)
        found = _balanced(start, a, dt, loops, q, v)
        for tree in trees if len(trees) > 1 else []:  # one alone is here because it is fast
            is_fast = _is_fast(start, a, tree, dt)
            for j in {j for node in tree for j in node.v}:
                found[j] = where(is_fast, found[j], v[j])
        return q_0, v_0, a, q, found

    # nothing is shared with the step: to keep all of it until here costs more than the check
    given = (list(moment.q), list(moment.v), list(a), q, v)
    is_any_fast = reduce(logical_or, (_is_fast(moment, a, tree, dt) for tree in trees))
    found = when(is_any_fast, lambda: recomputed(balanced, *given)[-1], v)
    # with the derivatives of v: those of the balance would triple all programs of derivatives
    return stepping.Moved(q, list(map(held, found, v)))


def _is_fast(moment: Snapshot, a: Vector, tree: Sequence[Node], dt: float) -> Scalar:
    """Return whether a joint of a tree turns fast before a step, or is turned by it so fast, as by a blow.

    By the fourth powers of all: mostly that of the fastest one.
    """
    total: Scalar = 0.0
    for node in tree:
        rates = zip(node.velocity(moment.v), node.velocity(a), moment.relative.S[node.index], strict=True)
        squared = sum((v * v + dt * dt * (rate * rate)) * s.angular.norm_squared() for v, rate, s in rates)
        total = total + squared * squared
    return total > (TURN / dt) ** 4


def _balanced(moment: Snapshot, a: Vector, dt: float, loops: bool, q: Vector, v: Vector) -> list[Scalar]:
    """Return the velocities of a state q, v after a step, balanced."""
    model, v = moment.model, list(v)
    before = _Whole(model, moment.relative, moment.V)
    after = relative_kinematics(model, q, loops, 1)
    now = _Whole(model, after, twists(model, after, v))
    acting = _Acting(moment, a, dt)
    floating = stepping.floating_nodes(model)
    found: list[tuple[Node, Motion]] = []
    for tree in chains_of(model):
        balance = _Balance(tree[0], before, now, acting)
        if tree[0] in floating:
            share, twist = balance.floating()
            found.append((tree[0], twist))
        else:
            share = balance.hanging()
        for j in {j for node in tree for j in node.v}:
            v[j] = v[j] * share
    return stepping.with_twists(v, [root for root, _ in found], q, [twist for _, twist in found])


class _Whole:
    """What hangs on each node, and moves."""

    def __init__(self, model: Model, relative: Relative, V: Sequence[Motion]) -> None:
        self.X, self.V, self.inertias = relative.X, V, composite_inertias(model, relative)
        momenta = relative.nodes(model).each(lambda node: node.inertia @ V[node.index])
        self.momenta = sums(model, relative, lambda node: momenta[node.index])
        self.energies = sums(model, relative, lambda node: momenta[node.index].dot(V[node.index]) * 0.5)

    def momentum(self, root: Node) -> tuple[Vector3, Vector3]:
        """Return P and L of what hangs on a root, in the axes of the world."""
        return _turned_about(self.inertias[root.index].com, self.momenta[root.index], self.X[root.index])

    def turning(self, root: Node, L: Vector3) -> Vector3:
        """Return how fast all turns as one body with L, in the frame of the root."""
        J = [list(row) for row in self.inertias[root.index].inertia_at_com.matrix().rows()]
        return Vector3(*Factor(J).solve(list(self.X[root.index].rotation.transpose_apply(L))))

    def twist(self, root: Node, P: Vector3, w: Vector3) -> Motion:
        """Return the twist of a root on which all moves as one body with P, and turns by w."""
        whole: Inertia = self.inertias[root.index]
        return Motion(self.X[root.index].rotation.transpose_apply(P) * (1.0 / whole.mass) + whole.com.cross(w), w)


class _Acting:
    """What acts on the bodies in a step, and the power of it at the mean of their velocities, summed inwards."""

    def __init__(self, moment: Snapshot, a: Vector, dt: float) -> None:
        self.dt, self.model, self.gravity = dt, moment.model, moment.model.gravity
        p, V, dA, relative = moment.p, moment.V, moment.changes(a), moment.relative

        def force(node: Node) -> Force:
            f = p[node.index] + node.inertia @ dA[node.index]
            couple = None if is_chain(moment.model) else gyroscopic_couple(moment, node, dt)
            return f if couple is None else f - Force(Vector3.zero(), couple)

        f = relative.nodes(moment.model).each(force)
        self.forces = sums(moment.model, relative, lambda node: f[node.index])
        self.powers = sums(
            moment.model, relative, lambda node: f[node.index].dot(V[node.index] + dA[node.index] * (0.5 * dt))
        )


class _Balance:
    """What a step leaves of a tree, beside what it should."""

    def __init__(self, root: Node, before: _Whole, now: _Whole, acting: _Acting) -> None:
        self.root, self.before, self.now, self.acting = root, before, now, acting
        self.mass = before.inertias[root.index].mass
        self.most = 1.0 + (MORE if is_chain(acting.model) else 0.0)
        self.P, self.L = before.momentum(root)

    def hanging(self) -> Scalar:
        """Return by which share of its velocities a tree that hangs on the world moves on."""
        P, _ = self.now.momentum(self.root)
        return self._share(self._energy(P), self.now.energies[self.root.index])

    def floating(self) -> tuple[Scalar, Motion]:
        """Return that share of a tree that floats, and the twist of its root."""
        root, now, dt, i = self.root, self.now, self.acting.dt, self.root.index
        F, N = _turned_about(self.before.inertias[i].com, self.acting.forces[i], self.before.X[i])
        P = self.P + (F + self.acting.gravity * self.mass) * dt
        P_now, L_now = now.momentum(root)
        w_now = now.turning(root, L_now)
        lacking = now.turning(root, self.L + N * dt - L_now)
        part = 1.0 / sqrt(maximum(lacking.norm_squared() * (dt / MOST) ** 2, 1.0))
        w = w_now + lacking * part
        most = self._energy(P)
        P = P * self._share(most, self._straight(P))
        left = most - self._straight(P)
        w = w * where(part < 1.0, self._share(left, self._turning(w)), 1.0)
        between = now.energies[i] - self._straight(P_now) - self._turning(w_now)
        share = self._share(left - self._turning(w), between)
        return share, now.twist(root, P, w) + (now.V[i] - now.twist(root, P_now, w_now)) * share

    def _energy(self, P: Vector3) -> Scalar:
        """Return the most kinetic energy of equation (2) with a momentum P after the step."""
        i, g = self.root.index, self.acting.gravity
        return self.before.energies[i] + (self.acting.powers[i] + g.dot(self.P + P) * 0.5) * self.acting.dt

    def _straight(self, P: Vector3) -> Scalar:
        return P.norm_squared() * (0.5 / self.mass)

    def _turning(self, w: Vector3) -> Scalar:
        return w.dot(self.now.inertias[self.root.index].inertia_at_com @ w) * 0.5

    def _share(self, most: Scalar, energy: Scalar) -> Scalar:
        """Return by which share velocities with an energy have no more than the most."""
        whole = self.now.energies[self.root.index]
        rounding = where(is_double((whole,)), ROUNDING, ROUNDING_IN_SINGLE) * whole
        is_more = energy > most * self.most + rounding
        is_some = logical_and(is_more, most > 0.0)
        left = most * (1.0 / where(is_some, energy, 1.0))
        return where(is_more, where(is_some, sqrt(where(is_some, left, 1.0)), 0.0), 1.0)


def _turned_about(c: Vector3, sums: Force, X: SE3) -> tuple[Vector3, Vector3]:
    """Return a force and its moment about a point, in the axes of the world."""
    return X.rotation @ sums.linear, X.rotation @ (sums.angular - c.cross(sums.linear))
