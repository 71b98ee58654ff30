"""Solutions whose derivatives are those of the equations they solve, however they were found.

Let r(x, y) = 0 define x as a function of y, and H = dr/dx. By the implicit function theorem dx = -H^-1 dr at fixed x.
So no iteration that finds x is ever differentiated. Instead there are steps of Newton's method with a fixed matrix,
from the solution x_0 on, x_0 and H held:

    x_{k+1} = x_k + d,    d = -H^-1 r(x_k, y)

Step n adds the derivatives of order n: it multiplies errors by 1 - H^-1 dr/dx, which is 0 at x_0. Each step has the
derivatives of x_k + d and the value of x_k, as r = 0, so that machine code computes nothing of it. As many steps are
written as derivatives will be taken, none in a program that is only run.

Source: Krantz and Parks, The implicit function theorem (2002); Griewank and Walther, Evaluating Derivatives (2008),
chapter 15, for the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from cardan._algebra import scalar
from cardan._algebra.arrays.symbolic import entries_of, rebuilt, symbolic
from cardan._algebra.errors import ParameterError

T = TypeVar("T")


def implicit(
    solution: T,
    residual: Callable[[T], Sequence[Any]],
    solve: Callable[[T, list[Any]], Sequence[Any]],
    move: Callable[[T, list[Any]], T] | None = None,
) -> T:
    """Return a solution x of r(x) = 0 that was found by any means, with the derivatives of the equation it solves.

    In a traced function, derivatives of what is returned are dx = -H^-1 dr, H = dr/dx: an iteration that found it is
    not differentiated. Where x does not solve the equation, they are those of a solution nearby: check the residual.
    On numbers, and on symbols of other libraries, it is the solution as it is.

    Args:
        solution: x: scalars, arrays, lists and tuples of these.
        residual: r: takes what has the form of x, and returns as many numbers as x has entries, in order. What else it
            uses of the function is what dr is taken by.
        solve: takes x and numbers b, returns H^-1 b.
        move: takes x and changes d, and returns x moved by d. By default x + d; for a configuration x, `integrate`:
            then r, b and d have nv numbers.

    Raises:
        ParameterError: for an r or H^-1 b of another length, while derivatives are traced.

    Examples:
        >>> @cardan.function(shapes={"b": ()})
        ... def root(model, b):
        ...     x = cardan.repeat(30, lambda x: 0.5 * (x + b / x), 1.0 + 0.0 * b)
        ...     return cardan.implicit(x, lambda x: [x * x - b], lambda x, d: [d[0] / (2.0 * x)])
        >>> float(cardan.derivative(root, "b")(arm, 4.0))
        0.25
    """
    x = at = all_held(solution)
    for _ in range(derivatives_taken(solution)):
        r = [*entries_of(residual(x))]
        d = [-e for e in entries_of(solve(at, r))]
        sizes = len(r), len(d), len(r if move else [*entries_of(x)])
        if len({*sizes}) > 1:
            raise ParameterError("numbers of cardan.implicit", got=sizes, expected="as many of r, of H^-1 b and of x")
        moved = move(x, d) if move else rebuilt(x, (a + b for a, b in zip(entries_of(x), d, strict=True)))
        x = rebuilt(x, map(scalar.held, entries_of(x), entries_of(moved)))
    return x


def all_held(value: T) -> T:
    """Return scalars, or lists, arrays and spatial objects of such, without derivatives if any will be taken."""
    return rebuilt(value, map(scalar.held, entries_of(value))) if derivatives_taken(value) else value


def derivatives_taken(value: Any) -> int:
    """Return how often derivatives will be taken of traced values: 0 of numbers, and where it is not known."""
    traced = next((e for e in entries_of(value) if hasattr(type(e), "__implicit__")), None)
    return 0 if traced is None else traced.__implicit__()


def apart(x: np.ndarray) -> np.ndarray:
    """Return an argument as values of its own, so that it can be told what is a function of them alone."""
    return symbolic([e.__argument__() if hasattr(type(e), "__argument__") else e for e in x.ravel().tolist()], x.shape)


def serves(arguments: Any, results: Any) -> int:
    """Return how often what is known of results, functions of arguments alone (`apart`), serves their derivatives."""
    entries = list(entries_of(arguments)), list(entries_of(results))
    traced = next((e for e in entries[1] if hasattr(type(e), "__jacobian__")), None)
    return 0 if traced is None else traced.__jacobian__(*entries)


def changes(x: Iterable[Any]) -> list[Any]:
    """Return zeros with the derivatives of x."""
    return [e - scalar.held(e) if hasattr(type(e), "__jacobian__") else 0.0 for e in x]
