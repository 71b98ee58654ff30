"""What a program does for one state, by kind of operation: what its regions hold counts in each of their passes."""

from __future__ import annotations

from collections import Counter

from cardan._compiler.program.ops import LEAVES, Op
from cardan._compiler.program.program import Program, passes, stretches

SUMS = frozenset({Op.ADD, Op.SUB})
CHOICES = frozenset({Op.NEG, Op.ABS, Op.SIGN, Op.MIN, Op.MAX, Op.LT, Op.LE, Op.EQ, Op.AND, Op.OR, Op.NOT, Op.SELECT})
"""What compares, chooses, or turns a sign: no arithmetic."""
KINDS = {Op.MUL: "multiplications", Op.DIV: "divisions", Op.SQRT: "square roots"}
KINDS |= dict.fromkeys(SUMS, "additions") | dict.fromkeys(CHOICES, "comparisons and signs")


def work_counts(program: Program) -> Counter[Op]:
    """Return how often each operation is done for a state; no state takes more, none takes less."""
    ops, found = program.instructions.ops, Counter[Op]()
    for part in stretches(program):
        written = Counter(op for op in ops[part.start : part.stop] if op not in LEAVES)
        found.update({op: passes(program, part) * count for op, count in written.items()})
    return found


def work_by_kind(program: Program) -> dict[str, int]:
    """Return how many operations of each kind are done for a state; functions of libm by their names, at the end."""
    counts = work_counts(program)
    found: dict[str, int] = dict.fromkeys(
        ("additions", "multiplications", "divisions", "square roots", "comparisons and signs"), 0
    )
    for op in (op for op in counts if op in KINDS):
        found[KINDS[op]] += counts[op]
    return found | {op.value: counts[op] for op in Op if op not in KINDS and counts[op]}
