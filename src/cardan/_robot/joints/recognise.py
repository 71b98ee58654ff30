"""What a joint is, found from what it does: a hinge, slide or screw, whoever wrote it.

With one coordinate, dq/dt = v and a constant S = [v; u], |u| = 1 (or u = 0, |v| = 1),

    X(q) = X(0) exp(S q) = before J(q) after,       J a `Revolute`, `Helical` or `Prismatic` about u

since dX/dq = X [S]. S is derived from the transform, and its program computed in the ring of functions
sum c q^m e^(i a q), which are linearly independent: S is constant if, and only if, all other coefficients are 0.
Nothing is sampled, and the class plays no part.

Source: Lynch and Park, Modern Robotics (2017), proposition 3.25.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Motion, Vector3
from cardan._compiler.program import Op, Program
from cardan._robot.joints.catalogue.of_another import Reversed
from cardan._robot.joints.catalogue.one_axis import Helical, Prismatic, Revolute
from cardan._robot.joints.derivation.derived import subspace_program
from cardan._robot.joints.derivation.programs import is_zero_as_written, joint_program, keep_by_joint
from cardan._robot.joints.joint import Joint

ROUNDING = 1e-14  # how far coefficients may be off, relative to the largest: what a few dozen roundings leave
UNIT = 1e-15  # how far the length of an axis may be from 1 that somebody normalised
LARGEST = 400  # terms of a product: those of a hinge have fewer by far

Term = tuple[int, float]


class Hinge(NamedTuple):
    """A joint as one about an axis, with the same coordinate: X(q) = before @ joint.transform(q) @ after."""

    joint: Revolute | Helical | Prismatic
    before: SE3
    after: SE3


class Harmonic:
    """A function of q: the sum of coefficients times q^m e^(i a q), by (m, a)."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Term, complex]) -> None:
        self.terms = {key: c for key, c in terms.items() if c != 0.0}

    def __add__(self, other: Harmonic) -> Harmonic:
        return Harmonic({key: self.of(*key) + other.of(*key) for key in {**self.terms, **other.terms}})

    def __mul__(self, other: Harmonic) -> Harmonic:
        if len(self.terms) * len(other.terms) > LARGEST:
            raise ValueError
        product: dict[Term, complex] = {}
        for (m, a), c in self.terms.items():
            for (n, b), d in other.terms.items():
                product[m + n, a + b] = product.get((m + n, a + b), 0.0) + c * d
        return Harmonic(product)

    def of(self, power: int, frequency: float) -> complex:
        """Return a coefficient."""
        return self.terms.get((power, frequency), 0.0)

    def size(self) -> float:
        """Return the largest coefficient; NaN if one is."""
        return float(np.max(np.abs(list(self.terms.values())), initial=0.0))

    def constant(self, size: float = 0.0) -> float:
        """Return the number it is, or raise ValueError if it changes with q: by more than rounds numbers of a size."""
        changes = ((key, c) for key, c in self.terms.items() if key != (0, 0.0))
        if any(power or abs(c) > ROUNDING * max(size, self.size()) for (power, _), c in changes):
            raise ValueError  # powers of q: however small, far away they outgrow the rest
        return self.of(0, 0.0).real

    def phase(self) -> tuple[Harmonic, Harmonic]:
        """Return e^(i x) and e^(-i x) of a linear function x = a q + b."""
        if self.terms.keys() - {(0, 0.0), (1, 0.0)}:
            raise ValueError
        a, b = self.of(1, 0.0).real, self.of(0, 0.0).real
        forth = complex(math.cos(b), math.sin(b))
        return Harmonic({(0, a): forth}), Harmonic({(0, -a): forth.conjugate()})


def _number(value: Any) -> Harmonic:
    return Harmonic({(0, 0.0): value})


def _wave(x: Harmonic, amplitude: complex) -> Harmonic:
    """Return c e^(i x) and its conjugate together: cos x for c = 1/2, sin x for c = -i/2."""
    forth, back = x.phase()
    return forth * _number(amplitude) + back * _number(amplitude.conjugate())


