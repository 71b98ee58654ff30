"""Robots in a browser: `cardan.show`.

The scene, its page and its widgets are viser's; here is what a robot needs of them. All that is shown is changed by one
thread (`served_scene.py`): of what a program or a browser asks for the newest is done.
"""

from __future__ import annotations

import contextlib
import getpass
import math
import os
import time
import webbrowser
from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import positive, truth
from cardan._algebra.errors import DTypeError, ParameterError, ShapeError, UnknownNameError, check_known
from cardan._algebra.explained import ExplainedSettings
from cardan._dynamics.call.arguments import shaped_array
from cardan._motion.simulation import World
from cardan._motion.simulation.clearance import Clearance
from cardan._motion.simulation.solvers import Trajectory
from cardan._reach.viewer.playback import Playback, checked_path, checked_times
from cardan._reach.viewer.scene_layers import NearestPoints, TouchingPoints, touching
from cardan._reach.viewer.served_scene import ServedScene
from cardan._reach.viewer.shown_robot import ShownRobot
from cardan._robot.description import Mechanism
from cardan._robot.geometry.touching import Contacts
from cardan._robot.model import Model

ALOUD = 0.3  # length of the largest force's arrow, as a share of the size of what is shown

# Of the camera: its field of view [rad], where it stands and what it looks at, as shares of what is shown.
FIELD, FROM, ASIDE = 0.7, np.array([1.6, -0.85, 0.65]), -0.18


