"""What the tests of JSON compare and write: bits of everything, a mechanism with everything in it."""

import dataclasses
import functools
import json
import math
import struct
from collections.abc import Mapping

import numpy as np

import cardan
from cardan import SE3, Actuator, Drive, Group, Inertia, Joint, Limits, Material, Mechanism, Spring
from cardan._reach.formats.json.values import SHIPPED
from cardan.description import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Hull,
    Mesh,
    Plane,
    Shape,
    Sphere,
    TriangleMesh,
)
from cardan.joints import Mimic, Revolute
from cardan.manifolds import Euclidean
from cardan.spatial import Vector3
from mechanisms import random_inertia, random_mechanism, random_pose

NASTY = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    0.1,
    1 / 3,
    1e22,
    1e16,
    9007199254740993.0,
)


def bits(thing):
    """Every number of a thing, as bits, with the types around it; equal bits are equal things to the last bit."""
    if isinstance(thing, (float, np.floating)):
        return struct.pack("<d", thing).hex()
    if isinstance(thing, np.ndarray):
        return (str(thing.dtype), thing.shape, thing.tobytes())
    if isinstance(thing, (tuple, list)):
        return (type(thing).__name__, *map(bits, thing))
    if isinstance(thing, Mapping):
        return tuple((k, bits(v)) for k, v in thing.items())
    if dataclasses.is_dataclass(thing):
        return (type(thing).__name__, *((f.name, bits(getattr(thing, f.name))) for f in dataclasses.fields(thing)))
    if isinstance(thing, Mechanism):
        return bits((thing.name, thing.gravity, thing.bodies, thing.joints, thing.frames, thing.annotations))
    return (type(thing).__name__, repr(thing))


def model_bits(model):
    lists = (model.bodies, model.connections, model.frames, model.closures)
    return bits((model.name, *map(tuple, lists), model.gravity, dict(model.inputs), model.annotations))


def refused(text):
    raise ValueError(f"{text} is not JSON")


def strictly(text):
    """Return what a strict reader makes of a text."""
    return json.loads(text, parse_constant=refused)


def there_and_back(thing):
    """Return a thing after a round trip, having looked at the text and at a second one."""
    text = cardan.to_json(thing)
    assert strictly(text)["schema"] == 1
    assert text.encode().decode() == text
    back = cardan.from_json(text)
    assert type(back) is type(thing)
    assert cardan.to_json(back) == text
    line = cardan.to_json(thing, indent=None)
    assert "\n" not in line
    assert json.loads(line) == json.loads(text)
    assert cardan.to_json(cardan.from_json(line)) == text
    return back


def named(x):
    return type(x).__name__ if isinstance(x, Joint) else ""


def everything():
    """A mechanism with everything a mechanism may hold, on bodies and on the world."""
    m = random_mechanism(7)
    m.name = 'Mechanism "ü" \\ \u2028 \U0001f916 \ud800'
    m.add_body("empty")
    m.add_body("zero", Inertia.zero())
    m._add_body("tiny", Inertia.from_parameters(NASTY[:10]))  # as a file has it
    m.add_body("odd \n name", random_inertia(np.random.default_rng(5)))
    signed = SE3([[1, -0.0, 0], [0, 1, -0.0], [0, 0, 1]], [-0.0, 0.0, -0.0])
    limits = Limits(
        [-math.inf, -0.0], [1 / 3, math.inf], [0.0, 5e-324], [math.inf, 1e308], [0.0, -2.0], [-1.0, -math.inf]
    )
    m.add_joint(
        "loop",
        SHIPPED["Universal"](),
        "empty",
        "body",
        signed,
        random_pose(np.random.default_rng(1)),
        limits,
        damping=[-0.0, 0.0],
        friction=[0.0, 5e-324],
        armature=[0.1, 0.0],
        drive=Drive([1e9, -0.0], [0.0, 5e-324]),
        compliance=[1e-6, 0.0, 0.0, 1 / 3, 0.0, -0.0],
        spring=Spring([5e-324, 0.0], [-0.0, -1 / 3]),
    )
    m.add_joint("held", SHIPPED["Fixed"](), "world", "zero", child_pose=signed)
    m.add_joint("copy", Mimic(Revolute([0, 0, 1]), "joint0", -0.0, 1 / 3), "zero", "tiny")
    m.add_frame("sensor", "world", signed)
    m.add_frame("tool", "tiny", random_pose(np.random.default_rng(2)))
    for k, geometry in enumerate(
        (Box([1, 0.1, 0]), Sphere(1 / 3), Cylinder(0.1, 0.2), Capsule(0.1, 5e-324), Ellipsoid((0.1, 1 / 3, 0.7)))
        + (Cone(1 / 3, 5e-324), Hull([(0, 0, 1 / 3)], 5e-324), Hull([(1, 0, 0)]))
        + (TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1 / 3, 0)], [(0, 1, 2)]),)
    ):
        m.add_shape(Shape("body", "visual", geometry, random_pose(np.random.default_rng(k)), f"shape{k}"))
    m.add_shape(Shape("world", "collision", Mesh("package://a/b.stl", None, (1, -1, 0.001)), rgba=(0, 1, 0.5, 1 / 3)))
    m.add_shape(Shape("odd \n name", "visual", Mesh("b.obj", "/no/b.obj"), material="red", texture="red.png"))
    m.add_shape(Shape("world", "collision", Plane(), surface=Material()))
    m.add_shape(
        Shape("tiny", "collision", Sphere(0.1), surface=Material(1 / 3, 1.0, 5e-324, 0.0, 0.1, 2), group=2**31, mask=0)
    )
    m.add_shape(Shape("tiny", "visual", Sphere(0.1), margin=5e-324, density=0.0))
    m.gravity = (0.0, -0.0, -1 / 3)
    m.add_joint("lift", SHIPPED["Prismatic"](), "world", "empty", spring=Spring(1e9, -0.0))
    m.add_actuator(Actuator("servo", "lift", -1 / 3, "position", 1e308, (-0.0, 5e-324, 0.1), (-1.0, math.inf)))
    m.add_actuator(Actuator("both", ["lift", "loop"], [1, (0.1, -0.0)], "general", effort_range=(-0.0, 5e-324)))
    m.add_actuator(Actuator("motor \n", ["lift"]))
    m.add_group(Group("all", ["world", "tiny"], ["lift", "held"], tip="none"))
    m.add_group(Group("nothing"))
    m.add_configuration("home", {"lift": -0.0, "loop": (1 / 3, 5e-324), "held": ()})
    m.add_configuration("zero", {})
    m.disable_contact("tiny", "world")
    m.disable_contact("empty", "tiny")
    m.set_contact("empty", "tiny", Material(friction=0.1, stiffness=1.0 / 3.0), margin=0.1 + 0.2)
    return m


@dataclasses.dataclass(frozen=True)
class Cam(Joint):
    """A user's joint, with parameters of every type."""

    rise: float = 0.1
    anything: object = None
    axis: Vector3 = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=self.axis * (self.rise * q[0]))

    @functools.cached_property
    def table(self):
        return [self.rise] * 3
