"""The whole regressor: inertial parameters, and what the drives and bearings add, linear in its coefficients.

    tau = Y(q, v, a) p + sum over terms:  viscous v,  coulomb sign(v),  offset,  armature a

One coefficient a degree of freedom and term. The parameter vector is [p, viscous (nv), coulomb (nv), ...], in the order
in which the terms are asked for.

Source: Swevers, Verdonck and De Schutter, Dynamic model identification for industrial robots (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from cardan._algebra.errors import ParameterError, ShapeError, UnknownNameError, UnsupportedError
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
    if model.closures:
        what = f"closed loops ({model.closures[0].name!r} closes one)"
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
