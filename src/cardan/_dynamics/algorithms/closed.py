"""A tree with its loops at a configuration: M, K, and what solves M a = b + K^T l, K a + k = 0.

Three pages solve it, each where it takes the fewest operations:

    deep trees                     `constrained_bodies`, O(n + m), whatever the configuration
    shallow trees, few freedoms    the equation in the free coordinates (`embedding`), if a choice of them was found for
                                   the model, and they determine the others there; if not, the general solution:
    all other equations            `proximal_loops`, by the factors of M, or of what stands in its place in a step
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from cardan._algebra.arrays.implicit_function import all_held, derivatives_taken, implicit
from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import held, is_zero, where
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.aba import SHALLOW, factored
from cardan._dynamics.algorithms.constrained_bodies import ConstrainedBodies
from cardan._dynamics.algorithms.crba import inertias_along, mass_matrix
from cardan._dynamics.algorithms.dependent import Block, dependence, rows_along_nodes
from cardan._dynamics.algorithms.embedding import SINGULAR, SINGULAR_IN_SINGLE, Embedded
from cardan._dynamics.algorithms.linear import Rows, dot, on_diagonal, ranges, zeros
from cardan._dynamics.algorithms.loops import Loop, Rowed, constraints
from cardan._dynamics.algorithms.proximal import is_double, regularization
from cardan._dynamics.algorithms.proximal_loops import General, Solved, metric_of, over
from cardan._dynamics.algorithms.tree import Vector, along_joints, deepest, in_tree_order, relative_kinematics
from cardan._robot.model import Model

T = TypeVar("T")
Solver = Embedded | General | ConstrainedBodies
FEW = 8
"""Free coordinates up to which their equation takes fewer operations than articulated bodies."""


class Closed:
    """A tree with its loops, at a configuration: K, and what solves with it.

    Loops whose frames no joint moves against each other take no part. A is what the joints feel, if that is not the
    mass matrix M.
    """

    def __init__(self, model: Model, q: Vector, A: Rows | None = None) -> None:
        self.model, self.relative, self.q, self.felt = model, relative_kinematics(model, q), q, A
        self.loops = constraints(model, q, self.relative, rows_along_nodes(model))
        self.moving = [loop for loop in self.loops if loop.moves]
        self.places = dict(zip(map(id, self.moving), ranges(len(loop.K) for loop in self.moving), strict=True))
        self.K = [row for loop in self.moving for row in loop.K]
        self.length_squared = length_squared(model)
        self.is_deep = A is None and not model.has_mimics and deepest(model) > SHALLOW

    @cached_property
    def M(self) -> Rows:
        """What the joints feel: the mass matrix, or A."""
        return mass_matrix.kernel(self.model, self.q) if self.felt is None else self.felt

    @cached_property
    def embedded(self) -> Embedded | None:
        """The equation of motion in the free coordinates, if these are few and there is a choice of them."""
        if self.is_deep and self.model.nv - len(self.K) > FEW:
            return None  # without looking for a choice, which takes long for many rows
        found = self.embedding(self.M)
        return None if found is None or (self.is_deep and len(found.free) > FEW) else found

    def embedding(self, M: Rows) -> Embedded | None:
        """Return an equation M a = b + K^T l in the free coordinates, if there is a choice of them."""
        choice = dependence(self.model)
        if not choice:
            return None
        place = [i for loop in self.loops for i in (self._places(loop) or [-1] * len(loop.K))]
        blocks = [Block([place[i] for i in b.rows], b.columns, [place[i] for i in b.others]) for b in choice]
        tolerance = where(is_double(self.q), SINGULAR, SINGULAR_IN_SINGLE)
        return Embedded(M, self.K, blocks, self.metric, tolerance, in_tree_order(self.model))

    @property
    def is_carried(self) -> bool:
        """Whether articulated bodies carry the constraints in every configuration."""
        return self.is_deep and self.embedded is None

    def general(self) -> General | ConstrainedBodies:
        """Return what solves in every configuration."""
        by = regularization(self.q)
        if self.is_deep:
            return ConstrainedBodies(self.model, self.relative, self.moving, self.weights, by)
        return General(self.model, self.M, self.K, self.metric(), by)

    @cached_property
    def direct(self) -> Solver:
        """What solves in the configurations that are no exception."""
        return self.embedded or self.general()

    def by_either(self, solution: Callable[[Solver], T]) -> T:
        """Return what is made of the embedded equation, where that is singular of the general one."""
        if self.embedded is None:
            return solution(self.direct)
        return when(self.embedded.is_singular, lambda: solution(self.general()), solution(self.embedded))

    def solve(self, b: Vector, k: Vector | None = None, p: Sequence[Force] = ()) -> Solved:
        """Return a and l with M a = b - J^T p + K^T l and K a + k = 0; k = 0 by default, p forces on the nodes."""
        if isinstance(self.direct, ConstrainedBodies):
            return self.direct.solve(b, k, p)
        if p:
            b = along_joints(self.model, self.relative, [-force for force in p], b)
        return self.by_either(lambda solver: solver.solve(b, k))

    def with_derivatives(
        self, found: Solved, lacking: Callable[[Vector], list[Scalar]], opening: Callable[[Vector], list[Scalar]]
    ) -> Solved:
        """Return a solution with the derivatives of what it solves (`arrays/implicit_function`).

        `lacking` returns M a - b, `opening` K a + k. Without a choice of free coordinates it is differentiated as it is
        found: of rows that depend on one another, only so the multipliers stay the smallest.
        """
        by = (self.embedded or self.embedding(self.M)) if derivatives_taken(found) else None
        return found if by is None else self.differentiated(by, found, lacking, opening)

    def differentiated(
        self,
        by: Embedded,
        found: Solved,
        lacking: Callable[[Vector], list[Scalar]],
        opening: Callable[[Vector], list[Scalar]],
    ) -> Solved:
        """Return a solution of an embedded equation with the derivatives of what it solves."""
        if not derivatives_taken(found):
            return found
        solver, n = by.held(), self.model.nv

        def residual(x: Vector) -> list[Scalar]:
            held_by = self.efforts(x[n:])
            return [*(e - own for e, own in zip(lacking(x[:n]), held_by, strict=True)), *opening(x[:n])]

        def solve(_: Vector, r: Vector) -> list[Scalar]:
            a, multipliers = solver.solve(r[:n], [-e for e in r[n:]])
            return [*a, *multipliers]

        x = implicit([*found.a, *found.multipliers], residual, solve)
        a, multipliers = x[:n], x[n:]
        if not by.all_alone:
            own = by.multipliers(lacking(a))
            multipliers = [held(e, other) for e, other in zip(found.multipliers, own, strict=True)]
        return Solved(a, multipliers)

    def _places(self, loop: Rowed) -> range:
        """Return where a loop's rows are in K; none of a loop that takes no part."""
        return self.places.get(id(loop), range(0))

    def metric(self) -> Rows:
        """Return R. It is not kept: what is traced within a body that may be skipped must not be used outside."""
        own = self.direct.inertias if self.is_carried and isinstance(self.direct, ConstrainedBodies) else ()
        return on_diagonal([self.weights(loop, own) for loop in self.moving])

    def weights(self, loop: Rowed, inertias: Vector) -> Rows:
        """Return R of a constraint: by the inertias D of articulated bodies, or the diagonal of M where that is."""
        own = inertias if self.is_carried else [row[j] for j, row in enumerate(self.M)]
        return metric_of(loop, own, self.extents(), self.length_squared)

    def extents(self) -> list[Scalar]:
        """Return |S_j|^2 of every coordinate: 1 for a slide, for a hinge the square of the bodies' length."""
        extents: list[Scalar] = [0.0] * self.model.nv
        for node in self.model.nodes:
            S = self.relative.S[node.index]
            size = [s.linear.norm_squared() + s.angular.norm_squared() * self.length_squared for s in S]
            node.scatter(extents, size)
        return extents

    def drive_weights(self) -> list[Scalar]:
        """Return 1 / |S_j|^2 over a mean mass: what makes the efforts of slides and hinges comparable."""
        extents = self.extents()
        shares = [over(1.0, e) for e in extents]
        own = inertias_along(self.model, self.relative) if self.is_deep else [row[j] for j, row in enumerate(self.M)]
        mass = sum((e * share for e, share in zip(own, shares, strict=True)), 0.0)
        # a coordinate that moves nothing has extent 0: 1 in its place keeps both branches finite, and derivatives alive
        return [float(self.model.nv) / (mass * where(e > 0.0, e, 1.0)) for e in extents]

    def opening(
        self, q: Vector, v: Vector, a: Vector | None = None, rate: float = 0.0, stiffness: float = 0.0
    ) -> list[Scalar]:
        """Return K a + k, k by default, with terms that close an open loop: rate K v [1/s] and stiffness r [1/s^2]."""
        return [e for loop in self.moving for e in loop.opening(q, v, a, rate, stiffness)]

    def rate(self, q: Vector, v: Vector) -> list[Scalar]:
        """Return how fast what is closed opens: K v of loops."""
        return [e for loop in self.moving for e in loop.rate(q, v)]

    def along(self, u: Vector) -> list[Scalar]:
        """Return K u."""
        return [e for loop in self.moving for e in loop.along(self.q, u)]

    def efforts(self, multipliers: Vector) -> list[Scalar]:
        """Return K^T l."""
        found: list[Scalar] = [0.0] * self.model.nv
        for loop in self.moving:
            for j, e in loop.efforts([multipliers[i] for i in self._places(loop)]):
                found[j] = found[j] + e
        return found

    def wrenches(self, multipliers: Vector) -> list[Force]:
        """Return the wrench of each closing joint on its child, in its child frame; shape (closures, 6)."""
        closing = [loop for loop in self.loops if isinstance(loop, Loop)]
        rows = ([multipliers[i] for i in self._places(loop)] for loop in closing)
        found = [loop.wrench(own) if own else Force.zero() for loop, own in zip(closing, rows, strict=True)]
        return found or zeros(0, 6)

    def residual(self, a: Vector, k: Vector) -> list[Scalar]:
        """Return K a + k of all rows of `loop_jacobian`, 0 for loops that take no part.

        Its derivatives are 0, as it is where it has a meaning.
        """
        return self.rows(all_held([dot(row, a) + e for row, e in zip(self.K, k, strict=True)]))

    def rows(self, found: Vector) -> list[Scalar]:
        """Return what stands in the rows of K in those of `loop_jacobian`, 0 for loops that take no part."""
        own = ([found[i] for i in self._places(loop)] for loop in self.loops)
        parts = zip(self.loops, own, strict=True)
        return [e for loop, part in parts for e in (loop.rows(part) if part else [0.0] * len(loop.K))]


def inverse(model: Model, q: Vector, A: Rows) -> Callable[[Vector], list[Scalar]]:
    """Return what efforts change accelerations by, impulses velocities, loops closed, A being what the joints feel."""
    if model.has_loops:
        closed = Closed(model, q, A)
        return lambda tau: closed.solve(tau).a
    return factored(model, A).solve


def length_squared(model: Model) -> Scalar:
    """Return the square of a length of the bodies' size: ten mean radii of gyration squared; 1 m^2 for points."""
    bodies = [b.inertia for b in model.bodies if b.inertia is not None and not is_zero(b.inertia.mass)]
    mass = sum((b.mass for b in bodies), 0.0)
    gyration = 0.0
    for m, h, J in bodies:
        gyration = gyration + (0.5 * (J[0] + J[3] + J[5]) - over(h.norm_squared(), m))
    return where(gyration > 0.0, 10.0 * over(gyration, mass), 1.0)