class Viewer(ExplainedSettings):
    """A page that shows robots, and lets them be moved; close it, or use it as a context.

    Args:
        host: the address it is found at. By default only this machine finds it; `"0.0.0.0"` lets everybody in who
            reaches this machine, and they all may move what is shown.
        port: the port; by default the first free one from 8080 on.
        open_browser: whether to open the page in a browser now.
        title: what is written above the controls.

    Attributes:
        server: viser's server, for things of your own in the scene (`server.scene`) or the controls (`server.gui`).
        robots: what is shown, by name.
        playback: what is played; None before `play`.

    Raises:
        MissingExtraError: without the extra `view`.
        ParameterError: if the port is in use, or there is no such address here.

    Examples:
        >>> dog = cardan.robots.quadruped().world("floating", ground=True)
        >>> with cardan.Viewer() as view:
        ...     shown = view.add(arm, q, name="left", frames=True)
        ...     view.update(q + 0.1)
        ...     view.drag("tool")
        ...     view.toggle(inertia=True)
        ...     view.contacts([[0.5, 0.0, 0.0]], forces=[[0.0, 0.0, 10.0]])
        ...     view.nearest_points(cardan.clearance(dog, dog.initial), within=0.3)
        ...     playback = view.play(np.linspace(q, q + 0.1, 20), dt=0.05)
        ...     view.flush()
        ...     view.robot("left").model.name
        ...     view.close()
        'arm7'
        >>> view.open_browser(); view.wait()  # doctest: +SKIP
    """

    def __init__(
        self, *, host: str = "127.0.0.1", port: int | None = None, open_browser: bool = False, title: str = "cardan"
    ) -> None:
        self._served = ServedScene(host, port, title)
        self.host = host
        self.server: Any = self._served.server
        self._robots: dict[str, ShownRobot] = {}
        self.robots: Mapping[str, ShownRobot] = MappingProxyType(self._robots)
        self.playback: Playback | None = None
        self._touching = TouchingPoints(self.server.scene, "/contacts")
        self._nearest = NearestPoints(self.server.scene, "/nearest")
        self.closed: bool = False
        self._framed = False
        self._seen: list[tuple[np.ndarray, np.ndarray]] = []
        if open_browser:
            self.open_browser()

    def open_browser(self) -> None:
        """Open the page in this machine's browser."""
        webbrowser.open(self.url)

    @property
    def url(self) -> str:
        """Where a browser of this machine finds the page."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{host}:{self.server.get_port()}"

    def add(
        self,
        thing: Model | Mechanism | World,
        q: ArrayLike | None = None,
        *,
        name: str | None = None,
        at: Sequence[float] | None = None,
        spacing: float | None = None,
        **shown: bool,
    ) -> ShownRobot:
        """Show one more robot.

        Args:
            thing: a model, a mechanism on a fixed base, or a world of `WorldBuilder`.
            q: its configuration [rad, m], shape (nq,), or (worlds, nq): as many of them, in a grid; or a world's state.
                By default a world's own, `world.initial`; else neutral, as far as limits allow, with a floating base so
                high that the robot stands on the ground.
            name: under which it is addressed; by default the model's, with a number if there is one of that name.
            at: where its origin is in the scene [m]; by default beside those that are there.
            spacing: between worlds of the grid [m]; by default they stand clear of each other.
            shown: of `visual`, `collision`, `frames`, `center_of_mass`, `inertia` and `closures`, which to show.

        Returns:
            It: what it is shown as, to be updated alone.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ConfigurationError: if q is no configuration of it.
            ParameterError: for a model with inputs.
            UnknownNameError: for another word than those of `shown`.

        Warns:
            DescriptionWarning: for each mesh that cannot be read; a box stands for its link.
        """
        model = model_of(thing)
        if name is not None and not isinstance(name, str):
            raise ParameterError("name of a robot in the viewer", got=name, expected="a text")
        if spacing is not None:
            positive("spacing of worlds", spacing, "m")
        own = name or model.name or "robot"
        taken = next(n for k in count(1) if (n := own if k == 1 else f"{own} {k}") not in self._robots)
        if name is not None and taken != name:
            raise ParameterError("name of a robot in the viewer", got=name, expected="one that is not taken")
        q = thing.initial if q is None and isinstance(thing, World) else q
        place = None if at is None else shaped_array("viewer.add", "at", at, (3,))
        robot = ShownRobot(self._served, taken, model, q, place, spacing, shown)
        self._robots[taken] = robot
        self._framed = False
        self._look()
        return robot

    def robot(self, name: str | None = None) -> ShownRobot:
        """Return a robot; `viewer[name]` is the same.

        Args:
            name: its name; not needed where there is one.

        Raises:
            UnknownNameError: for an unknown name, or None if there are several robots.
        """
        if name is None and len(self._robots) == 1:
            return next(iter(self._robots.values()))
        if name not in self._robots:
            raise UnknownNameError("robot", name, self._robots, where="viewer")
        return self._robots[name]

    __getitem__ = robot

    def _look(self) -> None:
        """Let browsers see all robots, from the side: those that come, and those whose camera nobody moved."""
        before = np.array(self.server.initial_camera.position)
        self._seen = [robot.bounds for robot in self._robots.values()]
        low, high = np.min(self._seen, axis=0)[0], np.max(self._seen, axis=0)[1]
        reach = float(np.linalg.norm(high - low)) or 1.0
        aside = np.array([FROM[1], -FROM[0], 0.0])  # the controls are on the right
        beside = 0.5 * (low + high) + ASIDE * reach * aside
        camera = self.server.initial_camera
        camera.look_at, camera.position = beside, beside + reach * FROM
        camera.near, camera.far, camera.fov = 1e-3 * reach, 1e3 * max(reach, 1.0), FIELD
        for client in self.server.get_clients().values():
            if np.linalg.norm(client.camera.position - before) <= 1e-3 * reach:
                client.camera.look_at, client.camera.position = camera.look_at, camera.position

    @property
    def size(self) -> float:
        """The largest extent of a robot that is shown [m]."""
        return max((robot.size for robot in self._robots.values()), default=1.0)

    @property
    def q(self) -> Any:
        """The configuration of the robot that is shown, or those of several by name, as the browser left them."""
        if len(self._robots) == 1:
            return self.robot().q
        return {name: robot.q for name, robot in self._robots.items()}

    def update(self, q: Any) -> None:
        """Show other configurations; this returns at once, so that a control loop can call it in every cycle.

        Args:
            q: of the one robot, shape (nq,) or (worlds, nq), or the state of a world; for several robots a mapping by
                name, or a sequence in their order.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ConfigurationError: if that is no configuration.
        """
        for robot, own in self._by_robot("q", q).items():
            robot.update(own)
        if not self._framed:  # what was added may have been elsewhere: bodies at their neutral poses, say
            self._framed = True
            now = [robot.bounds for robot in self._robots.values()]
            if np.abs(np.subtract(now, self._seen)).max(initial=0.0) > 0.2 * self.size:
                self._look()

    def _by_robot(self, what: str, value: Any) -> dict[ShownRobot, Any]:
        """Return something of every robot, or of those that a mapping names."""
        parts = zip(self._robots.items(), of_each("viewer", what, list(self._robots), value), strict=True)
        return {robot: own for (name, robot), own in parts if not isinstance(value, Mapping) or name in value}

    def play(
        self,
        trajectory: Any,
        dt: float | None = None,
        *,
        times: ArrayLike | None = None,
        speed: float = 1.0,
        loop: bool = True,
        start: bool = True,
    ) -> Playback:
        """Play a trajectory, with controls in the browser: play and pause, its speed, and a slider for its time.

        Args:
            trajectory: configurations [rad, m], shape (T, nq), or (T, worlds, nq), or what `solver.rollout` recorded,
                with its times; for several robots a mapping by name, or a sequence in their order, all of T samples.
                Between samples they move along the manifold.
            dt: time between samples [s]; by default they are drawn one by one, 60 a second.
            times: of the samples instead [s], ascending, shape (T,).
            speed: how much faster than the clock [-].
            loop: whether it begins again at the end.
            start: whether it runs at once.

        Returns:
            Its controls: `pause()`, `resume()`, `seek(time)`, `save(file)`.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ConfigurationError: for what is no trajectory.
            ParameterError: for times that do not ascend, or a speed that is not > 0.
        """
        if isinstance(trajectory, Trajectory):
            if times is None and dt is None:
                times = trajectory.time[:, 0]
            trajectory = trajectory.q
        given = self._by_robot("trajectory", trajectory)
        paths = {robot: checked_path(robot, own) for robot, own in given.items()}
        lengths = {len(path) for path in paths.values()}
        if len(lengths) != 1:
            raise ShapeError("viewer.play", "trajectory", got=tuple(sorted(lengths)), expected="as many samples of all")
        speed = positive("speed of a trajectory", speed, "-")
        found = checked_times(times, dt, lengths.pop())
        if self.playback is not None:
            self.playback.remove()
        self.playback = Playback(self._served, paths, found, speed, loop)
        self.playback.seek(float(found[0]))
        if start:
            self.playback.resume()
        return self.playback

    def drag(self, frame: str | None = None, *, joint: str | None = None, robot: str | None = None) -> None:
        """Put a handle on a frame, which inverse kinematics follows, or on a joint that turns freely; or on nothing.

        Args:
            frame: a body or frame.
            joint: a joint of at least three degrees of freedom that turns, such as a ball joint or a floating base.
            robot: whose; not needed where there is one.

        Raises:
            UnknownNameError: for a frame that does not exist, or another joint.
        """
        self.robot(robot).dragging.hold(frame, joint)

    def toggle(self, **layers: bool) -> None:
        """Show or hide something of every robot: `toggle(frames=True, visual=False)`.

        Args:
            layers: of `visual`, `collision`, `frames`, `center_of_mass`, `inertia`, `closures`; those that a robot has.

        Raises:
            UnknownNameError: for another name, or what no robot has.
        """
        known = {layer for robot in self._robots.values() for layer in robot.layers}
        for name in layers:
            check_known("layer", name, sorted(known), "viewer")
        for robot in self._robots.values():
            robot.toggle(
                **{name: truth(f"layer {name!r}", visible) for name, visible in layers.items() if name in robot.layers}
            )

    def contacts(self, points: Any, forces: ArrayLike | None = None, *, scale: float | None = None) -> None:
        """Draw contacts instead of those drawn before; like `update`, this returns at once.

        Args:
            points: in the world [m], shape (n, 3), or (worlds, n, 3); or what `World.collide` found, of which those are
                drawn that touch, with their normals.
            forces: in world axes [N], of the points' shape: arrows.
            scale: length of an arrow for a force [m/N]; by default the largest is as long as a third of the robot.

        Raises:
            ShapeError, DTypeError, NotFiniteError: for arrays that are no points, or not as many forces.
        """
        if isinstance(points, Contacts):
            worlds, where, arrows = touching(points)
            arrows = ALOUD * self.size * arrows
        else:
            array = shaped_array("viewer.contacts", "points", points, ("n", 3), ("worlds", "n", 3))
            worlds = np.repeat(np.arange(len(array)), array.shape[1]) if array.ndim == 3 else np.zeros(len(array), int)
            where, arrows = array.reshape(-1, 3), np.zeros((array.size // 3, 3))
            if forces is not None:
                found = shaped_array("viewer.contacts", "forces", forces, array.shape, told=", as the points")
                arrows = found.reshape(-1, 3)
                largest = float(np.linalg.norm(arrows, axis=1).max(initial=0.0))
                arrows = arrows * (ALOUD * self.size / max(largest, 1e-300) if scale is None else float(scale))
        placed = where + self._origins(worlds)
        self._served.mailbox.post("contacts", lambda: self._touching.draw(self.size, placed, arrows))

    def nearest_points(self, found: Clearance, *, within: float = math.inf) -> None:
        """Draw where shapes are nearest, instead of what was drawn before; like `update`, this returns at once.

        Each pair has its two points and the line between: blue where the shapes are apart, red where they overlap.

        Args:
            found: what `cardan.clearance` returns for one configuration, or for as many as there are worlds.
            within: pairs that are farther apart [m] are left out.

        Raises:
            ParameterError: for something else than a `Clearance`, one of several axes, or a distance that is NaN.
        """
        if not isinstance(found, Clearance) or np.ndim(found.distance) > 2:
            expected = "what cardan.clearance returns, its distance of shape (P,) or (worlds, P)"
            raise ParameterError("viewer.nearest_points", got=found, expected=expected)
        if math.isnan(within):
            raise ParameterError("viewer.nearest_points: within", got=within, expected="a distance [m]")
        distance, on_a, on_b, _ = (np.asarray(part, float) for part in found)
        worlds = np.nonzero(np.atleast_2d(distance <= within))[0]
        ends = np.stack([on_a, on_b], axis=-2)[distance <= within] + self._origins(worlds)[:, None]
        is_deep = distance[distance <= within] < 0.0
        self._served.mailbox.post("nearest points", lambda: self._nearest.draw(self.size, ends, is_deep))

    def _origins(self, worlds: np.ndarray) -> np.ndarray:
        """Return where the worlds of the first robot stand in the scene, shape (n, 3) [m]."""
        origins = next(iter(self._robots.values())).offsets if self._robots else np.zeros((1, 3))
        return origins[np.minimum(worlds, len(origins) - 1)]

    def flush(self, timeout: float = 30.0) -> None:
        """Wait until everything asked for before has been sent to the browsers.

        Args:
            timeout: how long at most [s].

        Raises:
            TimeoutError: if that takes longer [s].
            CardanError: if something could not be shown, such as a target out of reach.
        """
        self._served.mailbox.flush(timeout)

    def wait(self) -> None:
        """Wait until the viewer is closed, or Ctrl-C is pressed."""
        with contextlib.suppress(KeyboardInterrupt):
            while not self.closed:
                time.sleep(0.1)

    def close(self) -> None:
        """Close the page; twice does no harm."""
        if not self.closed:
            self.closed = True
            self._served.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        if self.closed:
            return "<p>This viewer is closed.</p>"
        return f'<iframe src="{self.url}" width="100%" height="480" style="border: none"></iframe>'

    @property
    def how_to_reach(self) -> str:
        """What to run on one's own machine, where this one is reached by ssh; empty elsewhere."""
        session = os.environ.get("SSH_CONNECTION", "").split()
        if len(session) != 4 or self.host != "127.0.0.1":
            return ""
        port = self.server.get_port()
        return f"on your own machine: ssh -L {port}:127.0.0.1:{port} {getpass.getuser()}@{session[2]}"

    def __repr__(self) -> str:
        where = "closed" if self.closed else self.url
        return f"<Viewer of {', '.join(self._robots) or 'nothing'}, {where}>"


