"""Two robots at random states: poses of all bodies, mass matrix, bias forces."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cardan._algebra.errors import CardanError, MechanismError
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.kinematics import forward_kinematics
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.coordinates import converter
from cardan._reach.comparison.matching import ComparedRobot
from cardan._reach.comparison.motion import inverse
from cardan._robot.description import Mechanism
from cardan._robot.model import Model

STATES = 3
SEED = 5
TARGET = "numpy"  # a few states: nothing is worth compiling


def errors(
    a: ComparedRobot, b: ComparedRobot, offsets: Mapping[str, np.ndarray]
) -> tuple[dict[str, tuple[float, str]], str]:
    """Return the largest relative differences with where each is, and a note if they could not be found.

    The robots have the same bodies and joints; offsets say where the frames of b's bodies are in those of a.
    """
    try:
        one, two = _models(a.thing, b.thing)
        q = one.random_configuration(STATES, seed=SEED)
        v = np.random.default_rng(SEED).normal(size=(STATES, one.nv))
        r, w = _converted(one, two, q, v)
    except CardanError as error:
        return {}, f"states are not compared: {error}"
    return _differences(one, two, (q, v), (r, w), offsets), ""


def _models(one: Mechanism | Model, two: Mechanism | Model) -> list[Model]:
    """Return models of both, floating where both can, so that every inertia counts."""
    try:
        return [_model(thing, "floating") for thing in (one, two)]  # a body fixed on the world would have no influence
    except MechanismError:
        return [_model(thing, "fixed") for thing in (one, two)]


def _model(thing: Mechanism | Model, base: str) -> Model:
    if isinstance(thing, Mechanism):
        return thing.model(base=base)
    return thing.with_values(**thing.input_values()) if thing.inputs else thing


def _converted(one: Model, two: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return states of the second model: by the joints' names, or where coordinates are others by converting."""
    same = {c.name: type(c.joint) for c in one.connections} == {c.name: type(c.joint) for c in two.connections}
    if not same:  # coordinates of another kind for the same motion
        to = converter(one, two)
        return to.configuration(q), to.velocity(q, v)
    r, w = np.empty((STATES, two.nq)), np.empty((STATES, two.nv))
    for name in one.joint_names:
        r[:, two.q_slice(name)] = q[:, one.q_slice(name)]
        w[:, two.v_slice(name)] = v[:, one.v_slice(name)]
    return r, w


def _differences(
    one: Model, two: Model, mine: tuple, theirs: tuple, offsets: Mapping[str, np.ndarray]
) -> dict[str, tuple[float, str]]:
    (q, v), (r, w) = mine, theirs
    X, Y = forward_kinematics.on(target=TARGET)(one, q), forward_kinematics.on(target=TARGET)(two, r)
    poses = []
    for k, name in enumerate(one.body_names):
        if name in two.body_names:
            T = offsets.get(name, np.eye(4))
            moved = Y[:, two.body_names.index(name)] @ inverse(T)
            poses.append((float(np.abs(X[:, k] - moved).max() / (1.0 + np.abs(X[:, k, :3, 3]).max())), name))
    found: dict[str, tuple[float, str]] = {"pose": max(poses, default=(0.0, ""))}
    order = _order(one, two) if one.nv else None
    M, N = mass_matrix.on(target=TARGET)(one, q), mass_matrix.on(target=TARGET)(two, r)
    h, k = bias_forces.on(target=TARGET)(one, q, v), bias_forces.on(target=TARGET)(two, r, w)
    if order is not None:
        owners = [name for name in one.joint_names for _ in range(one.v_slice(name).stop - one.v_slice(name).start)]
        found["mass matrix"] = _worst(np.abs(M - N[:, order][:, :, order]).max(axis=2), np.abs(M).max(), owners)
        found["bias forces"] = _worst(np.abs(h - k[:, order]), np.abs(h).max(), owners)
    return found


def _order(one: Model, two: Model) -> np.ndarray | None:
    """Return where each of the first model's velocities is in the second; None if they are not the same."""
    slices = [two.v_slice(name) for name in one.joint_names if name in two.joint_names]
    order = np.concatenate([np.arange(s.start, s.stop) for s in slices]) if slices else np.zeros(0, dtype=int)
    return order if len(order) == one.nv == two.nv else None


def _worst(errors: np.ndarray, scale: float, owners: list[str]) -> tuple[float, str]:
    if not errors.size:
        return 0.0, ""
    k = int(errors.max(axis=0).argmax())
    return float(errors[:, k].max() / max(float(scale), 1e-12)), owners[k]
