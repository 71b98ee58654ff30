"""Dual numbers, a reference for derivatives: a scalar with its derivative along one direction.

A function written over scalars of any type, called on `Dual(x, dx)`, returns its value and its exact derivative along
dx. The parts may themselves be floats, batches or traced symbols; a derivative that is structurally zero stays the
float 0 and costs nothing.

Source: Griewank and Walther, Evaluating Derivatives (2008), chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cardan import scalar


class Dual:
    """The number value + tangent e, with e^2 = 0."""

    __slots__ = ("tangent", "value")
    __array_ufunc__ = None

    def __init__(self, value: Any, tangent: Any = 0.0) -> None:
        self.value, self.tangent = value, tangent

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)

    def __add__(self, other: Any) -> Dual:
        return Dual(self.value + value(other), self.tangent + tangent(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dual:
        return Dual(self.value - value(other), self.tangent - tangent(other))

    def __rsub__(self, other: Any) -> Dual:
        return Dual(value(other) - self.value, tangent(other) - self.tangent)

    def __mul__(self, other: Any) -> Dual:
        x, y = self.value, value(other)
        return Dual(x * y, self.tangent * y + x * tangent(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        quotient = self.value / value(other)
        return Dual(quotient, (self.tangent - quotient * tangent(other)) / value(other))

    def __rtruediv__(self, other: Any) -> Dual:
        return Dual(other) / self

    def __pow__(self, n: Any) -> Dual:
        slope = n * self.value ** (n - 1) if n != 0 else 0.0
        return Dual(self.value**n, slope * self.tangent)

    def __lt__(self, other: Any) -> Any:
        return self.value < value(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= value(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > value(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= value(other)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangent!r})"


def value(x: Any) -> Any:
    """Return the value of a dual number, or a plain scalar itself."""
    return x.value if type(x) is Dual else x


def tangent(x: Any) -> Any:
    """Return the derivative part of a dual number, 0 for a plain scalar."""
    return x.tangent if type(x) is Dual else 0.0


def duals(values: Sequence[Any], tangents: Sequence[Any]) -> tuple[Dual, ...]:
    """Return dual numbers from values and derivatives."""
    return tuple(Dual(v, t) for v, t in zip(values, tangents, strict=True))


def _unary(function: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Callable[[Dual], Dual]:
    """Return the dual function of f, given slope(x, f(x)) = f'(x)."""

    def evaluate(x: Dual) -> Dual:
        y = function(x.value)
        return Dual(y, slope(x.value, y) * x.tangent)

    return evaluate


def _atan2(y: Any, x: Any) -> Dual:
    a, b = value(y), value(x)
    return Dual(scalar.atan2(a, b), (b * tangent(y) - a * tangent(x)) / (a * a + b * b))


def _where(condition: Any, a: Any, b: Any) -> Dual:
    return Dual(scalar.where(condition, value(a), value(b)), scalar.where(condition, tangent(a), tangent(b)))


scalar.register_scalar(
    Dual,
    {
        "sin": _unary(scalar.sin, lambda x, y: scalar.cos(x)),
        "cos": _unary(scalar.cos, lambda x, y: -scalar.sin(x)),
        "tan": _unary(scalar.tan, lambda x, y: 1.0 + y * y),
        "asin": _unary(scalar.asin, lambda x, y: 1.0 / scalar.sqrt(1.0 - x * x)),
        "acos": _unary(scalar.acos, lambda x, y: -1.0 / scalar.sqrt(1.0 - x * x)),
        "sqrt": _unary(scalar.sqrt, lambda x, y: 0.5 / y),
        "exp": _unary(scalar.exp, lambda x, y: y),
        "log": _unary(scalar.log, lambda x, y: 1.0 / x),
        "expm1": _unary(scalar.expm1, lambda x, y: y + 1.0),
        "log1p": _unary(scalar.log1p, lambda x, y: 1.0 / (1.0 + x)),
        "absolute": _unary(scalar.absolute, lambda x, y: scalar.sign(x)),
        "sign": _unary(scalar.sign, lambda x, y: 0.0),
        "floor": _unary(scalar.floor, lambda x, y: 0.0),
        "atan2": _atan2,
        "where": _where,
        "minimum": lambda a, b: _where(value(a) < value(b), a, b),
        "maximum": lambda a, b: _where(value(a) < value(b), b, a),
        "logical_and": scalar.logical_and,
        "logical_or": scalar.logical_or,
        "logical_not": scalar.logical_not,
    },
    outer=True,
)