# What the ring has: whatever else a program does, such as choosing, is no hinge's.
RULES: dict[Op, Any] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a + _number(-1.0) * b,
    Op.MUL: lambda a, b: a * b,
    Op.NEG: lambda a: _number(-1.0) * a,
    Op.DIV: lambda a, b: a * _number(1.0 / b.constant()),
    Op.SQRT: lambda a: _number(math.sqrt(a.constant())),
    Op.SIN: lambda a: _wave(a, -0.5j),
    Op.COS: lambda a: _wave(a, 0.5 + 0.0j),
}


def hinge_of(joint: Joint) -> Hinge | None:
    """Return the hinge, slide or screw that a joint is; None for any other.

    None, too, if its own `motion_subspace` or `bias` does not belong to its transform, or it exerts efforts.
    """
    if type(joint) in (Revolute, Prismatic, Helical):  # by definition
        return Hinge(cast("Revolute | Prismatic | Helical", joint), SE3.identity(), SE3.identity())
    if joint.nv != 1 or type(joint.manifold) is not Euclidean or joint.has_efforts:
        return None
    if type(joint) is not Reversed:
        return _recognise(joint)
    # A reversed joint is recognised by what it reverses: its own program would be twice as long.
    inner = hinge_of(joint.joint)  # X^-1 = after^-1 J^-1 before^-1
    return inner and Hinge(replace(inner.joint, axis=-inner.joint.axis), inner.after.inverse(), inner.before.inverse())


@keep_by_joint("transform", "motion_subspace", "bias")
def _recognise(joint: Joint) -> Hinge | None:
    try:
        S, start = _constant_twist(subspace_program(joint)), joint.transform((0.0,))
        return _hinge(S, start) if _is_unit(S) and _moves_by(joint, S) else None
    except Exception:  # the joint's code may raise anything; those who need it will say so
        return None


def _constant_twist(program: Program) -> Motion:
    """Return the last six results of a program of q; parts that are rounding errors are 0.

    KeyError if it does what the ring does not have; ValueError if they change with q.
    """
    values: list[Any] = []
    for op, args, number in program.instructions:
        if op in (Op.INPUT, Op.CONST):
            values.append(Harmonic({(1, 0.0): 1.0}) if op is Op.INPUT else _number(number))
        else:
            values.append(RULES[op](*(values[a] for a in args)))
    linear, angular = ([values[r] for r in part] for part in (program.results[-6:-3], program.results[-3:]))
    return Motion(_constant(linear), _constant(angular))


def _constant(functions: Sequence[Harmonic]) -> Vector3:
    size = max(f.size() for f in functions)
    return _clean(Vector3(*(f.constant(size) for f in functions)), size)


def _clean(x: Vector3, size: float) -> Vector3:
    """Return a vector with rounding errors made 0, so that zeros stay zeros in the program."""
    return Vector3(*(e if abs(e) > ROUNDING * size else 0.0 for e in x))


def _is_unit(S: Motion) -> bool:
    return abs(math.hypot(*(S.angular if any(S.angular) else S.linear)) - 1.0) <= UNIT


def _moves_by(joint: Joint, S: Motion) -> bool:
    """Return whether the joint's own S and bias, if it has any, are S and 0."""
    if joint._has_own("motion_subspace"):
        own = lambda joint, q: {"S": [e for s in joint.motion_subspace(q) for e in s.scalars()]}  # noqa: E731
        gaps = _constant_twist(joint_program("motion_subspace", joint, own, q=1)) - S
        if not max(map(abs, gaps.scalars())) <= ROUNDING * max(map(abs, S.scalars())):
            return False
    write = lambda joint, q, v: {"b": joint.bias(q, v).scalars()}  # noqa: E731
    return not joint._has_own("bias") or is_zero_as_written(joint_program("bias", joint, write, q=1, v=1))


def _hinge(S: Motion, start: SE3) -> Hinge:
    """Return X(0) exp(S q) as a joint about an axis through the point u x v, or along v."""
    v, u = S
    if not any(u):
        return Hinge(Prismatic(v), start, SE3.identity())
    pitch, point = u.dot(v), _clean(u.cross(v), math.hypot(*v))
    joint = Revolute(u) if abs(pitch) <= ROUNDING * math.hypot(*v) else Helical(u, pitch)
    if not any(point):
        return Hinge(joint, start, SE3.identity())
    return Hinge(joint, start @ SE3(translation=point), SE3(translation=-point))
