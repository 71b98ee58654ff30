"""A motion as a film: an .mp4 (extra `video`), a .gif, an .html page, or what a notebook shows (extra `plot`)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.staging import write_whole
from cardan._dynamics.algorithms.configuration import interpolate
from cardan._reach.pictures import robot_plot
from cardan._reach.pictures.robot_plot import checked_model, checked_motion, checked_roles, checked_rows
from cardan._reach.pictures.scene import scene_of
from cardan._robot.model import Model

WHERE = "animate"
ENDINGS = (".mp4", ".gif", ".html")
LONGEST = 3000  # pictures: more take minutes, and megabytes


@dataclass(frozen=True)
class Film:
    """A film that was not written to a file: notebooks show it.

    Attributes:
        html: the film as a page of HTML, with its controls.
    """

    html: str

    def _repr_html_(self) -> str:
        return self.html


def animate(
    model: Any,
    q: Any,
    time: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    world: int = 0,
    fps: float = 30.0,
    speed: float = 1.0,
    shapes: bool | str = True,
    frames: bool | str | Sequence[str] = (),
    title: str | None = None,
    dpi: float = 100.0,
) -> Film | Path:
    """Draw a motion as a film, and write it to a file or return it for a notebook.

    Between its samples the robot moves along its manifold, so that the film runs evenly whatever their times are.

    Args:
        model: the robot: a model, a mechanism on a fixed base, or a world.
        q: configurations [rad, m], shape (T, nq) or (T, worlds, nq); or what `solver.rollout` recorded.
        time: of the samples [s], ascending, shape (T,) or (T, worlds); not needed for what `solver.rollout` recorded.
        path: a file to write, whose ending says the format: `.mp4`, `.gif` or `.html`. None for a notebook.
        world: which one of several.
        fps: pictures a second [1/s].
        speed: how much faster than in the world things go [-].
        shapes: as for `cardan.plot`.
        frames: as for `cardan.plot`.
        title: above the picture; by default the model's name. The time is said beside it.
        dpi: pixels an inch [1/inch]; the picture is 6.4 inches wide and high.

    Returns:
        The path of the file, which is written whole or not at all; or a film that a notebook shows.

    Raises:
        MissingExtraError: without matplotlib (extra `plot`); for an .mp4 without ffmpeg (extra `video`).
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: for a motion that does not fit.
        ParameterError: for another ending, times that do not ascend, or a film of more than 3000 pictures.

    Examples:
        >>> film = cardan.pictures.animate(arm, [arm.neutral(), q], time=[0.0, 0.1], fps=20)
        >>> "<img" in film.html
        True
        >>> cardan.pictures.animate(arm, [arm.neutral(), q], [0.0, 2.0], "arm.gif")  # doctest: +SKIP
    """
    ending = None if path is None else checked_ending(path)
    model = checked_model(WHERE, model)
    samples, times = _motion(model, q, time, world)
    roles, rate, pace = checked_roles(WHERE, shapes), positive(f"{WHERE}: fps", fps), positive(f"{WHERE}: speed", speed)
    count = max(round((times[-1] - times[0]) * rate / pace), 1) + 1
    if count > LONGEST:
        hint = "Take fewer pictures a second (fps=...), a higher speed=..., or a part of the motion."
        raise ParameterError("film", got=f"{count} pictures", expected=f"at most {LONGEST}", hint=hint)
    when = np.linspace(times[0], times[-1], count)
    rows = between(model, samples, times, when)
    points = np.concatenate([scene_of(model, row, roles).points() for row in rows])
    ax = robot_plot.axes_in_space(None)
    robot_plot.finish(ax, "", points)  # the view: of all pictures the same

    def draw(k: int) -> None:
        for artist in (*ax.collections, *ax.lines):
            artist.remove()
        robot_plot.plot(model, rows[k], ax, shapes=shapes, frames=frames)
        robot_plot.frame_everything(ax, points, beside=False)
        name = model.name if title is None else title
        ax.set_title(f"{name}   {when[k] - when[0]:.2f} s", y=0.96, parse_math=False)

    try:
        ax.figure.set_dpi(positive(f"{WHERE}: dpi", dpi))
        module = package("matplotlib.animation", "films", "plot")
        writer, settings = _writer(
            module, ending, rate
        )  # if there is one: before a film that would say it was for nothing
        film = module.FuncAnimation(ax.figure, draw, count, init_func=lambda: None, interval=1000.0 / rate)
        if writer is None:
            page = film.to_jshtml(fps=rate)
            return Film(page) if path is None else _write(path, page.encode())
        with tempfile.TemporaryDirectory() as folder, robot_plot.pyplot().rc_context(settings):
            made = Path(folder, f"film{ending}")
            film.save(made, writer=writer)
            return _write(path, made.read_bytes())
    finally:
        robot_plot.pyplot().close(ax.figure)


def checked_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a film's file; ParameterError for one that is not written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError("film to write", got=os.fspath(path), expected=f"a name in {', '.join(ENDINGS)}")
    return ending


def _motion(model: Model, q: Any, time: Any, world: int) -> tuple[np.ndarray, np.ndarray]:
    if hasattr(q, "q") and hasattr(q, "time"):  # what a rollout recorded
        q, time = q.q, q.time if time is None else time
    if time is None or isinstance(time, (str, os.PathLike)):
        raise ParameterError(
            f"{WHERE}: time", got=time, expected="the times of the samples [s], shape (T,); a file is path=..."
        )
    if np.ndim(q) == 3:
        row = whole(f"{WHERE}: world", world, 0, np.shape(q)[1] - 1)
        q = np.asarray(q)[:, row]
        time = np.asarray(time)[:, row] if np.ndim(time) == 2 else time
    samples = checked_motion(WHERE, model, q)
    times = checked_rows(WHERE, "time", time, (len(samples),))
    if len(samples) < 2 or not (np.diff(times) > 0.0).all():
        raise ParameterError(f"{WHERE}: time", got=times.tolist(), expected="two times or more that ascend [s]")
    return samples, times


def between(model: Model, samples: np.ndarray, times: np.ndarray, when: ArrayLike) -> np.ndarray:
    """Return configurations at other times: between two samples on the shortest way, beyond the last one the last."""
    k = np.clip(np.searchsorted(times, when, side="right") - 1, 0, len(times) - 1)
    after = np.minimum(k + 1, len(times) - 1)
    # The last sample has none after it: no time passes, and nothing is to be divided by.
    passed = np.where(after > k, times[after] - times[k], 1.0)
    return interpolate(model, samples[k], samples[after], np.clip((when - times[k]) / passed, 0.0, 1.0))


def _write(path: Any, content: bytes) -> Path:
    write_whole({Path(path): lambda stream: stream.write(content)})
    return Path(path)


def _writer(module: Any, ending: str | None, rate: float) -> tuple[Any, dict[str, Any]]:
    """Return what writes pictures to a file, None of a page, and settings of matplotlib while it does.

    Raises:
        MissingExtraError: for an .mp4, if there is no ffmpeg.
    """
    if ending is None or ending == ".html":
        return None, {}
    if ending == ".gif":
        return module.PillowWriter(fps=rate), {}
    program = package("imageio_ffmpeg", "a film as .mp4 (.gif and .html go without)", "video").get_ffmpeg_exe()
    return module.FFMpegWriter(fps=rate), {"animation.ffmpeg_path": program}
