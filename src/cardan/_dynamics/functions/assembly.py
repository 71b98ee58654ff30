"""Configurations and velocities that close the loops of a mechanism: iterations in NumPy around compiled functions.

The configuration is found by Levenberg-Marquardt steps on the manifold, dq = -V s / (s^2 + damping) U^T r with
dr/dq = U s V^T: short steps far away, the smallest one that closes the loops to first order near the end, where
constraints may depend on one another.

Source: More, The Levenberg-Marquardt algorithm (1978); Fan and Yuan, On the quadratic convergence of the
Levenberg-Marquardt method without nonsingularity assumption (2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import AssemblyError
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.dependent import closed_configurations, closed_places, lengths, units_of_rows
from cardan._dynamics.algorithms.loops import (
    constraints,
    joint_coordinates,
    loop_jacobian,
    loop_residual,
    with_loops,
)
from cardan._dynamics.call.arguments import finite_batch
from cardan._dynamics.call.function import function
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.functions.derivatives import derivative
from cardan._dynamics.functions.solutions import DEPENDENT, solution_changes
from cardan._robot.model import Model

STARTS = 32
DAMPING = (1e-14, 1e-2, 1e12)  # least, first, largest, relative to the largest singular value squared
SEARCH = 60  # steps of a search of other pages, which begins where it may

_residual_by_q = derivative(loop_residual, "q")


@function
def _rates(model: Model, q: Any, v: Any) -> Any:
    return np.array([e for loop in constraints(model, q) for e in loop.rate(q, v)])


_rates_by_v = derivative(_rates, "v")


def assemble(
    model: Model, q0: Any = None, fixed: Sequence[str] = (), *, tolerance: float = 1e-12, steps: int = 300
) -> np.ndarray:
    """Return configurations with the loops closed.

    Args:
        model: a robot with closed loops.
        q0: where to begin [rad, m], shape (..., nq): the result is a configuration nearby. By default the neutral
            configuration, and random ones (the same each time) if no result is found from there.
        fixed: names of joints that keep their coordinates in q0.
        tolerance: largest accepted entry of `loop_residual` [m, rad].
        steps: largest number of steps.

    Returns:
        Configurations [rad, m], shape (..., nq), in float64. Joint limits are not looked at.

    Raises:
        AssemblyError: if the loops of a row do not close; it has the residual, the worst joint and the rows.
        UnknownNameError, MechanismError: for a joint of `fixed` that does not exist, or closes a loop; if there are no
            loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q = cardan.assemble(linkage)
        >>> bool(np.abs(cardan.loop_residual(linkage, q)).max() < 1e-12)
        True
    """
    check_model("assemble", model)
    with_loops(model, "assemble")
    positive("tolerance of assemble", tolerance, "m, rad")
    free = free_coordinates(model, fixed)
    if q0 is not None:
        batch = finite_batch("assemble", {"q0": q0}, {"q0": (model.nq,)})
        # float64 whatever came in: single precision cannot reach the tolerance
        q = integrate(model, batch.arrays[0].astype(float), np.zeros(model.nv))  # on the manifold
        q, r = closed_near(model, q, free, tolerance, steps)
        _check(model, "configuration", r, tolerance, batch.shape)
        return q.reshape(*batch.shape, model.nq)
    # the neutral configuration is where robots are drawn, most often closed or nearly so
    q, r = closed_near(model, model.neutral()[None], free, tolerance, steps)
    if not _size(r)[0] <= tolerance:
        more = model.random_configuration((STARTS,), seed=0)
        for name in fixed:
            more[:, model.slices[name][0]] = model.neutral()[model.slices[name][0]]
        q, r = closed_near(model, more, free, tolerance, steps)
    best = int(np.argmax(_size(r) <= tolerance)) if (_size(r) <= tolerance).any() else int(np.argmin(_size(r)))
    _check(model, "configuration", r[[best]], tolerance, ())
    return q[best]


def assemble_derivatives(model: Model, q: Any, fixed: Sequence[str] = (), *, tolerance: float = 1e-9) -> np.ndarray:
    """Return the derivative of a closed configuration by the one that it is nearest to, along tangents.

    `assemble` returns a configuration near q0, and more than one is. What is differentiated is the nearest of all that
    have the coordinates of `fixed` as q0 has them: it has the least sum of squares of difference(q0, q). If the fixed
    coordinates determine all others, that is the derivative by these. No iteration is differentiated.

    Args:
        model: a robot with closed loops.
        q: configurations [rad, m], shape (..., nq), with the loops closed, which `assemble` returns for q0 = q.
        fixed: names of joints that keep their coordinates in q0.
        tolerance: largest accepted entry of `loop_residual` at q [m, rad].

    Returns:
        dq/dq0 [rad, m for one of these], shape (..., nv, nv). If nothing is fixed, it is 1 along motions that keep the
        loops closed.

    Raises:
        AssemblyError: for configurations that are not closed.
        ParameterError: for a configuration where the loops are singular, or with `fixed` at a toggle of theirs.
        UnknownNameError, MechanismError: for a joint of `fixed` that does not exist, or closes a loop; if there are no
            loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q = cardan.assemble(linkage)
        >>> by_crank = cardan.assemble_derivatives(linkage, q, fixed=("crank_joint",))[:, 0]
        >>> bool(np.abs(cardan.loop_jacobian(linkage, q) @ by_crank).max() < 1e-12), float(by_crank[0])
        (True, 1.0)
    """
    where = "assemble_derivatives"
    check_model(where, model)
    with_loops(model, where)
    free = free_coordinates(model, fixed)
    batch = finite_batch(where, {"q": q}, {"q": (model.nq,)})
    states = batch.arrays[0].astype(float)
    _check(model, "configuration", loop_residual(model, states), tolerance, batch.shape)
    J, units, rank = closed_loops(model, states)
    left = f" Of these, {', '.join(map(repr, fixed))} are fixed." if fixed else ""
    why = f"The loops are singular there: {rank} of their rows are independent nearby.{left}"
    units = units, np.array(lengths(model))
    changes, _ = solution_changes(where, states, batch.shape, J, free, units, rank, lambda _: why)
    return changes.reshape(*batch.shape, model.nv, model.nv)


def closed_loops(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return J at closed configurations, shape (n, nq), the unit of each row, and the rank where others are closed.

    They are what `solution_changes` takes. Where a search finds no other, those around the given ones count.
    """
    places = _places(model) or [place for row in q for place in next(closed_places(model, row), [row])]
    units = units_of_loops(model)
    rank = _independent(_residual_by_q(model, np.array(places)) / units[:, None] * lengths(model), DEPENDENT).max()
    return _residual_by_q(model, q), units, int(rank)


