"""Functions of a joint's coordinates, twice differentiable: what OpenSim's custom joint and others are made of.

Each is a few numbers and `__call__(q)`, for q scalars of any type; `coordinates` says which of them it reads.

Source: Seth, Sherman, Eastman and Delp (2010), section 2.4; de Boor, A Practical Guide to Splines (1978), chapter 4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from cardan._algebra.checked_numbers import numbers
from cardan._algebra.errors import ParameterError
from cardan._algebra.explained import ExplainedABC
from cardan._algebra.scalar import where
from cardan._algebra.spatial import Scalar


def finite_numbers(values: Any, what: str, at_least: int = 1) -> tuple[float, ...]:
    """Return a sequence of numbers as floats, or raise `ParameterError` if they are not that many finite numbers."""
    expected = f"a sequence of at least {at_least} finite number{'s' * (at_least > 1)}"
    return numbers(what, values, expected, least=at_least)


def polynomial(coefficients: Sequence[Scalar], x: Scalar) -> Scalar:
    """Return c_0 + c_1 x + c_2 x^2 + ... (Horner)."""
    *lower, value = coefficients
    for c in reversed(lower):
        value = c + x * value
    return value


class CoordinateFunction(ExplainedABC):
    """A number that depends smoothly on some of a joint's coordinates."""

    __slots__ = ()

    @abstractmethod
    def __call__(self, q: Sequence[Scalar]) -> Scalar:
        """Return the value at configuration q, an angle [rad] or a length [m].

        Args:
            q: the joint's coordinates. A function of one coordinate takes that alone, too: `profile(q[0])`.
        """

    @property
    @abstractmethod
    def coordinates(self) -> tuple[int, ...]:
        """Which coordinates it depends on."""


