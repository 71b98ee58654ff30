"""Robots in a browser: `cardan.show`.

The scene, its page and its widgets are viser's; here is what a robot needs of them. All that is shown is changed by one
thread (`mailbox.py`): what a program or a browser asks for is noted, and the newest of it is done.
"""

from __future__ import annotations

import contextlib
import socket
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan.description import Mechanism
from cardan.errors import DTypeError, ParameterError, ShapeError, UnknownNameError
from cardan.geometry.contacts import Contacts
from cardan.model import Model
from cardan.simulation import World
from cardan.viewer.mailbox import Mailbox
from cardan.viewer.packages import trimesh, viser
from cardan.viewer.playback import Playback, checked_path, checked_times
from cardan.viewer.shown_robot import ShownRobot
from cardan.viewer.touching_points import checked_vectors, draw_contacts, touching

FIRST_PORT = 8080
ALOUD = 0.3
"""Length of the largest force's arrow, as a share of the size of what is shown."""

FIELD, FROM, ASIDE = 0.7, np.array([1.5, -0.8, 0.6]), -0.12
"""Of the camera: its field of view [rad], where it stands and what it looks at, as shares of what is shown."""


class Viewer:
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

    Throughout:
        name: of a robot, or of a folder.
        low, high: how far it reaches along y [m].
        layers: by name, of `visual`, `collision`, `frames`, `center_of_mass`, `inertia`, `closures`.
        kind: of what is done; the same kind that waits is replaced.
        action: what is done, without arguments; of `by_browser`, with the context and the value.
        after: how long it waits [s].
        replace: whether it takes the place of the same kind that waits.
        timeout: the longest wait [s].

    Raises:
        MissingExtraError: without the extra `view`.
        ParameterError: if the port is in use, or there is no such address here.

    Examples:
        >>> view = cardan.Viewer()
        >>> shown = view.add(arm, q)
        >>> view.update(q + 0.1)
        >>> played = view.play(np.linspace(q, q + 0.5, 20), dt=0.05, start=False)
        >>> view.toggle(frames=True)
        >>> view.drag("tool")
        >>> view.contacts([(0.5, 0.0, 0.0)], [(0.0, 0.0, 10.0)])
        >>> view.robot().name, view.next_to(-0.5, 0.5) > 0.0
        ('arm7', True)
        >>> view.post("note", lambda: None)
        >>> press = view.by_browser(print, "pressed")
        >>> with view.folder("more"):
        ...     pass
        >>> view.flush()
        >>> view.close()
    """

    def __init__(
        self, *, host: str = "127.0.0.1", port: int | None = None, open_browser: bool = False, title: str = "cardan"
    ) -> None:
        package = viser()
        trimesh()
        self.host = host
        found = _free_port(host, port)
        self.server: Any = package.ViserServer(host=host, port=found, label=title, verbose=False)
        self.server.gui.configure_theme(show_share_button=False, show_logo=False)
        self.server.scene.add_grid("/ground", infinite_grid=True, cell_size=0.25, section_size=1.0, fade_distance=15.0)
        self._robots: dict[str, ShownRobot] = {}
        self.robots: Mapping[str, ShownRobot] = MappingProxyType(self._robots)
        self.playback: Playback | None = None
        self._edge: float | None = None
        self.closed = False
        self._mailbox = Mailbox(self.server.atomic)
        if open_browser:
            self.open_browser()

    def open_browser(self) -> None:
        """Open the page in this machine's browser.

        Examples:
            >>> view.open_browser()  # doctest: +SKIP
        """
        webbrowser.open(self.url)

    @property
    def url(self) -> str:
        """Where a browser of this machine finds the page."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{host}:{self.server.get_port()}"

    # --- robots ---

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
            q: its configuration [rad, m], shape (nq,), or (worlds, nq): as many of them, in a grid; by default neutral,
                as far as limits allow, with a floating base so high that the robot stands on the ground.
            name: under which it is addressed; by default the model's, with a number if there is one of that name.
            at: where its origin is in the scene [m]; by default beside those that are there.
            spacing: between worlds of the grid [m]; by default they stand clear of each other.
            shown: of `visual`, `collision`, `frames`, `center_of_mass`, `inertia` and `closures`, which to show.

        Returns:
            The robot as it is shown.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ConfigurationError: if q is no configuration of it.
            ParameterError: for a model with inputs.
            UnknownNameError: for another word than those of `shown`.

        Warns:
            DescriptionWarning: for each mesh that cannot be read; a box stands for its link.
        """
        model = model_of(thing)
        own = name or model.name or "robot"
        taken = next(n for n in (own, *(f"{own} {k}" for k in range(2, 10**6))) if n not in self._robots)
        if name is not None and taken != name:
            raise ParameterError("name of a robot in the viewer", got=name, expected="one that is not taken")
        robot = ShownRobot(self, taken, model, q, at, spacing, shown)
        self._robots[taken] = robot
        self._look()
        return robot

    def robot(self, name: str | None = None) -> ShownRobot:
        """Return a robot by its name; without one, the only one there is.

        Raises:
            UnknownNameError: for a name of none; without a name, unless there is one robot.
        """
        if name is None and len(self._robots) == 1:
            return next(iter(self._robots.values()))
        if name not in self._robots:
            raise UnknownNameError("robot", name, self._robots, where="viewer")
        return self._robots[name]

    __getitem__ = robot

    def next_to(self, low: float, high: float) -> float:
        """Return where along y [m] a robot stands that reaches from low to high about its origin; keep the place."""
        gap = 0.2 * (high - low)
        at = 0.0 if self._edge is None else self._edge + gap - low
        self._edge = at + high
        return at

    def _look(self) -> None:
        """Let browsers that come see all robots, from the side."""
        low = np.min([robot.bounds[0] for robot in self._robots.values()], axis=0)
        high = np.max([robot.bounds[1] for robot in self._robots.values()], axis=0)
        reach = max(float(np.linalg.norm(high - low)), 1e-3)
        beside = 0.5 * (low + high) + ASIDE * reach * np.array(
            [FROM[1], -FROM[0], 0.0]
        )  # the controls are on the right
        camera = self.server.initial_camera
        camera.look_at, camera.position = beside, beside + reach * FROM
        camera.near, camera.far, camera.fov = 1e-3 * reach, 1e3 * max(reach, 1.0), FIELD

    @property
    def size(self) -> float:
        """The largest extent of a robot that is shown [m]."""
        return max((robot.size for robot in self._robots.values()), default=1.0)

    # --- what moves ---

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
        for name, own in self._by_robot("q", q).items():
            self.robot(name).update(own)

    def _by_robot(self, what: str, value: Any) -> Mapping[str, Any]:
        """Return something of every robot by its name."""
        if isinstance(value, Mapping):
            return value
        if len(self._robots) == 1:
            return {self.robot().name: value}
        try:
            return dict(zip(self._robots, value, strict=True))
        except (TypeError, ValueError):
            got = (
                np.shape(value) if isinstance(value, np.ndarray) else (len(value) if hasattr(value, "__len__") else 0,)
            )
            expected = f"one for each of {len(self._robots)} robots: a mapping by name, or a sequence"
            raise ShapeError("viewer", what, got=got, expected=expected) from None

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
            trajectory: configurations [rad, m], shape (T, nq), or (T, worlds, nq); for several robots a mapping by
                name, or a sequence in their order, all of T samples. Between samples they move along the manifold.
            dt: time between samples [s]; by default they are drawn one by one, 60 a second.
            times: of the samples instead [s], ascending, shape (T,).
            speed: [-], how much faster than the clock.
            loop: whether it begins again at the end.
            start: whether it runs at once.

        Returns:
            Its controls: `pause()`, `resume()`, `seek(time)`.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ConfigurationError: for what is no trajectory.
            ParameterError: for times that do not ascend, or a speed that is not > 0.
        """
        paths = {
            name: checked_path(self.robot(name), own) for name, own in self._by_robot("trajectory", trajectory).items()
        }
        lengths = {len(path) for path in paths.values()}
        if len(lengths) != 1:
            raise ShapeError("viewer.play", "trajectory", got=tuple(sorted(lengths)), expected="as many samples of all")
        if not 0.0 < speed < float("inf"):
            raise ParameterError("speed of a trajectory", got=speed, expected="a number > 0")
        found = checked_times(times, dt, lengths.pop())
        if self.playback is not None:
            self.playback.remove()
        self.playback = Playback(self, paths, found, float(speed), loop)
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
        """Show or hide something of every robot that has it: `toggle(collision=True, visual=False)`."""
        for robot in self._robots.values():
            robot.toggle(**layers)

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
            array = checked_vectors("points", points)
            worlds = np.repeat(np.arange(len(array)), array.shape[1]) if array.ndim == 3 else np.zeros(len(array), int)
            where, arrows = array.reshape(-1, 3), np.zeros((array.size // 3, 3))
            if forces is not None:
                arrows = self._arrows(checked_vectors("forces", forces, array.shape).reshape(-1, 3), scale)
        origins = next(iter(self._robots.values())).offsets if self._robots else np.zeros((1, 3))
        placed = where + origins[np.minimum(worlds, len(origins) - 1)]
        self.post("contacts", lambda: draw_contacts(self.server.scene, "/contacts", self.size, placed, arrows))

    def _arrows(self, forces: np.ndarray, scale: float | None) -> np.ndarray:
        largest = float(np.linalg.norm(forces, axis=1).max(initial=0.0))
        return forces * (ALOUD * self.size / max(largest, 1e-300) if scale is None else float(scale))

    # --- the page ---

    def post(self, kind: Any, action: Callable[[], Any], after: float = 0.0, *, replace: bool = True) -> None:
        """Have something done by the thread that changes what is shown, instead of the same kind that waits."""
        self._mailbox.post(kind, action, after, replace=replace)

    def by_browser(self, action: Callable[..., Any], *context: Any, always: bool = False) -> Callable[[Any], Any]:
        """Return what viser calls for a widget: the action with the value a browser gave, in the viewer's thread.

        Args:
            action: called with the context and the value.
            context: what comes before it.
            always: for buttons, whose clicks all count.
        """
        kind = object()

        async def note(event: Any) -> None:
            if event.client_id is not None or always:  # else it was set from here
                value = event.target.value
                self.post(object() if always else kind, lambda: action(*context, value))

        return note

    @contextlib.contextmanager
    def folder(self, name: str) -> Iterator[None]:
        """Give a part of the controls for a robot.

        Returns:
            A context in which controls are added.
        """
        with self.server.gui.add_folder(name):
            yield

    def flush(self, timeout: float = 30.0) -> None:
        """Wait until everything asked for before has been sent to the browsers.

        Raises:
            TimeoutError: if that takes longer [s].
            CardanError: if something could not be shown, such as a target out of reach.
        """
        self._mailbox.flush(timeout)

    def wait(self) -> None:
        """Wait until the viewer is closed, or Ctrl-C is pressed.

        Examples:
            >>> view.wait()  # doctest: +SKIP
        """
        with contextlib.suppress(KeyboardInterrupt):
            while not self.closed:
                time.sleep(0.1)

    def close(self) -> None:
        """Close the page; twice does no harm."""
        if not self.closed:
            self.closed = True
            self._mailbox.close()
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        if self.closed:
            return "<p>This viewer is closed.</p>"
        return f'<iframe src="{self.url}" width="100%" height="480" style="border: none"></iframe>'

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
            or a sequence. By default neutral, as far as limits allow, and standing on the ground.
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
        >>> view = cardan.show(arm, q)
        >>> view.update(q + 0.1)
        >>> view.close()

    Peers: roboticstoolbox `teach`.
    """
    named = _named(things)
    configurations = _configurations(named, q)
    viewer = Viewer(host=host, port=port, open_browser=False, title=title)
    try:
        for (name, thing), own in zip(named, configurations, strict=True):
            viewer.add(thing, own, name=name, at=None, spacing=spacing, **shown)
    except BaseException:
        viewer.close()
        raise
    if open_browser:
        viewer.open_browser()
    return viewer


def _named(things: Any) -> list[tuple[str | None, Model]]:
    """Return what is to be shown as models, with names if they have some."""
    if isinstance(things, Mapping):
        return [(str(name), model_of(thing)) for name, thing in things.items()]
    several = things if isinstance(things, list | tuple) else [things]
    return [(None, model_of(thing)) for thing in several]


def _configurations(named: Sequence[tuple[str | None, Model]], q: Any) -> list[Any]:
    """Return a configuration, or None, for each robot."""
    if q is None:
        return [None] * len(named)
    if isinstance(q, Mapping):
        known = [name or model.name for name, model in named]
        for name in q:
            if name not in known:
                raise UnknownNameError("robot", name, known, where="show")
        return [q.get(name) for name in known]
    if len(named) == 1:
        return [q]
    if not hasattr(q, "__len__") or len(q) != len(named):
        expected = f"one for each of {len(named)} robots: a mapping by name, or a sequence"
        raise ShapeError("show", "q", got=np.shape(q), expected=expected)
    return list(q)


def model_of(thing: Any) -> Model:
    """Return the model of what is to be shown.

    Raises:
        DTypeError: if it is no robot.
        ParameterError: for a model with inputs, whose poses depend on more than q.
    """
    model = thing.model() if isinstance(thing, Mechanism) else thing.model if isinstance(thing, World) else thing
    if not isinstance(model, Model):
        hint = "Read it first: cardan.show(cardan.load(file))." if isinstance(thing, str) else ""
        expected = "a Model, a Mechanism or a World, or several of them"
        raise DTypeError("show", "things", got=type(thing).__name__, expected=expected, hint=hint)
    if model.inputs:
        hint = "Show the model it was made of."
        raise ParameterError("model to show", got=f"inputs {sorted(model.inputs)}", expected="none", hint=hint)
    return model


def _free_port(host: str, port: int | None) -> int:
    """Return the port asked for, if it is free, or that from which on a free one is looked for."""
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536):
        raise ParameterError("port of the viewer", got=port, expected="a whole number from 0 to 65535")
    for wanted in (0, port):  # first whether there is such an address at all
        try:
            family, kind, _, _, address = socket.getaddrinfo(host, wanted or 0, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
        except OSError as error:
            what, got = ("port", port) if wanted else ("host", host)
            hint = "Leave it out for the first that is free." if wanted else "The default, 127.0.0.1, is this machine."
            expected = f"one that can be served at ({error.strerror or error})"
            raise ParameterError(f"{what} of the viewer", got=got, expected=expected, hint=hint) from None
    return FIRST_PORT if port is None else port
