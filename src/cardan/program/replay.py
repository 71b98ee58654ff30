"""A program run again on scalars of any type: numbers, batches, symbols of this or another library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan.errors import ParameterError
from cardan.program.expr import Graph
from cardan.program.instructions import Instruction
from cardan.program.ops import SPEC, Op
from cardan.program.program import Program, Region, phases, rows_of
from cardan.program.trace import assemble

INPUT, CONST, KEPT = Op.INPUT, Op.CONST, Op.KEPT  # an attribute of an Enum is looked up slowly, and once an operation
LONGEST = 200_000
"""Operations of a program whose passes are written out: its reverse derivative takes some 30 s to compile."""


def replay(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Return the value of each instruction, in regions that of the last pass.

    Args:
        program: what to run.
        inputs: a scalar for each flattened input.
    """
    instructions = list(program.instructions)
    values: list[Any] = [None] * len(instructions)
    given: dict[int, Any] = {}
    tables = dict(zip(program.regions, rows_of(program), strict=True))
    kept: dict[tuple[int, float], Any] = {}

    def compute(k: int) -> Any:
        op, args, number = instructions[k]
        if k in given:
            return given[k]
        return kept[args[0], number] if op is KEPT else _value(instructions[k], inputs, values)

    def run(parts: Sequence[Region | range]) -> None:
        for part in parts:
            if isinstance(part, range):
                for k in part:
                    values[k] = compute(k)
                continue
            rows = tables[part]
            for n in range(part.passes):
                given.update({k: values[instructions[k].args[n]] for k in rows.picked})
                run(phases(program, part))
                kept.update({(k, n): values[k] for k in rows.kept})
                given.update({k: values[after] for k, after in part.carried})
            for k, _ in part.carried:
                del given[k]

    run(phases(program))
    return values


def _value(instruction: Instruction, inputs: Sequence[Any], values: Sequence[Any]) -> Any:
    op, args, number = instruction
    if op is INPUT:
        return inputs[int(number)]
    return number if op is CONST else SPEC[op].evaluate(*(values[a] for a in args))


def straight(program: Program) -> Program:
    """Return the program with every pass of its regions written out.

    Raises:
        ParameterError: if that is longer than `LONGEST` operations.
    """
    if not program.regions:
        return program
    if program.work > LONGEST:
        raise ParameterError(
            f"passes of {program.name} written out, to differentiate it or within another function",
            got=f"{program.work} operations",
            expected=f"at most {LONGEST}",
            hint="Differentiate one pass, and chain the derivatives from pass to pass: forward, dx <- (dy/dx) dx; in "
            "reverse, from the last to the first, with the states in between kept. Or repeat it less often.",
        )
    graph = Graph()
    values = replay(program, graph.symbols(program.inputs))
    return assemble(program.name, graph, program.inputs, program.outputs, [values[r] for r in program.results])
