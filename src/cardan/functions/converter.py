"""Converters between two models of one mechanism: other roots, bases, locked joints, kinds of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan import algorithms
from cardan.errors import MechanismError, ShapeError
from cardan.functions.arguments import numeric_array
from cardan.functions.function import Function
from cardan.model import WORLD, Connection, Model

SAMPLES = 2
TOLERANCE = 1e-7
RANK_TOLERANCE = 1e-9


class Converter:
    """Maps states of one model of a mechanism to those of another; made by `cardan.converter`.

    All methods are compiled and take batches, as every function of cardan.

    Attributes:
        source: the model states come from.
        target: the model they go to.
        shared: names of the joints whose coordinates are copied; all others are found from the motion of bodies.
        dropped: names of the source's joints whose motion the target cannot show.
    """

    def __init__(self, source: Model, target: Model, dropped: tuple[str, ...]) -> None:
        self.source, self.target, self.dropped = source, target, dropped
        self.shared = algorithms.shared_joints(source, target)

        def configuration(model: Model, q: Any) -> Any:
            return algorithms.converted_configuration(model, target, list(q))

        def velocity(model: Model, q: Any, v: Any) -> Any:
            return algorithms.converted_velocity(model, target, list(q), list(v))

        def acceleration(model: Model, q: Any, v: Any, a: Any) -> Any:
            return algorithms.converted_acceleration(model, target, list(q), list(v), list(a))

        def effort(model: Model, q: Any, tau: Any) -> Any:
            return algorithms.converted_effort(model, target, list(q), list(tau))

        self._configuration, self._velocity = Function(configuration), Function(velocity)
        self._acceleration, self._effort = Function(acceleration), Function(effort)

    def configuration(self, q: Any) -> Any:
        """Return the target's configurations, shape (..., nq), from the source's."""
        return self._configuration(self.source, q)

    def velocity(self, q: Any, v: Any) -> Any:
        """Return the target's velocities, shape (..., nv), from the source's q and v."""
        return self._velocity(self.source, q, v)

    def acceleration(self, q: Any, v: Any, a: Any) -> Any:
        """Return the target's accelerations dv/dt, shape (..., nv), from the source's q, v and a."""
        return self._acceleration(self.source, q, v, a)

    def effort(self, q: Any, tau: Any) -> Any:
        """Return the target's efforts, shape (..., nv), that do the same virtual work as the source's tau.

        The wrench a floating base feels is among them. What locks a joint or holds a base does no work: an effort on
        a joint the target does not have is lost, one on a joint the source does not have is 0.
        """
        return self._effort(self.source, q, tau)

    def external_forces(self, forces: Any) -> np.ndarray:
        """Return wrenches on bodies, shape (..., nbodies, 6), in the order of the target's `body_names`."""
        array = numeric_array("converter", "external_forces", forces)
        core = (self.source.nbodies, 6)
        if array.shape[-2:] != core:
            raise ShapeError("converter", "external_forces", got=array.shape, expected=f"(..., {core[0]}, 6)")
        names = self.source.body_names
        return array[..., [names.index(body) for body in self.target.body_names], :]

    def limits(self, values: Any, missing: float) -> np.ndarray:
        """Return what is given for each degree of freedom (bounds, gains, weights) in the target's order.

        Joints keep their limits whichever way round they are (`model.lower`, ... of the target have those of its
        description); this is for values of your own.

        Args:
            values: shape (..., nv) of the source.
            missing: stands for joints that are not `shared`, such as a floating base: `inf`, 0.0.

        Raises:
            ShapeError, DTypeError: for values that do not fit.
        """
        array = numeric_array("converter", "values", values)
        if array.shape[-1:] != (self.source.nv,):
            raise ShapeError("converter", "values", got=array.shape, expected=f"(..., {self.source.nv})")
        found = np.full((*array.shape[:-1], self.target.nv), missing, dtype=float)
        for name in self.shared:
            found[..., self.target.v_slice(name)] = array[..., self.source.v_slice(name)]
        return found

    def inverse(self) -> Converter:
        """Return the converter the other way.

        Raises:
            MechanismError: if the target has motions the source cannot show.
        """
        return converter(self.target, self.source)

    def __repr__(self) -> str:
        return f"<Converter {self.source!r} -> {self.target!r}: {len(self.shared)} joints shared>"


