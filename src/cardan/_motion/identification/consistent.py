"""Inertias that a real body could have, found from measurements.

    minimise  sum ((Y p + F f - tau) / sigma_j)^2 / 2  +  w sum over bodies D(P, P0)  +  ...,
    D(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4

P is the pseudo-inertia, linear in p: a symmetric matrix that is positive definite just where a body could be built,

    P = [[Sigma, h], [h^T, m]],   Sigma = tr(I) / 2 1 - I     (I about the body's origin, h = m c)

It is the integral of [x; 1] [x; 1]^T over the body's mass: a positive density makes it positive definite, and every
positive definite P is that of some ellipsoid. D, a distance between two bodies, is 0 at the model one begins with and
infinite where a body becomes impossible: what the torques do not show stays as it was, and no constraint is left.
Everything is convex, so there is one solution, and Newton's method finds it. With P = U Q U^T, P0 = U U^T, no unit of
mass or length is left in Q, and each step is an ordinary least squares problem: the Hessian of D is C^T C, its gradient
C^T (Q - 1), with C the map dQ -> Q^-1/2 dQ Q^-1/2. Coefficients of friction that cannot be negative are such matrices
of one row.

Source: Lee, Wensing and Park, Geometric robot dynamic identification: a convex programming approach (2019), section IV;
Wensing, Kim and Slotine, Linear matrix inequalities for physically consistent inertial parameter identification (2018),
equation 13, for P; Boyd and Vandenberghe, Convex Optimization (2004), section 11.3, for the weights that fall by and
by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import Inertia
from cardan._dynamics.call.signature import refuse_inputs
from cardan._motion.identification.combinations import OF_THE_MODEL, Measured, Term, Terms, checked_terms, parameters
from cardan._motion.identification.least_squares import checked_noise, column_sizes, least_squares, residual_noise
from cardan._robot.model import Model

WHERE = "identify_consistent"
STEPS = 50  # Newton steps for one weight at most; fewer than ten are the rule
SETTLED = 1e-9  # relative decrease of the cost that a step promises below which a weight is done
FALL = 0.1  # by which factor the weight falls from one problem to the next, until it is that asked for
CLEAN = 1e-8  # of the torques: noise that is estimated is not less, or rounding would count as a measurement
FLATTEST = 1e-12  # least eigenvalue of Q over its largest: below it rounding decides whether a body is possible
FLOOR = 1e-8  # least eigenvalue of a pseudo-inertia, relative to its trace in units in which the body's size is 1
# Weight of the distance of a term's coefficient from one that would explain all torques: next to nothing but a wall at
# 0, since nothing is known of it before.
TERM_WEIGHT = 1e-3
# The symmetric matrices with ones at one place and its mirror image, shape (10, 4, 4).
BASIS = np.array([np.eye(4)[[i]].T @ np.eye(4)[[j]] for i in range(4) for j in range(i, 4)])
BASIS = np.maximum(BASIS, np.swapaxes(BASIS, 1, 2))


@dataclass(frozen=True, slots=True, eq=False)
class ConsistentFit:
    """A model whose inertias are physically possible. Returned by `identify_consistent`.

    Attributes:
        model: the model with the inertias found, and the damping, friction and armature that were asked for.
        inertias: of each body, by name.
        coefficients: of each term, shape (nv,), by its name; those of offsets are nowhere else.
        noise: standard deviation of each torque's residual [N m, N], shape (nv,), or the noise given.
        residual: root mean square of the residual torques, shape (nv,).
        steps: how many steps it took.
        converged: whether the last one changed nothing any more.

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> sines, cosines = np.random.default_rng(0).normal(size=(2, 3, 2))
        >>> states = cardan.trajectories.FourierSeries(pendulum, 5.0, sines, cosines).at(np.linspace(0.0, 5.0, 99))
        >>> torques = cardan.inverse_dynamics(pendulum, *states)
        >>> fit = cardan.identification.identify_consistent(pendulum, *states, torques, terms=())
        >>> fit.converged, [inertia.faults() for inertia in fit.inertias.values()]
        (True, [[], [], []])
    """

    model: Model
    inertias: Mapping[str, Inertia]
    coefficients: Mapping[str, np.ndarray]
    noise: np.ndarray
    residual: np.ndarray
    steps: int
    converged: bool


def identify_consistent(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    tau: Any,
    *,
    terms: Terms = ("viscous", "coulomb"),
    noise: Any = None,
    prior: float = 1.0,
) -> ConsistentFit:
    """Return the model whose torques come nearest to measured ones, among those that could be built.

    Args:
        model: the robot as one believes it to be: what counts where the torques show nothing. Inertias that are not
            possible are taken to ones near by that are; bodies without mass stay so.
        q: configurations, as for `identify`.
        v: velocities, as for `identify`.
        a: accelerations, as for `identify`.
        tau: measured torques, as for `identify`.
        terms: as for `identify`; coefficients are not negative, but for offsets.
        noise: as for `identify`; None to estimate it from the residuals of a first fit.
        prior: how far off the model's inertias may be: standard deviation of the logarithm of a body's extent along
            any axis [-], 1 for a factor e, 0.1 for ten percent.

    Raises:
        MechanismError: for a model none of whose bodies has mass, or with inputs.
        ParameterError: for noise or a prior that is none.
        ShapeError, DTypeError, NotFiniteError, UnsupportedError: as for `identify`.

    Source: Lee, Wensing and Park (2019).

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> sines, cosines = np.random.default_rng(0).normal(size=(2, 3, 2))
        >>> states = cardan.trajectories.FourierSeries(pendulum, 5.0, sines, cosines).at(np.linspace(0.0, 5.0, 99))
        >>> measured = 1.2 * cardan.inverse_dynamics(pendulum, *states)
        >>> fit = cardan.identification.identify_consistent(pendulum, *states, measured, terms=())
        >>> bool(np.allclose(cardan.inverse_dynamics(fit.model, *states), measured, atol=1e-3))
        True
    """
    asked = checked_terms(terms)
    weight = 0.25 / positive(f"{WHERE}: prior", prior, "1") ** 2
    refuse_inputs(model, f"; give {WHERE} one without.")
    if not model.mass > 0.0:
        hint = "begin with a guess of each body's inertia"
        raise MechanismError(f"{WHERE}: no body of model {model.name!r} has mass, and those without stay so; {hint}.")
    measured = Measured(WHERE, model, q, v, a, tau, asked)
    problem = _Problem(model, asked, measured, weight)
    if noise is None:
        size = float(np.sqrt((measured.tau**2).mean())) or 1.0
        first, *_ = problem.solve(measured, np.full(model.nv, 0.01 * size))
        known = np.maximum(residual_noise(measured.tau - measured.W @ first, 0), CLEAN * size)
    else:
        known = checked_noise(WHERE, noise, model.nv)
    found, steps, converged = problem.solve(measured, known)
    residual = np.sqrt(((measured.tau - measured.W @ found) ** 2).mean(axis=0))
    inertial, rest = found[: 10 * model.nbodies], found[10 * model.nbodies :].reshape(len(asked), model.nv)
    coefficients: dict[str, np.ndarray] = dict(zip(asked, rest, strict=True))
    changed = {OF_THE_MODEL[term]: coefficients[term] for term in asked if term in OF_THE_MODEL}
    fitted = model.with_values(inertial_parameters=inertial, **changed)
    inertias = {body.name: body.inertia or Inertia.zero() for body in fitted.bodies}
    return ConsistentFit(fitted, inertias, coefficients, known, residual, steps, converged)


class _Problem:
    """The unknowns x: Q of the bodies with mass, ten numbers each, then a number for each coefficient of the terms.

    `to_parameters` maps x to the parameter vector, `start` is x of the model one begins with, `bounded` says which of x
    are coefficients that must be positive, and `weight` is that of the bodies' distances.
    """

    def __init__(self, model: Model, terms: tuple[Term, ...], measured: Measured, weight: float) -> None:
        own = model.inertial_parameters().reshape(-1, 10)
        massive = np.flatnonzero(own[:, 0] > 0.0)
        U = np.linalg.cholesky(made_definite(pseudo_inertia(own[massive])))[:, None]
        maps = np.swapaxes(inertial_parameters(U @ BASIS @ np.swapaxes(U, 2, 3)), 1, 2)
        inertial, extra = 10 * model.nbodies, model.nv * len(terms)
        self.weight, self.bodies, split = weight, len(massive), 10 * len(massive)
        self.to_parameters = np.zeros((inertial + extra, split + extra))
        for k, b in enumerate(massive):
            self.to_parameters[10 * b : 10 * b + 10, 10 * k : 10 * k + 10] = maps[k]
        columns = measured.W[..., inertial:].reshape(measured.tau.size, extra)
        sizes = column_sizes(columns) / (np.linalg.norm(measured.tau) or 1.0)
        self.to_parameters[inertial:, split:] = np.diag(1.0 / sizes)  # 1 would explain all torques
        signed = np.repeat([term == "offset" for term in terms], model.nv).astype(bool)
        self.bounded = split + np.flatnonzero(~signed)
        given = parameters(model, terms)[inertial:] * sizes
        rest = np.where(signed, 0.0, np.where(given > 0.0, given, 0.01))
        self.start = np.concatenate([np.tile([float(E.trace() > 0.0) for E in BASIS], self.bodies), rest])

    def solve(self, measured: Measured, noise: np.ndarray) -> tuple[np.ndarray, int, bool]:
        """Return the parameter vector that fits best, after how many steps, and whether it has settled."""
        equations = np.concatenate([measured.W, measured.tau[..., None]], axis=-1) / noise[:, None]
        R = np.asarray(np.linalg.qr(equations.reshape(-1, equations.shape[-1]), mode="r"))
        A, b = R[:, :-1] @ self.to_parameters, R[:, -1]
        x, steps, settled = self.start, 0, False
        heaviest = max(1.0, float(((A @ x - b) ** 2).sum()) / len(x) / self.weight)
        for power in range(int(np.ceil(np.log(heaviest) / -np.log(FALL))), -1, -1):
            x, taken, settled = self._newton(x, A, b, FALL**-power)
            steps += taken
        return self.to_parameters @ x, steps, settled

    def _newton(self, x: np.ndarray, A: np.ndarray, b: np.ndarray, heavier: float) -> tuple[np.ndarray, int, bool]:
        """Return the solution with distances that count more, after how many steps, and whether it has settled."""
        for taken in range(STEPS):
            C, c = self._linearised(x, heavier)
            rows, right = np.concatenate([A, C]), np.concatenate([b - A @ x, -c])
            step = least_squares(rows, right)
            cost, promised = self._cost(x, A, b, heavier), 0.5 * float(((rows @ step) ** 2).sum())
            if promised <= SETTLED * (1.0 + cost):
                return x, taken, True
            length = 1.0
            # Backtracking to a tenth of the promise (Armijo); infinite costs and NaN are refused alike.
            while not self._cost(x + length * step, A, b, heavier) <= cost - 0.1 * length * promised:
                length *= 0.5
                if length < 1e-12:
                    return x, taken, promised <= 1e-6 * (1.0 + cost)
            x = x + length * step
        return x, STEPS, False

    def _cost(self, x: np.ndarray, A: np.ndarray, b: np.ndarray, heavier: float) -> float:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return 0.5 * float(((A @ x - b) ** 2).sum()) + self._distance(x, heavier)

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Q of the bodies, shape (bodies, 4, 4), and the coefficients that must be positive."""
        return np.tensordot(x[: 10 * self.bodies].reshape(-1, 10), BASIS, 1), x[self.bounded]

    def _distance(self, x: np.ndarray, heavier: float) -> float:
        """Return the weighted distances; infinite where something is impossible."""
        Q, f = self._parts(x)
        values = np.linalg.eigvalsh(Q)
        if not (values[:, 0] > FLATTEST * values[:, -1]).all() or not (f > 0.0).all():
            return np.inf
        of_bodies, of_terms = ((e - np.log(e) - 1.0).sum() for e in (values, f))
        return heavier * float(self.weight * of_bodies + TERM_WEIGHT * of_terms)

    def _linearised(self, x: np.ndarray, heavier: float) -> tuple[np.ndarray, np.ndarray]:
        """Return C and c: the Hessian of the weighted distances is C^T C, their gradient C^T c."""
        Q, f = self._parts(x)
        values, vectors = np.linalg.eigh(Q)
        turned = np.swapaxes(vectors, 1, 2)[:, None] @ BASIS @ vectors[:, None]
        roots = np.sqrt(values)
        columns = turned / (roots[:, :, None] * roots[:, None, :])[:, None]
        C = np.zeros((16 * self.bodies + len(f), len(x)))
        for k in range(self.bodies):
            C[16 * k : 16 * k + 16, 10 * k : 10 * k + 10] = columns[k].reshape(10, 16).T
        C[16 * self.bodies + np.arange(len(f)), self.bounded] = 1.0 / f
        of_bodies = (values - 1.0)[:, :, None] * np.eye(4)
        share = np.sqrt(heavier * np.repeat([self.weight, TERM_WEIGHT], [16 * self.bodies, len(f)]))
        return C * share[:, None], np.concatenate([of_bodies.ravel(), f - 1.0]) * share


