"""What the browser moves a robot by: sliders for joint coordinates, and a handle.

Sliders show the coordinates in which limits are stated (`Manifold.limit_coordinates`): angles [rad] and lengths [m]
themselves, the rotation vector of an orientation. Every set of them is a configuration, of any joint.

The handle moves a frame, by inverse kinematics, or a joint of several degrees of freedom, directly. Dragging it
asks for a pose of the joint's child. The joint takes the nearest one (`Joint.nearest_configuration`), and so stays on
its configuration space.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.errors import UnknownNameError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.manifolds.product import configuration_of, scalar_coordinates
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.coordinates.model_converter import owners
from cardan._motion.simulation.standing import raised
from cardan._motion.tasks import FramePose, inverse_kinematics
from cardan._reach.viewer.served_scene import MovableRobot, Placement, pose_matrix, quaternion_wxyz
from cardan._robot.joints import Joint
from cardan._robot.model import Model
from cardan._robot.records import WORLD, Connection

# How far sliders go where there is no limit: half a turn either way [rad]; this far [m] if it is not said.
TURN, WAY = 3.1415, 1.0
BEYOND = 1e9  # from where on there is no limit [rad, m]: files write large numbers for that
STEPS = 1000  # about how many steps a slider has
ROUNDING = 1e-9  # below this, the angular part of a motion is rounding


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
    return [place for c in owners(model) for place in _ranges(c, way)]


def _ranges(c: Connection, way: float) -> Iterator[SliderRange]:
    limits, names = c.limits.resolved(c.joint.nv, c.name), _names(c) if c.joint.nv > 1 else ()
    for k, unit in enumerate(units(c.joint)):
        reach = TURN if unit == "rad" else way
        lower, upper = tuple(limits.lower or ())[k], tuple(limits.upper or ())[k]
        least, most = -math.inf if lower < -BEYOND else lower, math.inf if upper > BEYOND else upper
        lower, upper = map(float, finite_range(least, most, reach))
        step = 10.0 ** math.floor(math.log10(max(upper - lower, 1e-9) / STEPS * 2.0))
        name = f"{c.name} {names[k]}" if names else c.name
        yield SliderRange(c.name, k, f"{name} [{unit}]", lower, upper, step)


def units(joint: Joint) -> list[str]:
    """Return the unit of each coordinate in which a joint's limits are stated: what turns [rad], what shifts [m]."""
    q = tuple(float(e) for e in joint.neutral())
    turns = (any(abs(float(e)) > ROUNDING for e in column.angular) for column in joint.motion_subspace(q))
    return ["rad" if turn else "m" for turn in turns]


def _names(c: Connection) -> Sequence[str]:
    if c.joint.nq == c.joint.nv:
        return c.joint.coordinate_names
    plain = {k: c.joint.coordinate_names[i] for i, k in scalar_coordinates(c.joint.manifold)}
    turning = iter(("rx", "ry", "rz") if c.joint.nv - len(plain) == 3 else ("angle",) * c.joint.nv)
    return [plain[k] if k in plain else next(turning) for k in range(c.joint.nv)]


def values_of(model: Model, joint: str, q: np.ndarray) -> tuple[float, ...]:
    own = tuple(map(float, q[model.slices[joint][0]]))
    return tuple(float(e) for e in model.joint(joint).manifold.limit_coordinates(own))


def lifted(model: Model, q: np.ndarray, by: float) -> np.ndarray:
    """Return the configuration (nq,) in which what floats freely in the world is higher by so much [m]."""
    q = q.copy()
    for c in owners(model):
        if c.parent == WORLD and c.joint.is_floating:
            q[model.slices[c.name][0]] = raised(c, q[model.slices[c.name][0]].tolist(), by)
    return q


NEUTRAL, FIRST = "neutral", "as shown first"


def roots(model: Model) -> tuple[set[str], set[str]]:
    """Return the joints that let a tree float in the world, and of these the ones of bodies that are alone."""
    bases = {c.name: c.child for c in model.connections if c.parent == WORLD and c.joint.is_floating}
    carrying = {c.parent for c in model.connections}
    loose = {name for name, child in bases.items() if child not in carrying}
    return set(bases), loose if len(model.connections) > 1 else set()  # a single body is all there is


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
            held = [place for place in places if place.joint not in bases]
            self.sliders: list[tuple[SliderRange, Any]] = [self._slider(place) for place in held]
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
        q, own = robot.rows[robot.world].copy(), robot.model.slices[place.joint][0]
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


NOTHING = "nothing"


