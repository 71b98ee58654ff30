"""A robot as a module of PyTorch: its constants are parameters, which optimisers know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cardan._algebra.errors import ParameterError
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.signature import check_model
from cardan._reach.interop.torch_operator import torch
from cardan._reach.interop.torch_wrapped import Wrapped
from cardan._robot.model import Model

if TYPE_CHECKING:
    from cardan._robot.model.model import ModelWithInputs


class Module(torch.nn.Module):
    """A robot some of whose constants are parameters: `module(cardan.inverse_dynamics, q, v, a)`.

    A parameter has the name and the shape of the input (`Model.with_inputs`) and begins with the model's own value. All
    that PyTorch does with parameters is done with these: `state_dict`, `to(torch.float32)`, optimisers, and
    parametrizations, by which masses stay positive and axes unit (`torch.nn.utils.parametrize`). Values are taken as
    they are; `to_model` checks them.

    Args:
        model: the robot.
        inputs: what becomes a parameter, beside the inputs the model has: constants of all bodies, joints, or degrees
            of freedom (`["mass", "damping"]`), or a dictionary of constants of single ones
            (`{"tool_mass": ("tool", "mass")}`).
        dtype: of the parameters, by default float64.

    Raises:
        UnknownNameError, ParameterError: for a constant that does not exist, and a name that a module has already.

    Examples:
        >>> import torch
        >>> from cardan.interop.torch import Module
        >>> robot = Module(arm, inputs=["mass"])
        >>> robot(cardan.inverse_dynamics, *map(torch.tensor, (q, v, a))).sum().backward()
        >>> len(robot.mass.grad) == arm.nbodies
        True
    """

    def __init__(
        self, model: Model, inputs: Sequence[str] | Mapping[str, tuple[str, str]] = (), *, dtype: Any = torch.float64
    ) -> None:
        super().__init__()
        check_model("Module", model)
        if isinstance(inputs, str):
            raise ParameterError("inputs of a Module", got=inputs, expected=f"a list of names: [{inputs!r}]")
        self.model: ModelWithInputs = (
            model.with_inputs(**inputs) if isinstance(inputs, Mapping) else model.with_inputs(*inputs)
        )
        self._wrapped: dict[Function, Wrapped] = {}
        for name, value in self.model.input_values().items():
            if hasattr(self, name):
                hint = f"Call it otherwise: inputs={{'my_{name}': (owner, constant)}}."
                raise ParameterError(
                    f"input {name!r}", got="what a module has already", expected="a new name", hint=hint
                )
            self.register_parameter(name, torch.nn.Parameter(torch.as_tensor(value, dtype=dtype)))

    def constants(self) -> dict[str, Any]:
        """Return the parameters, as parametrizations make them, by the names of the model's inputs.

        Examples:
            >>> [*cardan.interop.torch.Module(arm, ["gravity"]).constants()]
            ['gravity']
        """
        return {name: getattr(self, name) for name in self.model.inputs}

    def forward(self, function: Function[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return a function's results for the parameters.

        Args:
            function: one of cardan's, or your own; see `wrap`.
            args: its arguments, without the model.
            kwargs: others of them by name, options too.

        Examples:
            >>> import torch
            >>> cardan.interop.torch.Module(arm, ["mass"])(cardan.gravity_forces, torch.zeros(7).double()).shape
            torch.Size([7])
        """
        wrapped = self._wrapped.get(function)
        if wrapped is None:
            wrapped = self._wrapped[function] = Wrapped(function, self.model, {})
        return wrapped(*args, **kwargs, **self.constants())

    def to_model(self) -> Model:
        """Return the model with the parameters' values as numbers.

        Raises:
            ParameterError: if a value is none that a body, pose or joint can have, such as a negative mass.

        Examples:
            >>> cardan.interop.torch.Module(arm, ["mass"]).to_model().mass == arm.mass
            True
        """
        return self.model.with_values(**{n: x.detach().cpu().double().numpy() for n, x in self.constants().items()})