@dataclass(frozen=True, slots=True)
class Constant(CoordinateFunction):
    """The same value everywhere.

    Args:
        value: the value [rad or m].

    Examples:
        >>> cardan.joints.Constant(0.5)([0.1])
        0.5
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite_numbers([self.value], "value of a constant")[0])

    def __call__(self, q: Sequence[Scalar]) -> Scalar:
        return self.value

    @property
    def coordinates(self) -> tuple[int, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Linear(CoordinateFunction):
    """offset + slope_0 q_0 + slope_1 q_1 + ...; `Linear([1.0])` is the first coordinate itself.

    Args:
        slopes: [rad or m, by the coordinate's unit], one for each of the first coordinates.
        offset: the value at q = 0 [rad or m].

    Examples:
        >>> cardan.joints.Linear([1.0], offset=0.5)([0.25])
        0.75
    """

    slopes: Sequence[float]
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", finite_numbers(self.slopes, "slopes of a linear function"))
        object.__setattr__(self, "offset", finite_numbers([self.offset], "offset of a linear function")[0])

    def __call__(self, q: Sequence[Scalar]) -> Scalar:
        return sum((self.slopes[k] * q[k] for k in self.coordinates), self.offset)

    @property
    def coordinates(self) -> tuple[int, ...]:
        return tuple(k for k, slope in enumerate(self.slopes) if slope != 0.0)


@dataclass(frozen=True, slots=True)
class Polynomial(CoordinateFunction):
    """c_0 + c_1 x + c_2 x^2 + ... of one coordinate x.

    Args:
        coefficients: [rad or m, by powers of the coordinate's unit], c_0, c_1, ..., the constant first.
        coordinate: which coordinate x is.

    Examples:
        >>> cardan.joints.Polynomial([1.0, 0.0, 2.0])([3.0])
        19.0
    """

    coefficients: Sequence[float]
    coordinate: int = 0

    def __post_init__(self) -> None:
        numbers = finite_numbers(self.coefficients, "coefficients of a polynomial")
        object.__setattr__(self, "coefficients", numbers)
        _check_coordinate(self.coordinate)

    def __call__(self, q: Sequence[Scalar]) -> Scalar:
        return polynomial(self.coefficients, _entry(q, self.coordinate))

    @property
    def coordinates(self) -> tuple[int, ...]:
        return (self.coordinate,) if any(self.coefficients[1:]) else ()


@dataclass(frozen=True, slots=True)
class NaturalSpline(CoordinateFunction):
    """The natural cubic spline through points (x_k, y_k), of one coordinate x.

    Its second derivative vanishes at the first and last point; beyond them it goes on straight, so that it is twice
    continuously differentiable everywhere. (OpenSim's SimmSpline has other ends; its values between differ a little.)

    Args:
        x: the coordinate at the points [rad or m], increasing.
        y: the values there [rad or m].
        coordinate: which coordinate x is.

    Examples:
        >>> profile = cardan.joints.NaturalSpline(x=[0.0, 1.0, 2.0], y=[0.0, 0.5, 0.0])
        >>> round(profile([1.0]), 12)
        0.5
    """

    x: Sequence[float]
    y: Sequence[float]
    coordinate: int = 0

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            object.__setattr__(self, name, finite_numbers(getattr(self, name), f"{name} of a natural spline", 2))
        if len(self.x) != len(self.y) or not all(a < b for a, b in pairwise(self.x)):
            expected = "as many x as y, and x increasing"
            raise ParameterError("points of a natural spline", got=(self.x, self.y), expected=expected)
        _check_coordinate(self.coordinate)

    def __call__(self, q: Sequence[Scalar]) -> Scalar:
        x = _entry(q, self.coordinate)
        straight, *pieces = _natural_pieces(tuple(self.x), tuple(self.y))
        start, *cubic = self.x[0], *straight
        # The piece is chosen by its coefficients, so that one polynomial is computed and not one for every piece.
        for knot, piece in zip(self.x, pieces, strict=True):
            behind = x >= knot
            start, *cubic = (where(behind, a, b) for a, b in zip((knot, *piece), (start, *cubic), strict=True))
        return polynomial(cubic, x - start)

    @property
    def coordinates(self) -> tuple[int, ...]:
        return (self.coordinate,)


@dataclass(frozen=True, slots=True)
class Through(CoordinateFunction):
    """A function of what others are at q: outer(inner_0(q), inner_1(q), ...)."""

    outer: Any
    inner: tuple[CoordinateFunction, ...]

    def __call__(self, q: Sequence[Scalar]) -> Scalar:
        return value_of(self.outer, [f(q) for f in self.inner])

    @property
    def coordinates(self) -> tuple[int, ...]:
        return tuple(sorted({k for f in self.inner for k in f.coordinates}))


def value_of(function: Any, q: Sequence[Scalar]) -> Any:
    """Return what a function of coordinates is at q: a coordinate function takes them in one, a user's one by one."""
    return function(q) if isinstance(function, CoordinateFunction) else function(*q)


def coordinate(k: int) -> Linear:
    """Return the function that is the k-th coordinate."""
    return Linear((*[0.0] * k, 1.0))


def _entry(q: Any, coordinate: int) -> Scalar:
    """Return one of several coordinates; a single number is that coordinate itself."""
    # Symbols and floats have no entries; an array of no dimension has a `__getitem__` that fails.
    is_one = getattr(q, "ndim", 1) == 0 or not hasattr(q, "__getitem__")
    return q if is_one else q[coordinate]


def _check_coordinate(index: Any) -> None:
    if not isinstance(index, int) or not 0 <= index < 6:
        raise ParameterError("coordinate of a function", got=index, expected="an index from 0 to 5")


@lru_cache(maxsize=256)
def _natural_pieces(x: tuple[float, ...], y: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return the coefficients in x - x_k: of the straight line before, each piece, the straight line behind."""
    h = [b - a for a, b in pairwise(x)]
    chords = [(b - a) / width for width, (a, b) in zip(h, pairwise(y), strict=True)]
    m = [0.0, *_second_derivatives(h, chords), 0.0]
    cubics = [
        (value, chord - width * (2.0 * a + b) / 6.0, a / 2.0, (b - a) / (6.0 * width))
        for value, chord, width, (a, b) in zip(y, chords, h, pairwise(m), strict=False)
    ]
    # The slope at the last point, with which the curve goes on: the second derivative there is 0.
    last = chords[-1] + h[-1] * m[-2] / 6.0
    return [(y[0], cubics[0][1], 0.0, 0.0), *cubics, (y[-1], last, 0.0, 0.0)]


def _second_derivatives(h: Sequence[float], chords: Sequence[float]) -> list[float]:
    """Return those at the points between, h apart with these slopes of the chords: h m + 2 (h + h') m' + h' m'' = r.

    The matrix has three diagonals and outweighs the others on the middle one, so elimination needs no pivots; in plain
    floats it gives the same bits on every machine.
    """
    diagonals: list[float] = []
    sides: list[float] = []
    for k in range(1, len(h)):
        factor = h[k - 1] / diagonals[-1] if diagonals else 0.0
        diagonals.append(2.0 * (h[k - 1] + h[k]) - factor * h[k - 1])
        sides.append(6.0 * (chords[k] - chords[k - 1]) - (factor * sides[-1] if sides else 0.0))
    found: list[float] = []
    for k in range(len(sides) - 1, -1, -1):
        behind = h[k + 1] * found[-1] if found else 0.0
        found.append((sides[k] - behind) / diagonals[k])
    return found[::-1]
