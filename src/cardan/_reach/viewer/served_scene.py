"""viser's server, the one thread that changes what it shows, and the places of robots in its scene.

Of requests of one kind that wait, the thread does the last one alone. So a control loop that moves a robot a thousand
times a second never waits for a browser, and the browser gets the newest state, at most `RATE` times a second.
"""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.log import log
from cardan._motion.simulation.links import frame_poses
from cardan._robot.model import Model


@dataclass(frozen=True, slots=True)
class Placement:
    rows: dict[str, int]  # where each one's pose is, by name
    positions: np.ndarray  # [m], shape (worlds, rows, 3)
    wxyz: np.ndarray  # unit quaternions, shape (worlds, rows, 4)

    def points(self, names: list[str], local: np.ndarray) -> np.ndarray:
        """Return points (n, 3), each in the axes of one body or frame, in the scene: shape (worlds, n, 3)."""
        rows = [self.rows[name] for name in names]
        return self.positions[:, rows] + rotations(self.wxyz[:, rows]).apply(local)

    def turns(self, names: list[str], local: np.ndarray) -> np.ndarray:
        """Return quaternions wxyz (n, 4), relative to one body or frame each, in the scene: shape (worlds, n, 4)."""
        rows = [self.rows[name] for name in names]
        return (rotations(self.wxyz[:, rows]) @ rotations(local)).wxyz

    def matrix(self, name: str, world: int) -> np.ndarray:
        row = self.rows[name]
        return pose_matrix(self.positions[world, row], self.wxyz[world, row])


def place_bodies(model: Model, q: np.ndarray, offsets: np.ndarray) -> Placement:
    """Return the poses of bodies and frames at configurations (worlds, nq), worlds at offsets (worlds, 3) [m]."""
    poses = frame_poses(model, q)
    rows = {name: row for row, name in enumerate(model.frame_names)}
    return Placement(rows, poses[..., :3] + offsets[:, None], poses[..., [6, 3, 4, 5]])


def grid(worlds: int, spacing: float) -> np.ndarray:
    """Return the origins of worlds in a square grid about the origin, shape (worlds, 3) [m]."""
    cells = np.stack(np.divmod(np.arange(worlds), math.ceil(math.sqrt(worlds))), axis=-1)[:, ::-1]
    middle = 0.5 * (cells.max(axis=0) + cells.min(axis=0))
    return np.column_stack([spacing * (cells - middle), np.zeros(worlds)])


def rotations(wxyz: np.ndarray) -> Any:
    """Return rotations of viser's, of unit quaternions (..., 4)."""
    return package("viser.transforms", "the viewer", "view").SO3(wxyz)


