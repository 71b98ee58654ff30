"""Poses and twists of the links of a world, and back: by one program, or of many trees by one for each kind of them.

One program has the operations of all trees: that of 1500 loose boxes takes 17 s to compile. Trees that are alike are
rows of a batch of one. Of chosen bodies poses and twists are functions, as are the efforts of wrenches on all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.spatial import Force, Motion, Vector3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._dynamics.algorithms.applied import applied_efforts
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.maximal import GeneralisedState, MaximalState, eval_fk, eval_ik
from cardan._dynamics.call.function import function
from cardan._motion.crowd.kinds import INERTIA, kinds_of
from cardan._robot.model import Model


@function
def body_poses(model: Model, q: Any, bodies: Sequence[str] = ()) -> Any:
    """Return position [m] and quaternion xyzw of bodies in the world."""
    kinematics = Kinematics(model, q)
    poses = [kinematics.pose(body) for body in bodies]
    return [[*X.translation, *quaternion_xyzw_from_matrix(X.rotation)] for X in poses]


@function
def mass_center_twists(model: Model, q: Any, v: Any, bodies: Sequence[str] = ()) -> Any:
    """Return the velocities of bodies' centres of mass and their angular velocities, in world axes."""
    kinematics, found = Kinematics(model, q, v), []
    for body in bodies:
        twist, R = kinematics.twist(body), kinematics.pose(body).rotation
        found.append(Motion(R @ (twist.linear + twist.angular.cross(_com(model, body))), R @ twist.angular))
    return found


@function(shapes={"moving": lambda model: (model.nlinks, 6)})
def twists_of_mass_centers(model: Model, q: Any, moving: Any, bodies: Sequence[str] = ()) -> Any:
    """Return the twists of bodies at their origins in their axes: the inverse of `mass_center_twists`."""
    kinematics, found = Kinematics(model, q), []
    for body, row in zip(bodies, moving, strict=True):
        turn = kinematics.pose(body).rotation.transpose_apply
        V = Motion.of(tuple(row))
        angular = turn(V.angular)
        found.append(Motion(turn(V.linear) - angular.cross(_com(model, body)), angular))
    return found


def _com(model: Model, body: str) -> Vector3:
    inertia = model.body(body).inertia
    return Vector3.zero() if inertia is None else inertia.com


@function
def mass_centers(model: Model, q: Any, bodies: Sequence[str] = ()) -> Any:
    """Return where bodies' centres of mass are in the world [m]; the origin of one without inertia."""
    kinematics = Kinematics(model, q)
    return [kinematics.pose(body) @ _com(model, body) for body in bodies]


@function(shapes={"wrenches": ("nbodies", 6)})
def wrench_efforts(model: Model, q: Any, wrenches: Any) -> Any:
    """Return the efforts along the joints of wrenches on the bodies at their centres of mass, in world axes."""
    return applied_efforts(model, q, [Force.of(tuple(row)) for row in wrenches])


Constants = Mapping[str, np.ndarray]
FROM, ALIKE = 32, 8
"""Trees from which on they go by kinds, and how many of each there are on average."""


class Rows(NamedTuple):
    """Trees of one kind: their model, what it is given of each, and where their coordinates and links are."""

    model: Model
    inputs: Constants
    q: np.ndarray
    v: np.ndarray
    links: np.ndarray
    bodies: np.ndarray  # among the frames of the world's model

    def given(self, dtype: np.dtype) -> Constants:
        return {name: values.astype(dtype, copy=False) for name, values in self.inputs.items()}


def forwards(model: Model, q: np.ndarray, v: np.ndarray, constants: Constants) -> MaximalState[np.ndarray]:
    """Return what `eval_fk` does."""
    kinds = _kinds(model)
    if not kinds:
        return eval_fk(model, q, v, **constants)
    poses, twists = (np.empty((len(q), model.nlinks, size), q.dtype) for size in (7, 6))
    for kind in kinds:
        found = eval_fk(kind.model, q[:, kind.q], v[:, kind.v], **kind.given(q.dtype))
        poses[:, kind.links], twists[:, kind.links] = found
    return MaximalState(poses, twists)


def backwards(
    model: Model, poses: np.ndarray, twists: np.ndarray, near: np.ndarray, constants: Constants
) -> GeneralisedState[np.ndarray]:
    """Return what `eval_ik` does."""
    kinds = _kinds(model)
    if not kinds:
        return eval_ik(model, poses, twists, near=near, **constants)
    q, v, residual = np.empty_like(near), np.empty((len(near), model.nv), near.dtype), np.empty_like(twists)
    for kind in kinds:
        own = poses[:, kind.links], twists[:, kind.links]
        found = eval_ik(kind.model, *own, near=near[:, kind.q], **kind.given(near.dtype))
        q[:, kind.q], v[:, kind.v], residual[:, kind.links] = found
    return GeneralisedState(q, v, residual)


def frame_poses(model: Model, q: np.ndarray) -> np.ndarray:
    """Return what `body_poses` does of all bodies and frames, in the order of `model.frame_names`."""
    kinds, names = _kinds(model), model.frame_names
    if not kinds:
        return body_poses(model, q, bodies=names)
    found = np.empty((len(q), len(names), 7), q.dtype)
    for kind in kinds:
        given: dict[str, Any] = {"bodies": kind.model.body_names, **kind.given(q.dtype)}
        found[:, kind.bodies] = body_poses(kind.model, q[:, kind.q], **given)
    others = sorted(set(range(len(names))).difference(*(kind.bodies.ravel().tolist() for kind in kinds)))
    if others:  # what is fixed in the world, and frames that are no bodies
        found[:, others] = body_poses(model, q, bodies=tuple(names[k] for k in others))
    return found


@known_of_each
def _kinds(model: Model) -> Sequence[Rows]:
    """Return the trees of a model by kind; none if they are few, are not alike, or have loops or inputs."""
    if model.has_loops or model.inputs or sum(node.parent < 0 for node in model.nodes) < FROM:
        return ()
    number, at = ({name: k for k, name in enumerate(names)} for names in (model.link_names, model.frame_names))
    found = []
    for kind in kinds_of(model, ()):
        own = [kind.model.body_names.index(link) for link in kind.model.link_names]
        links = [[number[model.body_names[tree.bodies[k]]] for k in own] for tree in kind.trees]
        bodies = np.array([[at[model.body_names[k]] for k in tree.bodies] for tree in kind.trees])
        alone, numbers = kind.model, np.array(kind.numbers)
        if kind.is_loose:  # its inertia does not count here
            alone = alone.filled_with({INERTIA: numbers[0]})
        inputs = {name: numbers.reshape(-1, *i.shape) for name, i in alone.inputs.items()}
        q, v = (np.array([getattr(tree, name) for tree in kind.trees]) for name in ("q", "v"))
        found.append(Rows(alone, inputs, q, v, np.array(links), bodies))
    return found if len(found) * ALIKE <= sum(len(kind.q) for kind in found) else ()
