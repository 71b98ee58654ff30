"""Problems of optimal control: a step of a robot, what it costs, what its last state costs, bounds and constraints.

All are functions of the user. `motions.py` compiles what a descent needs of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import ParameterError, ShapeError
from cardan._algebra.explained import Explained
from cardan._dynamics.call.arguments import shaped_array
from cardan._dynamics.call.function import Function
from cardan._motion.tasks.task import check_model_without_inputs
from cardan._robot.model import Model

WHERE = "Problem"
STATE = ("q", "v")
CONSTRAINTS = ("equality", "inequality", "final_equality", "final_inequality")


@dataclass(frozen=True, eq=False)
class Problem(Explained):
    """A problem of optimal control: the controls of some knots for which the sum of costs is least.

    Args:
        model: the robot.
        step: `step(model, q, v, u, ...)`, made by `cardan.function`: the next q and v as a tuple. The argument behind v
            is the control, whatever its name; it has one dimension.
        cost: of a knot, `cost(model, q, v, u, ...)`: one number, in the caller's unit, twice differentiable. The
            control has the same name.
        final_cost: of the last state, `final_cost(model, q, v, ...)`.
        lower: bounds on the controls, a number or shape (m,) [the caller's unit]; none by default.
        upper: likewise [the caller's unit].
        equality: of a knot, `equality(model, q, v, u, ...)`: an array, shape (k,), in the caller's units, that shall
            be 0; none by default.
        inequality: likewise, that shall be 0 or less, such as the height of the ground less that of a hand.
        final_equality: of the last state, `final_equality(model, q, v, ...)`.
        final_inequality: likewise.

    Further arguments of the functions are parameters, such as a goal: arrays that `solve` is given by name. Numbers
    with a default may be left out. Options, such as the name of a frame, keep their defaults.

    Raises:
        ParameterError, ShapeError, DTypeError: for functions with other arguments or results, a model with inputs, and
            bounds that do not fit.

    Examples:
        >>> @cardan.function(shapes={"u": ("nv",)})
        ... def step(model, q, v, u):
        ...     v_next = v + 0.02 * cardan.forward_dynamics(model, q, v, u)
        ...     return cardan.integrate(model, q, 0.02 * v_next), v_next
        >>> @cardan.function(shapes={"u": ("nv",)}, returns=())
        ... def effort(model, q, v, u):
        ...     return 1e-3 * (u @ u)
        >>> @cardan.function(shapes={"goal": ("nq",)}, returns=())
        ... def far(model, q, v, goal):
        ...     e = cardan.difference(model, goal, q)
        ...     return 100.0 * (e @ e) + v @ v
        >>> reach = cardan.optimal.Problem(arm, step, effort, far)
        >>> reach.controls, reach.parameters
        (7, {'goal': (7,)})
    """

    model: Model
    step: Function[..., Any]
    cost: Function[..., Any]
    final_cost: Function[..., Any]
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    equality: Function[..., Any] | None = None
    inequality: Function[..., Any] | None = None
    final_equality: Function[..., Any] | None = None
    final_inequality: Function[..., Any] | None = None

    def __post_init__(self) -> None:
        check_model_without_inputs(WHERE, self.model)
        for name in ("lower", "upper"):  # its own: else what is written into them changes some uses of it, not all
            if isinstance(value := getattr(self, name), np.ndarray):
                object.__setattr__(self, name, value.copy())
        control = ""
        for what, of in self.functions.items():
            names = list(of.interface.arguments) if isinstance(of, Function) else []
            control = control or "".join(names[2:3])  # of the step, which is the first
            state = [*STATE] if what.startswith("final") else [*STATE, control]
            if names[: len(state)] != state:
                expected = "a function of @cardan.function: (model, q, v, u, ...), that of the last state without u"
                raise ParameterError(f"{what} of {WHERE}", got=names or of, expected=expected)
        if len(self._core(self.step, self.control)) != 1 or not self.controls:
            expected = f'one dimension, m >= 1: @cardan.function(shapes={{"{self.control}": (m,)}})'
            raise ShapeError(self.step.name, self.control, got=self._core(self.step, self.control), expected=expected)
        _ = self._cores  # which raises where functions do not agree
        self._check_results()
        low, high = self.bounds
        if not ((low <= high) & (low < np.inf) & (high > -np.inf)).all():
            raise ParameterError(f"bounds of {WHERE}", got=(low, high), expected="lower <= upper, with numbers between")

    @cached_property
    def _cores(self) -> dict[str, tuple[int, ...]]:
        """The arrays that the functions take, and their shapes."""
        found: dict[str, tuple[int, ...]] = {}
        for of in self.functions.values():
            for name in taken(of, self.model):
                core = self._core(of, name)
                if found.setdefault(name, core) != core:
                    raise ShapeError(of.name, name, got=core, expected=f"{found[name]}, as in the function before")
        return found

    def _check_results(self) -> None:
        nq, nv = self.model.nq, self.model.nv
        for what, of in self.functions.items():
            outputs = of.program(self.model).outputs
            found = [a.shape for a in outputs]
            if what in CONSTRAINTS:
                if len(found) != 1 or len(found[0]) != 1:
                    raise ShapeError(of.name, "result", got=found, expected=f"[(k,)], as the {what} of a {WHERE}")
                continue
            shapes = [(nq,), (nv,)] if what == "step" else [()]
            if found != shapes or [a.name for a in outputs] == ["v", "q"]:
                raise ShapeError(of.name, "result", got=found, expected=f"{shapes}, as the {what} of a {WHERE}")

    @property
    def constraints(self) -> dict[str, Function[..., Any]]:
        """Those of the functions that are constraints, by name."""
        return {name: of for name, of in self.functions.items() if name in CONSTRAINTS}

    @property
    def functions(self) -> dict[str, Function[..., Any]]:
        """The functions that the problem has, by name."""
        optional = [name for name in CONSTRAINTS if getattr(self, name) is not None]
        return {name: getattr(self, name) for name in ("step", "cost", "final_cost", *optional)}

    def _core(self, of: Function[..., Any], name: str) -> tuple[int, ...]:
        return of.interface.cores(self.model)[name]

    @cached_property
    def control(self) -> str:
        """The name of the control, which is that of the step's third argument."""
        return list(self.step.interface.arguments)[2]

    @cached_property
    def controls(self) -> int:
        """How many numbers a control has."""
        return self._core(self.step, self.control)[0]

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The further arguments of the functions, and their shapes."""
        return {name: core for name, core in self._cores.items() if name not in (*STATE, self.control)}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The parameters that may be left out: numbers whose default is the same in all functions that have one."""
        found = [of.interface.defaults for of in self.functions.values()]
        same = {n: value for d in found for n, value in d.items() if all(o.get(n, value) == value for o in found)}
        return {name: value for name, value in same.items() if name in self.parameters}

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds on the controls [the caller's unit], infinite where there is none, shape (m,) each."""
        found = []
        for name, given, none in (("lower", self.lower, -np.inf), ("upper", self.upper, np.inf)):
            array = shaped_array(WHERE, name, none if given is None else given, (self.controls,), (), finite=False)
            found.append(np.broadcast_to(array, (self.controls,)).astype(float))
            found[-1].flags.writeable = False
        return found[0], found[1]


def taken(of: Function[..., Any], model: Model) -> tuple[str, ...]:
    """Return the names of the arrays that a function takes, its options left at their defaults."""
    return of.interface.required(model, {})[0]