def show(
    things: Any,
    q: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = False,
    title: str = "cardan",
    spacing: float | None = None,
    **shown: bool,
) -> Viewer:
    """Show robots in a browser, and return the viewer at once.

    Args:
        things: a model, a mechanism (on a fixed base) or a world; or several, as a sequence or as a mapping by name.
        q: configuration [rad, m], shape (nq,), or (worlds, nq): a grid of worlds. For several robots a mapping by name,
            or a sequence. By default that of a world, else neutral, as far as limits allow, and standing on the ground.
        host: the address the page is found at; by default this machine alone finds it (see `Viewer`).
        port: its port; by default the first free one from 8080 on.
        open_browser: whether to open the page in a browser now; its address is `viewer.url`.
        title: what is written above the controls.
        spacing: between worlds of a grid [m].
        shown: of `visual`, `collision`, `frames`, `center_of_mass`, `inertia` and `closures`, which to show at first.

    Returns:
        The viewer: `update(q)`, `play(trajectory)`, `drag(frame)`, `contacts(points, forces)`, `close()`.

    Raises:
        MissingExtraError: without the extra `view`.
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: if q is no configuration.
        ParameterError: if the port is in use, or there is no such address here; for a model with inputs.

    Examples:
        >>> with cardan.show(arm, q) as view:  # open_browser=True opens the page, too
        ...     view.update(q + 0.1)
        ...     view.url[:17]
        'http://127.0.0.1:'

    Peers: roboticstoolbox `teach`.
    """
    named = _named(things)
    names = [name or model_of(thing).name for name, thing in named]
    configurations = [None] * len(named) if q is None else of_each("show", "q", names, q)
    opens = truth("open_browser", open_browser)
    viewer = Viewer(host=host, port=port, open_browser=False, title=title)
    try:
        for (name, thing), own in zip(named, configurations, strict=True):
            viewer.add(thing, own, name=name, at=None, spacing=spacing, **shown)
    except BaseException:
        viewer.close()
        raise
    if opens:
        viewer.open_browser()
    return viewer


