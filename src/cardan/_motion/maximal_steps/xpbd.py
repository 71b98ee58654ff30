"""Position-based dynamics over any joint: bodies move as they please, then one joint after the other moves them back.

From where gravity and efforts take the bodies in a step of h, each joint in turn, with C its residual, T its wrenches,

    l = -(T^T M^-1 T)^-1 C,        x moved by M^-1 T l

Velocities are what the bodies have moved by, over h. Of order 1; energy is lost at first order. What the iterations
leave is the gap.

What answers within the step, efforts tau - W a, the rotors' inertia A and contacts, is the exception. Passes over the
joints would hand it on slowly: a drive that holds an arm would feel one link of it. So with any of it bodies begin with
the velocities that the joints allow after weight, efforts and contacts,

    (M_q + A + W) (v' - v) = h (tau + weight) + J^T g

and the passes over the joints close what the motion bends, which is of the order of h^2.

Source: Macklin, Mueller and Chentanez, XPBD: position-based simulation of compliant constrained dynamics (2016);
Mueller et al., Detailed rigid body simulation with extended position based dynamics (2020). All rows of a joint at
once, the turning of bodies by momenta (`bodies.py`), and forces as the joints allow, are this house's.
Cost: all joints once in every iteration; with forces that answer, M_q and its factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import is_zero, maximum
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.proximal import regularization
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import BodyState, Efforts, PlacedJoint, StepResult, System, responses
from cardan._motion.maximal_steps.effort_rows import DistanceBounds, rotors
from cardan._motion.maximal_steps.non_penetration import Touched, fallen
from cardan._robot.model import Model

DEPENDENT = 1e2
"""Roundings (`Regularization.nu`) of the diagonal that keep a joint's own rows independent."""


def xpbd_step(
    model: Model, q: Vector, v: Vector, loads: Efforts, h: float, iterations: int = 4, pairs: Sequence[ContactPair] = ()
) -> StepResult:
    """Return the state after a step of h [s] under efforts along v: so many iterations over all joints."""
    system = System(model)
    start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    units, armature = system.effort_rows(joined), model.passive("armature")
    if not pairs and all(map(is_zero, (*loads.W, *armature))):
        # Nothing answers within the step, so bodies may fall freely: the passes over the joints do all.
        kick, touched = system.impulses(units, [h * tau for tau in loads.tau]), None
        fall = h
    else:
        moment = Snapshot(model, q, v)
        after = fallen(system, start, moment, loads, h)
        touched = Touched(system, start, moment, after, loads.W, h, pairs, 0.5 * h)
        kick, fall = touched.kick, 0.0
    stepped, moving = carried(system, start, kick, q, h, iterations, fall)
    return stepped if touched is None else touched.left(stepped, moving)


def carried(
    system: System, start: Sequence[BodyState], kick: Sequence[Force], q: Vector, h: float, iterations: int, fall: float
) -> tuple[StepResult, list[BodyState]]:
    """Return the state, and the bodies, that impulses and gravity for a time `fall` make in a step; joints close."""
    flying, joined = system.started(start, kick, h, fall), system.joined(start, system.near(q))
    placed = _closed(system, [b.moved(h) for b in flying], joined, q, iterations)
    parts = zip(start, placed, strict=True)  # velocities are those that took the bodies where they are
    moving = [b._replace(v=(b.p - a.p) * (1.0 / h), w=a.turning_to(b.r, h)) for a, b in parts]
    twists = [a._replace(v=b.v, w=b.w).twist() for a, b in zip(start, moving, strict=True)]
    own = rotors(system.effort_rows(joined), system.model.passive("armature"), twists)
    return system.coordinates_after(moving, q, h, own), moving


def _closed(
    system: System, placed: Sequence[BodyState], joined: Sequence[PlacedJoint], q: Vector, iterations: int
) -> list[BodyState]:
    """Return the bodies moved back to where their joints want them, one joint after the other."""
    bounds = DistanceBounds(system, joined, placed)
    small = DEPENDENT * regularization(q).nu if system.model.nv else 0.0

    def once(places: list[Any], near: list[Any], pushed: list[Scalar]) -> tuple[list[Any], list[Any], list[Scalar]]:
        now, near, pushed = _at(placed, places), list(near), list(pushed)
        for k, (bound, row) in enumerate(zip(bounds.bounds, bounds.rows, strict=True)):
            total = pushed[k] - bound.value(now) / system.gain(row)
            total = total if bound.sign == 0.0 else maximum(total, 0.0)  # in sum it pushes; one pass may take back
            now, pushed[k] = system.shifted(now, [row], [total - pushed[k]]), total
        for k in range(len(joined)):
            own = system.joint(k, now, near)
            near[k], still = own.q, [0.0] * len(own.rows)
            amounts = responses(system.bodies, own.rows, still, small).solve([-row.residual for row in own.rows])
            now = system.shifted(now, own.rows, amounts)
        return [(b.p, b.r) for b in now], near, pushed

    start = [(b.p, b.r) for b in placed], [j.q for j in joined], [0.0] * len(bounds.rows)
    return _at(placed, repeat(iterations, once, *start)[0])


def _at(placed: Sequence[BodyState], places: Sequence[Any]) -> list[BodyState]:
    return [b._replace(p=p, r=r) for b, (p, r) in zip(placed, places, strict=True)]
