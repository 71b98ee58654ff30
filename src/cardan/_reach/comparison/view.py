"""What is compared of a robot: its bodies, joints and the rest by name, of a mechanism or a model alike."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError, MechanismError
from cardan._reach.formats.load import options_for, read_robot
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import rooted
from cardan._robot.joints import FreeFlyer
from cardan._robot.model import WORLD, Body, Connection, Frame, Model

Robot = Mechanism | Model | str | bytes | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class View:
    """A robot as it is compared.

    Attributes:
        thing: the mechanism or model.
        bodies: by name.
        tree: the joints of its tree by the child, directed away from the world.
        closures: the joints that close loops.
    """

    thing: Mechanism | Model
    bodies: Mapping[str, Body]
    tree: Mapping[str, Connection]
    closures: tuple[Connection, ...]

    @classmethod
    def of(cls, thing: Mechanism | Model) -> View:
        """Return the view of a robot; the parts of a mechanism that do not hang on the world float."""
        bodies = {body.name: body for body in thing.bodies if body.name != WORLD}
        if isinstance(thing, Model):
            tree, closures = {c.child: c for c in thing.connections}, tuple(thing.closures)
        else:
            directed, closures = rooted(tuple(bodies), thing.joints, (), FreeFlyer(), ())
            described = {c.name for c in thing.joints}
            tree = {c.child: c for c in directed if c.name in described}
        return cls(thing, bodies, tree, closures)

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.thing.name

    @property
    def gravity(self) -> np.ndarray:
        """[m/s^2]."""
        return np.array(tuple(self.thing.gravity), dtype=float)

    @property
    def frames(self) -> Mapping[str, Frame]:
        """By name."""
        return {frame.name: frame for frame in self.thing.frames}


def opened(robot: Robot, options: Mapping[str, Any]) -> Mechanism | Model:
    """Return a robot that is given, or read from a description.

    Raises:
        DTypeError: for what is neither.
        DescriptionError: for a description with errors.
    """
    if isinstance(robot, (Mechanism, Model)):
        return robot
    if not isinstance(robot, (str, bytes, os.PathLike)):
        expected = "a mechanism, a model, or a robot description"
        raise DTypeError("compare", "robot", got=f"a {type(robot).__name__}", expected=expected)
    return read_robot(robot, **options_for(robot, options))


def alike(a: Mechanism | Model, b: Mechanism | Model) -> tuple[View, View]:
    """Return the views of two robots; where one is a model, the mechanism is made one with the same base."""
    if isinstance(a, Model) and isinstance(b, Mechanism):
        b = _on_base(b, a)
    elif isinstance(b, Model) and isinstance(a, Mechanism):
        a = _on_base(a, b)
    return View.of(a), View.of(b)


def _on_base(mechanism: Mechanism, like: Model) -> Model:
    """Return the model of a mechanism on the base of another."""
    own = {c.name for c in mechanism.joints}
    base = next((c for c in like.connections if c.parent == WORLD and c.name not in own), None)
    if base is None or any(visit.body == base.child for visit in mechanism.traversal(WORLD)):
        return mechanism.model()
    try:
        return mechanism.model(root=base.child, base=base.joint)
    except MechanismError:
        return mechanism.model()
