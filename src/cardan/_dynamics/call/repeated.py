"""A function run several times on its own results, as one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import DTypeError, ParameterError, ShapeError, check_known
from cardan._compiler.program import Program
from cardan._compiler.program.replay import repeated
from cardan._dynamics.call.signature import Options, Signature
from cardan._dynamics.call.traced import OfProgram, Source, Traceable, Traced
from cardan._robot.model import Model

MOST = 10**9  # passes, at most
Carry = tuple[tuple[str, str], ...] | None


class Repeated(OfProgram):
    """A function run several times: its program in a region.

    `carry` has names of arguments, and of the results that take their place in the next pass; None says all results
    with the name and shape of an argument. ParameterError and DTypeError are for an invalid count or `carry`.
    """

    def __init__(self, of: Traceable, count: int, carry: Mapping[str, str] | None = None) -> None:
        self.of, self.count = of, whole(f"{of.name}.repeated: count", count, 1, MOST)
        self.carry = checked_carry(carry, of.name)
        inner = of.interface
        self.signature = Signature(f"{of.name}_repeated", inner.parameters, inner.declared, inner.fixed, inner.bounds)
        self.returns = of.made_from.returns

    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced:
        inner = self.of.traced(model, names, options, order)
        program = repeated(inner.program, self.count, self._carried(model, inner.program))
        return replace(inner, program=replace(program, name=self.signature.name), key=None)

    @property
    def once(self) -> Any:
        """The function run once, whose machine code serves every count."""
        return self._repeated(1)

    def _carried(self, model: Model, program: Program) -> dict[str, str]:
        where = f"{self.of.name}.repeated"
        inputs, outputs = ({a.name: a for a in side} for side in (program.inputs, program.outputs))
        if self.carry is None:
            same = {n: n for n, a in inputs.items() if n in outputs and outputs[n].shape == a.shape}
            if not same:
                got = f"{', '.join(map(str, program.inputs))} -> {', '.join(map(str, program.outputs))}"
                expected = "a result with the name and shape of an argument"
                hint = 'Say which result takes the place of which argument: carry={"q": "q_next"}.'
                raise ParameterError(where, got=got, expected=expected, hint=hint)
            return same
        for x, y in self.carry:
            check_known("array argument", x, self.of.interface.cores(model), where)
            if x not in inputs:
                got, expected = "not given, or an option, fixed while tracing", "it given, in numbers: it is carried"
                raise ParameterError(f"{where}: argument {x!r}", got=got, expected=expected)
            check_known("result", y, outputs, where)
            if inputs[x].shape != outputs[y].shape:
                expected = f"{inputs[x].shape}, as argument {x!r} has, whose place it takes"
                raise ShapeError(where, f"result {y!r}", got=outputs[y].shape, expected=expected)
        return dict(self.carry)

    def function(self) -> Any:
        return self._repeated(self.count)

    def _repeated(self, count: int) -> Any:
        return self.of.repeated(count, None if self.carry is None else dict(self.carry))

    def content(self) -> Any:
        return "repeated", self.count, self.carry, self.of

    def __reduce__(self) -> Any:
        return _source, (self.of, self.count, self.carry)


def _source(of: Traceable, count: int, carry: Carry) -> Source:
    return of.repeated(count, None if carry is None else dict(carry)).made_from


def checked_carry(carry: Any, where: str) -> Carry:
    """Return what is carried as it is kept; raise unless it is a dictionary of names, not empty."""
    if carry is None:
        return None
    expected = 'a dictionary from arguments to results, such as {"q": "q_next"}'
    if not isinstance(carry, Mapping):
        raise DTypeError(f"{where}.repeated", "carry", got=f"a {type(carry).__name__}", expected=expected)
    if not carry or not all(isinstance(name, str) for pair in carry.items() for name in pair):
        raise ParameterError(f"{where}.repeated: carry", got=carry, expected=expected)
    return tuple(sorted(carry.items()))