def pose_matrix(position: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
    """Return a pose as a homogeneous matrix (4, 4), from a quaternion of any length but 0."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotations(np.asarray(wxyz) / np.linalg.norm(wxyz)).as_matrix(), position
    return X


def quaternion_wxyz(R: np.ndarray) -> np.ndarray:
    return package("viser.transforms", "the viewer", "view").SO3.from_matrix(R).wxyz


RATE = 60.0  # of what is sent to browsers [1/s]: that at which screens are drawn
Action = Callable[[], Any]


class Mailbox:
    """A thread and what waits for it; each round is done in a context, in which messages are sent together."""

    def __init__(self, around: Callable[[], Any]) -> None:
        self._around = around
        self._waiting: dict[Hashable, tuple[float, Action]] = {}
        self._change = threading.Condition()
        self._closed = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="cardan viewer", daemon=True)
        self._thread.start()

    def post(self, kind: Hashable, action: Action, after: float = 0.0, *, replace: bool = True) -> None:
        """Let the thread do an action in some time [s], instead of the one of its kind that waits.

        Without `replace` the one that waits is done, and this one is not.
        """
        with self._change:
            if not self._closed and (replace or kind not in self._waiting):
                self._waiting[kind] = (time.monotonic() + after, action)
                self._change.notify()

    def flush(self, timeout: float) -> None:
        """Wait until what was asked for before is done; TimeoutError if it takes longer [s].

        The first error of an action since the last call is raised here.
        """
        done = threading.Event()
        self.post(done, done.set)
        if not self._closed and threading.current_thread() is not self._thread and not done.wait(timeout):
            raise TimeoutError(f"the viewer has not shown in {timeout:g} s what it was given")
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        with self._change:
            self._closed = True
            self._waiting.clear()
            self._change.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def _work(self) -> None:
        while actions := self._due():
            began = time.monotonic()
            with self._around():
                for action in actions:
                    try:
                        action()
                    except Exception as error:  # one robot that cannot be shown must not stop the others
                        log().warning("the viewer could not show what it was given: %s", error)
                        self._failure = self._failure or error
            time.sleep(max(0.0, began + 1.0 / RATE - time.monotonic()))

    def _due(self) -> list[Action]:
        """Wait until there is something to do, and return it; nothing at the end."""
        with self._change:
            while not self._closed:
                now = time.monotonic()
                due = [kind for kind, (when, _) in self._waiting.items() if when <= now]
                if due:
                    return [self._waiting.pop(kind)[1] for kind in due]
                first = min((when for when, _ in self._waiting.values()), default=None)
                self._change.wait(None if first is None else first - now)
        return []


FIRST_PORT = 8080
# A grid [m] fainter than robots' edges, on a tint that white robots stand out from.
GROUND = {
    "cell_size": 0.25,
    "section_size": 1.0,
    "cell_color": (214, 218, 224),
    "section_color": (176, 182, 192),
    "plane_color": (226, 230, 236),
    "plane_opacity": 1.0,
    "shadow_opacity": 0.3,
    "fade_distance": 15.0,
}


class ServedScene:
    """viser's server at an address and port, or the first free one from `FIRST_PORT` on, and its one thread."""

    def __init__(self, host: str, port: int | None, title: str) -> None:
        viser, _ = (package(name, "the viewer", "view") for name in ("viser", "trimesh"))
        found = _free_port(host, port)
        with _silent():
            self.server: Any = viser.ViserServer(host=host, port=found, label=title, verbose=False)
        self.server.request_share_url = _not_shared  # which any page may ask for, its button shown or not
        self.server.gui.configure_theme(show_share_button=False, show_logo=False)
        self.server.scene.add_grid("/ground", infinite_grid=True, **GROUND)
        self.mailbox: Mailbox = Mailbox(self.server.atomic)
        self._edge: float | None = None

    def next_to(self, low: float, high: float) -> float:
        """Return where along y a robot stands that reaches from low to high about its origin [m], and keep it."""
        at = 0.0 if self._edge is None else self._edge + 0.2 * (high - low) - low
        self._edge = at + high
        return at

    def by_browser(self, action: Callable[..., Any], *context: Any, always: bool = False) -> Callable[[Any], Any]:
        """Return what viser calls for a widget: the action with the value a browser gave, in the scene's thread.

        The context comes before the value. All clicks of buttons count (`always`); of other values the newest does.
        """
        kind = object()

        async def note(event: Any) -> None:
            if event.client_id is not None:  # else it was set from here
                value = event.target.value
                self.mailbox.post(object() if always else kind, lambda: action(*context, value))

        return note

    def close(self) -> None:
        self.mailbox.close()
        with _silent():
            self.server.stop()


def _not_shared(*_: Any, **__: Any) -> None:
    """Open no tunnel to a server of viser's makers, through which the world could come in."""
    log().warning("a page asked for a public address of the viewer; no such address exists")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Let viser print no banner: the address is the viewer's `url`."""
    import rich  # viser's

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _free_port(host: str, port: int | None) -> int:
    """Return the port asked for, if it is free, or that from which on a free one is looked for."""
    if port is not None:
        whole("port of the viewer", port, 0, 65535)
    if not isinstance(host, str) or not host.strip():  # to viser, None and "" are everybody
        hint = "The default, 127.0.0.1, is this machine; '0.0.0.0' lets everybody in."
        raise ParameterError("host of the viewer", got=host, expected="an address, as a text", hint=hint)
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


class MovableRobot(Protocol):
    """What sliders and handles move: a `ShownRobot`, as those see it."""

    served: ServedScene
    name: str
    model: Model
    rows: np.ndarray
    start: np.ndarray
    offsets: np.ndarray
    size: float
    world: int

    def placement(self) -> Placement: ...
    def led(self, q: np.ndarray, held: str = "") -> None: ...
    def draw(self) -> None: ...
