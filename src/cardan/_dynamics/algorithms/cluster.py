"""Clusters: loops of a model as joints that share the coordinates of the closed mechanism.

The configuration of a cluster is that of all its joints, q on the closed set r(q) = 0. Its velocity v is that of
independent coordinates i; the dependent ones d follow (`embedding`):

    (1)  dx/dt = G v,      G_i = 1,  G_d = -K_d^-1 K_i
    (2)  d2x/dt2 = G a + g,      g_i = 0,  g_d = -K_d^-1 k(q, G v)
    (3)  X_j = X_joint(q_j),      S_j = S_joint G_j,      bias_j = S_joint g_j + bias_joint
    (4)  integrate(q, u): by (5), or in short steps along G u if it is long, and q_d <- q_d - K_d^-1 r until the loops
         are closed

    (5)  dx ~ G u + g(q, u) / 2       of a step u: what is left is small beside dx, if no toggle is near

with x_j the own coordinates of joint j. All joints keep their places in the tree, and follow the first one, which has q
and v. The assembly mode is in q: nothing is searched for, and no branch is chosen. Where K_d is singular, a toggle of
the independent coordinates, G is not a number. n steps before it (5) is 1 / (2 n^2) of dx. Legs of a platform have a
form of (1) with fewer operations (`legs`).

Source: Jain, Robot and Multibody Dynamics (2011), chapter 11; Chignoli, Adrian, Kim and Wensing, Recursive rigid-body
dynamics algorithms for systems with kinematic loops (2023), for clusters of joints.
Cost: that of K and of the blocks of K_d, once for a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any

import numpy as np

from cardan._algebra.arrays.implicit_function import implicit
from cardan._algebra.arrays.made_once import made_once
from cardan._algebra.arrays.repeat import converging
from cardan._algebra.by_fields import computed
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.errors import MechanismError
from cardan._algebra.manifolds.manifold import Manifold, Rows, Scalars, Shape, finite_range, matrix_vector
from cardan._algebra.scalar import is_zero, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Motion, MotionSubspace, Scalar
from cardan._dynamics.algorithms.closed import Closed
from cardan._dynamics.algorithms.configuration import difference, integrate, limit_coordinates
from cardan._dynamics.algorithms.dependent import Block, lengths, unit_of_length, units_of_rows
from cardan._dynamics.algorithms.embedding import SINGULAR, SINGULAR_IN_SINGLE, squares_of
from cardan._dynamics.algorithms.legs import Leg, SubspaceInLeg, legs
from cardan._dynamics.algorithms.loops import loop_residual, loops
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.tree import relative_kinematics
from cardan._robot.joints import Joint, Revolute
from cardan._robot.joints.catalogue.of_another import Follower, SubspaceOfFollower, renamed_primaries
from cardan._robot.joints.derivation.programs import joint_program, replaced
from cardan._robot.joints.quantities import nearest_image
from cardan._robot.model import WORLD, Body, Connection, Model, simplified_tree

# Of (4): passes at most, and how far one goes [rad, units of length]; the squares of a step after which there is no
# other, as errors are squared, and of one after which it goes on.
MOST, REACH = 2000, 0.3
NEAR, NEAR_IN_SINGLE, AHEAD = 1e-16, 1e-9, 1e-4
# Of (4): how much shorter passes are of a way that is gone again, the shortest, and the square of one that leaps.
FINER, FINEST, LEAP = 0.125, 0.01, 1.0
WALK, STARTS = 32, 64  # steps to a random configuration, and how many look for a place within limits to begin at
SHARED = 1.1  # what the dynamics share with constraints of the same frames: a tenth of these, of slider-cranks
GAP, FAR = 1e-9, 1.0  # what a step may leave open, and how far it may move a joint [rad, units of length]
# Of (5): the part of a step that it may be. It is 20 steps to a toggle then, or joints turn by 0.1 rad in a step.
BEND, ROUNDING, ROUNDING_IN_SINGLE = 1e-3, 1e-14, 4e-6
LEFT = 0.01  # what a step may leave open of constraints at most [rad, units of length]: joints turn by 0.1 rad in it


class Constraints:
    """K_d^-1 of a cluster at a configuration."""

    def __init__(self, of: ClosedSet, q: Scalars) -> None:
        self.part = part = simplified_tree(of.part) if of.simplified else of.part
        blocks = [Block(*block) for block in of.blocks]
        self.relative = relative_kinematics(part, q)
        self.loops = loops(part, self.relative, of.along_nodes, closed=True)
        self.K = [row for loop in self.loops for row in loop.K]
        tolerance = where(is_double(q), SINGULAR, SINGULAR_IN_SINGLE)
        self.squares = [square for block in blocks for square in squares_of(self.K, block, tolerance)]
        self.inverses = [square.opposite() for square in self.squares]
        self.sides = [square.scale for square in self.squares]  # of det K_d, which changes its sign at a toggle
        self.free = of.free
        # a simplified tree turns what a hinge carries as it suits what is on that, which may be more elsewhere
        found = legs(self.loops, self.squares, self.inverses)
        self.legs = [leg for leg in found if not of.simplified or len(leg.mover.nodes[-1].v) > 1]

    def follow(self, rows: Scalars) -> list[Scalar]:
        """Return -K_d^-1 times what stands in the rows of K, for all coordinates; not a number if K_d is singular."""
        found: list[Scalar] = [0.0] * self.part.nv
        for square, inverse in zip(self.squares, self.inverses, strict=True):
            own = [rows[i] for i in square.rows]
            for j, row in zip(square.columns, inverse, strict=True):
                found[j] = _dot(row, own)
        return found

    def rates(self, v: Scalars) -> list[Scalar]:
        """Return dx/dt (1) of velocities of the tree, of which the independent ones count."""
        rows = [_dot([row[j] for j in self.free], [v[j] for j in self.free]) for row in self.K]
        for leg in self.legs:
            rows[leg.rows.start : leg.rows.stop] = leg.opening(self.relative, v)
        found = self.follow(rows)
        return [v[j] if j in self.free else e for j, e in enumerate(found)]

    @cached_property
    def slopes(self) -> Rows:
        """G (1), a row for each coordinate of the tree."""
        columns = [self.rates([float(i == j) for j in range(self.part.nv)]) for i in self.free]
        return [list(row) for row in zip(*columns, strict=True)]

    def along(self, v: Scalars) -> list[Scalar]:
        """Return dx/dt (1) of the independent velocities: by G, but of legs, whose dynamics go without it."""
        return made_once(("along", self), v, lambda: self._along(v))

    def _along(self, v: Scalars) -> list[Scalar]:
        by_slopes, of_tree = matrix_vector(self.slopes, v), dict(zip(self.free, v, strict=True))
        by_legs = self.rates([of_tree.get(j, 0.0) for j in range(self.part.nv)]) if self.legs else []
        return [by_legs[j] if self.leg_of([j]) else e for j, e in enumerate(by_slopes)]

    def curvature(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """Return g (2), for each coordinate of the tree."""
        return made_once(("curvature", self), v, lambda: self._curvature(q, self.along(v)))

    def _curvature(self, q: Scalars, rates: Scalars) -> list[Scalar]:
        return self.follow([e for loop in self.loops for e in loop.opening(q, rates)])

    def step(self, q: Scalars, u: Scalars) -> list[Scalar]:
        """Return dx (5) of a step of the independent coordinates."""
        return [dx + 0.5 * g for dx, g in zip(self.along(u), self.curvature(q, u), strict=True)]

    def leg_of(self, coordinates: Iterable[int]) -> Leg | None:
        """Return the leg that has some coordinates, if there is one."""
        return next((leg for leg in self.legs if set(coordinates) <= leg.inverse.keys()), None)

    def closing_step(self) -> list[Scalar]:
        """Return the change of the dependent coordinates that closes the loops to first order (4)."""
        return self.follow([e for loop in self.loops for e in loop.residual])


def with_names(model: Model, name: str, bodies: Iterable[str], joints: Iterable[str], closures: Iterable[str]) -> Model:
    """Return a model without frames and annotations under other names, in the order of its own."""
    new = dict(zip(model.body_names, bodies, strict=True)) | {WORLD: WORLD}
    joints = list(joints)
    of_joints = dict(zip(model.joint_names, joints, strict=True))

    def named(c: Connection, name: str) -> Connection:
        joint = renamed_primaries(c.joint, of_joints.__getitem__)
        return replaced(c, name=name, joint=joint, parent=new[c.parent], child=new[c.child])

    renamed = tuple(replaced(b, name=new[b.name]) for b in model.bodies)
    connections, closing = (
        tuple(map(named, own, names)) for own, names in ((model.connections, joints), (model.closures, closures))
    )
    return replace(model, name=name, bodies=renamed, connections=connections, closures=closing)


def with_plain_names(model: Model) -> Model:
    """Return a model under names that all of its kind have."""
    groups = (model.bodies, model.connections, model.closures)
    names = ([f"{letter}{k}" for k in range(len(group))] for letter, group in zip("bjc", groups, strict=True))
    return with_names(model, "part", *names)


@dataclass(frozen=True, slots=True)
class ClosedSet(Manifold):
    """The configurations of a model whose loops are closed, moved by the velocities of independent coordinates.

    Args:
        part: the joints of the loops, and those that close them.
        blocks: `Block`s of its dependent coordinates, with the rows from which they follow.
        along_nodes: how each closing joint's rows are turned.
        start: a closed configuration, which is the neutral one.
        simplified: whether constraints are those of the simplified tree of the part.
    """

    part: Model
    blocks: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    along_nodes: tuple[bool, ...] = field(repr=False)
    start: tuple[float, ...] = field(repr=False)
    simplified: bool = field(default=False, repr=False)

    @computed
    def free(self) -> tuple[int, ...]:
        """The independent ones of the tree's velocities."""
        return tuple(j for j in range(self.part.nv) if j not in self.dependent)

    @computed
    def dependent(self) -> tuple[int, ...]:
        """The others."""
        return tuple(sorted(j for _, columns, _ in self.blocks for j in columns))

    @computed
    def nq(self) -> int:
        """Number of coordinates."""
        return self.part.nq

    @computed
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return len(self.free)

    @computed
    def alone(self) -> Model:
        """A model with its coordinates alone."""
        name = self.joint_names[0]
        joint = ClusterMember(self.part.joint(name), name, self)
        return Model("cluster", (Body("body"),), (Connection(name, joint, WORLD, "body"),))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints whose coordinates it has."""
        return tuple(c.name for c in self.part.connections if c.joint.nv and not c.joint.primaries)

    @property
    def leading(self) -> str:
        """Names of the joints that have the independent velocities."""
        v = [range(self.part.nv)[self.part.v_slice(name)] for name in self.joint_names]
        return ", ".join(n for n, own in zip(self.joint_names, v, strict=True) if not set(own).isdisjoint(self.free))

    def named_as(self, other: Model) -> ClosedSet:
        """Return it with the names of a model that differs from its part in these alone."""
        names = other.name, other.body_names, other.joint_names, other.closure_names
        return replace(self, part=with_names(self.part, *names))

    def plain(self) -> ClosedSet:
        """Return it as all of its kind have it, whatever their names."""
        return replace(self, part=with_plain_names(self.part))

    def constraints(self, q: Scalars) -> Constraints:
        """Return K_d^-1 and what follows from it."""
        return made_once(("constraints", self), q, lambda: Constraints(self, q))

    def bend(self, q0: Scalars, u: Scalars, q1: Scalars) -> Scalar:
        """Return by how much a step u from q0 to q1 is no longer what its beginning says (5), beyond what it may be.

        The largest of all joints [rad, m].
        """
        part, sizes = self.part, lengths(self.part)
        step, expected = part.manifold.difference(q0, q1), self.constraints(q0).step(q0, u)
        off = [dx - e for dx, e in zip(step, expected, strict=True)]
        at = [e for c in part.connections for e in q0[part.q_slice(c.name)][: c.joint.nv]]  # as many as sizes
        bends, steps, places = (_largest(x, sizes) for x in (off, step, at))
        rounding = where(is_double(q0), ROUNDING, ROUNDING_IN_SINGLE) * (1.0 + places)
        return maximum(bends - BEND * steps - rounding, 0.0)

    def neutral(self) -> tuple[float, ...]:
        return self.start

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        if all(isinstance(e, (int, float)) for e in (*q, *v)):  # Python takes a thousand times as long
            return tuple(integrate(self.alone, q, v).tolist())
        tree, found, of_tree = self.part.manifold, self.constraints(q), self._spread(v)
        # a short way at once (5): mostly one pass then closes what that has opened
        is_short = self._squared(found.along(v)) < REACH**2
        near = tree.integrate(q, [where(is_short, e, 0.0) for e in found.step(q, v)])
        end = self._led(near, of_tree, where(is_short, 0.0, 1.0), q, found.sides)
        return self._at(end, tree.integrate(q, of_tree))

    def _squared(self, x: Scalars) -> Scalar:
        """Return the square of a step [rad, units of length]."""
        x = [e * (1.0 / size) for e, size in zip(x, lengths(self.part), strict=True)]
        return _dot(x, x)

    def _led(self, q: Scalars, v: Scalars, left: Scalar, start: Scalars, sides: Scalars) -> list[Scalar]:
        """Return the configuration where independent coordinates have moved by v, times what is left of the way (4).

        Each pass closes the loops to first order. Where they are nearly closed it goes on, too, by `REACH` at most. If
        it is on another side of a toggle than the start, or leaps, it goes all the way again in smaller steps: a way
        that passes a toggle by has its end on this side. What changes sides in the smallest steps may do so, as
        parallelograms. It is not a number where it leaps in these, as the way has no end, or after too many passes.
        """
        near = where(is_double(q), NEAR, NEAR_IN_SINGLE)

        def on(_: Any, q: list[Scalar], left: Scalar, __: Scalar, most: Scalar) -> tuple[Any, ...]:
            found = self.constraints(q)
            step, rates = found.closing_step(), found.rates(v)
            size = step_size = self._squared(step)
            reach = most / sqrt(self._squared(rates) + 1e-30)  # not 0, of a cluster at rest
            h = where(size < AHEAD, minimum(left, reach), 0.0 * left)
            moved = list(self.part.manifold.integrate(q, [c + h * e for c, e in zip(step, rates, strict=True)]))
            left, size = left - h, where(h > 0.0, 1.0, size)
            if sides:
                same = reduce(minimum, (a * b for a, b in zip(sides, found.sides, strict=True)))
                again = where(where(step_size < AHEAD, same, LEAP - step_size) < 0.0, most, 0.0) > FINEST
                moved = [where(again, a, b) for a, b in zip(start, moved, strict=True)]
                left, size = where(again, 1.0, left), where(again, 1.0, size)
                is_lost = where(step_size > LEAP, most, 1.0) <= FINEST
                left, size = where(is_lost, 1.0, left), where(is_lost, 0.0, size)
                most = where(again, maximum(most * FINER, FINEST), most)
            return 0.0, moved, left, size, most

        zero = 0.0 * _dot(q, q)
        begun = list(q), left, 1.0 + zero, REACH + zero
        _, end, left_over, size, _ = converging(MOST, 1, lambda _, q, left, size, most: size > near, on, 0.0, *begun)
        return [where((size <= near) & (left_over <= 0.0), e, float("nan")) for e in end]

    def _at(self, solution: list[Scalar], goal: Scalars) -> tuple[Scalar, ...]:
        """Return a closed configuration with the derivatives of r = 0, its independent coordinates being at a goal."""
        tree = self.part.manifold

        def residual(x: list[Scalar]) -> list[Scalar]:
            gaps, off = self.constraints(x).closing_step(), tree.difference(goal, x)
            return [off[j] if j in self.free else -gaps[j] for j in range(self.part.nv)]

        def solve(x: list[Scalar], b: list[Scalar]) -> list[Scalar]:
            rates = self.constraints(x).rates(b)
            return [b[j] if j in self.free else b[j] + rates[j] for j in range(self.part.nv)]

        return tuple(implicit(list(solution), residual, solve, lambda x, d: list(tree.integrate(x, d))))

    def _spread(self, along: Scalars) -> list[Scalar]:
        """Return v of the tree, 0 where it is dependent."""
        found: list[Scalar] = [0.0] * self.part.nv
        for j, e in zip(self.free, along, strict=True):
            found[j] = e
        return found

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        return self._of_free(self.part.manifold.difference(q0, q1))

    def apart(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        return self.part.manifold.difference(q0, q1)  # in two assembly modes independent coordinates may be the same

    def toward(self, q: Scalars, x: Scalars) -> tuple[Scalar, ...]:
        return self._of_free(self.part.manifold.toward(q, self._spread(x)))

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        of_tree = self._spread(difference)
        rows = self.part.manifold.difference_rate_jacobian(of_tree)
        return [[rows[i][j] for j in self.free] for i in self.free]

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        J, G = self.part.manifold.velocity_to_configuration_derivative_jacobian(q), self.constraints(q).slopes
        return [[_dot(row, column) for column in zip(*G, strict=True)] for row in J]

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        return list(self._of_free(self.part.manifold.configuration_derivative_to_velocity_jacobian(q)))

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        q = self.part.manifold.normalize(q)
        end = self._led(q, [0.0] * self.part.nv, 0.0, q, [])  # by a long way, in which angles may have turned round
        return self._at(list(chain.from_iterable(self._nearest_images(end, q))), q)

    def _nearest_images(self, q: Scalars, near: Scalars) -> Iterator[Scalars]:
        """Yield joint by joint the coordinates of the same poses that are nearest to others.

        Whole turns of a joint that others follow are theirs, too, in parts: they stay.
        """
        followed = {name for c in self.part.connections for name in c.joint.primaries}
        for c in self.part.connections:
            if not c.joint.primaries:
                at = self.part.q_slice(c.name)
                yield q[at] if c.name in followed else nearest_image(c.joint, q[at], near[at])

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return self.part.manifold.principal_value(q)

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        return self.part.manifold.nearest_image(q, near)

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        return self.part.manifold.unit_parts()

    def openings(self, q: np.ndarray) -> Iterator[tuple[str, np.ndarray, list[float]]]:
        residual, start = np.asarray(loop_residual(self.part, q)), 0
        for name, units in _rows_of_loops(self.part):
            yield name, residual[:, start : start + len(units)], units
            start += len(units)

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return self._of_free(self.part.manifold.limit_coordinates(q))

    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return random configurations: from the start towards ones uniform between the limits, as far as they go.

        They go until a dependent joint would leave its limits, too. If the start is beyond some, they go from a place
        within them, or the nearest to it of a few.
        """
        low, high = finite_range(lower, upper, np.pi)
        aims, start = rng.uniform(low, high, (*shape, self.nv)), np.array(self.start)
        if self.beyond(start) > 0.0:
            found = self._walk(start, np.random.default_rng(0).uniform(low, high, (STARTS, self.nv)))
            start = found[np.argmin(self.beyond(found))]
        return self._walk(start, aims)

    def _walk(self, start: np.ndarray, aims: np.ndarray) -> np.ndarray:
        """Return how far ways from the start towards independent coordinates, shape (..., nv), go; (..., nq)."""
        step = (aims - np.array(self.limit_coordinates(start.tolist()))) / WALK
        q = np.broadcast_to(start, (*aims.shape[:-1], self.nq))
        for _ in range(WALK):
            near = integrate(self.alone, q, step)
            with np.errstate(all="ignore"):
                gap = np.abs(loop_residual(self.part, near)).max(axis=-1) / max(unit_of_length(self.part), 1.0)
                moved = np.abs(difference(self.part, q, near) / lengths(self.part)).max(axis=-1)
            stays = self.beyond(near) <= self.beyond(q)
            q = np.where((stays & (gap < GAP) & (moved < FAR))[..., None], near, q)
        return q

    def beyond(self, q: np.ndarray) -> np.ndarray:
        """Return by how much joints are beyond their limits at most."""
        x = limit_coordinates(self.part, q)
        return np.maximum(self.part.lower - x, x - self.part.upper).max(axis=-1, initial=0.0)

    def shorter(self) -> ClosedSet:
        """Return the same set, by whichever tree takes fewer operations."""
        twin = replace(self, simplified=True)

        def operations(closed: ClosedSet) -> int:
            found = lambda _, q, v: {"g": closed.constraints(q).curvature(q, v)}  # noqa: E731
            return joint_program("curvature", None, found, q=self.nq, v=self.nv).operations

        return twin if SHARED * operations(twin) < operations(self) else self

    def _of_free(self, along: Any) -> tuple[Any, ...]:
        return tuple(along[j] for j in self.free)


