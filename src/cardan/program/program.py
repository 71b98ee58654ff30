"""The intermediate representation: a straight-line program over scalars.

A program is a list of instructions, each an operation on earlier instructions; there are no branches and no loops.
`str(program)` prints it, `verify` checks every rule it must obey.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cardan.errors import ProgramError
from cardan.program.ops import SPEC, Kind, Op


class Instruction(NamedTuple):
    """One operation.

    Attributes:
        op: which.
        args: numbers of the earlier instructions it acts on.
        value: the number of a CONST; the position of an INPUT in the flattened inputs; else 0.
    """

    op: Op
    args: tuple[int, ...] = ()
    value: float = 0.0


class Array(NamedTuple):
    """The name and core shape of an argument or result."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Program:
    """A straight-line program.

    Attributes:
        name: of the function it computes.
        inputs: the arguments; their entries, row by row, one argument after the other, are the flattened inputs.
        instructions: in order of evaluation.
        outputs: the results; their entries, likewise flattened, are ...
        results: ... the instructions with these numbers.
        history: what tracing and the passes did: a name and a number of operations each. (Not part of what it is.)
    """

    name: str
    inputs: tuple[Array, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[Array, ...]
    results: tuple[int, ...]
    history: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    def operation_counts(self) -> Counter[str]:
        """Return how often each operation occurs, without inputs and constants."""
        return Counter(i.op.value for i in self.instructions if i.op not in (Op.INPUT, Op.CONST))

    @property
    def operations(self) -> int:
        """Number of operations, without inputs and constants."""
        return sum(i.op is not Op.INPUT and i.op is not Op.CONST for i in self.instructions)

    @property
    def multiply_adds(self) -> int:
        """Number of sums that take a product of which nothing else is made: processors do both as one instruction."""
        uses = Counter(a for i in self.instructions for a in i.args)
        uses.update(self.results)
        alone = {k for k, i in enumerate(self.instructions) if i.op is Op.MUL and uses[k] == 1}
        return sum(i.op in (Op.ADD, Op.SUB) and any(a in alone for a in i.args) for i in self.instructions)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def input_names(program: Program) -> list[str]:
    """Return the flattened inputs' names, such as `q[3]`."""
    return [f"{array.name}{_index(array.shape, k)}" for array in program.inputs for k in range(array.size)]


def output_names(program: Program) -> list[str]:
    """Return the flattened outputs' names."""
    return [f"{array.name}{_index(array.shape, k)}" for array in program.outputs for k in range(array.size)]


def _index(shape: tuple[int, ...], flat: int) -> str:
    indices = []
    for size in reversed(shape):
        flat, k = divmod(flat, size)
        indices.append(str(k))
    return f"[{', '.join(reversed(indices))}]" if shape else ""


def _lines(program: Program) -> Iterator[str]:
    inputs, outputs = ", ".join(map(str, program.inputs)), ", ".join(map(str, program.outputs))
    yield f"program {program.name}({inputs}) -> {outputs}"
    names = input_names(program)
    for k, (op, args, value) in enumerate(program.instructions):
        operands = " ".join(f"%{a}" for a in args)
        shown = names[int(value)] if op is Op.INPUT else repr(value) if op is Op.CONST else operands
        yield f"  %{k} = {op.value} {shown}"
    for name, k in zip(output_names(program), program.results, strict=True):
        yield f"  {name} <- %{k}"


def verify(program: Program) -> Program:
    """Return the program if it obeys every rule of the representation.

    Raises:
        ProgramError: if an instruction uses a later one, has a wrong number or type of operands, repeats another, is
            dead, or if the results do not fill the outputs.
    """
    kinds: list[Kind] = []
    seen: dict[Instruction, int] = {}
    flat_inputs = sum(a.size for a in program.inputs)
    for k, instruction in enumerate(program.instructions):
        _verify_instruction(k, instruction, kinds, flat_inputs)
        if instruction in seen and not (instruction.op is Op.CONST and instruction.value == 0.0):
            raise ProgramError(f"%{k} repeats %{seen[instruction]}")
        seen[instruction] = k
        kinds.append(SPEC[instruction.op].result)
    if len(program.results) != sum(a.size for a in program.outputs):
        raise ProgramError(f"{len(program.results)} results do not fill {program.outputs}")
    if any(not 0 <= r < len(kinds) or kinds[r] is not Kind.REAL for r in program.results):
        raise ProgramError("a result is not a real value of the program")
    used = {a for i in program.instructions for a in i.args} | set(program.results)
    dead = set(range(len(kinds))) - used
    if dead:
        raise ProgramError(f"instructions {sorted(dead)[:8]} are dead")
    return program


def _verify_instruction(k: int, instruction: Instruction, kinds: list[Kind], flat_inputs: int) -> None:
    op, args, value = instruction
    operands = SPEC[op].operands
    if len(args) != len(operands):
        raise ProgramError(f"%{k}: {op.value} has {len(args)} operands, expected {len(operands)}")
    for a, kind in zip(args, operands, strict=True):
        if not 0 <= a < k:
            raise ProgramError(f"%{k} uses %{a}, which does not come before it")
        if kinds[a] is not kind:
            raise ProgramError(f"%{k}: operand %{a} of {op.value} is {kinds[a].value}, expected {kind.value}")
    if op is Op.INPUT and not 0 <= value < flat_inputs:
        raise ProgramError(f"%{k}: there is no input number {value:g}")
