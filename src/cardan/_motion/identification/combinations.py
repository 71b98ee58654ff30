"""The parameters that torques are linear in, and the fewest combinations of them that torques depend on.

The whole regressor has the inertial parameters p, and what drives and bearings add:

    tau = Y(q, v, a) p + sum over terms:  viscous v,  coulomb sign(v),  offset,  armature a

One coefficient a degree of freedom and term. The parameter vector is [p, viscous (nv), coulomb (nv), ...], in the order
in which the terms are asked for.

For the base parameters, the columns of the regressor over many random states are gone through from the root outwards;
one that the columns kept so far make up is left out, and its parameter goes into theirs:
    tau = W p = W_k (p_k + K p_d),    W_d = W_k K.
So the parameters of a link that cannot be told from those of the link before are added to the latter, as in Khalil's
rules. Columns are compared in units in which a robot is one unit long and falls its length in about a unit of time, so
that a watch and a crane have the same answer.

Source: Swevers, Verdonck and De Schutter, Dynamic model identification for industrial robots (2007); Gautier, Numerical
calculation of the base inertial parameters of robots (1991); Khalil and Dombre (2002), section 9.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import number
from cardan._algebra.errors import ParameterError, ShapeError, UnknownNameError, UnsupportedError
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.regressor import torque_regressor
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.call.arguments import check_finite, checked_batch
from cardan._dynamics.call.signature import check_model
from cardan._robot.model import Model

Term = Literal["viscous", "coulomb", "offset", "armature"]
Terms = Sequence[Term] | Sequence[str]  # as they are given: a checker need not see the words

# What each term is multiplied with, from velocities and accelerations.
TERMS: dict[Term, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "viscous": lambda v, a: v,
    "coulomb": lambda v, a: np.sign(v),
    "offset": lambda v, a: np.ones_like(v),
    "armature": lambda v, a: a,
}
# Where a term's coefficients stand in a model (`Model.with_values`); an offset has no place there.
OF_THE_MODEL: dict[Term, str] = {"viscous": "damping", "coulomb": "friction", "armature": "armature"}
# The ten parameters of a body: mass [kg], first moment [kg m], inertia about the body's origin [kg m^2].
PARTS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def regressor(model: Model, q: Any, v: Any, a: Any, terms: Terms = ()) -> np.ndarray:
    """Return W: tau = W @ `parameters(model, terms)`, less the armature where that is no term.

    It has the shape (..., nv, 10 nbodies + nv len(terms)): efforts [N m, N] for each unit of a parameter.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        terms: `"viscous"`, `"coulomb"`, `"offset"` and `"armature"`, those that are wanted, in any order.

    Raises:
        UnknownNameError, ParameterError: for a term that does not exist, or comes twice.
        ShapeError, DTypeError: for an array that does not fit.

    Source: Swevers, Verdonck and De Schutter (2007).

    Examples:
        >>> cardan.identification.regressor(arm, q, v, a, ("viscous", "coulomb")).shape
        (7, 104)
    """
    names = checked_terms(terms)
    Y = torque_regressor(model, q, v, a)
    v, a = (np.broadcast_to(np.asarray(x, dtype=float), Y.shape[:-1]) for x in (v, a))
    columns = [TERMS[term](v, a)[..., None] * np.eye(model.nv) for term in names]
    return np.concatenate([Y, *columns], axis=-1)


def parameters(model: Model, terms: Terms = ()) -> np.ndarray:
    """Return the parameter vector as the model has it: inertial parameters, then each term; offsets are 0.

    It has the shape (10 nbodies + nv len(terms),): [kg, kg m, kg m^2], and those of the terms.

    Args:
        model: the robot.
        terms: as for `regressor`, with its errors.

    Examples:
        >>> cardan.identification.parameters(arm, ("viscous",))[90:]
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """
    check_model("parameters", model)
    fields = (OF_THE_MODEL.get(term) for term in checked_terms(terms))
    own = [np.array(model.passive(field)) if field else np.zeros(model.nv) for field in fields]
    return np.concatenate([model.inertial_parameters(), *own])


def names(model: Model, terms: Terms) -> list[str]:
    """Return a name for each parameter: `m(forearm)`, `viscous(elbow)`; several of a joint are numbered."""
    found = [f"{part}({body})" for body in model.body_names for part in PARTS]
    degrees = [""] * model.nv
    for joint, (_, own) in model.slices.items():
        for k in range(own.start, own.stop):
            degrees[k] = joint if own.stop - own.start == 1 else f"{joint}[{k - own.start}]"
    return found + [f"{term}({degree})" for term in terms for degree in degrees]


def checked_terms(terms: Terms) -> tuple[Term, ...]:
    """Return names of terms; raise `UnknownNameError` or `ParameterError` for one that is unknown or comes twice."""
    if isinstance(terms, str) or not isinstance(terms, Sequence):
        raise ParameterError("terms", got=terms, expected=f"a tuple of names: ({terms!r},)")
    known: dict[str, Term] = {term: term for term in TERMS}
    for term in terms:
        if term not in known:
            raise UnknownNameError("term", term, TERMS, where="identification")
    if len(set(terms)) != len(terms):
        raise ParameterError("terms", got=tuple(terms), expected="each once")
    return tuple(known[term] for term in terms)


def check_tree(where: str, model: Model) -> None:
    """Raise for what is no model, and for closed loops: the torques of its drives are not those of its tree."""
    check_model(where, model)
    if model.has_loops:
        what = f"closed loops ({model.constraint_names[0]!r} closes one)"
        raise UnsupportedError(what, where, "its regressor is the tree's; fit cardan.constrained_inverse_dynamics")


class Measured:
    """Measurements, checked, as the equation that n samples are to fulfil.

    W is the regressor, shape (n, nv, parameters); tau the torques less what is known and not a parameter, (n, nv).
    """

    __slots__ = ("W", "tau")

    def __init__(self, where: str, model: Model, q: Any, v: Any, a: Any, tau: Any, terms: Terms) -> None:
        check_tree(where, model)
        cores = {"q": (model.nq,), "v": (model.nv,), "a": (model.nv,), "tau": (model.nv,)}
        batch = checked_batch(where, {"q": q, "v": v, "a": a, "tau": tau}, cores)
        if batch.size == 0:
            expected = f"(..., {model.nq}), one sample or more"
            raise ShapeError(where, "q", got=(*batch.shape, model.nq), expected=expected)
        for name, array in zip(batch.names, batch.arrays, strict=True):
            check_finite(where, name, array, batch.shape)
        q, v, a, torque = (array.astype(float) for array in batch.arrays)
        self.W, self.tau = regressor(model, q, v, a, terms), torque
        if "armature" not in terms:
            of_links = torque_regressor(model, q, v, a) @ model.inertial_parameters()
            self.tau = torque - (inverse_dynamics(model, q, v, a) - of_links)


# The order in which a body's parameters are tried: those that are kept in textbooks first.
FAMILIAR = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m")
POWERS = (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)  # of length, in the units of the ten parameters


@dataclass(frozen=True, slots=True, eq=False)
class BaseParameters:
    """The base parameters of a model. Returned by `base_parameters`. Prints as one line for each.

    Attributes:
        names: of all parameters: ten a body, then those of the terms.
        columns: which parameters lead the base parameters, shape (count,): columns of the regressor that are
            independent and make up all others.
        matrix: the combinations: the base parameters are `matrix @ p`, shape (count, parameters).
        terms: what was asked for beside the inertial parameters.
        margin: how clear the decision was: the smallest part of a column that is kept which the others do not make up,
            over the largest such part of one left out. A small one (below 1000, say) tells of a robot that nearly has
            a symmetry, such as angles rounded to a few digits.

    Examples:
        >>> base = cardan.identification.base_parameters(cardan.robots.double_pendulum().model())
        >>> base.expressions[-1], base.matrix.shape
        ('Iyy(lower)', (6, 30))
    """

    names: tuple[str, ...]
    columns: np.ndarray
    matrix: np.ndarray
    terms: tuple[Term, ...]
    margin: float

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def expressions(self) -> tuple[str, ...]:
        """The combinations in words, such as `mx(upper) + 0.5 m(fore)`."""
        found = []
        for row, leader in zip(self.matrix, self.columns, strict=True):
            text = self.names[leader]
            for k in np.flatnonzero(row):
                size = f"{abs(row[k]):.6g}"
                if k != leader:
                    text += f" {'-' if row[k] < 0 else '+'} {'' if size == '1' else f'{size} '}{self.names[k]}"
            found.append(text)
        return tuple(found)

    def __str__(self) -> str:
        return "\n".join(self.expressions)


def base_parameters(model: Model, terms: Terms = (), *, tolerance: float = 1e-9, seed: int = 0) -> BaseParameters:
    """Return which combinations of parameters the torques depend on, with names; `len()` is their number.

    Joint limits are not looked at: what counts is what the structure allows to see.

    Args:
        model: the robot.
        terms: further parameters along v, as for `regressor`.
        tolerance: largest part of a column, relative to it, that counts as rounding [-].
        seed: of the random states.

    Raises:
        UnknownNameError, ParameterError: for a term that does not exist, or comes twice; a tolerance that is none.
        UnsupportedError: for a model with closed loops.

    Source: Gautier (1991); Khalil and Dombre (2002), section 9.4.

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> len(cardan.identification.base_parameters(pendulum, ("viscous",)))
        8
    """
    check_tree("base_parameters", model)
    asked = checked_terms(terms)
    number("base_parameters: tolerance", tolerance, "a number between 0 and 1", lambda e: 0.0 < e < 1.0)
    units = natural_units(model)
    size = np.concatenate([units.parameters, *(units.of_term(term) for term in asked)])
    W = _scaled_rows(model, asked, units, seed) * size
    kept, margin = _independent(W, _outwards(model, len(asked)), tolerance)
    K = _combinations(W, kept, tolerance) * size[kept, None] / size
    return BaseParameters(tuple(names(model, asked)), kept, K, asked, margin)


def checked_base(where: str, model: Model, given: Terms, base: BaseParameters | None) -> BaseParameters:
    """Return base parameters that are given, if they are of this robot and these terms; for None, compute them."""
    terms = checked_terms(given)
    if base is None:
        return base_parameters(model, terms)
    if not isinstance(base, BaseParameters):
        raise ParameterError(f"{where}: base", got=base, expected="a BaseParameters, of base_parameters(model, terms)")
    if base.terms != terms:
        raise ParameterError(f"{where}: base", got=f"that of terms {base.terms}", expected=f"that of {terms}")
    if base.names != tuple(names(model, terms)):
        raise ParameterError(f"{where}: base", got="that of another robot", expected=f"that of {model.name!r}")
    return base


class NaturalUnits(NamedTuple):
    """Units in which the robot is about one long, and falls its length in about one unit of time."""

    length: float  # [m]
    time: float  # [s]
    speed: np.ndarray  # of each degree of freedom, that moves about a length in a unit of time, shape (nv,)
    parameters: np.ndarray  # of the inertial ones, a mass in units of its own: 1, length, length^2, shape (10 nbodies,)

    @property
    def torque(self) -> np.ndarray:
        """Of the efforts: weight times length over the degree's own unit, shape (nv,)."""
        return self.length**2 / self.time**3 / self.speed

    def scaled(self, W: np.ndarray, base: BaseParameters) -> np.ndarray:
        """Return columns of the regressor that lead the base parameters, shape (..., nv, count), in these units."""
        size = np.concatenate([self.parameters, *(self.of_term(term) for term in base.terms)])
        return W * size[base.columns] / self.torque[:, None]

    def of_term(self, term: Term) -> np.ndarray:
        """Return the units of a term's coefficients, shape (nv,)."""
        return self.torque / np.abs(TERMS[term](self.speed, self.speed / self.time))


