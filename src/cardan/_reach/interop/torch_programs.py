"""Programs as an operator of PyTorch knows them: by a text, which says what is computed.

An operator takes tensors and plain data, and stays in a process for good. So there is one for all programs; which one
it runs is told by a name with the digest of the program in it, and of a derivative, by how it follows from another:

    inverse_dynamics-0c6e5f2b8a17d3e4        that | pulled by 0,1        that | pulled by 0,1 | pushed by 3

Wrapped functions hold their programs, and these their derivatives; nothing else does, so what is dropped is freed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from threading import RLock
from typing import Any, Literal
from weakref import WeakValueDictionary

import numpy as np

from cardan._algebra.errors import TargetError
from cardan._dynamics.call.compiled import Compiled, bound
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.plain import extra_names, pulled, pushed
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options
from cardan._robot.model import Model

Way = Literal["pushed", "pulled"]
THEN, BY = " | ", " by "


class Program:
    """A function of one model for one choice of arrays and options. `program_of` makes it.

    Args:
        name: what it is known by.
        function: the function.
        model: the robot.
        names: of the arrays that are given, in order.
        options: values of the other arguments.

    Attributes:
        cores: core shapes of the arrays.
        results: core shapes of the results.
    """

    def __init__(self, name: str, function: Function, model: Model, names: tuple[str, ...], options: Options) -> None:
        self.name, self.function, self.model, self.names, self.options = name, function, model, names, options
        cores, compiled = function.interface.cores(model), function.compiled(model, names, options)
        self.cores = tuple(cores[n] for n in names)
        self.results = tuple(a.shape for a in compiled.outputs)
        self._form: Form = compiled.form
        self._run = bound(function, model, names, options)
        self._derived: dict[str, Derived] = {}

    def evaluate(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the results for arrays of NumPy, each an array of its own."""
        return [np.asarray(y) for y in self._form.parts(self._run(*arrays)) or ()]

    def derived(self, way: Way, wrt: Sequence[int]) -> Derived:
        """Return a plain derivative by some of the arrays, made once."""
        step = way + BY + ",".join(map(str, wrt))
        if step not in self._derived:
            with _LOCK:
                if step not in self._derived:
                    self._derived[step] = Derived(self, way, wrt, self.name + THEN + step)
        return self._derived[step]

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Derived:
    """A plain derivative of a program.

    Args:
        of: the program.
        way: which derivative.
        wrt: by which of its arrays.
        name: what the program of the derivative is known by.

    Attributes:
        program: of the derivative.
    """

    def __init__(self, of: Program, way: Way, wrt: Sequence[int], name: str) -> None:
        make = pushed if way == "pushed" else pulled
        function = make(of.function, of.model, [of.names[k] for k in wrt], of.names, of.options)
        extra = extra_names(function)
        names = function.interface.order(of.model, {*of.names, *extra})
        self._order = [[*of.names, *extra].index(n) for n in names]
        self.program = _kept(Program(name, function, of.model, names, ()))

    def arranged(self, arrays: Sequence[Any], extra: Sequence[Any]) -> list[Any]:
        """Return the program's arrays, from those of what it was derived from and the directions or weights."""
        given = [*arrays, *extra]
        return [given[k] for k in self._order]


_LOCK = RLock()
_ALIVE: WeakValueDictionary[str, Program] = WeakValueDictionary()


def program_of(function: Function, model: Model, names: tuple[str, ...], options: Options) -> Program:
    """Return the program of a function, which those share that compute the same."""
    compiled = function.compiled(model, names, options)
    name = f"{function.name}-{_digest(function, model, names, compiled)[:24]}"
    with _LOCK:
        return _ALIVE.get(name) or _kept(Program(name, function, model, names, options))


def _kept(program: Program) -> Program:
    return _ALIVE.setdefault(program.name, program)


def _digest(function: Function, model: Model, names: tuple[str, ...], compiled: Compiled) -> str:
    """Return the digest of all that matters of a program: what it computes, what it checks, and where it runs."""
    checks = function.interface.unit_parts(model, names), function.checked
    said = compiled.digest, compiled.passes, names, tuple(model.inputs), checks, function.threads, compiled.target
    return hashlib.sha256(repr(said).encode()).hexdigest()


def program_named(name: str) -> Program:
    """Return the program of a name; that of a derivative is made anew where nobody made it yet in this process.

    Raises:
        TargetError: if there is none, as in a process that did not wrap the function.
    """
    found = _ALIVE.get(name)
    if found is not None:
        return found
    first, *steps = name.split(THEN)
    program = _ALIVE.get(first)
    if program is None:
        function = first.rpartition("-")[0]
        raise TargetError(
            f"this process holds no program {first!r}: make it with cardan.interop.torch.wrap({function}, model), "
            "for the same model, and keep what that returns as long as graphs made with it are used."
        )
    for step in steps:
        way, _, wrt = step.partition(BY)
        program = program.derived("pushed" if way == "pushed" else "pulled", [int(k) for k in wrt.split(",")]).program
    return program