class Dragging:
    """The handle of a robot, and what it is on."""

    def __init__(self, robot: MovableRobot) -> None:
        self.robot = robot
        self.frame: str | None = None
        self.joint: Connection | None = None
        self._held = threading.Event()
        model = robot.model
        # A joint that turns and has three freedoms is moved better by a handle than by sliders.
        self._joints = {c.name: c for c in owners(model) if c.joint.nv >= 3 and motions_of(c)[1]}
        names = [f"joint {name}" for name in self._joints]
        self._choices = (NOTHING, *names, *(f"frame {n}" for n in model.frame_names if model.attachment(n).node >= 0))
        scene, path = robot.served.server.scene, f"/{robot.name.replace('/', ' ')}/handle"
        self.handle: Any = scene.add_transform_controls(path, scale=0.25 * robot.size, visible=False, depth_test=False)
        self.handle.on_update(self._moved)
        self._dropdown = robot.served.server.gui.add_dropdown("drag", self._choices, initial_value=NOTHING)
        self._dropdown.on_update(robot.served.by_browser(self._choose))

    def hold(self, frame: str | None = None, joint: str | None = None) -> None:
        """Put the handle on a frame or a joint, or on nothing; UnknownNameError for one that has no handle."""
        if frame is not None:
            self.robot.model.attachment(frame)
        if joint is not None and joint not in self._joints:
            raise UnknownNameError("joint with a handle", joint, self._joints, where=f"viewer: {self.robot.name!r}")
        self.frame, self.joint = frame, self._joints[joint] if joint is not None else None
        self.handle.visible = frame is not None or joint is not None
        choice = f"frame {frame}" if frame is not None else f"joint {joint}" if joint is not None else NOTHING
        if choice in self._choices:
            self._dropdown.value = choice
        if self.joint is not None:
            moves, turns = motions_of(self.joint)
            self.handle.disable_axes = self.handle.disable_sliders = not moves
            self.handle.disable_rotations = not turns
        elif frame is not None:
            self.handle.disable_axes = self.handle.disable_sliders = self.handle.disable_rotations = False
        self.robot.served.mailbox.post(("draw", self.robot.name), self.robot.draw)
        if frame is not None:
            self.robot.served.mailbox.post(("prepare", self.robot.name), self._prepare)

    def _prepare(self) -> None:
        """Solve for where the frame is, so that the program is there before the first drag."""
        robot = self.robot
        if self.frame is not None:
            q = robot.rows[robot.world]
            reached(robot.model, self.frame, frame_transform(robot.model, q, frame=self.frame), q)

    def _choose(self, choice: str) -> None:
        kind, _, name = choice.partition(" ")
        self.hold(**({kind: name} if choice in self._choices and choice != NOTHING else {}))

    def follow(self, at: Placement) -> None:
        """Put the handle where what it is on is, unless somebody holds it: let go, it comes back."""
        if self.handle.visible and not self._held.is_set():
            X = at.matrix(self.frame or WORLD, self.robot.world)
            if self.joint is not None:
                X = at.matrix(self.joint.child, self.robot.world) @ self.joint.child_pose.matrix()
            self.handle.position, self.handle.wxyz = X[:3, 3], quaternion_wxyz(X[:3, :3])

    async def _moved(self, event: Any) -> None:
        """Note where the browser has the handle; the newest place is the one that counts."""
        if event.phase == "start":
            self._held.set()
        elif event.phase == "end":
            self._held.clear()
            self.robot.served.mailbox.post(("draw", self.robot.name), self.robot.draw)
        else:
            target = pose_matrix(np.array(self.handle.position), np.array(self.handle.wxyz))
            if np.isfinite(target).all():
                self.robot.served.mailbox.post(("drag", self.robot.name), lambda: self._reach(target))

    def _reach(self, target: np.ndarray) -> None:
        robot, c = self.robot, self.joint
        q = robot.rows[robot.world].copy()
        if c is not None:
            X_parent, own = robot.placement().matrix(c.parent, robot.world), robot.model.slices[c.name][0]
            X = SE3.of(np.linalg.inv(X_parent @ c.parent_pose.matrix()) @ target)
            q[own] = [float(e) for e in c.joint.nearest_configuration(X, tuple(map(float, q[own])))]
            robot.led(q, held=c.name)
        elif self.frame is not None:
            X_frame = target.copy()
            X_frame[:3, 3] -= robot.offsets[robot.world]
            robot.led(reached(robot.model, self.frame, X_frame, q))


def motions_of(c: Connection) -> tuple[bool, bool]:
    """Return whether a joint moves its child along some line, and whether it turns it."""
    columns = c.joint.motion_subspace(tuple(c.joint.neutral()))
    parts = [[abs(float(e)) > 1e-9 for column in columns for e in getattr(column, p)] for p in ("linear", "angular")]
    return any(parts[0]), any(parts[1])


FIRMLY = 100.0  # weight of a floating base's staying: an error of 1 cm there counts as much as one of 1 m at the handle


def reached(model: Model, frame: str, target: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the configuration near q, (nq,), in which a frame is at a pose (4, 4) in the world, or as near as found.

    A base that floats stays where it is, unless it is the base that is dragged.
    """
    bases = [c.child for c in owners(model) if c.parent == WORLD and c.joint.is_floating]
    held = [base for base in bases if model.attachment(base).node != model.attachment(frame).node]
    stay = [FramePose(base, frame_transform(model, q, frame=base), weight=FIRMLY) for base in held]
    return inverse_kinematics(model, [FramePose(frame, target), *stay], q0=q, restarts=0).q