def _named(things: Any) -> list[tuple[str | None, Any]]:
    if isinstance(things, Mapping):
        return [(str(name), thing) for name, thing in things.items()]
    return [(None, thing) for thing in (things if isinstance(things, list | tuple) else [things])]


def of_each(where: str, what: str, names: Sequence[str], value: Any) -> list[Any]:
    """Return something of each robot: by name (None if it is missing), in their order, or of the only one."""
    if isinstance(value, Mapping):
        for name in value:
            check_known("robot", name, names, where)
        return [value.get(name) for name in names]
    if len(names) == 1:
        return [value]
    try:
        own = list(value)
    except TypeError:
        own = []
    if len(own) != len(names):
        expected = f"one for each of {len(names)} robots: a mapping by name, or a sequence"
        raise ShapeError(where, what, got=(len(own),), expected=expected)
    return own


def model_of(thing: Any) -> Model:
    """Return the model of what is to be shown; one with inputs is refused: its poses depend on more than q."""
    model = thing.model() if isinstance(thing, Mechanism) else thing.model if isinstance(thing, World) else thing
    if not isinstance(model, Model):
        hint = "Read it first: cardan.show(cardan.load(file))." if isinstance(thing, str) else ""
        expected = "a Model, a Mechanism or a World, or several of them"
        raise DTypeError("show", "things", got=type(thing).__name__, expected=expected, hint=hint)
    if model.inputs:
        got, hint = f"inputs {sorted(model.inputs)}", "Show the model it was made of."
        raise ParameterError("model to show", got=got, expected="a model without inputs", hint=hint)
    return model
