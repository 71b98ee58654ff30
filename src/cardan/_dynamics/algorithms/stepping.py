"""One step in time on the manifold: integrators, as functions of a state (q, v).

    implicit        v' = v + dt a(v'),   q' = q (+) dt v'        a of `implicit_dynamics`: drives, stops, contacts
    semi-implicit   v' = v + dt a(q, v), q' = q (+) dt v'
    midpoint        q_h = q (+) dt/2 v,  v_h = v + dt/2 a(q, v), v' = v + dt a(q_h, v_h),  q' = q (+) dt v_h
    rk4             the classical tableau for v; q by exponentials of it that commute with nothing:
                    q_2 = q (+) h/2 v_1,  q_3 = q (+) h/2 v_2,  q_4 = q_2 (+) h (v_3 - v_1/2)
                    q'  = q (+) h/12 (3 v_1 + 2 v_2 + 2 v_3 - v_4) (+) h/12 (-v_1 + 2 v_2 + 2 v_3 + 3 v_4)

The velocity of a floating body, along its own axes, is carried in the first two as the world sees it (`_carried`):
its twist is, whichever way round its joint is described. It is that of the centre of mass, which moves straight on
where nothing acts.

(+) is the manifold's `integrate`: coordinates stay on it, quaternions of unit length.

Source: Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), chapter I; Celledoni, Marthinsen and Owren,
Commutator-free Lie group methods (2003), section 4, for rk4: its order is 4 on every Lie group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.arrays.functions import solved
from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._algebra.spatial import Force, Motion, Scalar, Vector3
from cardan._algebra.spatial.rotations import matrix_from_rotation_vector
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.along import NodeRows, nodes_of
from cardan._dynamics.algorithms.linear import transposed
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model
from cardan._robot.model.layout import Node

Rate = Callable[[Vector, Vector], Vector]  # accelerations of a state, a(q, v)


class Moved(NamedTuple):  # a state after a step
    q: list[Scalar]
    v: list[Scalar]


class Solved(NamedTuple):
    found: Accelerations  # the accelerations
    residual: Scalar  # by how much velocities after the step are wrong, at most [rad/s, m/s]
    # at the contacts, on the first body, in the axes of its node; they cost nothing where nobody asks
    wrenches: Sequence[Force] = ()
    efforts: Vector = ()  # held by the forces along joints (`JointForces.on`)


def along(q: Vector, v: Vector, dt: Scalar, model: Model, loops: bool = False) -> list[Scalar]:
    """Return q (+) dt v, joint by joint in a loop if asked for."""
    nodes = nodes_of(model, q, 1) if loops else None
    if not isinstance(nodes, NodeRows):
        return list(model.manifold.integrate(q, [dt * rate for rate in v]))
    after = nodes.efforts("q")

    def move(node: Node) -> tuple[()]:
        own = node.joint.integrate(node.configuration(q), [dt * rate for rate in node.velocity(v)])
        after.add(node, own)
        return ()

    nodes.each(move)
    return after.values()


def added(v: Vector, dt: float, *terms: tuple[float, Vector]) -> list[Scalar]:
    """Return v + dt (sum of factor * vector)."""
    total = list(v)
    for factor, vector in terms:
        total = [e + (dt * factor) * d for e, d in zip(total, vector, strict=True)]
    return total


def implicit(
    model: Model, q: Vector, v: Vector, a: Vector, dt: float, loops: bool = False, coriolis_of: Vector | None = None
) -> Moved:
    """Return the state after a step with accelerations that are those at its end.

    They were found with Coriolis forces of velocities; None for v.
    """
    after, floating = added(v, dt, (1.0, a)), floating_nodes(model)
    carried = [_carried(node, q, v, a, dt, v if coriolis_of is None else coriolis_of) for node in floating]
    # along the mean axes of the step, which are those after half of its turn
    halfway = [_turned(V, V.angular * dt * 0.5) for V in carried]
    q_after = along(q, with_twists(after, floating, q, _at_origins(halfway, floating)), dt, model, loops)
    arrived = [_turned(V, V.angular * dt * 0.5) for V in halfway]  # the same turn once more
    return Moved(q_after, with_twists(after, floating, q_after, _at_origins(arrived, floating)))


def _at_origins(twists: Sequence[Motion], nodes: Sequence[Node]) -> list[Motion]:
    """Return the twists at the origins of bodies, given at their centres of mass."""
    return [_shifted(V, -node.inertia.com) for V, node in zip(twists, nodes, strict=True)]


def _shifted(V: Motion, p: Vector3) -> Motion:
    """Return the twist at a point p from where it is given."""
    return Motion(V.linear + V.angular.cross(p), V.angular)


def floating_nodes(model: Model) -> list[Node]:
    """Return the nodes that turn as they move freely: those whose coordinates are a rigid motion, v its body twist."""
    return [node for node in model.nodes if isinstance(node.joint.manifold, RigidMotions)]


def _carried(node: Node, q: Vector, v: Vector, a: Vector, dt: float, u: Vector) -> Motion:
    """Return a floating body's twist after a step at its centre of mass, along the axes it had: v + dt (a + w x u).

    The last term is of the velocities u that Coriolis forces were of.

    The axes turn by phi = dt w in the step, so that along those it has then its linear part is exp(-phi) times this,
    and half of the way on average. Without forces it keeps its size and direction in the world: no momentum is made.
    """
    own, joint = node.configuration(q), node.joint
    there = joint.twist(own, node.velocity(v)), joint.twist(own, node.velocity(u))
    V, U, A = (
        _shifted(e, node.inertia.com)
        for e in (*there, joint.spatial_acceleration(own, node.velocity(u), node.velocity(a)))
    )
    return V + Motion(A.linear + U.angular.cross(U.linear), A.angular) * dt


def _turned(V: Motion, phi: Vector3) -> Motion:
    """Return a twist whose linear part is along axes that have turned since by phi."""
    return Motion(matrix_from_rotation_vector(-phi) @ V.linear, V.angular)


def with_twists(velocity: Vector, nodes: Sequence[Node], q: Vector, twists: Sequence[Motion]) -> list[Scalar]:
    """Return velocities with those that give floating nodes their twists: v = S(q)^-1 V."""
    found = list(velocity)
    for node, V in zip(nodes, twists, strict=True):
        S = [column.scalars() for column in node.joint.motion_subspace(node.configuration(q))]
        for i, (rate,) in zip(node.v, solved(transposed(S), [[e] for e in V.scalars()]), strict=True):
            found[i] = rate
    return found


def seen_from(model: Model, q: Vector, q_after: Vector, v: Vector) -> list[Scalar]:
    """Return v at q_after along the axes that floating bodies have at q, about their centres of mass."""
    floating, seen = floating_nodes(model), []
    for node in floating:
        before, after = node.configuration(q), node.configuration(q_after)
        V = _shifted(node.joint.twist(after, node.velocity(v)), node.inertia.com)
        R = node.joint.transform(before).rotation.T @ node.joint.transform(after).rotation
        seen.append(Motion(R @ V.linear, R @ V.angular))
    return with_twists(v, floating, q, _at_origins(seen, floating))


def semi_implicit(model: Model, q: Vector, v: Vector, rate: Rate, dt: float) -> Moved:
    """Return the state after a step of the semi-implicit (symplectic) Euler method, of order 1."""
    return implicit(model, q, v, rate(q, v), dt)


def midpoint(model: Model, q: Vector, v: Vector, rate: Rate, dt: float) -> Moved:
    """Return the state after a step of the explicit midpoint rule, of order 2."""
    between = added(v, dt, (0.5, rate(q, v)))
    half = along(q, v, 0.5 * dt, model)
    return Moved(along(q, between, dt, model), added(v, dt, (1.0, rate(half, between))))


def rk4(model: Model, q: Vector, v: Vector, rate: Rate, dt: float) -> Moved:
    """Return the state after a step of the commutator-free Runge-Kutta method of order 4."""
    v1, a1 = v, rate(q, v)
    q2, v2 = along(q, v1, 0.5 * dt, model), added(v, dt, (0.5, a1))
    a2 = rate(q2, v2)
    q3, v3 = along(q, v2, 0.5 * dt, model), added(v, dt, (0.5, a2))
    a3 = rate(q3, v3)
    q4, v4 = along(q2, added(v3, 1.0, (-0.5, v1)), dt, model), added(v, dt, (1.0, a3))
    a4 = rate(q4, v4)
    sixth, twelfth = 1.0 / 6.0, dt / 12.0
    first = added([3.0 * e for e in v1], 1.0, (2.0, v2), (2.0, v3), (-1.0, v4))
    second = added([-e for e in v1], 1.0, (2.0, v2), (2.0, v3), (3.0, v4))
    after = added(v, dt, (sixth, a1), (2.0 * sixth, a2), (2.0 * sixth, a3), (sixth, a4))
    return Moved(along(along(q, first, twelfth, model), second, twelfth, model), after)
