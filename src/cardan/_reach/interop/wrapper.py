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
        defaults = {n: p.default for n, p in rest.items() if p.default is not p.empty}
        self._known: dict[str, Any] = defaults | self.options
        self._names = (*interface.arguments, *model.inputs)
        self._positional = tuple(n for n in interface.positional if n in rest)
        inputs = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in model.inputs]
        self.__signature__: inspect.Signature = inspect.Signature([*rest.values(), *inputs])

    def _given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of each argument, as `inspect.Signature.bind` finds it; TypeError if one does not fit."""
        given = {**self._known, **dict(zip(self._positional, args, strict=False)), **kwargs}
        twice = any(n in kwargs for n in (*self._positional[: len(args)], *self.options))
        if twice or len(given) != len(self._names) or len(args) > len(self._positional):
            try:
                self.__signature__.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{self.function.name}{self.__signature__}: {error}") from None
        return given

    def __reduce__(self) -> Any:
        return functools.partial(type(self), options=self.options), (self.function, self.model)

    def __repr__(self) -> str:
        return f"<{self.function.name} of {self.model.name}, for {self.framework}>"
