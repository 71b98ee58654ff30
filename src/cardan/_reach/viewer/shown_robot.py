"""One robot in the viewer: its model, where it is, what is drawn of it, and what the browser moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import AssemblyError, ShapeError, UnknownNameError, check_known
from cardan._dynamics.call.arguments import check_configuration, check_finite, numeric_array
from cardan._dynamics.functions.assembly import assemble
from cardan._motion.simulation import State
from cardan._reach.viewer import scene_layers
from cardan._reach.viewer.controls import Dragging, JointSliders, lifted
from cardan._reach.viewer.scene_layers import Layer, bounds, surfaces
from cardan._reach.viewer.served_scene import Placement, ServedScene, grid, place_bodies
from cardan._robot.model import WORLD, Model


class ShownRobot:
    """A robot in the viewer, in one world or a grid of them. Made by `Viewer.add`.

    Attributes:
        name: under which it is shown, unique in the viewer.
        rows: its configurations, one for each world, shape (worlds, nq); never written into.
        model: the robot.
        offsets: where the origin of each world is in the scene [m], shape (worlds, 3).
        world: the row that sliders and handles move.

    Examples:
        >>> with cardan.show(arm) as view:
        ...     robot = view.robot()
        ...     robot.update(q)
        ...     robot.toggle(frames=True, inertia=True)
        ...     view.flush()
        ...     robot.q.shape, robot.placement().matrix("tool", 0).shape
        ...     robot.led(q + 0.1)  # as a slider does
        ...     robot.draw()
        ...     robot.reset()
        ((7,), (4, 4))
    """

    def __init__(
        self,
        served: ServedScene,
        name: str,
        model: Model,
        q: Any,
        at: Any,
        spacing: float | None,
        shown: Mapping[str, bool],
    ) -> None:
        self.served = served
        self.name = name
        self.model = model
        self.world: int = 0
        self._is_single = q is None or (not isinstance(q, State) and np.ndim(q) < 2)
        given = model.start_configuration() if q is None else q
        self.rows: np.ndarray = checked_rows(f"viewer: robot {name!r}", model, given)
        self._drawn = {role: surfaces(model, role) for role in ("visual", "collision")}
        if q is None:  # what floats stands on the ground
            self.rows = lifted(model, self.rows[0], -self._extent()[0][2])[None]
        self.start: np.ndarray = self.rows
        self._place(at, spacing)
        self.layers: dict[str, Layer] = self._layers(shown)
        with served.server.gui.add_folder(name):
            self._selected = served.server.gui.add_markdown("*Click a body to see its name.*")
            self.sliders: JointSliders = JointSliders(self)
            self.dragging: Dragging = Dragging(self)
            self._toggles = self._add_toggles()
        self._label: Any = None
        self.draw()

    def _place(self, at: Any, spacing: float | None) -> None:
        low, high = self._extent()
        self.size: float = float(np.linalg.norm(high - low)) or 1.0
        clear = 1.2 * max(float((high - low)[:2].max()), 0.3 * self.size)  # a fifth of a robot lies between two
        cells = grid(len(self.rows), clear if spacing is None else spacing)
        if at is None:  # beside those that are there
            at = (0.0, self.served.next_to(float(low[1] + cells[:, 1].min()), float(high[1] + cells[:, 1].max())), 0.0)
        self.offsets: np.ndarray = cells + np.asarray(at, dtype=float)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and largest coordinates in the scene of what is drawn of it, as it is now [m]."""
        low, high = self._extent()
        return low + self.offsets.min(axis=0), high + self.offsets.max(axis=0)

    def _extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and largest coordinates of what is drawn of the first world about its origin [m]."""
        shapes = [surface for drawn in self._drawn.values() for surface in drawn]
        return bounds(self.model, shapes, place_bodies(self.model, self.rows[:1], np.zeros((1, 3))))

    def placement(self) -> Placement:
        """Return the poses of its bodies and frames in the scene [m], now."""
        return place_bodies(self.model, self.rows, self.offsets)

    @property
    def q(self) -> np.ndarray:
        """Its configuration [rad, m], shape (nq,), or (worlds, nq) if several were given; a copy."""
        return self.rows[0].copy() if self._is_single else self.rows.copy()

    def update(self, q: ArrayLike | State) -> None:
        """Show the robot in other configurations; this returns at once, and what is not shown in time is left out.

        Args:
            q: configurations [rad, m], shape (nq,), or (worlds, nq), a row for each world; or the state of a world.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ConfigurationError: if that is no configuration.
        """
        self.rows = checked_rows(f"viewer: robot {self.name!r}", self.model, q, len(self.rows))
        self.served.mailbox.post(("draw", self.name), self.draw)

    def led(self, q: np.ndarray, held: str = "") -> None:
        """Show one world in another configuration, by the browser's wish; in the viewer's thread.

        Args:
            q: the configuration [rad, m], shape (nq,).
            held: the joint that was moved: where there are loops, the others close them.
        """
        if self.model.closures:
            try:
                q = assemble(self.model, q, fixed=[held] if held else [], tolerance=1e-9)
            except AssemblyError:  # where the loops cannot follow: it stays, and what was moved comes back
                q = self.rows[self.world]
        rows = self.rows.copy()
        rows[self.world] = q
        self.rows = rows
        self.draw()

    def select(self, body: str | None, world: int = 0) -> None:
        """Name a body in the scene and in the controls, as a click on it does; None takes the name away.

        Args:
            body: its name.
            world: which of several.

        Raises:
            UnknownNameError: for a body that does not exist.

        Examples:
            >>> with cardan.show(arm) as view:
            ...     view.robot().select("upper_arm_roll")
            ...     view.robot().select(None)
        """
        if self._label is not None:
            self._label.remove()
            self._label = None
        if body is None:
            return
        self.world = min(max(int(world), 0), len(self.rows) - 1)
        carried = self.model.body(body).inertia if body != WORLD else None
        mass = f", {float(carried.mass):.6g} kg" if carried is not None else ""
        self._selected.content = f"**{body}**{mass}" + f", world {self.world}" * (len(self.rows) > 1)
        self._label = self.served.server.scene.add_label(f"/{self.name.replace('/', ' ')}/selected", body)
        self._selection = body
        self.draw()

    def draw(self) -> None:
        """Send where everything is that can be seen; in the viewer's thread, once the robot is added."""
        q, at = self.rows, self.placement()
        for layer in self.layers.values():
            if layer.node.visible:
                layer.draw(q, at)
        self.dragging.follow(at)
        if self._label is not None:
            self._label.position = at.positions[self.world, at.rows[self._selection]]
        self.served.mailbox.post(("sliders", self.name), self.sliders.follow, after=0.1, replace=False)

    def toggle(self, **layers: bool) -> None:
        """Show or hide what can be drawn of it.

        Args:
            layers: by name, of `visual`, `collision`, `frames`, `center_of_mass`, `inertia`, `closures`: those it has.

        Raises:
            UnknownNameError: for another name.
        """
        for name, visible in layers.items():
            check_known("layer", name, self.layers, f"viewer: robot {self.name!r}")
            self.layers[name].node.visible = bool(visible)
            self._toggles[name].value = bool(visible)
        self.served.mailbox.post(("draw", self.name), self.draw)

    def _layers(self, shown: Mapping[str, bool]) -> dict[str, Layer]:
        scene, model, at, size = self.served.server.scene, self.model, self.placement(), self.size
        path = f"/{self.name.replace('/', ' ')}"
        scene.add_frame(path, show_axes=False)
        seen = {"visual": True, "collision": not self._drawn["visual"], "closures": True, **shown}

        def pick(*clicked: Any) -> None:
            self.served.mailbox.post(("pick", self.name), lambda: self.select(*clicked))

        def node(name: str) -> Any:
            return scene.add_frame(f"{path}/{name}", show_axes=False, visible=bool(seen.get(name, False)))

        def layer(name: str, add: Callable[..., scene_layers.Draw], *parts: Any) -> Layer:
            return Layer(node(name), add(scene, f"{path}/{name}", *parts))

        made = {
            role: scene_layers.shapes(node(role), scene, f"{path}/{role}", drawn, at, pick)
            for role, drawn in self._drawn.items()
            if drawn
        }
        made["frames"] = layer("frames", scene_layers.axes, size, at)
        if model.mass > 0.0:
            made["center_of_mass"] = layer("center_of_mass", scene_layers.mass_centre, size, model, self.offsets)
            made["inertia"] = layer("inertia", scene_layers.inertias, model, at)
        if model.closures:
            made["closures"] = layer("closures", scene_layers.closures, size, model, at)
        unknown = [name for name in shown if name not in (*made, *LAYERS)]
        if unknown:
            raise UnknownNameError("layer", unknown[0], made, where=f"viewer: robot {self.name!r}")
        return made

    def _add_toggles(self) -> dict[str, Any]:
        made = {}
        for name, layer in self.layers.items():
            made[name] = self.served.server.gui.add_checkbox(name.replace("_", " "), layer.node.visible)
            made[name].on_update(self.served.by_browser(self._toggled, name))
        return made

    def _toggled(self, name: str, visible: bool) -> None:
        self.layers[name].node.visible = bool(visible)
        self.draw()

    def reset(self) -> None:
        """Show it as it was shown first."""
        self.update(self.start)

    def __repr__(self) -> str:
        return f"<ShownRobot {self.name!r}: {len(self.rows)} of {self.model.name!r}>"


def checked_rows(where: str, model: Model, q: Any, worlds: int | None = None) -> np.ndarray:
    """Return configurations as rows, (worlds, nq): a copy; one stands for all worlds. Errors name what does not fit."""
    array = numeric_array(where, "q", q.q if isinstance(q, State) else q)
    rows = np.atleast_2d(array)
    fits = array.ndim in (1, 2) and rows.shape[1] == model.nq and len(rows) > 0
    if not fits or (worlds and len(rows) not in (1, worlds)):
        expected = f"({model.nq},), or ({worlds or 'worlds'}, {model.nq}) with a row for each world"
        raise ShapeError(where, "q", got=array.shape, expected=expected)
    check_finite(where, "q", rows)
    check_configuration(where, "q", rows, model.unit_parts)
    return np.array(np.broadcast_to(rows, (worlds or len(rows), model.nq)), dtype=float)


LAYERS = ("visual", "collision", "frames", "center_of_mass", "inertia", "closures")
