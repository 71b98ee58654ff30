"""Trajectories in the viewer: played, stopped, played faster or slower, and scrubbed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import number, positive
from cardan._algebra.errors import ParameterError, ShapeError
from cardan._compiler.runtime.staging import write_whole
from cardan._dynamics.call.arguments import numeric_array
from cardan._reach.pictures.animation import between
from cardan._reach.viewer.served_scene import RATE, ServedScene
from cardan._reach.viewer.shown_robot import ShownRobot, checked_rows

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


class Playback:
    """What is played, and where it is. Made by `Viewer.play`.

    Attributes:
        times: of the samples [s], ascending, shape (T,).
        time: where it is [s].
        speed: how much faster than the clock it runs.
        is_playing: whether it runs.

    Examples:
        >>> with cardan.show(arm) as view:
        ...     playback = view.play(np.linspace(q, q + 0.1, 20), dt=0.05)
        ...     playback.pause()
        ...     playback.seek(0.5)
        ...     playback.resume()
        ...     playback.remove()
    """

    def __init__(
        self, served: ServedScene, paths: Mapping[ShownRobot, np.ndarray], times: np.ndarray, speed: float, loop: bool
    ) -> None:
        self.served = served
        self.paths = paths
        self.times = times
        self.speed = speed
        self.loop = loop
        self.time: float = float(times[0])
        self.is_playing: bool = False
        self._clock = 0.0
        gui, by_browser = self.served.server.gui, self.served.by_browser
        first, last = float(self.times[0]), float(self.times[-1])
        with gui.add_folder("trajectory", order=-1.0) as self._folder:
            self._button = gui.add_button("Play")
            self._slider = gui.add_slider("time [s]", first, last, max((last - first) / 1000.0, 1e-6), first)
            speeds = sorted({*SPEEDS, self.speed})
            self._speed = gui.add_dropdown("speed", tuple(f"{s:g}" for s in speeds), initial_value=f"{self.speed:g}")
            self._loop = gui.add_checkbox("again and again", self.loop)
        self._button.on_click(by_browser(lambda _: self.pause() if self.is_playing else self.resume(), always=True))
        self._slider.on_update(by_browser(self.seek))
        self._speed.on_update(by_browser(lambda value: setattr(self, "speed", max(float(value), 0.0))))
        self._loop.on_update(by_browser(lambda value: setattr(self, "loop", bool(value))))

    def remove(self) -> None:
        """Stop, and take the controls away."""
        self.pause()
        self.served.mailbox.post("time", lambda: None)  # in place of what would move a slider that is gone
        self._folder.remove()

    def resume(self) -> None:
        """Go on from where it is, or from the beginning if it is at the end."""
        if self.time >= self.times[-1]:
            self.time = float(self.times[0])
        self._clock, self.is_playing, self._button.label = time.monotonic(), True, "Pause"
        self.served.mailbox.post("play", self._advance)

    def pause(self) -> None:
        """Stop where it is."""
        self.is_playing = False
        self._button.label = "Play"

    def seek(self, at: float) -> None:
        """Show it at another time.

        Args:
            at: that time [s]; before the first sample it is the first, after the last the last.

        Raises:
            ParameterError: for what is no time.
        """
        wanted = number("time to show a trajectory at", at, "a number [s]", lambda e: not np.isnan(e))
        self.time = float(np.clip(wanted, self.times[0], self.times[-1]))
        self.served.mailbox.post("seek", self._show)

    def save(self, file: str | os.PathLike[str], fps: float = 30.0) -> None:
        """Write it to a file, to be seen without Python: a page of HTML, or a recording of viser.

        Args:
            file: whose ending says which: `.html` or `.viser`.
            fps: pictures a second [1/s].

        Raises:
            ParameterError: for another ending, or a rate that is not > 0.
            OSError: if it cannot be written.

        Examples:
            >>> with cardan.show(arm) as view:
            ...     playback = view.play(np.linspace(q, q + 0.1, 20), dt=0.05)
            ...     playback.save("motion.html")  # doctest: +SKIP
        """
        place, rate = Path(file), positive("fps of a recording", fps, "1/s")
        if place.suffix.lower() not in (".html", ".viser"):
            raise ParameterError("recording to write", got=os.fspath(file), expected="a name in .html or .viser")
        made: list[bytes] = []
        self.pause()
        self.served.mailbox.post("save", lambda: made.append(self._recorded(rate, place.suffix.lower() == ".html")))
        self.served.mailbox.flush(600.0)
        write_whole({place: lambda stream: stream.write(made[0])})

    def _recorded(self, rate: float, is_html: bool) -> bytes:
        """Return all of it, as fast as it is to be shown; and show again what was shown."""
        back, pause = self.time, 1.0 / (rate * self.speed)
        recording = self.served.server.get_scene_serializer()
        for at in np.arange(self.times[0], self.times[-1] + 0.5 * pause * self.speed, pause * self.speed):
            self.time = float(at)
            self._show()
            recording.insert_sleep(pause)
        self.time = back
        content = recording.as_html().encode() if is_html else recording.serialize()
        self._show()
        return content

    def _advance(self) -> None:
        if not self.is_playing:
            return
        now = time.monotonic()
        self.time, self._clock = self.time + self.speed * (now - self._clock), now
        if self.time >= self.times[-1]:
            length = float(self.times[-1] - self.times[0])
            over = (self.time - float(self.times[0])) % length if self.loop and length > 0.0 else length
            self.time = float(self.times[0]) + over
            if not self.loop:
                self.pause()
        self._show()
        if self.is_playing:
            self.served.mailbox.post("play", self._advance, after=1.0 / RATE)

    def _show(self) -> None:
        for robot, path in self.paths.items():
            robot.rows = between(robot.model, path, self.times, self.time)
            robot.draw()
        self.served.mailbox.post("time", lambda: setattr(self._slider, "value", self.time), after=0.1, replace=False)


def checked_path(robot: ShownRobot, trajectory: Any) -> np.ndarray:
    """Return a trajectory as an array (T, worlds, nq); ShapeError and others if it is not one of this robot."""
    where, nq, worlds = f"viewer: trajectory of {robot.name!r}", robot.model.nq, len(robot.rows)
    array = numeric_array(where, "trajectory", trajectory)
    if array.ndim not in (2, 3) or 0 in array.shape or (array.ndim == 3 and array.shape[1] != worlds):
        expected = f"(T, {nq}), or (T, {worlds}, {nq})"
        several = array.ndim == 3 and array.shape[2] == nq
        hint = "As many worlds are shown as cardan.show(world, q) is given configurations of." if several else ""
        raise ShapeError(where, "trajectory", got=array.shape, expected=expected, hint=hint)
    flat = checked_rows(where, robot.model, array.reshape(-1, array.shape[-1]), None)
    return np.broadcast_to(flat.reshape(len(array), -1, nq), (len(array), worlds, nq))


def checked_times(times: Any, dt: float | None, number: int) -> np.ndarray:
    """Return the times of the samples [s]: as given, or dt apart, or drawn one by one; ParameterError for others."""
    if times is None:
        return positive("dt of a trajectory", 1.0 / RATE if dt is None else dt, "s") * np.arange(number)
    if dt is not None:
        raise ParameterError("dt of a trajectory", got=dt, expected="None where times are given")
    found = np.asarray(numeric_array("viewer.play", "times", times), dtype=float)
    if found.shape != (number,) or not np.isfinite(found).all() or (np.diff(found) <= 0.0).any():
        raise ParameterError("times of a trajectory", got=times, expected=f"{number} ascending numbers [s]")
    return found
