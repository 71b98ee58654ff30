"""A step whose contacts are rigid: velocities that joints and contacts allow, then bodies move and joints close.

With A of the rotors, efforts tau - W a, and s the share of what does not answer that acts before bodies move,

    (M_q + A + W) (u - v) = s h (tau + weight) + J^T g          u the mean velocity, g of `non_penetration`
    pi = M V + M X (u - v) + what closes the joints             of each body; it moves with the velocity of pi
    v' = M_q^-1 (X^T pi' + A u' + (1 - s) h (tau + weight))     u' as the bodies have moved if A closes joints, else u

and then contacts give velocities what they leave with. Joints feel efforts, drives and contacts at once: bodies alone
would hand them on slowly, and a drive that holds an arm would feel one link of it. What is left to close is what the
motion bends, of the order of h^2. One file each says how it is closed: `xpbd`, `variational`.

Cost: M_q and its factors at both ends, contacts twice, and what closes joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.lengths import bounds_of
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import (
    BodyState,
    Efforts,
    PartialStep,
    PlacedJoint,
    Row,
    StepResult,
    System,
    response,
)
from cardan._motion.maximal_steps.dissipation import Fall
from cardan._motion.maximal_steps.non_penetration import Touched
from cardan._robot.model import Model


class Flight(NamedTuple):
    """A step of h [s] in which bodies go from `start`, at q, as impulses make them, with joints as they are there."""

    system: System
    start: list[BodyState]
    kick: list[Force]
    q: Vector
    mean: Vector  # u, with which kicks go
    h: float
    joined: list[PlacedJoint]
    units: list[Row]  # of unit efforts along v
    inertias: list[Scalar]  # A + W

    @property
    def bodies(self) -> list[BodyState]:
        """The bodies where they start, with the velocities they take."""
        return self.system.started(self.start, self.kick, self.h)


class Closing(NamedTuple):
    """How joints close: `close` returns the bodies at a step's end, with the velocities that took them there.

    `in_halves` says whether half of what does not answer acts after bodies have moved.
    """

    close: Callable[[Flight, int], list[BodyState]]
    iterations: int
    in_halves: bool

    def share(self, W: Vector) -> float:
        """Return s: forces that answer within the step act as a whole before."""
        return 0.5 if self.in_halves and all(map(is_zero, W)) else 1.0


def rigid_start(
    closing: Closing, model: Model, q: Vector, v: Vector, h: float, pairs: Sequence[ContactPair] = ()
) -> PartialStep:
    """Return a step of h [s] whose efforts are those where it begins."""
    system, moment = System(model), Snapshot(model, q, v)
    start = system.placed(q, v)

    def touched(loads: Efforts) -> Touched:
        fall = fall_of(moment, closing.share(loads.W), h)
        return Touched(system, start, moment, fallen(moment, loads, fall, h), fall, loads.W, h, pairs)

    def finish(loads: Efforts) -> StepResult:
        contact = touched(loads)
        change = [new - old for new, old in zip(contact.pushed.v, v, strict=True)]
        stepped = contact.left(*carried(closing, system, start, moment, change, loads, h))
        return stepped if bounded else stepped._replace(felt=contact.pushed.v)

    # Bounds are not in joint space, so that its velocities would be others: such steps are taken twice.
    bounded = any(bounds_of(c.joint) for c in (*model.connections, *model.closures))
    return PartialStep(q, finish, None if bounded else lambda loads: touched(loads).pushed.v)


def fall_of(moment: Snapshot, share: float, h: float) -> Fall:
    model, q = moment.model, moment.q
    return Fall([-h * e for e in bias_forces.kernel(model, q, [0.0] * model.nv)], share)


def fallen(moment: Snapshot, loads: Efforts, fall: Fall, h: float) -> list[Scalar]:
    """Return the velocity after weight and efforts have acted for their share of a step, as the joints allow."""
    acting = [fall.share * (h * tau + w) for tau, w in zip(loads.tau, fall.impulse, strict=True)]
    return [a + b for a, b in zip(moment.v, response(moment.model, moment.q, loads.W)(acting), strict=True)]


def carried(
    closing: Closing,
    system: System,
    start: list[BodyState],
    moment: Snapshot,
    change: Vector,
    loads: Efforts,
    h: float,
) -> tuple[StepResult, list[BodyState]]:
    """Return the state, and the bodies, that a change of velocity along the joints makes in a step; joints close."""
    model, q, after = moment.model, moment.q, (1.0 - closing.share(loads.W)) * h
    armature, joined = model.passive("armature"), system.joined(start, system.near(q))
    twists = system.twists(moment.relative, change)
    kick = [body.impulse(twist) for body, twist in zip(system.bodies, twists, strict=True)]
    units, inertias = system.effort_rows(joined), [a + w for a, w in zip(armature, loads.W, strict=True)]
    mean = [e + more for e, more in zip(moment.v, change, strict=True)]
    moving = closing.close(Flight(system, start, kick, q, mean, h, joined, units, inertias), closing.iterations)
    # Where rotors close the joints as well, they turn as the bodies do; else they keep what they had before that.
    twists = [a._replace(v=b.v, w=b.w).twist() for a, b in zip(start, moving, strict=True)]
    rates = [row.velocity(twists) for row in units] if closing.in_halves else mean
    own = [a * u + after * tau for a, u, tau in zip(armature, rates, loads.tau, strict=True)]
    moving = [b._replace(v=b.v + model.gravity * after) for b in moving]
    return system.coordinates_after(moving, q, h, own), moving
