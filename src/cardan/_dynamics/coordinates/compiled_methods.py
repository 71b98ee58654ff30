"""Methods that are compiled functions of their object's model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from cardan._dynamics.call.arguments import is_symbolic, shaped_array
from cardan._dynamics.call.function import Function
from cardan._robot.model import Model

Method = TypeVar("Method", bound=Callable[..., Any])
ROWS = "rows"


class Compiled:
    """What has compiled methods: a model, and the functions made so far.

    `made` is the function that makes one like this, and its arguments: all that the methods depend on. This is what is
    pickled, and what tells programs on disk from others of the same methods.
    """

    def __init__(self, model: Model, made: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        self.model = model
        self._made = made
        self._functions: dict[Any, Function] = {}

    def __reduce__(self) -> Any:
        return self._made

    def __content__(self) -> Any:
        return self._made


def compiled(**shapes: tuple[int | str, ...]) -> Callable[[Method], Method]:
    """Make a method, written over scalars, compiled on first use; it takes batches, as every function of cardan.

    Args:
        shapes: core shapes of arrays, as `cardan.function` has them. `"nq'"` and `"nv'"` are the object's own `nq` and
            `nv`, not the model's; `"rows"` is any number.
    """
    open_arrays = [name for name, shape in shapes.items() if ROWS in shape]

    def decorate(body: Method) -> Method:
        parameters = inspect.signature(body)

        @functools.wraps(body)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            known = {name: tuple(_size(self, e) for e in shape) for name, shape in shapes.items()}
            for name in open_arrays:
                value = parameters.bind(self, *args, **kwargs).arguments[name]
                known[name] = (_count_rows(self, body.__name__, name, value, known[name]), *known[name][1:])
            key = body.__name__, *known.items()
            if key not in self._functions:
                self._functions[key] = Function(_kernel(self, body, parameters), known)
            return self._functions[key](self.model, *args, **kwargs)

        return cast("Method", method)

    return decorate


def _kernel(owner: Any, body: Callable[..., Any], parameters: inspect.Signature) -> Callable[..., Any]:
    def kernel(model: Model, *args: Any, **kwargs: Any) -> Any:
        return body(owner, *args, **kwargs)

    first, *rest = parameters.parameters.values()
    kernel.__name__, kernel.__doc__ = body.__name__, body.__doc__
    kernel.__signature__ = parameters.replace(parameters=[first.replace(name="model"), *rest])
    return kernel


def _size(owner: Any, entry: int | str) -> int | str:
    return getattr(owner, entry[:-1]) if isinstance(entry, str) and entry.endswith("'") else entry


def _count_rows(owner: Any, where: str, name: str, value: Any, shape: tuple[int | str, ...]) -> int:
    if is_symbolic(value):
        return len(value)
    columns = getattr(owner.model, shape[1]) if isinstance(shape[1], str) else shape[1]
    return shaped_array(where, name, value, (..., ROWS, columns), finite=False).shape[-2]
