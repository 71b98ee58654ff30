"""Constraints that users write, as functions of a model: differentiated until accelerations are in them.

    a function of                                    K a + k          how far from met       how fast that grows
    (model, q)         c(q) = 0                      d^2 c / dt^2     c                      dc / dt = K v
    (model, q, v)      c = A(q) v - b(q) = 0         dc / dt          0                      c
    (model, q, v, a)   c = A(q) a - b(q, v) = 0      c                0                      0

K is dc/dq along the tangent, or A. A velocity constraint need not be one of places (it may be nonholonomic): it takes
velocities away, and no configuration. All rates are derivatives of the traced function, so they are exact.

A function may call all that is cardan's. It is given the model whose equation is solved, so it should name bodies and
frames, not coordinates: then it holds from every root, and where loops are clusters.

Source: Neimark and Fufaev, Dynamics of nonholonomic systems (1972), chapter III; Featherstone (2008), section 3.2.
Cost: the function's own, and that of its derivatives along each velocity and along the motion.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from cardan._algebra.arrays import symbolic
from cardan._algebra.arrays.symbolic import entries_of
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds.manifold import Rows, identity_rows, matrix_vector, transpose
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Scalar
from cardan._compiler.program import Array, Graph
from cardan._compiler.program.autodiff import assemble, rate_along, rates_along
from cardan._compiler.program.exact import evaluate_exactly
from cardan._robot.joints.derivation.programs import split

ARGUMENTS = ("q", "v", "a")
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
Vector = Sequence[Scalar]


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a constraint: that of its function."""
    return getattr(function, "__name__", type(function).__name__)


class UserConstraint:
    """A user's constraint at a configuration: its rows, beside those of `loops.Loop`, in the letters of the head."""

    def __init__(self, model: Any, function: Callable[..., Any], q: Vector) -> None:
        self.model, self.function, self.level = model, function, _level(function) or 0
        values, self.K = self.slopes([*q, *[0.0] * (model.nv * self.level)])
        self.residual = [0.0] * len(values) if self.level else values

    @property
    def name(self) -> str:
        return name_of(self.function)

    def slopes(self, x: Vector) -> tuple[list[Scalar], Rows]:
        """Return c and its rows K at q, v and a, one after the other."""
        rows = identity_rows(self.model.nv)
        if not self.level:
            rows = self.model.manifold.velocity_to_configuration_derivative_jacobian(x)
        along = [{j: e for j, e in enumerate(row) if not is_zero(e)} for row in rows]
        values, rates = rates_along(self._of, x, [*[{}] * (len(x) - len(along)), *along])
        return values, [[own.get(j, 0.0) for j in range(self.model.nv)] for own in rates]

    def rate(self, q: Vector, v: Vector) -> list[Scalar]:
        """Return how fast it is broken: dc/dt of a constraint of places, c of one of velocities, else 0."""
        if self.level == 2:
            return [0.0] * len(self.K)
        return _value(self._rate, [*q, *v])

    def opening(
        self, q: Vector, v: Vector, a: Vector | None = None, rate: float = 0.0, stiffness: float = 0.0
    ) -> list[Scalar]:
        """Return K a + k, k by default, with terms that mend what is not met: rate dc/dt and stiffness c."""
        rates = [0.0] * self.model.nv if a is None else a
        if self.level == 2:
            return _value(self._of, [*q, *v, *rates])
        qdot = self.model.manifold.velocity_to_configuration_derivative(q, v)
        found = rate_along(self._rate, [*q, *v], [*qdot, *rates])
        if rate:
            found = [e + rate * own for e, own in zip(found, self.rate(q, v), strict=True)]
        return [e + stiffness * own for e, own in zip(found, self.residual, strict=True)] if stiffness else found

    def along(self, q: Vector, u: Vector) -> list[Scalar]:
        """Return K u."""
        return list(matrix_vector(self.K, u))

    def efforts(self, multipliers: Vector) -> Iterator[tuple[int, Scalar]]:
        """Yield K^T l, by the index in v."""
        yield from enumerate(matrix_vector(transpose(self.K, self.model.nv), multipliers))

    def rows(self, found: Vector) -> list[Scalar]:
        return list(found)

    @property
    def moves(self) -> bool:
        """Whether a velocity is in it."""
        return any(not is_zero(e) for row in self.K for e in row)

    @cached_property
    def coordinates(self) -> set[int]:
        """The velocities that are in it, in some configuration."""
        anywhere = UserConstraint(self.model, self.function, Graph().symbols([Array("q", (self.model.nq,))]))
        return {j for row in anywhere.K for j, e in enumerate(row) if not is_zero(e)}

    def _of(self, x: Vector) -> list[Scalar]:
        """Return c of symbols q, v and a, one after the other."""
        nq, nv = self.model.nq, self.model.nv
        parts = split(x, nq, *[nv] * self.level)[:-1]
        return list(entries_of(self.function(self.model, *(symbolic(part, (len(part),)) for part in parts))))

    def _rate(self, x: Vector) -> list[Scalar]:
        """Return how fast it is broken, of symbols q and v, one after the other."""
        if self.level:
            return self._of(x)
        q, v, _ = split(x, self.model.nq, self.model.nv)
        return rate_along(self._of, q, self.model.manifold.velocity_to_configuration_derivative(q, v))


def _value(function: Callable[[list[Scalar]], list[Scalar]], x: Vector) -> list[Scalar]:
    """Return what a function of symbols is at scalars of any type: on arrays it would compile what it calls."""
    return rates_along(function, x, [{}] * len(x))[0]


def _level(function: Callable[..., Any]) -> int | None:
    """Return how often what a function constrains is differentiated already; None of what is no constraint."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [p for p in parameters if p.default is p.empty and p.kind in POSITIONAL]
    is_without_model = bool(needed) and needed[0].name == ARGUMENTS[0]  # (q, v) would be taken for (model, q)
    return len(needed) - 2 if 2 <= len(needed) <= 4 and not is_without_model else None


def check_constraint(model: Any, function: Any) -> None:
    """Raise unless a function is affine in the last of its arguments, by numbers that depend on q alone."""
    level = _level(function) if callable(function) else None
    if level is None:
        expected = "functions of (model, q), (model, q, v) or (model, q, v, a)"
        raise ParameterError("constraints", got=function, expected=expected)
    what, last = f"constraint {name_of(function)!r}", ARGUMENTS[level]
    form = f"A(q) {last} - b({', '.join(ARGUMENTS[:level])})"
    no_form = {"got": f"numbers that are not affine in {last}", "expected": f"numbers of the form {form}"}
    graph = Graph()
    arrays = [Array("q", (model.nq,)), *(Array(name, (model.nv,)) for name in ARGUMENTS[1 : level + 1])]
    x = graph.symbols(arrays)
    try:
        own = UserConstraint(model, function, x[: model.nq])
    except ZeroDivisionError:  # v = 0 there
        raise ParameterError(what, **no_form) from None
    K = own.slopes(x)[1]
    if not K:
        raise ParameterError(what, got="no numbers", expected="numbers that are to be 0")
    if not all(any(not is_zero(e) for e in row) for row in K):
        raise ParameterError(what, got=f"a number that does not depend on {last}", expected=f"a function of {last}")
    # K must be the same whatever the last argument is, and v: exactly, by the programs
    differences = [a - b for a, b in zip(entries_of(K), entries_of(own.K), strict=True)]
    program = assemble("affine", graph, arrays, [Array("differences", (len(differences),))], differences)
    numbers = evaluate_exactly(program).numbers
    if any(numbers[r] != 0.0 for r in program.results):
        raise ParameterError(what, **no_form)
