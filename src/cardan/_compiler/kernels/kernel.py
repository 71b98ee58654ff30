"""The decorator of kernels, and how one is compiled and called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.kernels.language import PROGRAMS
from cardan._compiler.kernels.record import address_of
from cardan._compiler.kernels.translate import Signature, module_text
from cardan._compiler.kernels.types import INT, REAL, TRUTH, Scalar
from cardan._compiler.targets.llvm.store import image_of, load

ENTRY = "kernel_entry"


class Kernel:
    """A function on numbers and arrays, compiled when it is first called; `python` is the function itself."""

    def __init__(
        self, python: Callable[..., Any], signature: Signature, numbers: Mapping[str, Any], is_across: bool = False
    ) -> None:
        names, typed = python.__code__.co_varnames[: python.__code__.co_argcount], tuple(signature.parameters)
        if names != typed:
            raise ParameterError(f"types of kernel {python.__name__}", got=typed, expected=str(names))
        self.python, self.signature, self.is_across = python, signature, is_across
        self.__name__, self.__doc__, self.numbers = python.__name__, python.__doc__, numbers

    def fixed(self, **numbers: float) -> Kernel:
        """Return the same with other numbers in place of those of modules, in all kernels that it calls.

        Loops then have ends that the compiler knows. `python` keeps the numbers of its module.
        """
        return Kernel(self.python, self.signature, numbers, self.is_across)

    def across(self) -> Kernel:
        """Return the same for eight cases at once, of records that are `across` its own ones; `python` is of one.

        A vector with the numbers of all cases is in the place of a double. Whole numbers are the same in all. Each case
        gets the bits that it gets alone. A choice by doubles is `a if b else c`, and both are computed. A branch may
        ask whether something holds in any case: `is_any`.
        """
        return Kernel(self.python, self.signature, self.numbers, is_across=True)

    @cached_property
    def text(self) -> str:
        """The module in LLVM IR."""
        return module_text(self, self.numbers, self.is_across)

    @cached_property
    def _code(self) -> Any:
        return load(image_of(self.text, lambda: self.text, ENTRY, optimised=True), ENTRY)

    @cached_property
    def _entry(self) -> Callable[[int], None]:
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code.address)

    def bound(self, *arguments: Any) -> BoundKernel:
        """Return a call with these arguments, to be called again and again. It returns nothing."""
        return BoundKernel(self._entry, self._code, self._words(arguments), arguments)

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled kernel; arrays must be of the types that it says, and are written in place."""
        words = self._words(arguments)
        self._entry(words.ctypes.data)
        behind = words[len(arguments) :]
        found = [self._result(kind, word) for kind, word in zip(self.signature.returns, behind, strict=True)]
        return found[0] if len(found) == 1 else tuple(found) if found else None

    def _words(self, arguments: tuple[Any, ...]) -> np.ndarray:
        kinds = list(self.signature.parameters.values())
        if len(arguments) != len(kinds):
            raise ParameterError(f"arguments of kernel {self.__name__}", got=len(arguments), expected=str(len(kinds)))
        words = np.zeros(len(kinds) + len(self.signature.returns), dtype=np.int64)
        for k, (kind, value) in enumerate(zip(kinds, arguments, strict=True)):
            if kind is REAL:
                words.view(np.float64)[k] = value
            else:
                words[k] = value if isinstance(kind, Scalar) and kind in (INT, TRUTH) else address_of(kind, value)
        return words

    @staticmethod
    def _result(kind: Any, word: np.int64) -> Any:
        if kind is REAL:
            return float(word.view(np.float64))
        return bool(word) if kind is TRUTH else int(word)


class BoundKernel:
    """A kernel with its arguments; other kernels `call` it by its `address`, where its words are."""

    def __init__(self, entry: Callable[[int], None], code: Any, words: np.ndarray, arguments: tuple[Any, ...]) -> None:
        self._entry, self._held = entry, (code, arguments)
        self._words = np.concatenate([[code.address], words])
        self.address = int(self._words.ctypes.data)
        PROGRAMS[self.address] = self

    def __call__(self) -> None:
        self._entry(self.address + self._words.itemsize)


def kernel(**types: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Return a decorator that makes a kernel of a function: the type of each parameter, and what it `returns`.

    With `inlined` true it is written out wherever it is called: what it sums up then stays in registers. If it is
    false, it is written once: what goes over long arrays gains nothing by copies. One of a function that is a kernel of
    other types, too, is `called` something else.
    """
    returns, inlined, called = types.pop("returns", ()), types.pop("inlined", None), types.pop("called", "")
    returns = returns if isinstance(returns, tuple) else (returns,)
    return lambda python: Kernel(python, Signature(called or python.__name__, types, returns, inlined), {})