def natural_units(model: Model) -> NaturalUnits:
    """Return the units of a model, from its dimensions and its gravity; the mass is free."""
    placements = [node.placement for node in model.nodes] + [at.pose for at in model.attachments.values()]
    lengths = [float(np.linalg.norm(np.array(X.translation, dtype=float))) for X in placements]
    length = max(lengths, default=0.0) or 1.0
    g = float(np.linalg.norm(np.array(model.gravity, dtype=float))) or length
    time = np.sqrt(length / g)
    speed = length / time / _leverage(model, length)
    return NaturalUnits(length, time, speed, np.tile(length ** np.array(POWERS, dtype=float), model.nbodies))


def _leverage(model: Model, length: float) -> np.ndarray:
    """Return by how much a unit of each degree of freedom moves a point a length away, near neutral, shape (nv,)."""
    moved = np.full(model.nv, 0.0)
    for node in model.nodes:
        q = node.configuration(model.neutral().tolist())
        for k, column in zip(node.v, node.joint.motion_subspace(q), strict=True):
            linear, angular = (np.linalg.norm(np.array(part, dtype=float)) for part in column)
            moved[k] = max(moved[k], linear + length * angular)
    return np.where(moved > 0.0, moved, 1.0)


def _scaled_rows(model: Model, terms: Terms, units: NaturalUnits, seed: int) -> np.ndarray:
    """Return the regressor over random states in the robot's units, as an upper triangle with the same products."""
    count = 20 + 20 * model.nbodies  # rows of one joint alone are enough for all it carries
    rng = np.random.default_rng(seed)
    step, v, a = rng.normal(size=(3, count, model.nv)) * units.speed
    q = integrate(model, model.neutral(), 2.0 * units.time * step)
    W = regressor(model, q, v, a / units.time, terms) / units.torque[:, None]
    return np.linalg.qr(W.reshape(-1, W.shape[-1]), mode="r") / np.sqrt(count)