_places = known_of_each(closed_configurations)


def units_of_loops(model: Model) -> np.ndarray:
    """Return the unit of every row of `loop_residual`."""
    return np.array(units_of_rows(model, constraints(model, model.neutral().tolist())))


def _independent(J: np.ndarray, tolerance: float) -> np.ndarray:
    """Return how many singular values are above a tolerance, relative to the largest."""
    sizes = np.linalg.svd(J, compute_uv=False)
    return (sizes > tolerance * sizes.max(axis=-1, initial=0.0, keepdims=True)).sum(axis=-1)


def project_velocity(model: Model, q: Any, v: Any, fixed: Sequence[str] = (), *, tolerance: float = 1e-9) -> np.ndarray:
    """Return the velocities nearest to v that keep the loops closed, K v = 0, and constraints of users met.

    Args:
        model: a robot with closed loops.
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities [rad/s, m/s], shape (..., nv).
        fixed: names of joints that keep their velocities in v.
        tolerance: largest accepted entry of K v [m/s, rad/s], relative to the largest of v if that is above 1.

    Returns:
        Velocities [rad/s, m/s], shape (..., nv), in float64: the sum of squares of the changes is the least.

    Raises:
        AssemblyError: if there are no such velocities, which with `fixed` may be.
        UnknownNameError, MechanismError: for a joint of `fixed` that does not exist, or closes a loop; if there are no
            loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q = cardan.assemble(linkage)
        >>> v = cardan.project_velocity(linkage, q, np.ones(linkage.nv))
        >>> bool(np.allclose(cardan.loop_jacobian(linkage, q) @ v, 0.0))
        True
    """
    with_loops(model, "project_velocity")
    free = free_coordinates(model, fixed)
    batch = finite_batch("project_velocity", {"q": q, "v": v}, {"q": (model.nq,), "v": (model.nv,)})
    states, rates = (array.astype(float) for array in batch.arrays)
    K, opening = _rates_by_v(model, states, rates), _rates(model, states, rates)
    found = rates.copy()
    found[:, free] -= (np.linalg.pinv(K[..., free], rcond=DEPENDENT) @ opening[..., None])[..., 0]
    scale = np.maximum(1.0, np.abs(rates).max(axis=-1, initial=0.0))
    _check(model, "velocity", _rates(model, states, found) / scale[:, None], tolerance, batch.shape)
    return found.reshape(*batch.shape, model.nv)


