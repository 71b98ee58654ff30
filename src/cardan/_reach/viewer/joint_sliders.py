"""Sliders in the browser, one for each degree of freedom, within its limits; mimic joints follow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cardan._reach.viewer.slider_coordinates import WAY, SliderRange, slider_ranges, values_of, with_value
from cardan._robot.model import WORLD, Model

if TYPE_CHECKING:
    from cardan._reach.viewer.shown_robot import ShownRobot

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
    """The sliders of a robot, and what sets all of them."""

    def __init__(self, robot: ShownRobot) -> None:
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
            self.sliders = [self._slider(place) for place in places if place.joint not in bases]
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
        value = place.rounded(self._value(place))
        slider = gui.add_slider(place.label, place.lower, place.upper, place.step, value)
        slider.disabled = place.lower == place.upper
        slider.on_update(self.robot.served.by_browser(self._slid, place))
        return place, slider

    def _value(self, place: SliderRange) -> float:
        return values_of(self.robot.model, place.joint, self.robot.rows[self.robot.world])[place.index]

    def _slid(self, place: SliderRange, value: Any) -> None:
        """Move the robot as a slider was moved; what no slider of this page can send is left."""
        if not isinstance(value, int | float) or not math.isfinite(value):
            return
        robot, value = self.robot, min(max(float(value), place.lower), place.upper)
        robot.led(with_value(robot.model, robot.rows[robot.world], place, value), held=place.joint)

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
