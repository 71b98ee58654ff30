"""Pictures, with the `plot` extra."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from cardan.errors import MissingExtraError
from cardan.functions import forward_kinematics
from cardan.model import WORLD, Model

AXES = ("tab:red", "tab:green", "tab:blue")


def pyplot_module() -> Any:
    """Return matplotlib's pyplot, drawing to files.

    Raises:
        MissingExtraError: without matplotlib.
    """
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError:
        raise MissingExtraError("drawing", "plot") from None
    matplotlib.use("Agg")
    return importlib.import_module("matplotlib.pyplot")


def draw_frame(
    axes: Any,
    pose: np.ndarray,
    size: float,
    *,
    strength: float = 1.0,
    width: float = 1.6,
    colours: tuple[str, ...] = AXES,
    names: str = "",
) -> None:
    """Draw the axes of a frame: x red, y green, z blue.

    Args:
        axes: matplotlib's, in three dimensions.
        pose: of the frame, shape (4, 4).
        size: length of the axes.
        strength: 1 for opaque lines.
        width: of the lines.
        colours: of the axes.
        names: a letter for the end of each axis, or none.
    """
    origin = pose[:3, 3]
    for k, colour in enumerate(colours):
        tip = origin + size * pose[:3, k]
        axes.plot(*np.stack([origin, tip], axis=-1), color=colour, alpha=strength, linewidth=width)
        if names:
            axes.text(*(tip + 0.12 * size * pose[:3, k]), names[k], color=colour, ha="center", va="center", fontsize=9)


def draw_tour(model: Model, t: np.ndarray, q: np.ndarray, tau: np.ndarray, folder: str) -> list[str]:
    """Write arm.png and torques.png and return their names.

    Raises:
        MissingExtraError: without matplotlib.
    """
    pyplot = pyplot_module()
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = [str(Path(folder) / name) for name in ("arm.png", "torques.png")]
    for figure, file in zip((_arm(pyplot, model, q), _torques(pyplot, model, t, tau)), files, strict=True):
        figure.savefig(file, dpi=150)
        pyplot.close(figure)
    return files


def _arm(pyplot: Any, model: Model, q: np.ndarray) -> Any:
    """Draw the bodies as lines between their origins, from light to dark along the motion."""
    figure = pyplot.figure(figsize=(6.4, 6.4), layout="constrained")
    axes = figure.add_subplot(projection="3d")
    shown = np.linspace(0, len(q) - 1, 9).astype(int)
    origins = forward_kinematics(model, q[shown])[..., :3, 3]
    index = {name: k for k, name in enumerate(model.body_names)}
    for k, points in enumerate(origins):
        shade = pyplot.get_cmap("viridis")(1.0 - k / (len(shown) - 1))
        for c in model.connections:
            start = np.zeros(3) if c.parent == WORLD else points[index[c.parent]]
            axes.plot(
                *np.stack([start, points[index[c.child]]], axis=-1), color=shade, linewidth=3, solid_capstyle="round"
            )
        axes.scatter(*points.T, color=shade, s=14)
    tip = forward_kinematics(model, q)[:, -1, :3, 3]
    axes.plot(*tip.T, color="crimson", linewidth=1, label=f"path of {model.body_names[-1]}")
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title=f"{model.name} along its motion")
    axes.set_aspect("equal")
    axes.legend(loc="upper left")
    return figure


def _torques(pyplot: Any, model: Model, t: np.ndarray, tau: np.ndarray) -> Any:
    figure, axes = pyplot.subplots(figsize=(8.0, 4.5), layout="constrained")
    for name in model.joint_names:
        iv = model.v_slice(name)
        if iv.stop > iv.start:
            axes.plot(t, tau[:, iv], label=name)
    axes.set(xlabel="time [s]", ylabel="torque [N m]", title="inverse dynamics")
    axes.grid(alpha=0.3)
    axes.legend(ncols=2, fontsize="small")
    return figure
