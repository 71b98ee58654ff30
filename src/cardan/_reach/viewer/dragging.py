"""A handle in the browser: it moves a frame, by inverse kinematics, or a joint of several degrees of freedom, directly.

Dragging a joint's handle asks for a pose of its child; the joint takes the nearest one it can
(`Joint.nearest_configuration`), so that it stays on its configuration space, whatever that is.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from cardan._algebra.errors import UnknownNameError
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.coordinates.model_converter import owners
from cardan._motion.tasks import FramePose, inverse_kinematics
from cardan._reach.viewer.placement import Placement, pose_matrix, quaternion_wxyz
from cardan._reach.viewer.served_scene import MovableRobot
from cardan._robot.model import Model
from cardan._robot.records import WORLD, Connection

NOTHING = "nothing"


class Dragging:
    """The handle of a robot, and what it is on."""

    def __init__(self, robot: MovableRobot) -> None:
        self.robot = robot
        self.latency: float = float("nan")  # from the last message of the browser to its answer's being sent [s]
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

    # --- what it is on ---

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

    # --- what it does ---

    async def _moved(self, event: Any) -> None:
        """Note where the browser has the handle; the newest place is the one that counts."""
        if event.phase == "start":
            self._held.set()
        elif event.phase == "end":
            self._held.clear()
            self.robot.served.mailbox.post(("draw", self.robot.name), self.robot.draw)
        else:
            target = pose_matrix(np.array(self.handle.position), np.array(self.handle.wxyz))
            came = time.perf_counter()
            if np.isfinite(target).all():
                self.robot.served.mailbox.post(("drag", self.robot.name), lambda: self._reach(target, came))

    def _reach(self, target: np.ndarray, came: float) -> None:
        if self.joint is not None:
            self.robot.led(self._of_joint(self.joint, target), held=self.joint.name)
        elif self.frame is not None:
            X = target.copy()
            X[:3, 3] -= self.robot.offsets[self.robot.world]
            self.robot.led(reached(self.robot.model, self.frame, X, self.robot.rows[self.robot.world]))
        self.latency = time.perf_counter() - came

    def _of_joint(self, c: Connection, target: np.ndarray) -> np.ndarray:
        robot = self.robot
        X_parent = robot.placement().matrix(c.parent, robot.world) @ c.parent_pose.matrix()
        q, own = robot.rows[robot.world].copy(), robot.model.q_slice(c.name)
        X = SE3.of(np.linalg.inv(X_parent) @ target)
        q[own] = [float(e) for e in c.joint.nearest_configuration(X, tuple(map(float, q[own])))]
        return q


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
