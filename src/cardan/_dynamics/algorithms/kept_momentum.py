"""A long chain that floats keeps its momentum.

A step finds accelerations at its beginning, and moves joints one by one. What all bodies have together then, P and the
angular momentum L about the centre of mass c, is off by the square of the step. In a chain whose first body is light
that is much: its whole length hangs on that body's turn. Here its twist is corrected by what is lacking,

    P' = P + dt F,   L' = L + dt (N - c x F),   F, N = sum X_i (p_i + I_i J_i a) and the weight,

all in the axes of the world. F and N are what touches or pushes the chain, as the step found it. A chain that is
almost a straight line would have to spin about it for that: more than `MOST` in a step it does not.

Source: Featherstone (2008), section 9.1, for the momentum of a floating base.
Cost: four sums inwards, of a chain that floats; nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cardan._algebra.scalar import maximum, sqrt
from cardan._algebra.spatial import SE3, Force, Inertia, Motion, Vector3
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.chains import is_chain
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import Factor
from cardan._dynamics.algorithms.tree import Relative, Vector, relative_kinematics, twists
from cardan._robot.model import Model, Node

MOST = 0.1
"""By how much a step turns a chain at most for its angular momentum's sake [rad]."""


def moved_by(moment: Snapshot, a: Vector, dt: float, loops: bool = False) -> stepping.Moved:
    """Return the state after an implicit step; of a long chain that floats, with the momentum it had."""
    model, g = moment.model, moment.model.gravity
    q, v = stepping.implicit(model, moment.q, moment.v, a, dt, loops, moment.coriolis_of)
    if not is_chain(model):
        return stepping.Moved(q, v)
    carrying = {node.parent for node in model.nodes}
    roots = [node for node in stepping.floating_nodes(model) if node.parent < 0 and node.index in carrying]
    if not roots:
        return stepping.Moved(q, v)
    after, p, dA = relative_kinematics(model, q, loops, 1), moment.p, moment.changes(a)
    wrenches = _on_bodies(model, moment.relative, lambda node: p[node.index] + node.inertia @ dA[node.index])
    both = (moment.relative, moment.V), (after, twists(model, after, v))
    before, now = (_Whole(model, *own) for own in both)
    found, most = list[Motion](), MOST / dt
    for root in roots:
        c = before.inertias[root.index].com
        P, L = before.momentum(root)
        F, N = _turned_about(c, wrenches[root.index], moment.relative.X[root.index])
        P_now, L_now = now.momentum(root)
        weight = g * before.inertias[root.index].mass
        found.append(now.twist(root) + now.change(root, P + (F + weight) * dt - P_now, L + N * dt - L_now, most))
    return stepping.Moved(q, stepping.with_twists(v, roots, q, found))


class _Whole:
    """What hangs on each node, and moves."""

    def __init__(self, model: Model, relative: Relative, V: Sequence[Motion]) -> None:
        self.X, self.V, self.inertias = relative.X, V, composite_inertias(model, relative)
        self.sums = _on_bodies(model, relative, lambda node: node.inertia @ V[node.index])

    def twist(self, root: Node) -> Motion:
        return self.V[root.index]

    def momentum(self, root: Node) -> tuple[Vector3, Vector3]:
        """Return P and L of what hangs on a root, in the axes of the world."""
        return _turned_about(self.inertias[root.index].com, self.sums[root.index], self.X[root.index])

    def change(self, root: Node, P: Vector3, L: Vector3, most: float) -> Motion:
        """Return what a root's twist lacks, in its frame, where momentum in the axes of the world does.

        `most` is how fast it turns for that, at most.
        """
        whole: Inertia = self.inertias[root.index]
        R = self.X[root.index].rotation
        J = [list(row) for row in whole.inertia_at_com.matrix().rows()]
        w = Vector3(*Factor(J).solve(list(R.transpose_apply(L))))
        w = w * (1.0 / sqrt(maximum(w.norm_squared() * (1.0 / most**2), 1.0)))
        return Motion(R.transpose_apply(P) * (1.0 / whole.mass) + whole.com.cross(w), w)


def _turned_about(c: Vector3, sums: Force, X: SE3) -> tuple[Vector3, Vector3]:
    """Return a force and its moment about a point, in the axes of the world."""
    return X.rotation @ sums.linear, X.rotation @ (sums.angular - c.cross(sums.linear))


def _on_bodies(model: Model, relative: Relative, own: Callable[[Node], Force]) -> Sequence[Force]:
    """Return the sums of what is on each node and on all that hangs on it."""
    nodes = relative.nodes(model)

    def inward(node: Node, whole: Force) -> tuple[Force, Callable[[], Force]]:
        return whole, lambda: relative.X[node.index] @ whole

    return nodes.inwards(nodes.each(own), inward)
