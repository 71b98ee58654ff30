"""Assembly modes of clusters by name, and the range in which their independent coordinates close them.

K_d, of the dependent columns (`cluster`), is triangular in blocks, in some order. Squares are those on its diagonal.

    (1)  mode: the signs of the determinants of these squares
    (2)  [K_d  K_i w] (dx_d, ds) = 0         closed configurations with independent coordinates x_i + s w

A motion changes no sign unless it goes through a toggle, where a determinant is 0. There the curve (2) turns back in
s, or meets another one. So it is followed by its own length, in which it is smooth, until a sign changes, and that
place is bisected. As ds is 0 where it turns back, s is found to rounding.

Source: Keller, Numerical solution of bifurcation and nonlinear eigenvalue problems (1977), for following a curve by its
length; Gosselin and Angeles, Singularity analysis of closed-loop kinematic chains (1990), for det K_d = 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.checked_numbers import truth, whole
from cardan._algebra.errors import AssemblyError, MechanismError, ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import is_symbol, is_zero
from cardan._dynamics.algorithms.cluster import ClosedSet, ClusterMember
from cardan._dynamics.algorithms.configuration import difference, integrate
from cardan._dynamics.algorithms.dependent import lengths, unit_of_length
from cardan._dynamics.algorithms.entries import overlapping
from cardan._dynamics.algorithms.kinematics import forward_kinematics
from cardan._dynamics.algorithms.loops import loop_jacobian, loop_residual
from cardan._dynamics.call.arguments import finite_batch
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.functions.assembly import SEARCH, closed_near, units_of_loops
from cardan._dynamics.functions.solutions import DEPENDENT
from cardan._robot.joints import Limits
from cardan._robot.model import Connection, Model

# All lengths are in units of the mechanism's, angles in radians.
CLOSED, SAME = 1e-9, 1e-6  # how far a configuration may be open, and two that are one be apart
STEP, LEAST, AHEAD = 0.05, 1e-7, 0.95  # of a curve: the longest and shortest step, and the cosine between tangents
MOST = 16.0 * math.pi  # how far a curve is followed
NEWTON, BISECTIONS = 8, 60
# How near to a toggle, where derivatives have no bound: a share of the way, and how far several coordinates go in all,
# as ways along each alone say little of all together.
SHARE, WITHIN = 0.6, 0.5
TOGGLE = 1e-6  # ds of a curve of length 1 below which it begins at a toggle


class AssemblyMode(NamedTuple):
    """A way in which a cluster can be assembled.

    Attributes:
        name: a sign for each square of K_d: of a four-bar, that of the sine between coupler and rocker.
        q: a configuration in this mode [rad, m], shape (nq,).
    """

    name: str
    q: np.ndarray


class ClusterRange(NamedTuple):
    """How far a motion goes before a cluster is at a toggle, shapes (...).

    Attributes:
        lower: the least s for which q + s v is closed in this mode, negative or -infinity.
        upper: the greatest one.
        q_lower: the configuration there [rad, m], shape (..., nq), with a cluster at its toggle; NaN if there is none.
        q_upper: that at the other end.
    """

    lower: Any
    upper: Any
    q_lower: np.ndarray
    q_upper: np.ndarray


def assembly_modes(model: Model, q: Any, joint: str | None = None, *, starts: int = 256) -> tuple[AssemblyMode, ...]:
    """Return the configurations that a cluster can have with the same independent coordinates, by name.

    They are searched for from many places, always the same. A mode that few of these lead to may be missed. Modes of
    one name cannot be told by signs: a motion may lead from one to the other without a toggle. Limits play no part.

    Args:
        model: one with clusters (`clustered`).
        q: a configuration [rad, m], shape (nq,), of which the independent coordinates count.
        joint: name of a joint of the cluster; by default that of the only one.
        starts: how many places the search begins at [-].

    Returns:
        `AssemblyMode(name, q)` of each, the nearest to q first. Angles are in the turn of those in q.

    Raises:
        AssemblyError: if no configuration has these independent coordinates.
        MechanismError: for a joint of no cluster, or without one if there are several clusters, or none.
        UnknownNameError: for a joint that does not exist.

    Examples:
        >>> linkage = cardan.clustered(cardan.robots.four_bar().model(), independent=["crank_joint"])
        >>> modes = cardan.assembly_modes(linkage, linkage.neutral())
        >>> sorted(mode.name for mode in modes)
        ['+', '-']
    """
    where = "assembly_modes"
    c, closed = _cluster(where, model, joint)
    starts = whole(f"{where}: starts", starts, 1)
    given = finite_batch(where, {"q": q}, {"q": (model.nq,)})
    if given.shape:
        raise ParameterError(f"{where}: q", got=f"shape {(*given.shape, model.nq)}", expected=f"shape ({model.nq},)")
    full = given.arrays[0][0].astype(float)
    x, part, sizes = full[model.slices[c.name][0]], closed.part, np.array(lengths(closed.part))
    Q = part.manifold.random(np.random.default_rng(0), (starts,), -np.pi * sizes, np.pi * sizes)
    for name in closed.joint_names:
        if set(range(part.nv)[part.v_slice(name)]) & set(closed.free):
            Q[:, part.q_slice(name)] = x[part.q_slice(name)]
    Q[0] = x
    dependent = list(closed.dependent)
    Q, r = closed_near(part, Q, dependent, 0.0, SEARCH)
    gaps = np.abs(r / units_of_loops(part)).max(axis=-1)
    found = _in_turn(part, Q[(gaps <= CLOSED) & _is_regular(part, Q, dependent)], x)
    if not len(found):
        raise AssemblyError("configuration", part.closure_names[0], float(gaps.min()), CLOSED, [])
    apart = lambda a, b: np.linalg.norm(difference(part, a, _in_turn(part, b, a)) / sizes)  # noqa: E731
    modes: list[np.ndarray] = []
    for row in sorted(found, key=lambda row: apart(x, row)):
        if all(apart(other, row) > SAME for other in modes):
            modes.append(row)
    places = np.tile(full, (len(modes), 1))
    places[:, model.slices[c.name][0]] = modes
    return tuple(map(AssemblyMode, _names(closed, np.array(modes)), places))


def _is_regular(part: Model, Q: np.ndarray, dependent: Sequence[int]) -> np.ndarray:
    """Return whether dependent coordinates are determined: at a toggle there may be a curve of others."""
    scaled = loop_jacobian(part, Q) / units_of_loops(part)[:, None] * lengths(part)
    s = np.linalg.svd(scaled[..., dependent], compute_uv=False)
    return s[:, -1] > SAME * s[:, 0] if s.shape[-1] == len(dependent) else np.zeros(len(Q), dtype=bool)


def assembly_mode(model: Model, q: Any, joint: str | None = None) -> Any:
    """Return the name of the assembly mode that a cluster is in: what `assembly_modes` calls it.

    Args:
        model: one with clusters (`clustered`).
        q: configurations [rad, m], shape (..., nq).
        joint: name of a joint of the cluster; by default that of the only one.

    Returns:
        The name [-], for a batch an array of names, shape (...).

    Raises:
        MechanismError: for a joint of no cluster, or without one if there are several clusters, or none.
        UnknownNameError: for a joint that does not exist.

    Examples:
        >>> linkage = cardan.clustered(cardan.robots.four_bar().model(), independent=["crank_joint"])
        >>> q = linkage.random_configuration((20,), seed=0)
        >>> len({*cardan.assembly_mode(linkage, q)})
        1
    """
    c, closed = _cluster("assembly_mode", model, joint)
    given = finite_batch("assembly_mode", {"q": q}, {"q": (model.nq,)})
    names = _names(closed, given.arrays[0].astype(float)[:, model.slices[c.name][0]])
    return np.array(names).reshape(given.shape) if given.shape else names[0]


def cluster_range(model: Model, q: Any, v: Any, *, limits: bool = False) -> ClusterRange:
    """Return the range of s in which `integrate(model, q, s v)` exists: where clusters end at a toggle.

    Of a cluster with one independent coordinate, v = 1 gives its range; of others, v is a line through it. Other joints
    have no end. An end is where independent coordinates turn back, or loops lose rank.

    Args:
        model: one with clusters (`clustered`).
        q: configurations [rad, m], shape (..., nq).
        v: how joints are to move [rad, m], shape (..., nv).
        limits: whether the range ends, too, where a joint of a cluster reaches a position limit, dependent ones too.

    Returns:
        `ClusterRange(lower, upper, q_lower, q_upper)`. An end is infinite if the mechanism comes back to where it was,
        or if there is no toggle within 50 rad, or 50 times the mechanism's size.

    Raises:
        MechanismError: if there are no clusters.
        ParameterError: for a q at a toggle, or one that is not closed; with limits for one beyond them, too.

    Examples:
        >>> linkage = cardan.clustered(cardan.robots.four_bar().model(), independent=["rocker_joint"])
        >>> swing = cardan.cluster_range(linkage, linkage.neutral(), [1.0])
        >>> bool(swing.lower < 0.0 < swing.upper < 3.0)
        True
    """
    where = "cluster_range"
    _clusters(where, model)
    limits = truth(f"{where}: limits", limits)
    given = finite_batch(where, {"q": q, "v": v}, {"q": (model.nq,), "v": (model.nv,)})
    Q, V = (array.astype(float) for array in given.arrays)
    ends = [[_end(where, model, row, s * way, limits) for row, way in zip(Q, V, strict=True)] for s in (-1.0, 1.0)]
    (lower, upper) = (np.array([s for s, _ in own]).reshape(given.shape)[()] for own in ends)
    places = (np.array([at for _, at in own]).reshape(*given.shape, model.nq) for own in ends)
    return ClusterRange(-lower, upper, *places)


def away_from_toggles(closed: ClosedSet) -> Limits:
    """Return limits of the independent coordinates: from the neutral ones a part of the way to a toggle along each."""
    sizes = np.array(lengths(closed.part))[list(closed.free)]
    ranges = cluster_range(closed.alone, np.array(closed.start), np.eye(closed.nv))
    middle = np.array(closed.limit_coordinates(closed.start))
    reach = WITHIN / closed.nv * sizes if closed.nv > 1 else math.inf
    lower, upper = np.maximum(SHARE * ranges.lower, -reach), np.minimum(SHARE * ranges.upper, reach)
    return Limits((middle + lower).tolist(), (middle + upper).tolist())


def _clusters(where: str, model: Model) -> list[tuple[Connection, ClosedSet]]:
    """Return the joints that have the coordinates of clusters."""
    check_model(where, model)
    members = ((c, c.joint) for c in model.connections if isinstance(c.joint, ClusterMember))
    found = [(c, member.closed) for c, member in members if not member.by]
    if not found:
        raise MechanismError(
            f"{where}: model {model.name!r} has no clusters; cardan.clustered makes some of its loops."
        )
    return found


def _cluster(where: str, model: Model, joint: str | None) -> tuple[Connection, ClosedSet]:
    """Return the cluster that a joint belongs to, or the only one."""
    found = {c.name: (c, closed) for c, closed in _clusters(where, model)}
    if joint is None:
        if len(found) > 1:
            raise MechanismError(f"{where}: there are {len(found)} clusters; name a joint: {', '.join(found)}.")
        return next(iter(found.values()))
    member = model.joint(joint)
    if not isinstance(member, ClusterMember):
        raise MechanismError(f"{where}: joint {joint!r} belongs to no cluster.")
    return found[(member.by or (joint,))[0]]


@known_of_each
def _turning(part: Model) -> list[int]:
    """Return the coordinates of which a whole turn leaves all bodies where they are."""
    numbers = [c.name for c in part.connections if isinstance(c.joint.manifold, Euclidean)]
    own = [k for name in numbers for k in range(part.nq)[part.q_slice(name)]]
    q = part.manifold.random(np.random.default_rng(0), (), -np.ones(part.nv), np.ones(part.nv))
    turned = q + 2.0 * np.pi * np.eye(part.nq)[own]
    tree, sizes = part.spanning_tree(), np.ones((4, 4))
    sizes[:3, 3] = unit_of_length(part)
    off = np.abs(forward_kinematics(tree, turned) - forward_kinematics(tree, q)) / sizes
    return [k for k, e in zip(own, off.max(axis=(1, 2, 3), initial=0.0), strict=True) if e < SAME]


def _in_turn(part: Model, q: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return configurations with angles in the turn that is nearest to others."""
    turns, same = _turning(part), q.copy()
    same[..., turns] -= 2.0 * np.pi * np.round((q - near)[..., turns] / (2.0 * np.pi))
    return same