def _outwards(model: Model, terms: int) -> list[int]:
    """Return the order in which parameters are tried: from the root outwards, then the terms."""
    bodies = sorted(range(model.nbodies), key=lambda b: model.attachments[model.body_names[b]].node)
    inertial = [10 * b + k for b in bodies for k in map(PARTS.index, FAMILIAR)]
    return inertial + list(range(10 * model.nbodies, 10 * model.nbodies + terms * model.nv))


def _independent(W: np.ndarray, order: Sequence[int], tolerance: float) -> tuple[np.ndarray, float]:
    """Return the columns that those before do not make up, and the margin of the decision, by Gram-Schmidt."""
    basis, kept, seen, unseen = np.zeros((W.shape[0], 0)), [], [1.0], [float(np.finfo(float).eps)]
    largest = np.linalg.norm(W, axis=0).max(initial=0.0)
    for column in order:
        w = W[:, column]
        size = np.linalg.norm(w)
        if size <= tolerance * largest:
            continue
        for _ in range(2):  # once is not orthogonal to the last digit
            w = w - basis @ (basis.T @ w)
        rest = float(np.linalg.norm(w) / size)
        (seen if rest > tolerance else unseen).append(rest)
        if rest > tolerance:
            kept.append(column)
            basis = np.column_stack([basis, w / np.linalg.norm(w)])
    return np.array(sorted(kept), dtype=int), min(seen) / max(unseen)


def _combinations(W: np.ndarray, kept: np.ndarray, tolerance: float) -> np.ndarray:
    """Return K with W = W[:, kept] K, what is rounding 0, what is nearly whole made so."""
    K = np.linalg.lstsq(W[:, kept], W, rcond=None)[0] if kept.size else np.zeros((0, W.shape[1]))
    K[np.abs(K) < max(tolerance, 1e-9)] = 0.0  # 1e-9: what is left of exact ratios of lengths after the solution
    whole = np.round(K)
    K = np.where(np.abs(K - whole) < 1e-9, whole, K)
    K[:, kept] = np.eye(len(kept))
    return K
