"""Robots as they are simulated: with drives, feet and a ground, standing.

A Panda on its base, ANYmal B on four spherical feet (radius 31 mm), a Unitree G1 on the eight points of its URDF
(radius 5 mm). Gains are 400/40 (fingers 1000/50), 150/3 and 100/2; the joints' limits are those of the URDF.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import cardan
from benchmarks.robots import robot
from cardan.description import Box, HeightField, Plane, Shape, Sphere, TriangleMesh
from cardan.simulation import Control, World

SOLE = [(-0.05, 0.025, -0.03), (-0.05, -0.025, -0.03), (0.12, 0.03, -0.03), (0.12, -0.03, -0.03)]
ARM = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]


@dataclass(frozen=True)
class Scene:
    """A robot with gains and feet.

    Attributes:
        name: of the robot (`benchmarks.robots`).
        drives: gains by pattern.
        feet: (body, centre in the body, radius) of spheres that touch the ground.
        pose: coordinates of joints that are not neutral, by name.
        friction: of feet and ground.
    """

    name: str
    drives: dict[str, cardan.Drive]
    feet: tuple[tuple[str, tuple[float, float, float], float], ...]
    pose: dict[str, float]
    friction: float = 0.8

    @property
    def base(self) -> str:
        """How it hangs on the world, fixed or floating."""
        return robot(self.name).base

    @cached_property
    def world(self) -> World:
        """The robot on its ground."""
        mechanism, _ = cardan.load_mechanism(robot(self.name).urdf).with_drives(self.drives)
        for body, centre, radius in self.feet:
            pose = cardan.SE3(translation=centre)
            mechanism.add_shape(Shape(body, "collision", Sphere(radius), pose, surface=self.surface))
        return mechanism.world(base=self.base, ground=self.surface if self.feet else False)

    @property
    def surface(self) -> cardan.Material:
        """What feet and ground are made of."""
        return cardan.Material(friction=self.friction, stiffness=3e4)

    @cached_property
    def standing(self) -> np.ndarray:
        """The configuration in which it stands, its lowest foot on the ground, shape (nq,)."""
        model = self.world.model
        q = model.neutral()
        for joint, x in self.pose.items():
            q[model.q_slice(joint)] = x
        if self.feet:
            fk = dict(zip(model.body_names, cardan.forward_kinematics(model, q), strict=True))
            q[2] -= min((fk[body] @ [*centre, 1.0])[2] - radius for body, centre, radius in self.feet)
        return q

    @cached_property
    def targets(self) -> np.ndarray:
        """What its drives hold: the joints as they stand, shape (nv,)."""
        return np.array(cardan.limit_coordinates(self.world.model, self.standing))


def _anymal() -> dict[str, float]:
    front = {f"{leg}_{joint}": x for leg in ("LF", "RF") for joint, x in (("HFE", 0.7), ("KFE", -1.0))}
    return front | {f"{leg}_{joint}": x for leg in ("LH", "RH") for joint, x in (("HFE", -0.7), ("KFE", 1.0))}


def _g1() -> dict[str, float]:
    bent = {"hip_pitch": -0.2, "knee": 0.42, "ankle_pitch": -0.23}
    return {f"{side}_{joint}_joint": x for side in ("left", "right") for joint, x in bent.items()}


SCENES = {
    "panda": Scene(
        "panda",
        {"*": cardan.Drive(400.0, 40.0), "panda_finger*": cardan.Drive(1000.0, 50.0)},
        (),
        {f"panda_joint{i}": x for i, x in enumerate(ARM, 1)},
    ),
    "anymal": Scene(
        "anymal",
        {"*": cardan.Drive(150.0, 3.0)},
        tuple((f"{leg}_FOOT", (0.0, 0.0, 0.02325), 0.031) for leg in ("LF", "RF", "LH", "RH")),
        _anymal(),
    ),
    "g1": Scene(
        "g1",
        {"*": cardan.Drive(100.0, 2.0)},
        tuple((f"{side}_ankle_roll_link", point, 0.005) for side in ("left", "right") for point in SOLE),
        _g1(),
    ),
}


def grounds() -> dict[str, Plane | HeightField | TriangleMesh]:
    """Return level ground; bumps of 2 cm as a height field, and as triangles where the robots are."""

    def bumps(samples: int, side: float) -> HeightField:
        x = np.linspace(-0.5 * side, 0.5 * side, samples)
        return HeightField(0.02 * np.outer(np.cos(2.5 * x), np.sin(3.0 * x)), size=(side, side), thickness=0.3)

    return {"plane": Plane(), "height field": bumps(1000, 20.0), "triangles": TriangleMesh.of(bumps(61, 6.0))}


def held(file: Path) -> tuple[World, Control]:
    """Return an Allegro hand on the world, palm up, a box of 6 cm above it, and what closes its fingers about that.

    The file has dry friction of up to 12 N m in each joint, which the drives have to overcome.
    """
    hand, _ = cardan.load_mechanism(file).with_drives(
        {"*": cardan.Drive(stiffness=100.0, damping=1.0)}
    )  # N m/rad, N m s/rad
    builder = cardan.WorldBuilder("held")
    builder.add(hand, pose=cardan.SE3.from_rpy((0.0, -0.5 * np.pi, 0.0)))
    builder.add_body("box", pose=cardan.SE3(translation=(-0.065, 0.0, 0.06)))
    builder.add_shape("box", Box((0.06, 0.06, 0.06)), density=400.0)
    world = builder.finalize()
    control = world.control()
    control.position[0, :16] = [0.0, 1.5, 1.6, 1.0] * 3 + [1.3, 0.2, 0.8, 1.0]  # rad, three fingers and the thumb
    return world, control
