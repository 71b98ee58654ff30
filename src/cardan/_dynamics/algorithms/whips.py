"""Long chains: Coriolis forces of a step's middle, and damping of joints that a step is too long for.

What folds in a chain gets the speed of what was long, as the end of a whip does. Forces of the step's beginning then
make energy. Those of its middle do not, to second order:

    (1)  M a + h(q, u) = tau + J^T f,      u = v + dt/2 a_1

with a_1 of the first iteration that contacts take, which has h(q, v) and the couples of `gyroscopic`.

A force F that goes through a joint, and on with a lever r to the next one, holds the two in line: the angle between
them swings with w^2 = |F| |r| / D. Where rho = (w dt)^2 is not small, no step of this length can follow, and it makes
energy again. There the joint is damped:

    (2)  tau_d = -c (v + dt a),      c = rho^2 D / dt = dt^3 |F|^2 |r|^2 / D

Slow swings keep their energy: c falls with the third power of the step. The damping is between two bodies, so that
momentum and angular momentum are kept. F is what the joint would bear if no joint accelerated: mostly more than it
does, and known before anything is solved. D is the inertia that the joint feels if all joints beyond are free.

Where bodies turn by more than a radian in a step, products of velocities say nothing of where they go: they grow with
the square of a turn, and the forces that hold bodies off ground with them. So these are of slower velocities, share u:

    (3)  share = 1 / max(1, (sum (dt |w_i| / MOST)^8)^(1/8))

of the same share for all of a tree, and about that at which the fastest of its bodies turns by `MOST`.

Robots have no use for it (`chains`).

Source: made here; the lever's stiffness is the geometric stiffness of Tournier, Nesme, Gilles and Faure, Stable
constrained dynamics (2015), section 4.
Cost: an iteration more, of those that contacts take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from cardan._algebra.scalar import is_zero, maximum, sqrt
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.chains import chains_of, is_chain
from cardan._dynamics.algorithms.drives import JointForces
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_efforts
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.stepping import Solved
from cardan._dynamics.algorithms.tree import Vector, sums
from cardan._robot.model import Node

MOST = 1.0
"""By how much a body turns in a step, at most, for products of its velocities [rad]."""


def solved_in_step(
    start: Snapshot, forces: JointForces, dt: float, solve: Callable[[Snapshot, bool], Solved]
) -> tuple[Solved, Snapshot]:
    """Return what solves a step with forces of joints, and the snapshot that its Coriolis forces are those of.

    `solve` is told whether the first iteration is all that is asked for.
    """
    couples = gyroscopic_efforts(start, dt)
    forces.add(couples)
    if is_chain(start.model):
        forces.slow(start.v, slowing(start, forces.inertias, dt))
        first = solve(start, True)
        forces.add([-e for e in couples])
        start = start.with_coriolis_of(middle_velocities(start, first.found.a, dt))
    return solve(start, False), start


def followed(moment: Snapshot, dt: float) -> Snapshot:
    """Return the same, with Coriolis forces of velocities that a step can follow; see equation (3)."""
    return moment.with_coriolis_of(_slower(moment, moment.v, dt)) if is_chain(moment.model) else moment


def middle_velocities(moment: Snapshot, a: Vector, dt: float) -> list[Scalar]:
    """Return u of equation (1) by the accelerations of the first iteration, and by its share of equation (3)."""
    return _slower(moment, [rate + 0.5 * dt * e for rate, e in zip(moment.v, a, strict=True)], dt)


def _slower(moment: Snapshot, u: Vector, dt: float) -> list[Scalar]:
    model, relative, V = moment.model, moment.relative, moment.changes(u)

    def turn(node: Node) -> Scalar:
        squared = V[node.index].angular.norm_squared() * (dt / MOST) ** 2
        return (squared * squared) * (squared * squared)

    own = relative.nodes(model).each(turn)
    total = sums(model, relative, lambda node: own[node.index])
    found = list(u)
    for tree in chains_of(model):
        share = 1.0 / sqrt(sqrt(sqrt(maximum(total[tree[0].index], 1.0))))
        for j in (j for node in tree for j in node.v):
            found[j] = found[j] * share
    return found


def slowing(moment: Snapshot, inertias: Vector, dt: float) -> list[Scalar]:
    """Return c of equation (2) along v, by D; 0 of joints to the world, and of joints that do not turn."""
    model, relative, p = moment.model, moment.relative, moment.p
    nodes = relative.nodes(model)
    found = nodes.efforts()
    inverse: list[Scalar] = [0.0] * model.nv
    for node in model.nodes:
        D = reduce(maximum, node.velocity(inertias), 0.0)  # of a joint the largest
        if node.parent >= 0 and not is_zero(D):
            node.scatter(inverse, [1.0 / D] * len(node.v))

    def slow(node: Node) -> tuple[()]:
        F, r = borne[node.index].linear, relative.X[node.index].translation
        size = dt**3 * (F.dot(F) * r.dot(r))
        turns = (s.angular.dot(s.angular) for s in relative.S[node.index])
        found.add(node, [size * turn * e for turn, e in zip(turns, node.velocity(inverse), strict=True)])
        return ()

    borne: Sequence[Force] = sums(model, relative, lambda node: p[node.index])
    nodes.each(slow)
    return found.values()
