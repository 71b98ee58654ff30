"""Joint coordinates as numbers that can be set one by one, whatever the joint's configuration space is.

They are those in which limits are stated (`Manifold.limit_coordinates`): angles [rad] and lengths [m] themselves, the
rotation vector of an orientation. Every set of them is a configuration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.manifolds.product import configuration_of, scalar_coordinates
from cardan._dynamics.coordinates.model_converter import owners
from cardan._motion.simulation.standing import raised
from cardan._reach.pictures.arguments import units
from cardan._reach.viewer.served_scene import MovableRobot
from cardan._robot.model import Model
from cardan._robot.records import WORLD, Connection

# How far sliders go where there is no limit: half a turn either way [rad]; this far [m] if it is not said.
TURN, WAY = 3.1415, 1.0
BEYOND = 1e9  # from where on there is no limit [rad, m]: files write large numbers for that
STEPS = 1000  # about how many steps a slider has


@dataclass(frozen=True, slots=True)
class SliderRange:
    joint: str  # its joint's name
    index: int  # which of the joint's degrees of freedom it is
    label: str  # what it is called, with its unit
    lower: float  # least value
    upper: float  # largest value
    step: float  # a power of ten

    def rounded(self, value: float) -> float:
        digits = max(0, -round(math.log10(self.step))) + 1
        return min(max(round(value, digits), self.lower), self.upper)


def slider_ranges(model: Model, way: float = WAY) -> list[SliderRange]:
    """Return the degrees of freedom in the order of v; lengths without a limit go so far either way [m]."""
    return [_range(c, k, way) for c in owners(model) for k in range(c.joint.nv)]


def _range(c: Connection, k: int, way: float) -> SliderRange:
    unit = units(c.joint)[k]
    reach = TURN if unit == "rad" else way
    limits = c.limits.resolved(c.joint.nv, c.name)
    lower, upper = tuple(limits.lower or ())[k], tuple(limits.upper or ())[k]
    least, most = -math.inf if lower < -BEYOND else lower, math.inf if upper > BEYOND else upper
    lower, upper = map(float, finite_range(least, most, reach))
    step = 10.0 ** math.floor(math.log10(max(upper - lower, 1e-9) / STEPS * 2.0))
    name = c.name if c.joint.nv == 1 else f"{c.name} {_names(c)[k]}"
    return SliderRange(c.name, k, f"{name} [{unit}]", lower, upper, step)


def _names(c: Connection) -> Sequence[str]:
    if c.joint.nq == c.joint.nv:
        return c.joint.coordinate_names
    plain = {k: c.joint.coordinate_names[i] for i, k in scalar_coordinates(c.joint.manifold)}
    turning = iter(("rx", "ry", "rz") if c.joint.nv - len(plain) == 3 else ("angle",) * c.joint.nv)
    return [plain[k] if k in plain else next(turning) for k in range(c.joint.nv)]


def values_of(model: Model, joint: str, q: np.ndarray) -> tuple[float, ...]:
    own = tuple(map(float, q[model.q_slice(joint)]))
    return tuple(float(e) for e in model.joint(joint).manifold.limit_coordinates(own))


def lifted(model: Model, q: np.ndarray, by: float) -> np.ndarray:
    """Return the configuration (nq,) in which what floats freely in the world is higher by so much [m]."""
    q = q.copy()
    for c in owners(model):
        if c.parent == WORLD and c.joint.is_floating:
            q[model.q_slice(c.name)] = raised(c, q[model.q_slice(c.name)].tolist(), by)
    return q


NEUTRAL, FIRST = "neutral", "as shown first"


def roots(model: Model) -> tuple[set[str], set[str]]:
    """Return the joints that let a tree float in the world, and of these the ones of bodies that are alone.

    One body alone in the world is no loose one: it is all there is.
    """
    bases = {c.name: c.child for c in model.connections if c.parent == WORLD and c.joint.is_floating}
    carrying = {c.parent for c in model.connections}
    loose = {name for name, child in bases.items() if child not in carrying}
    return set(bases), loose if len(model.connections) > 1 else set()


class JointSliders:
    def __init__(self, robot: MovableRobot) -> None:
        self.robot = robot
        gui, by_browser = robot.served.server.gui, robot.served.by_browser
        if len(robot.rows) > 1:
            world = gui.add_slider("world", 0, len(robot.rows) - 1, 1, 0, hint="which one sliders and handles move")
            world.on_update(by_browser(self._choose))
        self._configurations = {FIRST: None, NEUTRAL: robot.model.neutral(), **robot.model.named_configurations}
        go = gui.add_dropdown("configuration", tuple(self._configurations), initial_value=FIRST)
        go.on_update(by_browser(self._go))
        places = slider_ranges(robot.model, self._way())
        bases, loose = roots(robot.model)
        with gui.add_folder("joints"):
            self.sliders: list[tuple[SliderRange, Any]] = [
                self._slider(place) for place in places if place.joint not in bases
            ]
        if bases:
            with gui.add_folder("base", expand_by_default=not self.sliders):
                free = [place for place in places if place.joint in bases and place.joint not in loose]
                self.sliders += [self._slider(place) for place in free]
                if loose:
                    gui.add_markdown(f"{len(loose)} loose bodies: *drag* moves each of them.")
        self.follow()

    def _way(self) -> float:
        """Return how far lengths without limits go [m]: a metre, unless that is much or little for such a robot."""
        model, q = self.robot.model, self.robot.rows[self.robot.world]
        lengths = [values_of(model, p.joint, q)[p.index] for p in slider_ranges(model) if p.label.endswith("[m]")]
        size = self.robot.size
        far = max(size, min(WAY, 10.0 * size)) + max(map(abs, lengths), default=0.0)
        digit = 10.0 ** math.floor(math.log10(far))
        return math.ceil(far / digit) * digit

    def _slider(self, place: SliderRange) -> tuple[SliderRange, Any]:
        gui = self.robot.served.server.gui
        slider = gui.add_slider(place.label, place.lower, place.upper, place.step, place.rounded(self._value(place)))
        slider.disabled = place.lower == place.upper
        slider.on_update(self.robot.served.by_browser(self._on_slider, place))
        return place, slider

    def _value(self, place: SliderRange) -> float:
        return values_of(self.robot.model, place.joint, self.robot.rows[self.robot.world])[place.index]

    def _on_slider(self, place: SliderRange, value: Any) -> None:
        """Move the robot as a slider was moved; what no slider of this page can send is left."""
        if not isinstance(value, int | float) or not math.isfinite(value):
            return
        robot = self.robot
        q, own = robot.rows[robot.world].copy(), robot.model.q_slice(place.joint)
        values = list(values_of(robot.model, place.joint, q))
        values[place.index] = min(max(float(value), place.lower), place.upper)
        q[own] = configuration_of(robot.model.joint(place.joint).manifold, values)
        robot.led(q, held=place.joint)

    def _choose(self, world: Any) -> None:
        self.robot.world = min(max(int(world), 0), len(self.robot.rows) - 1)
        self.robot.draw()

    def _go(self, name: Any) -> None:
        q = self._configurations.get(name)
        self.robot.led(self.robot.start[self.robot.world] if q is None else q)

    def follow(self) -> None:
        """Set the sliders to where the robot is; those that show it already are let alone."""
        for place, slider in self.sliders:
            value = place.rounded(self._value(place))
            if abs(slider.value - value) > 0.6 * place.step:
                slider.value = value
