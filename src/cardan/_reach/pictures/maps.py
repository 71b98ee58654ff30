"""Maps of where a frame gets, and of how well it moves there.

The measure is Yoshikawa's manipulability, w = sqrt(det(J J^T)) with the Jacobian J of the frame's position in the
world: the volume of velocities that joint rates of length 1 give, over that of the unit ball. It is 0 where the frame
cannot move some way at all. With all joints turning its unit is m^3/rad^3, that of J's rows multiplied.

Source: Yoshikawa, Manipulability of robotic mechanisms (1985), equation 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import AssemblyError, ParameterError, UnsupportedError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._dynamics.algorithms.configuration import limit_coordinates
from cardan._dynamics.algorithms.jacobians import jacobian
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.functions.assembly import assemble
from cardan._reach.pictures.arguments import checked_joints, checked_model, checked_motion, freedoms
from cardan._reach.pictures.robot_plot import axes_in_space, frame_everything, plot, pyplot
from cardan._robot.model import Model

GRID = 61  # values of each joint of a map over two
SLACK = 1e-9  # by which coordinates of an assembled mechanism may be beyond their limits [rad, m]


def workspace(
    model: Model,
    frame: str,
    *,
    q: Any = None,
    joints: Sequence[str] | None = None,
    samples: int = 3000,
    seed: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw where a frame gets as joints move within their limits: a cloud of points around the robot.

    Args:
        model: the robot; with closed loops those samples count whose loops close within the limits.
        frame: name of a frame.
        q: configuration the robot is drawn at, and of joints that do not move [rad, m], (nq,); by default neutral.
        joints: names of those that move; by default all.
        samples: number of configurations.
        seed: of `numpy.random.default_rng`.
        ax: matplotlib's axes of three dimensions; by default new ones.

    Returns:
        The axes, in metres of the world; the colour of a point is its distance from the middle of the cloud.

    Raises:
        MissingExtraError: without matplotlib (`pip install "cardan[plot]"`).
        UnknownNameError: for a frame or joint that does not exist.
        ParameterError: where no sample is left.

    Examples:
        >>> cardan.pictures.workspace(arm, "tool", samples=200).figure.savefig("workspace.png")
    """
    model = checked_model("workspace", model)
    found = sampled("workspace", model, q, joints, samples, seed)
    points = np.asarray(frame_transform(model, found, frame))[..., :3, 3]
    ax = plot(model, q, axes_in_space(ax))
    distance = np.linalg.norm(points - points.mean(axis=0), axis=-1)
    return _cloud(ax, points, distance, f"{frame}: distance from the middle [m]")