def pseudo_inertia(p: np.ndarray) -> np.ndarray:
    """Return P, shape (n, 4, 4), of ten parameters each (`Inertia.parameters`), shape (n, 10)."""
    m, h, xx, xy, xz, yy, yz, zz = p[:, 0], p[:, 1:4], *p[:, 4:].T
    half = 0.5 * (xx + yy + zz)
    P = np.empty((len(p), 4, 4))
    P[:, 0, 0], P[:, 1, 1], P[:, 2, 2], P[:, 3, 3] = half - xx, half - yy, half - zz, m
    for (i, j), value in zip(((0, 1), (0, 2), (1, 2)), (-xy, -xz, -yz), strict=True):
        P[:, i, j] = P[:, j, i] = value
    P[:, :3, 3] = P[:, 3, :3] = h
    return P


def inertial_parameters(P: np.ndarray) -> np.ndarray:
    """Return ten parameters each, shape (..., 10), of P, shape (..., 4, 4)."""
    xx, yy, zz = P[..., 0, 0], P[..., 1, 1], P[..., 2, 2]
    moments = [yy + zz, -P[..., 0, 1], -P[..., 0, 2], xx + zz, -P[..., 1, 2], xx + yy]
    return np.stack([P[..., 3, 3], P[..., 0, 3], P[..., 1, 3], P[..., 2, 3], *moments], axis=-1)


def made_definite(P: np.ndarray) -> np.ndarray:
    """Return P with its eigenvalues not below `FLOOR`, in each body's own unit of length; definite ones as they are."""
    size = np.sqrt(np.abs(P[:, 0, 0] + P[:, 1, 1] + P[:, 2, 2]) / P[:, 3, 3])
    unit = np.ones((len(P), 4))
    unit[:, :3] = np.where(size > 0.0, size, 1.0)[:, None]
    scaled = P / (unit[:, :, None] * unit[:, None, :])
    values, vectors = np.linalg.eigh(scaled)
    least = FLOOR * np.trace(scaled, axis1=1, axis2=2)[:, None]
    # A negative one counts by its size: who is wrong by so much knows it no better. Near 0 it would be a body known to
    # be flat, from which a fit does not get away.
    raised = (vectors * np.maximum(np.abs(values), least)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    fine = (values >= least).all(axis=1)
    return np.where(fine[:, None, None], P, raised * (unit[:, :, None] * unit[:, None, :]))
