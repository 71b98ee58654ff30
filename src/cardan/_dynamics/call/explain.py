"""What a compiled function's program is made of, and what each stage did to it, as text."""

from __future__ import annotations

from collections.abc import Mapping

from cardan._compiler.program import Array, Program
from cardan._compiler.program.replay import whole
from cardan._dynamics.call.compiled import Compiled


def explanation(title: str, compiled: Compiled, units: Mapping[str, str]) -> str:
    """Return a program's arguments, operations, stages, memory traffic and machine code, a line each."""
    program = compiled.program
    counts = ", ".join(f"{n} {op}" for op, n in program.operation_counts().most_common())
    read, written = (sum(a.size for a in side) for side in (program.inputs, program.outputs))
    lines = [
        title,
        "arguments: " + ", ".join(f"{a}" + (f" [{units[a.name]}]" if a.name in units else "") for a in program.inputs),
        *_tree(compiled),
        "operations left after each stage: " + ", ".join(_stages(program)),
        f"{program.operations} operations: {counts}",
        *_passes(program),
        f"{program.multiply_adds} of the sums take a product along (multiply-add)",
        f"{8 * read} bytes read and {8 * written} written a state, in float64",
        f"traced in {compiled.traced.seconds:.3f} s",
        *compiled.run.describe(),
    ]
    return "\n  ".join(lines)


def _tree(compiled: Compiled) -> list[str]:
    tree = compiled.traced.tree
    return [f"simplified tree: {tree[1]} numbers that cost operations, of {tree[0]}"] if tree else []


def _passes(program: Program) -> list[str]:
    if not program.regions:
        return []
    passes = ", ".join(f"%{r.start} to %{r.stop - 1} {r.passes} times" for r in program.regions)
    any_number = " (by machine code for any number)" if whole(program) else ""
    return [f"run again: {passes}{any_number}; {program.work} operations in all"]


def _stages(program: Program) -> list[str]:
    """Return each stage with the operations it left, and what it saved."""
    before, lines = None, []
    for stage, left in program.history:
        saved = f" (-{before - left})" if before is not None and before != left else ""
        lines.append(f"{stage} {left}{saved}")
        before = left
    return lines


def gufunc_signature(inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> str:
    """Return the NumPy generalized-ufunc signature of arrays, such as `(9),(9),(9)->(9)`."""
    sides = [",".join(f"({','.join(map(str, a.shape))})" for a in side) for side in (inputs, outputs)]
    return "->".join(sides)