def manipulability(
    model: Model,
    frame: str,
    *,
    q: Any = None,
    joints: Sequence[str] | None = None,
    along: str = "xyz",
    samples: int = 3000,
    seed: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw how well a frame can be moved: Yoshikawa's measure over two joints, or over what it reaches.

    Args:
        model: the robot, without closed loops.
        frame: name of a frame.
        q: configuration of the joints that do not move [rad, m], shape (nq,); by default neutral.
        joints: names of two joints of one degree of freedom, for a map over a grid of their coordinates within limits;
            by default all joints move at random and the map is in space.
        along: directions of the world that count, of `"xyz"`: `"xz"` for an arm in that plane.
        samples: number of configurations, where they are random.
        seed: of `numpy.random.default_rng`.
        ax: matplotlib's axes, of two dimensions for a grid, of three for the map in space; by default new ones.

    Returns:
        The axes.

    Raises:
        MissingExtraError: without matplotlib (`pip install "cardan[plot]"`).
        UnknownNameError: for a frame or joint that does not exist.
        ParameterError: for another number of joints, other directions, or where the measure is 0 everywhere.
        UnsupportedError: for a robot with closed loops.

    Examples:
        >>> ax = cardan.pictures.manipulability(arm, "tool", joints=["joint2", "joint4"])
        >>> ax.get_xlabel()
        'joint2 [rad]'
    """
    model = checked_model("manipulability", model)
    if model.closures:
        raise UnsupportedError("closed loops", "manipulability", "workspace shows where such a robot gets")
    if joints is not None:
        return _over_two(model, frame, q, joints, along, ax)
    found = sampled("manipulability", model, q, None, samples, seed)
    measure = _nonzero(yoshikawa(model, found, frame, along=along), along)
    points = np.asarray(frame_transform(model, found, frame))[..., :3, 3]
    ax = plot(model, q, axes_in_space(ax))
    return _cloud(ax, points, measure, f"manipulability of {frame} along {along}")


def yoshikawa(model: Model, q: Any, frame: str, *, along: str = "xyz") -> np.ndarray:
    """Return Yoshikawa's measure of manipulability, sqrt(det(J J^T)), of a frame's position.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        frame: name of a frame.
        along: directions of the world that count, of `"xyz"`.

    Returns:
        The measure, shape (...) [m^k/rad^k for k directions and joints that turn].

    Raises:
        ShapeError, DTypeError: for an array that does not fit.
        UnknownNameError: for a frame that does not exist.
        ParameterError: for other directions, or more than the robot has joint rates.

    Examples:
        >>> stretched = cardan.pictures.yoshikawa(arm, arm.neutral(), "tool")
        >>> bool(stretched < 1e-9 < cardan.pictures.yoshikawa(arm, q, "tool"))
        True

    Source: Yoshikawa, Manipulability of robotic mechanisms (1985), equation 9.
    """
    model = checked_model("yoshikawa", model)
    rows = ["xyz".find(axis) for axis in along]
    if not 0 < len(rows) == len(set(rows)) or -1 in rows:
        raise ParameterError("along", got=along, expected="some of 'xyz', each once")
    if len(rows) > model.nv:
        hint = "A robot that moves in a plane has along='xz' or the like."
        raise ParameterError("along", got=along, expected=f"at most nv = {model.nv} directions", hint=hint)
    J = np.asarray(jacobian(model, q, frame))[..., rows, :]
    return np.prod(np.linalg.svd(J, compute_uv=False), axis=-1)


def sampled(where: str, model: Model, q: Any, joints: Any, samples: Any, seed: Any) -> np.ndarray:
    """Return random configurations within the limits, loops closed, (n, nq); joints that are not named stay as in q."""
    found = model.random_configuration(whole(f"{where}: samples", samples, 1), seed=seed)
    still = np.tile(checked_motion(where, model, q)[0], (len(found), 1))
    for name in checked_joints(where, model, joints):
        still[:, model.q_slice(name)] = found[:, model.q_slice(name)]
    return _closed(model, still) if model.closures else still


def _closed(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the configurations nearby whose loops are closed, of those that have one within the limits."""
    try:
        q = assemble(model, q)
    except AssemblyError as error:
        q = np.delete(q, error.rows or range(len(q)), axis=0)
        q = assemble(model, q) if len(q) else q
    x = np.asarray(limit_coordinates(model, q)).reshape(len(q), model.nv)
    kept = q[((x >= model.lower - SLACK) & (x <= model.upper + SLACK)).all(axis=-1)]
    if not len(kept):
        raise ParameterError("samples", got=0, expected="at least one whose loops close within the limits")
    return kept


def _nonzero(measure: np.ndarray, along: str) -> np.ndarray:
    if not measure.max() > 1e-12:
        hint = "Leave out the directions in which the frame does not move: along='xz', say."
        raise ParameterError("manipulability", got=float(measure.max()), expected=f"motion along {along}", hint=hint)
    return measure


def _cloud(ax: Any, points: np.ndarray, values: np.ndarray, label: str) -> Any:
    frame_everything(ax, points, beside=True)
    drawn = ax.scatter(*points.T, c=values, s=9, cmap="viridis", alpha=0.6, linewidths=0)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.6)
    bar.set_label(label, parse_math=False)
    bar.solids.set_alpha(1.0)
    return ax


def _over_two(model: Model, frame: str, q: Any, joints: Any, along: str, ax: Any) -> Any:
    names = checked_joints("manipulability", model, joints)
    found = [f for name in names for f in freedoms(model) if f.joint == name and model.joint(name).nq == 1]
    if len(names) != 2 or len(found) != 2 or names[0] == names[1]:
        raise ParameterError("manipulability: joints", got=names, expected="two different joints of one coordinate")
    one, other = found
    # Within limits; a turn, or a metre to both sides, where there are none.
    reach = {"rad": np.pi, "m": 1.0}
    ranges = [finite_range(model.lower[f.place], model.upper[f.place], reach[f.unit]) for f in found]
    grid = [np.linspace(*ends, GRID) for ends in ranges]
    configurations = np.tile(checked_motion("manipulability", model, q)[0], (GRID, GRID, 1))
    for freedom, values in zip((one, other), np.meshgrid(*grid), strict=True):
        configurations[..., model.q_slice(freedom.joint).start] = values
    measure = _nonzero(yoshikawa(model, configurations, frame, along=along), along)
    if ax is None:
        ax = pyplot().figure(figsize=(6.4, 5.2), layout="constrained").add_subplot()
    drawn = ax.contourf(*grid, measure, levels=20, cmap="viridis")
    ax.figure.colorbar(drawn, ax=ax).set_label(f"manipulability of {frame} along {along}", parse_math=False)
    ax.set_xlabel(f"{one.name} [{one.unit}]", parse_math=False)
    ax.set_ylabel(f"{other.name} [{other.unit}]", parse_math=False)
    ax.set_title(model.name, parse_math=False)
    return ax
