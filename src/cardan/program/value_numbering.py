"""A pass that finds values which are equal although they are written differently, by evaluating them.

Derivatives are full of such values: a polynomial in sines and cosines that is another entry of the same rotation, a sum
of squares that is 1. Each instruction is evaluated at a few random points; what agrees at all of them, up to sign, is
replaced by the one that takes the fewest operations, and what is the same number everywhere by that number. (For
polynomials, agreement at random points is identity with probability 1: Schwartz, 1980; Zippel, 1979.)

Choices, comparisons and kinked functions count as values of their own, which equal nothing else: random points
would not see the branch for small angles, and merging the branches would remove it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cardan.program.ops import SPEC, Kind, Op
from cardan.program.passes import remove_dead_code
from cardan.program.program import Instruction, Program

POINTS = 6
TOLERANCE = 1e-12
_SMOOTH = {
    Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.TAN, Op.ASIN, Op.ACOS, Op.ATAN2, Op.EXP, Op.LOG,
}  # fmt: skip


def merge_identities(program: Program) -> Program:
    """Return the program with values that are equal computed once, in the cheapest of the ways written."""
    values = _samples(program)
    best = _representatives(program, values)
    instructions: list[Instruction] = list(program.instructions)
    merged: list[Instruction] = []
    table: dict[Instruction, int] = {}

    def add(instruction: Instruction) -> int:
        if instruction not in table:
            table[instruction] = len(merged)
            merged.append(instruction)
        return table[instruction]

    def place(k: int) -> int:
        """Return the number of an instruction in the new program, with all it needs before it."""
        chosen, sign = best[k]
        if isinstance(chosen, float):
            return add(Instruction(Op.CONST, (), chosen * sign))
        if chosen not in placed:
            op, args, value = instructions[chosen]
            placed[chosen] = add(Instruction(op, tuple(place(a) for a in args), value))
        return placed[chosen] if sign > 0 else add(Instruction(Op.NEG, (placed[chosen],)))

    placed: dict[int, int] = {}
    results = tuple(place(r) for r in program.results)
    return remove_dead_code(replace(program, instructions=tuple(merged), results=results))


def _samples(program: Program) -> np.ndarray:
    """Return the value of each instruction at the random points; what is opaque gets random numbers of its own."""
    rng = np.random.default_rng(20)
    values = np.empty((len(program.instructions), POINTS))
    with np.errstate(all="ignore"):
        for k, (op, args, number) in enumerate(program.instructions):
            if op is Op.CONST:
                values[k] = number
            elif op in _SMOOTH:
                values[k] = _cancelled(op, SPEC[op].evaluate(*values[list(args)]), values[list(args)])
            else:
                values[k] = rng.uniform(0.3, 1.3, size=POINTS) * rng.choice([-1.0, 1.0], size=POINTS)
    return values


def _cancelled(op: Op, v: np.ndarray, args: np.ndarray) -> np.ndarray:
    """Return 0 for a sum of which nothing is left but rounding errors; else the value, however small."""
    nothing_left = op in (Op.ADD, Op.SUB) and np.abs(v).max() <= TOLERANCE * np.abs(args).max()
    return np.zeros(POINTS) if nothing_left else v


def _costs(program: Program) -> list[int]:
    """Return how many operations each instruction takes with all it needs."""
    cones: list[frozenset[int]] = []
    for k, (op, args, _) in enumerate(program.instructions):
        own = frozenset() if op in (Op.INPUT, Op.CONST) else frozenset((k,))
        cones.append(own.union(*(cones[a] for a in args)))
    return [len(cone) for cone in cones]


def _representatives(program: Program, values: np.ndarray) -> list[tuple[int | float, float]]:
    """Return for each instruction what stands for it: an instruction or a number, and a sign."""
    costs, given = _costs(program), _given(program)
    order = sorted(range(len(values)), key=lambda k: (not given[k], costs[k], k))
    best: list[tuple[int | float, float]] = [(k, 1.0) for k in range(len(values))]
    buckets: dict[int, list[int]] = {}
    for k in order:
        op, v = program.instructions[k].op, values[k]
        if op is Op.CONST or SPEC[op].result is Kind.BOOL or not np.isfinite(v).all():
            continue
        size = np.abs(v).max()
        if op in _SMOOTH and np.ptp(v) <= TOLERANCE * size:
            best[k] = (_number(v), 1.0)
            continue
        place = abs(v[0])
        bucket = int(place * 1e9)
        found = next(
            (
                (other, sign)
                for b in (bucket - 1, bucket, bucket + 1)
                for other in buckets.get(b, ())
                for sign in (1.0, -1.0)
                if np.abs(values[other] * sign - v).max() <= TOLERANCE * size
            ),
            None,
        )
        if found is not None and op in _SMOOTH:
            best[k] = found
        else:
            buckets.setdefault(bucket, []).append(k)
    return best


def _number(v: np.ndarray) -> float:
    """Return the number that all samples are, without the rounding errors where it is an integer."""
    mean = float(v.mean())
    nearest = float(round(mean))
    return nearest if abs(mean - nearest) <= TOLERANCE * abs(mean) else mean + 0.0


def _given(program: Program) -> list[bool]:
    """Return which instructions are needed by results that are there anyway: those before the last output."""
    kept = sum(a.size for a in program.outputs[:-1])
    needed = set(program.results[:kept])
    for k in range(len(program.instructions) - 1, -1, -1):
        if k in needed:
            needed.update(program.instructions[k].args)
    return [k in needed for k in range(len(program.instructions))]
