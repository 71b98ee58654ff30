"""A pass that finds values which are equal although they are written differently, by evaluating them in a finite field.

Derivatives are full of such values: a polynomial in sines and cosines that is another entry of the same rotation, a sum
of squares that is 1. Each instruction is evaluated exactly, modulo a prime, at one random point (`exact.py`); of those
that agree, up to sign, the one that takes the fewest operations stays, and what is a number everywhere becomes it.

A value never gets a divisor, or an argument of a root, logarithm or inverse sine, that it was not written with: so
where the program written is finite, the merged one is, too. Nor does a sum, which may cancel, stand for what was
written without any: 2 sin(x / 2)^2 keeps the digits near 0 that 1 - cos x has lost.

Source: Alpern, Wegman and Zadeck, Detecting equality of variables in programs (1988); Gulwani and Necula, Global value
numbering using random interpretation (2004), for values at random points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cardan._compiler.program.exact import Evaluation, Value, evaluate_exactly, up_to_sign
from cardan._compiler.program.instructions import Instruction, Instructions
from cardan._compiler.program.ops import SPEC, Op, ValueType
from cardan._compiler.program.passes import needed_for
from cardan._compiler.program.program import Program

Representative = tuple[int | float, bool]
"""What stands for an instruction: another one or a number, and whether negated."""

_PARTIAL = {Op.DIV: 1, Op.SQRT: 0, Op.LOG: 0, Op.LOG1P: 0, Op.ASIN: 0, Op.ACOS: 0}
"""Operations that are not finite everywhere, and which operand decides."""


def merge_identities(program: Program) -> Program:
    """Return the program with values that are equal computed once, in the cheapest of the ways written."""
    instructions = list(program.instructions)
    standing = _representatives(program, instructions, evaluate_exactly(program))
    merged: dict[Instruction, int] = {}
    place: dict[int, int] = {}  # of a representative, in the new program

    def add(instruction: Instruction) -> int:
        return merged.setdefault(instruction, len(merged))

    def placed(k: int) -> int:
        chosen, negated = standing[k]
        if isinstance(chosen, float):
            return add(Instruction(Op.CONST, (), -chosen if negated else chosen))
        return add(Instruction(Op.NEG, (place[chosen],))) if negated else place[chosen]

    for k in _in_order(program, standing):
        op, args, value = instructions[k]
        place[k] = add(Instruction(op, tuple(map(placed, args)), value))
    results = tuple(map(placed, program.results))
    return replace(program, instructions=Instructions(merged), results=results)


def _in_order(program: Program, standing: Sequence[Representative]) -> Iterator[int]:
    """Yield the representatives that the results need, each after its own operands."""
    done: set[int] = set()
    operands = program.instructions.args
    stack = [(r, False) for r in reversed(program.results)]
    while stack:
        k, ready = stack.pop()
        chosen = standing[k][0]
        if isinstance(chosen, float) or chosen in done:
            continue
        if ready:
            done.add(chosen)
            yield chosen
        else:
            stack.append((chosen, True))
            stack += [(a, False) for a in reversed(operands[chosen])]


def _representatives(program: Program, instructions: Sequence[Instruction], found: Evaluation) -> list[Representative]:
    """Return what stands for each instruction: of its equals the cheapest that is finite wherever it is.

    Representatives are chosen in the order of their cost, results that are there anyway first. An instruction costs
    more than its operands, and the operands of what is there anyway are, too: so nothing ever stands for itself.
    """
    before = sum(a.size for a in program.outputs[:-1])
    given = needed_for(program, program.results[:before])  # by results that are there anyway: all but the last output's
    cones, hazards = _cones(instructions), _hazards(instructions, found)
    signed = list(map(up_to_sign, found.values))
    written = Counter(size for size, _ in signed)  # how often each value is
    standing: list[Representative] = [(k, False) for k in range(len(instructions))]
    several: list[int] = []
    for k, (op, _, _) in enumerate(instructions):
        number = found.numbers[k]
        if op is Op.CONST or SPEC[op].result is ValueType.BOOL:
            continue
        if number is not None:
            standing[k] = (abs(number), number < 0.0)
        elif written[signed[k][0]] > 1:
            several.append(k)
    known: dict[Value, list[tuple[int, bool]]] = {}
    for k in sorted(several, key=lambda k: (not given[k], cones[k].bit_count(), k)):
        size, negative = signed[k]
        equals = known.setdefault(size, [])
        stands = next(((other, sign) for other, sign in equals if not hazards[other] & ~hazards[k]), None)
        if stands is None:
            equals.append((k, negative))
        else:
            standing[k] = (stands[0], stands[1] != negative)
    return standing


def _cones(instructions: Sequence[Instruction]) -> list[int]:
    """Return the operations that each instruction takes with all it needs, as a set of bits."""
    cones: list[int] = []
    for k, (op, args, _) in enumerate(instructions):
        cone = 0 if op in (Op.INPUT, Op.CONST) else 1 << k
        for a in args:
            cone |= cones[a]
        cones.append(cone)
    return cones


SUM = 1  # the bit of hazards for sums and differences, all of which count alike


def _hazards(instructions: Sequence[Instruction], found: Evaluation) -> list[int]:
    """Return, as a set of bits, what must be in an operation's domain for each instruction to be finite, and SUM."""
    bits: dict[tuple[Op, Value], int] = {}
    hazards: list[int] = []
    for op, args, _ in instructions:
        own = SUM if op in (Op.ADD, Op.SUB) else 0
        for a in args:
            own |= hazards[a]
        if op in _PARTIAL:
            operand = args[_PARTIAL[op]]
            if not found.numbers[operand]:  # no number, or 0
                own |= bits.setdefault((op, up_to_sign(found.values[operand])[0]), 1 << len(bits))
        hazards.append(own)
    return hazards