def loop_rank(model: Model, q: Any, *, tolerance: float = DEPENDENT) -> Any:
    """Return the number of independent constraints among those of the loops, the rank of K, shape (...).

    Args:
        model: a robot with closed loops.
        q: configurations, shape (..., nq), with the loops closed.
        tolerance: singular values of K up to this, relative to the largest, count as 0 [-].

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> int(cardan.loop_rank(linkage, cardan.assemble(linkage)))
        2
    """
    return _rank("loop_rank", model, q, tolerance)


def _rank(where: str, model: Model, q: Any, tolerance: float) -> Any:
    check_model(where, model)
    batch = finite_batch(where, {"q": q}, {"q": (with_loops(model, where).nq,)})
    K = loop_jacobian(model, batch.arrays[0].astype(float))
    return _independent(K.reshape(*batch.shape, *K.shape[1:]), tolerance)


def mobility(model: Model, q: Any, *, tolerance: float = DEPENDENT) -> Any:
    """Return the number of freedoms the loops leave at a configuration, nv minus `loop_rank`, shape (...).

    Args:
        model: a robot with closed loops.
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        tolerance: singular values up to this, relative to the largest, count as 0 [-].

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> int(cardan.mobility(linkage, cardan.assemble(linkage)))
        1
    """
    rank = _rank("mobility", model, q, tolerance)
    return model.nv - rank


def free_coordinates(model: Model, fixed: Sequence[str]) -> list[int]:
    """Return the velocity coordinates of all joints but those that are fixed."""
    held = joint_coordinates(model, fixed)
    return [i for i in range(model.nv) if i not in held]


def _size(r: np.ndarray) -> np.ndarray:
    return np.abs(r).max(axis=-1, initial=0.0)


def closed_near(
    model: Model, q: np.ndarray, free: Sequence[int], tolerance: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the configurations nearby with the smallest residuals found, shape (rows, nq), and these residuals."""
    q, r = q.copy(), loop_residual(model, q)
    least, first, largest = DAMPING
    damping = np.full(len(q), first)
    done = np.zeros(len(q), dtype=bool)  # after one step more than the tolerance asks for
    for _ in range(steps):
        rows = np.flatnonzero(~done & (damping < largest))
        if not rows.size:
            break
        done[rows] = _size(r[rows]) <= tolerance
        step = np.zeros((len(rows), model.nv))
        step[:, free] = _step(_residual_by_q(model, q[rows])[..., free], r[rows], damping[rows])
        candidate = integrate(model, q[rows], step)
        new = loop_residual(model, candidate)
        # the sum of squares decides, which the step makes smaller; the tolerance is on the largest entry
        better = np.square(new).sum(axis=-1) < np.square(r[rows]).sum(axis=-1)
        q[rows[better]], r[rows[better]] = candidate[better], new[better]
        # Marquardt's rule: a step that helps is trusted ten times more, one that does not ten times less
        damping[rows] = np.maximum(damping[rows] * np.where(better, 0.1, 10.0), least)
    return q, r


def _step(J: np.ndarray, r: np.ndarray, damping: np.ndarray) -> np.ndarray:
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    # tiny: where all singular values are 0 there is no direction to step in, and 0 / 0 would be NaN
    floor = (damping[:, None] * s.max(axis=-1, initial=0.0, keepdims=True) ** 2) + np.finfo(float).tiny
    along = np.einsum("bij,bi->bj", U, r) * s / (s * s + floor)
    return -np.einsum("bij,bi->bj", Vt, along)


def _check(model: Model, what: str, r: np.ndarray, tolerance: float, shape: tuple[int, ...]) -> None:
    open_rows = np.flatnonzero(~(_size(r) <= tolerance))
    if not open_rows.size:
        return
    worst = open_rows[np.argmax(np.nan_to_num(_size(r)[open_rows], nan=np.inf))]
    found = constraints(model, model.neutral().tolist())
    owners = [loop.name for loop in found for _ in loop.K]
    loop = owners[int(np.argmax(np.nan_to_num(np.abs(r[worst]), nan=np.inf)))]
    rows = [tuple(map(int, np.unravel_index(k, shape))) for k in open_rows] if shape else []
    raise AssemblyError(what, loop, float(_size(r)[worst]), tolerance, rows)