def converter(source: Model, target: Model, *, drop: Sequence[str] = ()) -> Converter:
    """Return the converter of states between two models of one mechanism.

    They may differ in root, base, locked joints, direction of joints, kinds of coordinates (an angle or its cosine
    and sine, a quaternion or three angles) and in which joints close loops. That they are of one mechanism is tried
    out: at random configurations all bodies must be in the same places.

    Args:
        source: where states come from.
        target: where they go.
        drop: names of the source's joints whose motion may be lost: those the target has locked, or a base it has not.

    Raises:
        MechanismError: if a model has inputs; if the models are not of one mechanism; if motions would be lost that
            are not in `drop`, or names in `drop` are not lost.
    """
    for model in (source, target):
        if model.inputs:
            raise MechanismError(
                f"model {model.name!r} has inputs ({', '.join(model.inputs)}), which may move bodies; "
                "convert between models with numbers: with_values(...)."
            )
    if set(source.body_names) != set(target.body_names):
        different = sorted(set(source.body_names) ^ set(target.body_names))
        raise MechanismError(
            f"{source.name!r} and {target.name!r} are not of one mechanism: bodies {different[:6]} are in one only."
        )
    lost = _lost(source, target)
    if unsaid := [name for name in lost if name not in drop]:
        raise MechanismError(
            f"{target.name!r} has no motion for what joint{'s' * (len(unsaid) > 1)} {', '.join(map(repr, unsaid))} of "
            f"the source can do; if that may be lost: drop={unsaid}."
        )
    if kept := [name for name in drop if name not in lost]:
        raise MechanismError(f"drop: the motion of {', '.join(map(repr, kept))} is not lost here; leave it out.")
    _check_alike(source, target)
    return Converter(source, target, tuple(lost))


def _lost(source: Model, target: Model) -> list[str]:
    """Return the source's joints across which not everything can move in the target that moves in the source."""
    shared = algorithms.shared_joints(source, target)
    rest = [c for c in algorithms.owners(source) if c.name not in shared]
    if not rest:
        return []
    q, columns = target.random_configuration(seed=0).tolist(), []
    for j in range(target.nv):
        direction = [float(i == j) for i in range(target.nv)]
        columns.append(algorithms.converted_velocity(target, source, q, direction))
    H = np.array(columns, dtype=float).reshape(target.nv, source.nv).T
    return [c.name for c in rest if _rank(H[source.v_slice(c.name)]) < c.joint.nv]


def _rank(H: np.ndarray) -> int:
    sizes = np.linalg.svd(H, compute_uv=False) if H.size else np.zeros(0)
    return int((sizes > RANK_TOLERANCE * max(1.0, sizes.max(initial=0.0))).sum())


def _check_alike(source: Model, target: Model) -> None:
    """Raise unless all bodies are in the same places, seen from the model with fewer freedoms."""
    small, large = (source, target) if source.nv <= target.nv else (target, source)
    if set(small.closure_names) != set(large.closure_names):
        return _check_same_joints(small, large)
    for q in small.random_configuration((SAMPLES,), seed=0).tolist():
        here = algorithms.forward_kinematics(small, q)
        there = algorithms.forward_kinematics(large, algorithms.converted_configuration(small, large, q))
        places = dict(zip(large.body_names, there, strict=True))
        for body, X in zip(small.body_names, here, strict=True):
            off = np.abs(np.subtract(X.homogeneous(), places[body].homogeneous()).astype(float)).max()
            if not off <= TOLERANCE * max(1.0, max(map(abs, X.translation))):
                raise MechanismError(
                    f"{source.name!r} and {target.name!r} are not of one mechanism: in the same configuration, body "
                    f"{body!r} is off by {off:.3g} m or rad. (Two bases fixed on different bodies are not, either.)"
                )
    return None


def _inner_joints(model: Model) -> dict[str, Connection]:
    """Return the joints that do not hang on the world, by name."""
    return {c.name: c for c in (*model.connections, *model.closures) if WORLD not in (c.parent, c.child)}


def _check_same_joints(a: Model, b: Model) -> None:
    """Raise unless all joints but those to the world are the same, on whatever side of a loop."""
    mine, theirs = _inner_joints(a), _inner_joints(b)
    for name in {**mine, **theirs}:
        if name not in mine or name not in theirs or not algorithms.is_same(mine[name], theirs[name]):
            raise MechanismError(f"{a.name!r} and {b.name!r} are not of one mechanism: joint {name!r} differs.")
