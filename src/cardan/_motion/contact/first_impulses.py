"""Impulses for passes over contacts to begin with: those of contacts that are nearly rigid, all of them at once.

Passes over one contact after the other hand a load on by one contact each, and by the ratio of two masses each where
what is heavy rests on what is light. So they begin where Newton's method is after a few iterations on the convex
problem of `cone`, with both regularisations a small part of the inverse mass that is felt:

    (A + J^T W J) d = J^T W (v* - u),   g = W (v* - u - J d)      u the velocities without contact, d what is changed

and have only what rounding and regularisation leave to do.

Source: `convex.py`, whose iteration this is, in joint space.
Cost: a factorisation of A and 150 operations a contact, an iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import where
from cardan._algebra.spatial import Motion, Scalar, Vector3
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.proximal import is_double
from cardan._motion.contact.cone import STICKING, Cone, worst_error
from cardan._motion.contact.equation import JointEquation, Response

# Half of them let one stack of four in a thousand steps go astray, of 48 that began with small random velocities.
ITERATIONS = 8
# R_n / w, the regularisation of a nearly rigid contact, in double and single precision; R_t is that of `cone`, with a
# smaller one points of one body jam.
DOUBLE, SINGLE = 1e-6, 1e-3


class Known(NamedTuple):
    """An estimate: impulses at the contacts, and the twists there with them."""

    impulses: Sequence[Vector3]
    twists: Sequence[Motion]


def first_impulses(
    equation: JointEquation, A: Rows, twists: Sequence[Motion], wanted: Sequence[Scalar], known: Known | None = None
) -> list[Vector3]:
    """Return an impulse for each contact, in its axes: those known if they are better, as no iteration may converge.

    Args:
        equation: whose contacts they are.
        A: what impulses along v meet.
        twists: u of the contacts.
        wanted: v* of the contacts, along their normals.
        known: by default no impulses.
    """
    moment = equation.moment
    known = known or Known([Vector3.zero() for _ in twists], twists)
    if not twists:
        return []
    share = where(is_double(moment.q), DOUBLE, SINGLE)
    laws = []
    for contact, speed in zip(equation.contacts, wanted, strict=True):
        w = contact.inverse_mass
        laws.append(Cone(contact.normal, contact.material.friction, w, w * share, w * STICKING, speed))

    def once(now: Any, impulses: Any) -> tuple[Any, Any]:
        parts = [law.part(g, u) for law, g, u in zip(laws, impulses, now, strict=True)]
        responses = [
            Response(law.wrench(part.at(u)), part.impedance) for law, part, u in zip(laws, parts, twists, strict=True)
        ]
        K, b = [list(row) for row in A], [0.0] * len(A)
        equation.add_responses(K, b, responses)
        changed = equation.change(inverse(moment.model, moment.q, K)(b)).twists
        now = [u + d for u, d in zip(twists, changed, strict=True)]
        return now, [part.at(u) for part, u in zip(parts, now, strict=True)]

    start = list(twists), [law.first(u) for law, u in zip(laws, twists, strict=True)]
    now, impulses = repeat(ITERATIONS, once, *start)
    found = [law.wrench(g).linear for law, g in zip(laws, impulses, strict=True)]
    before = [law.components(g) for law, g in zip(laws, known.impulses, strict=True)]
    better = worst_error(laws, impulses, now) < worst_error(laws, before, known.twists)
    pairs = zip(found, known.impulses, strict=True)
    return [Vector3(*(where(better, new, old) for new, old in zip(*both, strict=True))) for both in pairs]
