"""Coulomb's law of rigid contact, and the impulses of all contacts at once by Newton's method in joint space.

    v* - u - n mu |u_t|  in the normal cone of  |g_t| <= mu g_n  at g

That is u_n >= v*, g_n >= 0, one of them exact, and friction against the slip (de Saxce). A law with R sees velocities
from s, u - s with s = R g - n mu |u_t| of the iteration before. So R has no part in what is found (proximal point): it
only makes it unique in each iteration, where points of one body share a load. Each iteration goes a share of the way
to what it decides: half the share of the one before if that erred less, else a tenth more. On all of the way they would
go round in circles, between floor and wall and where limbs lie on edges. What errs least of all is what is found.

    (A + J^T W J) d = J^T W (w* - u),   g = W (w* - u - J d)      u the velocities without contact, d what is changed

with A what impulses along v meet, and W, w* of the part of the law, seen from s, that each contact is on (`cone`).

Source: de Saxce and Feng, The bipotential method (1998); Rockafellar, Augmented Lagrangians and applications of the
proximal point algorithm (1976).
Cost: a factorisation in each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import converging
from cardan._algebra.arrays.symbolic import entries_of, rebuilt
from cardan._algebra.scalar import maximum, minimum, sqrt, where
from cardan._algebra.spatial import Motion, Scalar, Vector3
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.proximal import is_double
from cardan._motion.contact import Contact
from cardan._motion.contact.cone import SMALL, STICKING, FrictionCone, Impulse, Part
from cardan._motion.contact.equation import JointEquation, OnJoints, Response

# So many are differentiated; and there are at most. With ten alone a heavy box on a light one trembles.
ITERATIONS, MOST = 10, 100
# The share that is taken of a decision, at least, and by what it is changed.
LEAST, LESS, MORE = 0.3, 0.5, 1.1
# By how much velocities may be wrong [m/s], in double and in single precision: within the first iterations, and beyond
# these. Where a joint is at its stop, rounding leaves up to 3e-7 as it is.
EXACT, EXACT_IN_SINGLE = 1e-9, 1e-5
CLOSE, CLOSE_IN_SINGLE = 1e-6, 1e-4


class Decision(NamedTuple):
    """What decides on the part of its law that a contact is on."""

    z: Impulse
    s: Vector3

    def part(self, law: FrictionCone) -> tuple[Part, Motion]:
        return law.part(self.z), Motion(self.s, Vector3.zero())

    def after(self, old: Decision, share: Scalar) -> Decision:
        """Return what is a share of the way from another one to this."""
        z, was = self.z, old.z
        normal, slip = was.normal + share * (z.normal - was.normal), was.slip + (z.slip - was.slip) * share
        return Decision(Impulse(normal, slip), old.s + (self.s - old.s) * share)


def rigid_law(contact: Contact, wanted: Scalar) -> FrictionCone:
    R = contact.inverse_mass * STICKING
    return FrictionCone(contact.normal, contact.material.friction, contact.inverse_mass, R, R, wanted)


def first_decision(law: FrictionCone, g: Impulse, twist: Motion) -> Decision:
    """Return what to begin with: what pushes goes on, the rest is decided by velocities."""
    z_n = where(g.normal > 0.0, g.normal, _exact(law).test(g, twist).normal)
    return Decision(g._replace(normal=z_n), _softened(law, g))


def next_decision(law: FrictionCone, g: Impulse, twist: Motion) -> tuple[Decision, Scalar]:
    """Return what follows an impulse and the velocities with it; and the square of by how much these are wrong."""
    lifted = law.normal * (law.friction * sqrt(law.slip(twist).linear.norm_squared() + SMALL * SMALL))
    z = _exact(law).test(g, twist + Motion(lifted, Vector3.zero()))
    return Decision(z, _softened(law, g) - lifted), law.squared_error(g, z)


def _exact(law: FrictionCone) -> FrictionCone:
    return law._replace(R_n=0.0, R_t=0.0)


def _softened(law: FrictionCone, g: Impulse) -> Vector3:
    """Return R g."""
    return law.normal * (law.R_n * g.normal) + g.slip.linear * law.R_t


def rigid_impulses(
    equation: JointEquation,
    A: Rows,
    twists: Sequence[Motion],
    wanted: Sequence[Scalar],
    known: Sequence[Vector3],
) -> tuple[list[Vector3], Scalar]:
    """Return an impulse for each contact, in its axes, from known ones on; and by how much velocities are wrong.

    `twists` are those without impulses, `wanted` the velocities v* along normals.
    """
    moment, own = equation.moment, zip(equation.contacts, wanted, strict=True)
    laws = [rigid_law(contact, speed) for contact, speed in own]

    def once(scratch: Any, best: Any, least: Any) -> tuple[Any, Any, Any]:
        decisions, share, count, worst = scratch
        parts = [own.part(law) for own, law in zip(decisions, laws, strict=True)]
        responses = [
            Response(law.wrench(part.at(u - s)), part.impedance)
            for law, (part, s), u in zip(laws, parts, twists, strict=True)
        ]
        added = equation.together(OnJoints(equation, A, [0.0] * len(A)), responses)
        changed = equation.changes(inverse(moment.model, moment.q, added.A)(added.b))
        now = [u + changed(k) for k, u in enumerate(twists)]
        impulses = [part.at(u - s) for (part, s), u in zip(parts, now, strict=True)]
        found = [next_decision(law, g, u) for law, g, u in zip(laws, impulses, now, strict=True)]
        error = reduce(maximum, (error for _, error in found))
        share = where(error < worst, minimum(MORE * share, 1.0), maximum(LESS * share, LEAST))
        after = [new.after(old, share) for (new, _), old in zip(found, decisions, strict=True)]
        is_worse = error >= least
        kept = rebuilt(impulses, map(partial(where, is_worse), entries_of(best), entries_of(impulses)))
        return (after, share, count + 1.0, error), kept, where(is_worse, least, error)

    def goes_on(scratch: Any, _: Any, least: Any) -> Any:
        allowed = where(scratch[2] < ITERATIONS, *exact)
        return least > allowed * allowed

    before = [law.components(g) for law, g in zip(laws, known, strict=True)]
    start = [first_decision(law, g, u) for law, g, u in zip(laws, before, twists, strict=True)]
    is_exact = is_double(moment.q)
    exact = where(is_exact, EXACT, EXACT_IN_SINGLE), where(is_exact, CLOSE, CLOSE_IN_SINGLE)
    _, impulses, least = converging(MOST, ITERATIONS, goes_on, once, (start, 1.0, 0.0, 1.0), before, 1e30)
    return [law.wrench(g).linear for law, g in zip(laws, impulses, strict=True)], sqrt(least)
