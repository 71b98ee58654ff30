"""Small worlds with contact, for tests."""

from __future__ import annotations

import numpy as np

import cardan
from cardan import WorldBuilder
from cardan.description import Box, Sphere

EARTH = 9.81
SLOPE = np.arctan(0.4)


def box_world(material, size=(0.2, 0.2, 0.1), mass=1.0, slope=0.0, ground=True):
    """A box on a half space; on a slope gravity leans towards x."""
    b = WorldBuilder("box", gravity=(EARTH * np.sin(slope), 0.0, -EARTH * np.cos(slope)))
    if ground:
        b.add_ground(material)
    b.add_body("box", pose=cardan.SE3(translation=[0.0, 0.0, 0.5 * size[2]]))
    b.add_shape("box", Box(size), density=mass / np.prod(size), material=material)
    return b.finalize()


def ball_world(material, radius=0.1, height=0.0):
    """A ball of 1 kg above a half space."""
    b = WorldBuilder("ball")
    b.add_ground(material)
    b.add_body("ball", pose=cardan.SE3(translation=[0.0, 0.0, radius + height]))
    b.add_shape("ball", Sphere(radius), density=0.75 / (np.pi * radius**3), material=material)
    return b.finalize()


def stack_world(masses, size=0.2, material=None):
    """Cubes on one another on a half space."""
    b = WorldBuilder("stack")
    b.add_ground(material)
    for k, mass in enumerate(masses):
        b.add_body(f"box{k}", pose=cardan.SE3(translation=[0.0, 0.0, (k + 0.5) * size]))
        b.add_shape(f"box{k}", Box((size, size, size)), density=mass / size**3, material=material)
    return b.finalize()


def energy(world, state):
    """Kinetic and potential energy [J]."""
    model = world.model
    return cardan.kinetic_energy(model, state.q, state.v) + cardan.potential_energy(model, state.q)