@functools.lru_cache(maxsize=64)
def _squares(closed: ClosedSet) -> Function[..., Any]:
    """Return the compiled function (part, q) -> the squares of K_d (1), by number."""

    def squares_of_cluster(model: Model, q: Any) -> dict[str, np.ndarray]:
        K = closed.constraints(q.tolist()).K
        squares = [own for rows, columns, _ in closed.blocks for own in _diagonal(K, rows, columns)]
        # a constant one says nothing
        squares = [own for own in squares if any(is_symbol(K[i][j]) for i in own[0] for j in own[1])] or squares[:1]
        return {
            f"square{k}": symbolic((K[i][j] for i in rows for j in columns), (len(rows), len(rows)))
            for k, (rows, columns) in enumerate(squares)
        }

    return Function(squares_of_cluster)


def _diagonal(K: Any, rows: Sequence[int], columns: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield rows and columns of the squares on the diagonal, once a block is triangular in blocks.

    An entry A_ik is in one of these if A_ik and (A^-1)_ki are not always 0: of a triangle, only its diagonal is.
    """
    is_there = np.array([[not is_zero(K[i][j]) for j in columns] for i in rows])
    A = is_there * np.random.default_rng(0).normal(size=is_there.shape)
    inside = is_there & (np.abs(np.linalg.inv(A).T) > DEPENDENT)
    for part in overlapping([{int(k) for k in np.flatnonzero(row)} for row in inside]):
        yield [rows[i] for i in part], sorted({columns[int(k)] for i in part for k in np.flatnonzero(inside[i])})


def _signs(closed: ClosedSet, Q: np.ndarray) -> np.ndarray:
    """Return the signs of (1), shape (n, squares)."""
    squares = _squares(closed)(closed.part, Q)
    return np.stack([np.linalg.slogdet(own)[0] for own in squares.values()], axis=-1)


def _names(closed: ClosedSet, Q: np.ndarray) -> list[str]:
    return ["".join("0" if e == 0.0 else "+" if e > 0.0 else "-" for e in row) for row in _signs(closed, Q)]


def _end(where: str, model: Model, q: np.ndarray, v: np.ndarray, limits: bool) -> tuple[float, np.ndarray]:
    """Return the first s > 0 at which a cluster is at a toggle or a limit, and the configuration there."""
    s, at, place = math.inf, np.full(model.nq, np.nan), slice(None)
    for c, closed in _clusters(where, model):
        w, own = v[model.slices[c.name][1]], model.slices[c.name][0]
        if w.any():
            s, at, place = min(
                (s, at, place), (*Curve(where, closed, q[own], w, limits).end(), own), key=lambda end: end[0]
            )
    there = integrate(model, q, (s if math.isfinite(s) else 0.0) * v)
    there[place] = at
    return s, there


class _Place(NamedTuple):
    """A place on a curve."""

    q: np.ndarray
    s: float
    tangent: np.ndarray  # (dx_d, ds), of length 1


def _along(A: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the tangent A t = 0 that points as the one before did."""
    tangent = np.linalg.svd(A)[2][-1]
    return tangent if tangent @ before >= 0.0 else -tangent


class Curve:
    """Closed configurations of a part with independent coordinates x + s w (2), from x on; s in units of lengths."""

    def __init__(self, where: str, closed: ClosedSet, x: np.ndarray, w: np.ndarray, limits: bool = False) -> None:
        self.closed, self.part, self.x = closed, closed.part, x
        self.sizes, self.units = np.array(lengths(self.part)), units_of_loops(self.part)
        self.free, self.dependent = list(closed.free), list(closed.dependent)
        own = w / self.sizes[self.free]
        self.speed = float(np.linalg.norm(own))
        self.w = own / self.speed
        gap = float(np.abs(loop_residual(self.part, x) / self.units).max())
        before = np.array([*[0.0] * len(self.dependent), 1.0])
        self.start = _Place(x, 0.0, _along(self._rows(x)[0], before))
        self.signs, self.beyond = _signs(closed, x[None]), closed.beyond(x) + CLOSED if limits else math.inf
        if not gap <= SAME or self.start.tangent[-1] < TOGGLE or (limits and self.beyond > SAME):
            within = ", within the limits of all joints" if limits else ""
            expected = f"a closed configuration that is no toggle of its independent coordinates{within}"
            raise ParameterError(f"{where}: coordinates of {closed.leading}", got=x.tolist(), expected=expected)

    def end(self, most: float = MOST) -> tuple[float, np.ndarray]:
        """Return the s at which a sign changes or a limit is reached first, and q there; infinity and NaN if none."""
        at, h, way = self.start, STEP, 0.0
        while way < most and not (way > 1.0 and self._is_back(at)):
            ahead = self._step(at, h)
            if ahead is None:
                h *= 0.5
                if h < LEAST:
                    return at.s / self.speed, at.q  # branches meet: there is no way on to be sure of
                continue
            if self._has_turned(ahead):
                return self._bisected(at, h)
            at, way, h = ahead, way + h, min(2.0 * h, STEP)
        return math.inf, np.full(self.part.nq, np.nan)

    def _bisected(self, at: _Place, h: float) -> tuple[float, np.ndarray]:
        low, high, best = 0.0, h, at
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            ahead = self._step(at, middle)
            if ahead is not None and not self._has_turned(ahead):
                low, best = middle, ahead
            else:
                high = middle
        return best.s / self.speed, best.q

    def _has_turned(self, at: _Place) -> bool:
        turned = bool((_signs(self.closed, at.q[None]) != self.signs).any())
        return turned or bool(math.isfinite(self.beyond) and self.closed.beyond(at.q) > self.beyond)

    def _step(self, at: _Place, h: float) -> _Place | None:
        """Return the place a length h ahead; None if the curve bends too much on the way, or is lost."""
        q, s = self._moved(at.q, h * at.tangent), at.s + h * at.tangent[-1]
        for _ in range(NEWTON):
            A, r = self._rows(q)
            change = -np.linalg.pinv(A, rcond=DEPENDENT) @ r
            q, s = self._moved(q, change), s + change[-1]
            if np.linalg.norm(change) < 1e-8:  # the next one would be its square
                break
        A, r = self._rows(q)
        tangent = _along(A, at.tangent)
        apart = np.linalg.norm(self._apart(at.q, q))
        is_on = np.abs(r).max() <= CLOSED and tangent @ at.tangent >= AHEAD and apart <= 2.0 * h
        return _Place(q, float(s), tangent) if is_on else None

    def _rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return [K_d  K_i w] and the residual, in units."""
        K = loop_jacobian(self.part, q) / self.units[:, None] * self.sizes
        A = np.column_stack([K[:, self.dependent], K[:, self.free] @ self.w])
        return A, loop_residual(self.part, q) / self.units

    def _moved(self, q: np.ndarray, along: np.ndarray) -> np.ndarray:
        v = np.zeros(self.part.nv)
        v[self.dependent], v[self.free] = along[:-1], self.w * along[-1]
        return integrate(self.part, q, v * self.sizes)

    def _apart(self, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
        d = difference(self.part, q0, q1) / self.sizes
        return np.array([*d[self.dependent], self.w @ d[self.free]])

    def _left(self, at: _Place) -> np.ndarray:
        """Return how far it is from a place to where the curve began, but for whole turns."""
        return self._apart(_in_turn(self.part, at.q, self.x), self.x)

    def _is_back(self, at: _Place) -> bool:
        """Return whether the curve is where it began."""
        left = self._left(at)
        if np.linalg.norm(left) > 2.0 * STEP:
            return False
        ahead = self._step(at, float(at.tangent @ left))
        return ahead is not None and bool(np.linalg.norm(self._left(ahead)) < SAME)
