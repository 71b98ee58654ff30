"""Functions of a robot in another framework: what the wrappers of JAX and PyTorch do alike."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Mapping
from typing import Any

from cardan._algebra.errors import UnknownNameError
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.signature import check_model
from cardan._robot.model import Model


class Wrapper:
    """A function whose arguments are those of cardan's without the model, with the model's inputs by keyword."""

    framework: str

    def __init__(
        self, function: Function[..., Any], model: Model, options: Mapping[str, Any], known: Collection[str]
    ) -> None:
        check_model(function.name, model)
        interface = function.interface
        interface.check_inputs(model)
        for name in options.keys() - set(known):
            raise UnknownNameError("option", name, interface.open, where=function.name)
        self.function: Function[..., Any] = function
        self.model: Model = model
        self.options: dict[str, Any] = dict(options)
        shown: Any = self  # to the type checker it is no function
        functools.update_wrapper(shown, function, updated=())
        rest = {n: p for n, p in interface.arguments.items() if n not in options}
        self._positional = tuple(n for n in interface.positional if n in rest)
        inputs = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in model.inputs]
        self.__signature__: inspect.Signature = inspect.Signature([*rest.values(), *inputs])

    def __reduce__(self) -> Any:
        return functools.partial(type(self), options=self.options), (self.function, self.model)

    def __repr__(self) -> str:
        return f"<{self.function.name} of {self.model.name}, for {self.framework}>"