def _largest(x: Scalars, sizes: Sequence[float]) -> Scalar:
    return reduce(maximum, [abs(e) * (1.0 / size) for e, size in zip(x, sizes, strict=True)])


def _dot(x: Any, y: Any) -> Scalar:
    return sum((a * b for a, b in zip(x, y, strict=True) if not (is_zero(a) or is_zero(b))), 0.0)


@dataclass(frozen=True, slots=True)
class ClusterMember(Follower):
    """A joint of a cluster: one between two bodies of closed loops, moved by the loops' independent coordinates.

    Args:
        joint: the joint itself, `Equipped` with what acts along its dependent velocities. One that follows others of
            the cluster has theirs for its coordinates.
        name: its name in the loops' part.
        closed: the closed configurations of the loops.
        by: the name of the joint that has the coordinates of the cluster; empty for that one.
        armature: inertias of drives along its velocities [kg m^2, kg], where these are dependent.
        along: which one of its coordinates alone the joint within has; by default all.

    Throughout:
        q: coordinates of all joints of the cluster [rad, m].
        v: velocities of the independent ones [rad/s, m/s].
        primary: the joint that has the coordinates.
    """

    joint: Joint
    name: str
    closed: ClosedSet
    by: tuple[str, ...] = ()
    armature: tuple[float, ...] = ()
    along: int | None = None

    @computed
    def is_placed(self) -> bool:
        return True

    @computed
    def manifold(self) -> ClosedSet:
        """The closed configurations of the loops."""
        return self.closed

    @computed
    def simplified(self) -> bool:
        """Whether the frames of the tree may be chosen: the constraints' are, too, so that both share operations."""
        return self.closed.simplified

    @property
    def primaries(self) -> tuple[str, ...]:
        return self.by

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(f"{name}.{n}" for name, joint in self._joints() for n in joint.coordinate_names)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        names = [f"{name}.{n}" for name, joint in self._joints() for n in joint.velocity_names]
        return tuple(names[j] for j in self.closed.free)

    def _joints(self) -> list[tuple[str, Joint]]:
        return [(name, self.closed.part.joint(name)) for name in self.closed.joint_names]

    def plain(self, rename: Callable[[str], str], closed: ClosedSet) -> ClusterMember:
        """Return the joint as all of its kind have it: of loops with plain names, in a model with other names."""
        there = dict(zip(self.closed.part.joint_names, closed.part.joint_names, strict=True))
        joint = renamed_primaries(self.joint, there.__getitem__)
        name = there.get(self.name, "follower")
        return replace(self, joint=joint, name=name, closed=closed, by=tuple(map(rename, self.by)))

    def inner_configuration(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the joint's own part of q."""
        return self._own([e for name in self._leaders for e in q[self.closed.part.q_slice(name)]])

    def slopes(self, q: Scalars) -> Rows:
        return list(self._of_joint(self.closed.constraints(q).slopes))

    def curvature(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return self._of_joint(self.closed.constraints(q).curvature(q, v))

    def _of_joint(self, of_tree: Any) -> tuple[Any, ...]:
        """Return the joint's own part of what there is for each coordinate of the tree."""
        return self._own([e for name in self._leaders for e in of_tree[self.closed.part.v_slice(name)]])

    @property
    def _leaders(self) -> tuple[str, ...]:
        """Names of the joints whose coordinates are its own."""
        return self.joint.primaries or (self.name,)

    def _own(self, of_joint: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(of_joint) if self.along is None else (of_joint[self.along],)

    @property
    def _siblings(self) -> tuple[tuple[Joint, ...], int]:
        names = self.closed.joint_names
        if self.along is not None or self.name not in names or self.bare != self.closed.part.joint(self.name):
            return (self,), 0
        return tuple(ClusterMember(joint, name, self.closed) for name, joint in self._joints()), names.index(self.name)

    def _own_part(self, along: int) -> slice | None:
        if self.name not in self.closed.joint_names:
            return None  # it follows joints of the loops, as a mimic joint does
        part = self.closed.part
        if along == 0:
            return part.q_slice(self.name)
        free = self.closed.free
        own = [free.index(j) for j in range(part.nv)[part.v_slice(self.name)] if j in free]
        if not own:
            raise MechanismError(
                f"v_slice: joint {self.name!r} of a cluster is dependent and has no place in v: it follows "
                f"{self.closed.leading}. Give velocities, efforts and targets of these, or convert those of all joints "
                "(cardan.converter). clustered(independent=...) chooses others."
            )
        return slice(own[0], own[-1] + 1)

    def rotors(self, armature: Sequence[Scalar]) -> list[tuple[Scalar, Joint]]:
        """Return those of dependent velocities: others have the armature of the joint that has the coordinates."""
        wheel = replace(self, joint=Revolute((0.0, 0.0, 1.0)), armature=())
        return [(inertia, replace(wheel, along=k)) for k, inertia in enumerate(self.armature)]

    def motion_subspace(self, q: Scalars) -> MotionSubspace:
        return self.subspace(q)

    def subspace(self, q: Scalars) -> MotionSubspace:
        S, found = self.joint.subspace(self.inner_configuration(q)), self.closed.constraints(q)
        G, own = list(self._of_joint(found.slopes)), self._of_joint(range(self.closed.part.nv))
        if leg := found.leg_of(own):
            platform = tuple(map(found.free.index, leg.mover.nodes[-1].v))
            rows = [leg.inverse[j] for j in own]
            return SubspaceInLeg(S, G, leg, rows, platform, lambda v: self._of_joint(found.along(v)))
        return SubspaceOfFollower(S, G)  # (3)

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        x, found = self.inner_configuration(q), self.closed.constraints(q)
        own = self.joint.bias(x, self._of_joint(found.along(v)))
        return own + self.joint.subspace(x) @ self._of_joint(found.curvature(q, v))  # (3)

    def others(self, first: str) -> list[ClusterMember]:
        """Return the other joints of the cluster, following the one that has the coordinates."""
        return [
            ClusterMember(joint, name, self.closed, (first,)) for name, joint in self._joints() if name != self.name
        ]

    def copying(self, primary: Joint) -> ClusterMember | None:
        """Return the joint, if it can read the coordinates of a primary; None if these are of another kind."""
        return self if primary.manifold == self.closed else None


def openings(model: Model, q: np.ndarray) -> Iterator[tuple[str, np.ndarray, list[float]]]:
    """Yield the name of every closing joint, those of clusters too, its residual [m, rad], and the unit of each row.

    At configurations of shape (n, nq). Constants of the model may be arrays of as many.
    """
    if model.closures:
        for loop in loops(model, relative_kinematics(model, list[Any](q.T))):
            columns = [np.broadcast_to(np.asarray(e), len(q)) for e in loop.residual]  # none of what has bounds alone
            yield loop.name, np.reshape(columns, (-1, len(q))).T, units_of_rows(model, [loop])
    yield from model.manifold.openings(q)


@known_of_each
def _rows_of_loops(part: Model) -> list[tuple[str, list[float]]]:
    """Return the name of every loop and the units of its rows."""
    found = loops(part, relative_kinematics(part, part.neutral().tolist()))
    return [(loop.name, units_of_rows(part, [loop])) for loop in found]


def openings_in_step(model: Model, q: Scalars, v: Scalars, dt: float) -> Iterator[Scalar]:
    """Yield by how far loops are open where a step begins, beyond what steps so fast leave [rad, units of length].

    A step opens a loop by k dt^2 / 2 and closes half of what it finds (`implicit.CLOSING`). So dt^2 k is left.
    """
    sizes = lengths(model)
    for loop in Closed(model, q).moving:
        units = units_of_rows(model, [loop])
        gap, k = (_largest(rows, units) for rows in (loop.residual, loop.opening(q, v)))
        along = sorted(loop.coordinates)
        way = _largest([v[j] for j in along], [sizes[j] for j in along]) * dt
        left = minimum(2.0 * dt**2 * k + BEND * way, LEFT)
        yield maximum(gap - left - where(is_double(q), ROUNDING, ROUNDING_IN_SINGLE), 0.0)


def bends(model: Model, q0: Scalars, q1: Scalars, u: Scalars | None = None) -> Iterator[Scalar]:
    """Yield by how much a step of each cluster bends (`ClosedSet.bend`); u, if it is known, leads from q0 to q1."""
    for node in model.nodes:
        if isinstance(node.joint, ClusterMember) and not node.joint.by:
            closed, start, end = node.joint.closed, node.configuration(q0), node.configuration(q1)
            yield closed.bend(start, closed.difference(start, end) if u is None else node.velocity(u), end)
