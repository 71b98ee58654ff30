"""What joints do over time: a row of panels for each degree of freedom, with its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._dynamics.algorithms.configuration import limit_coordinates
from cardan._reach.pictures import arguments
from cardan._reach.pictures.robot_plot import AXES, plain_legend, pyplot
from cardan._reach.pictures.scene import frames_at
from cardan._robot.model import Model

WHERE = "plot_trajectory"
ROW, COLUMN = 1.25, 4.2  # inches of a panel: twenty joints are still read
NEAR = 1.0  # ranges of a curve by which a limit may be away from it to be in the picture


class Quantity(NamedTuple):
    """A quantity along v: its values (T, nv), limits (nv,) and, for each kind of freedom, its unit."""

    title: str
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    units: dict[str, str]


def plot_trajectory(
    model: Model,
    t: Any,
    q: Any,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
    *,
    joints: Sequence[str] | str | None = None,
    frames: Sequence[str] | str = (),
) -> Any:
    """Draw a motion over time, and return the figure.

    A row of panels for each degree of freedom, by its joint's name: the position, in the coordinates limits are stated
    in (`cardan.limit_coordinates`: angles [rad], lengths [m], rotation vectors [rad]), and the velocity, acceleration
    and effort, where given. Limits are dashed where they are near enough to be in the picture with the curve. Below,
    the positions of frames.

    Args:
        model: the robot.
        t: times [s], shape (T,).
        q: configurations [rad, m], shape (T, nq).
        v: velocities [rad/s, m/s], shape (T, nv), or none.
        a: accelerations [rad/s^2, m/s^2], shape (T, nv), or none.
        tau: efforts [N m, N], shape (T, nv), or none.
        joints: names of joints to draw; by default all that move.
        frames: names of frames whose x, y and z in the world [m] are drawn.

    Returns:
        The figure (`matplotlib.figure.Figure`): `figure.savefig("motion.png")` writes it, `figure.axes` are its panels.

    Raises:
        MissingExtraError: without matplotlib (`pip install "cardan[plot]"`).
        ShapeError, DTypeError, NotFiniteError: for arrays that do not fit.
        UnknownNameError: for a joint or frame that does not exist.
        ParameterError: where no joint that moves is left to draw.

    Examples:
        >>> move = cardan.trajectories.MinimumJerk(arm, arm.neutral(), q, duration=2.0)
        >>> t = move.times(0.1)
        >>> figure = cardan.plot_trajectory(arm, t, *move.at(t))
    """
    model = arguments.checked_model(WHERE, model)
    motion = arguments.checked_motion(WHERE, model, q)
    times = arguments.checked_rows(WHERE, "t", t, (len(motion),))
    tracked = arguments.checked_frames(WHERE, model, frames)
    rows = _chosen(model, joints)
    columns = _columns(model, motion, {"v": v, "a": a, "tau": tau})
    size = (COLUMN * max(len(columns), 2), ROW * (len(rows) + 2 * len(tracked)) + 0.8)
    figure = pyplot().figure(figsize=size, layout="constrained")
    heights = [1.0] * len(rows) + [2.0] * len(tracked)
    grid = figure.add_gridspec(len(heights), len(columns), height_ratios=heights)
    first = None
    for i, freedom in enumerate(rows):
        for j, column in enumerate(columns):
            panel = figure.add_subplot(grid[i, j], sharex=first)
            first = first or panel
            _draw(panel, times, column, freedom)
            if i == 0:
                panel.set_title(column.title, fontsize="medium")
    for i, (name, poses) in enumerate(zip(tracked, frames_at(model, motion, tracked).swapaxes(0, 1), strict=True)):
        panel = figure.add_subplot(grid[len(rows) + i, :], sharex=first)
        _draw_position(panel, times, poses[:, :3, 3], name)
    for panel in figure.axes:
        is_last = panel.get_subplotspec().is_last_row()
        panel.tick_params(labelbottom=is_last)
        panel.set_xlabel("time [s]" if is_last else "")
    figure.suptitle(model.name, parse_math=False)
    return figure


def _chosen(model: Model, joints: Any) -> list[arguments.Freedom]:
    names = arguments.checked_joints(WHERE, model, joints)
    found = [freedom for freedom in arguments.freedoms(model) if freedom.joint in names]
    if not found:
        raise ParameterError(f"{WHERE}: joints", got=names, expected="joints that move")
    return found


def _columns(model: Model, q: np.ndarray, given: dict[str, Any]) -> list[Quantity]:
    free = np.full(model.nv, np.inf)
    about = {
        "v": ("velocity", model.velocity_lower, model.velocity_upper, {"rad": "rad/s", "m": "m/s"}),
        "a": ("acceleration", -free, free, {"rad": "rad/s²", "m": "m/s²"}),
        "tau": ("effort", model.effort_lower, model.effort_upper, {"rad": "N m", "m": "N"}),
    }
    position = np.asarray(limit_coordinates(model, q))
    columns = [Quantity("position", position, model.lower, model.upper, {"rad": "rad", "m": "m"})]
    for name, values in given.items():
        if values is not None:
            title, lower, upper, unit = about[name]
            rows = arguments.checked_rows(WHERE, name, values, (len(q), model.nv))
            columns.append(Quantity(title, rows, lower, upper, unit))
    return columns


def _draw(panel: Any, t: np.ndarray, column: Quantity, freedom: arguments.Freedom) -> None:
    k = freedom.place
    curve = column.values[:, k]
    panel.plot(t, curve, linewidth=1.4, color="tab:blue")
    reach = NEAR * (np.ptp(curve) or max(abs(curve[0]), 1e-9))
    for limit in (column.lower[k], column.upper[k]):
        if curve.min() - reach <= limit <= curve.max() + reach:
            panel.axhline(limit, linestyle="--", linewidth=1.0, color="tab:red")
    label = f"{freedom.name}\n[{column.units[freedom.unit]}]" if column.title == "position" else None
    panel.set_ylabel(label or f"[{column.units[freedom.unit]}]", fontsize="small", parse_math=False)
    panel.tick_params(labelsize="small")
    panel.grid(alpha=0.3)


def _draw_position(panel: Any, t: np.ndarray, points: np.ndarray, name: str) -> None:
    for axis, colour, values in zip("xyz", AXES, points.T, strict=True):
        panel.plot(t, values, linewidth=1.4, color=colour, label=axis)
    panel.set_ylabel(f"{name}\nin the world [m]", fontsize="small", parse_math=False)
    panel.grid(alpha=0.3)
    plain_legend(panel, loc="upper right", fontsize="small")
