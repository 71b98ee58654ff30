"""A whole program run again on its own results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Program, Region, places_by_name
from cardan._compiler.program.replay import straight


def repeated(program: Program, count: int, carried: Mapping[str, str]) -> Program:
    """Return the program that runs a program several times, once at least; the results are those of the last pass.

    The instructions stay as they are, so that the passes do what as many calls of the program do, to the last bit.
    `carried` names inputs, and the outputs of the same size that take their place in the next pass.
    """
    pairs = _pairs(program, carried)
    inside = program.regions
    if pairs and inside and inside[0].carried == pairs:  # a repeat of a repeat
        count, inside = count * inside[0].passes, inside[1:]
    elif any(program.instructions[k].op is Op.INPUT for region in inside for k, _ in region.carried):
        return repeated(straight(program), count, carried)
    if not pairs:
        return replace(program, regions=inside)
    return replace(program, regions=(Region(0, len(program.instructions), count, pairs), *inside))


def whole(program: Program) -> Region | None:
    """Return the region that is all of a program, run again on its own results; None if there is none.

    How often it is run is no part of the machine code: it is said with each call.
    """
    first = program.regions[0] if program.regions else None
    if first is None or (first.start, first.stop) != (0, len(program.instructions)):
        return None
    return first if all(program.instructions.ops[k] is Op.INPUT for k, _ in first.carried) else None


def times(program: Program, count: int) -> Program:
    """Return a program whose `whole` region is run so many times as often; another program as it is."""
    first = whole(program)
    if first is None or count == 1:
        return program
    return replace(program, regions=(first._replace(passes=count * first.passes), *program.regions[1:]))


def _pairs(program: Program, carried: Mapping[str, str]) -> tuple[tuple[int, int], ...]:
    """Return the instructions of inputs that are used, and those whose values take their place."""
    number = {int(i.value): k for k, i in enumerate(program.instructions) if i.op is Op.INPUT}
    inputs, outputs = places_by_name(program.inputs), places_by_name(program.outputs)
    pairs = [pair for x, y in carried.items() for pair in enumerate(program.results[outputs[y]], inputs[x].start)]
    return tuple(sorted((number[k], after) for k, after in pairs if k in number and number[k] != after))
