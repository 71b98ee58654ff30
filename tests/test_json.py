"""JSON: everything comes back to the last bit, nothing is dropped, no file is believed, none is half written."""

import copy
import dataclasses
import functools
import json
import math
import os
import pickle
import random
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import SE3, Force, Inertia, Joint, Limits, Mechanism, Motion
from cardan.cli import main
from cardan.errors import DescriptionError, DTypeError, MechanismError, ParameterError
from cardan.formats import check
from cardan.formats.json_records import GEOMETRIES
from cardan.formats.json_types import SHIPPED
from cardan.joints import CATALOGUE, Composite, Constant, CoordinateFunction, Mimic, OpenSimCustom, Revolute, reverse
from cardan.manifolds import MRP, SE2, Euclidean, Product, UnitComplex
from cardan.manifolds import SE3 as RigidMotions
from cardan.mechanism import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from cardan.mechanism.shapes import Geometry
from cardan.robots import ROBOTS, urdf_path
from cardan.spatial import Matrix3, Symmetric3, Vector3, exp_se3, unit_vector
from mechanisms import random_inertia, random_mechanism, random_pose, random_state
from robots_data import short, urdf_files

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.floats(allow_nan=False)
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
    if isinstance(thing, dict):
        return tuple((k, bits(v)) for k, v in thing.items())
    if dataclasses.is_dataclass(thing):
        return (type(thing).__name__, *((f.name, bits(getattr(thing, f.name))) for f in dataclasses.fields(thing)))
    if isinstance(thing, Mechanism):
        return bits((thing.name, thing.bodies, thing.joints, thing.frames, thing.shapes))
    return (type(thing).__name__, repr(thing))


def model_bits(model):
    return bits((model.name, tuple(model.bodies), tuple(model.connections), tuple(model.frames), model.gravity))


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


# --- joints ---------------------------------------------------------------------------------------------------------

KNEE = cardan.joints.condylar_knee("left")
WRAPPED = (
    *(reverse(j) for j in CATALOGUE),
    KNEE,
    Composite(
        [KNEE, reverse(KNEE), Mimic(Revolute([0, 1, 1]), "other")],
        [SE3(), exp_se3(Motion([1, 2, 3], [4, 5, 6])), SE3()],
    ),
)


@pytest.mark.parametrize("joint", (*CATALOGUE, *WRAPPED), ids=named)
def test_every_joint_comes_back(joint):
    back = there_and_back(joint)
    assert back == joint
    assert hash(back) == hash(joint)
    assert bits(back) == bits(joint)
    assert back.parameters().keys() == joint.parameters().keys()


@pytest.mark.parametrize("joint", (*CATALOGUE, *WRAPPED), ids=named)
def test_every_joint_is_pickled_and_copied(joint):
    ways = [copy.copy, copy.deepcopy]
    ways += [lambda j, p=p: pickle.loads(pickle.dumps(j, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for way in ways:
        assert bits(way(joint)) == bits(joint)
        assert way(joint) == joint


def test_every_joint_type_that_ships_has_its_plain_name():
    assert {type(j).__name__ for j in CATALOGUE} <= SHIPPED.keys()
    for function in (c for c in vars(cardan.joints).values() if isinstance(c, type)):
        if issubclass(function, (Joint, CoordinateFunction)) and function not in (Joint, CoordinateFunction):
            assert SHIPPED[function.__name__] is function


def awkward(rng):
    """Three numbers of very different sizes, a direction of any length."""
    size = 10.0 ** rng.choice([0, 0, 0, -5, -150, -307, -320, 150, 307])
    entries = [rng.gauss(0, 1) * 10.0 ** rng.choice([0, 0, -3, -8, -14, -15, -16]) * size for _ in range(3)]
    return entries if any(entries) else [0.0, -0.0, 5e-324]


def test_a_second_normalisation_changes_nothing():
    rng = random.Random(0)
    for _ in range(3000):
        axis = unit_vector(awkward(rng), "axis")
        assert abs(math.hypot(*axis) - 1.0) <= 4e-16
        assert bits(unit_vector(axis, "axis")) == bits(axis)
    assert unit_vector([5e-324, 5e-324, 0.0], "axis") == unit_vector([1, 1, 0], "axis")
    assert unit_vector([1e308, 1e308, 1e308], "axis") == unit_vector([1, 1, 1], "axis")


@pytest.mark.parametrize("seed", range(40))
def test_joints_with_awkward_axes_and_poses_come_back(seed):
    rng, r = random.Random(seed), np.random.default_rng(seed)
    axes = [awkward(rng) for _ in range(6)]
    turn = SE3([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (1e-17 * rng.random(), rng.choice(NASTY[:5]), rng.random()))
    near = exp_se3(Motion((1e-15, rng.gauss(0, 1), 1e-16), (0.0, 0.0, math.pi / 2)))
    poses = [random_pose(r), turn, near, near @ near, turn @ near]
    x, y = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0)
    turned = random_pose(r).rotation
    joints = [
        *(
            kind(axes[k])
            for k, kind in enumerate(map(SHIPPED.get, ("Revolute", "Prismatic", "UnboundedRevolute", "Cylindrical")))
        ),
        SHIPPED["Helical"](axes[0], rng.gauss(0, 1)),
        SHIPPED["VariableScrew"](axes[1], [rng.gauss(0, 1e-9) for _ in range(3)]),
        SHIPPED["PlanarAngle"](turned @ x, turned @ y),
        SHIPPED["ConstantVelocity"](turned @ x, turned @ y, rng.random()),
        SHIPPED["Cable"](axes[2], 1 / 3, 1e-300),
        Composite([Revolute(axes[3])] * 5, poses),
        SHIPPED["Spline"](frames=[SE3(), *poses[:1], poses[0] @ near], span=(-1 / 3, 1e22)),
    ]
    for joint in joints:
        assert bits(there_and_back(joint)) == bits(joint)


# --- small things ---------------------------------------------------------------------------------------------------


@given(st.lists(FLOATS, min_size=10, max_size=10))
def test_inertias_come_back(p):
    inertia = Inertia.from_parameters(p)
    assert bits(tuple(there_and_back(inertia))) == bits(tuple(inertia))


@given(st.lists(st.one_of(FLOATS, st.sampled_from(NASTY)), min_size=12, max_size=12))
def test_poses_come_back(p):
    pose = SE3([p[:3], p[3:6], p[6:9]], p[9:])
    assert bits(tuple(there_and_back(pose))) == bits(tuple(pose))


@given(st.dictionaries(st.sampled_from(Limits.__slots__), st.lists(NUMBERS, max_size=6)))
def test_limits_come_back(given_bounds):
    try:
        limits = Limits(**given_bounds)
    except ParameterError:  # a lower bound above the upper one
        return
    assert bits(there_and_back(limits)) == bits(limits)


def test_infinite_limits_are_words():
    text = cardan.to_json(Limits(lower=[-math.inf, -0.0], upper=[1.0, math.inf]), indent=None)
    assert text == '{"cardan": "limits", "schema": 1, "limits": {"lower": ["-inf", -0.0], "upper": [1.0, "inf"]}}'


# --- mechanisms and models ------------------------------------------------------------------------------------------


def everything():
    """A mechanism with everything a mechanism may hold, on bodies and on the world."""
    m = random_mechanism(7)
    m.name = 'Mechanism "ü" \\ \u2028 \U0001f916 \ud800'
    m.add_body("empty")
    m.add_body("zero", Inertia.zero())
    m.add_body("tiny", Inertia.from_parameters(NASTY[:10]))
    m.add_body("odd \n name", random_inertia(np.random.default_rng(5)))
    signed = SE3([[1, -0.0, 0], [0, 1, -0.0], [0, 0, 1]], [-0.0, 0.0, -0.0])
    limits = Limits(
        [-math.inf, -0.0], [1 / 3, math.inf], [0.0, 5e-324], [math.inf, 1e308], [0.0, -2.0], [-1.0, -math.inf]
    )
    m.add_joint("loop", SHIPPED["Universal"](), "empty", "body", signed, random_pose(np.random.default_rng(1)), limits,
                damping=[-0.0, 0.0], friction=[0.0, 5e-324], armature=[0.1, 0.0])  # fmt: skip
    m.add_joint("held", SHIPPED["Fixed"](), "world", "zero", child_pose=signed)
    m.add_joint("copy", Mimic(Revolute([0, 0, 1]), "joint0", -0.0, 1 / 3), "zero", "tiny")
    m.add_frame("sensor", "world", signed)
    m.add_frame("tool", "tiny", random_pose(np.random.default_rng(2)))
    for k, geometry in enumerate((Box([1, 0.1, 0]), Sphere(1 / 3), Cylinder(0.1, 0.2), Capsule(0.1, 5e-324))):
        m.add_shape(Shape("body", "visual", geometry, random_pose(np.random.default_rng(k)), f"shape{k}"))
    m.add_shape(Shape("world", "collision", Mesh("package://a/b.stl", None, (1, -1, 0.001)), rgba=(0, 1, 0.5, 1 / 3)))
    m.add_shape(Shape("odd \n name", "visual", Mesh("b.obj", "/no/b.obj"), material="red", texture="red.png"))
    return m


def test_a_mechanism_with_everything_comes_back():
    m = everything()
    back = there_and_back(m)
    assert bits(back) == bits(m)
    assert back == m
    assert list(strictly(cardan.to_json(m))) == ["cardan", "schema", "name", "bodies", "joints", "frames", "shapes"]


def test_every_geometry_has_a_form():
    assert {kind for kind, _ in GEOMETRIES.values()} == set(Geometry.__args__)
    for kind, fields in GEOMETRIES.values():
        assert fields == tuple(f.name for f in dataclasses.fields(kind))


@pytest.mark.parametrize("name", ROBOTS)
def test_shipped_robots_come_back(name):
    m = ROBOTS[name]()
    assert bits(there_and_back(m)) == bits(m)
    read = cardan.load_mechanism(urdf_path(name))
    assert bits(there_and_back(read)) == bits(read)
    for base in ("fixed", "floating"):
        model = m.model(base=base, gravity=(0.1, -0.0, -9.80665))
        assert model_bits(there_and_back(model)) == model_bits(model)


@pytest.mark.parametrize("file", urdf_files() or [pytest.param(None, marks=pytest.mark.skip(reason="example-robot-data is not installed"))], ids=lambda f: short(f) if f else "")  # fmt: skip
def test_real_robots_come_back(file):
    try:
        m = cardan.load_mechanism(file, on_inertia="ignore")
    except DescriptionError as error:
        pytest.skip(f"a faulty URDF: {str(error)[:80]}")
    assert bits(there_and_back(m)) == bits(m)
    model = m.model()
    assert model_bits(there_and_back(model)) == model_bits(model)


@pytest.mark.parametrize("seed", range(3))
def test_the_dynamics_are_the_same_to_the_last_bit(seed):
    m = random_mechanism(seed)
    model = m.model(base="floating", gravity=(1.0, 2.0, -9.0))
    state = random_state(model, seed, (3,))
    twins = (
        cardan.from_json(cardan.to_json(model)),
        cardan.from_json(cardan.to_json(m)).model(base="floating", gravity=(1.0, 2.0, -9.0)),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    )
    expected = cardan.inverse_dynamics(model, *state)
    for twin in twins:
        assert (cardan.inverse_dynamics(twin, *state) == expected).all()
    assert model_bits(pickle.loads(pickle.dumps(model))) == model_bits(model)  # after it was used


def test_a_locked_model_comes_back():
    arm = cardan.load(urdf_path("arm7")).lock({"joint2": 0.3})
    assert model_bits(there_and_back(arm)) == model_bits(arm)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.lists(FLOATS, min_size=10, max_size=10), st.text(min_size=1, max_size=8))
def test_any_numbers_and_names_come_back(seed, parameters, name):
    rng = np.random.default_rng(seed)
    m = Mechanism(name)
    try:
        m.add_body(name, Inertia.from_parameters(parameters))
    except (ParameterError, cardan.errors.DuplicateNameError):  # a blank name, "world"
        return
    axis = rng.normal(size=3) * 10.0 ** rng.integers(-300, 300)
    m.add_joint(name, Revolute(axis), "world", name, random_pose(rng), random_pose(rng) @ random_pose(rng))
    assert bits(there_and_back(m)) == bits(m)


def test_mechanisms_are_equal_by_what_they_hold():
    a, b = everything(), everything()
    assert a == b
    assert a != "mechanism"
    b.add_frame("more", "body")
    assert a != b
    c = everything()
    c.name = "other"
    assert a != c
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


@pytest.mark.parametrize("twin_of", [Mechanism.copy, copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_goes_its_own_way(twin_of):
    m = everything()
    twin = twin_of(m)
    assert bits(twin) == bits(m)
    twin.add_body("new")
    twin.add_frame("new frame", "new")
    twin.add_joint("new joint", Revolute(), "body", "new")
    twin.add_shape(Shape("new", "visual", Sphere(1.0)))
    assert bits(m) == bits(everything())
    assert twin != m


def test_pickles_are_read_by_another_process(tmp_path):
    things = (everything(), *CATALOGUE, cardan.load(urdf_path("quadruped")), Limits([1], [2]), Inertia(1.0, (1, 2, 3)))
    cardan.mass_matrix(things[-3], things[-3].neutral())
    file = tmp_path / "things.pickle"
    file.write_bytes(pickle.dumps(things))
    code = (
        "import pickle, sys, cardan\n"
        "for thing in pickle.load(open(sys.argv[1], 'rb')): print(cardan.to_json(thing, indent=None))"
    )
    source = str(Path(cardan.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, env=env, check=True, encoding="utf-8"
    )
    assert run.stdout.split("\n")[:-1] == [cardan.to_json(thing, indent=None) for thing in things]


# --- how it looks ---------------------------------------------------------------------------------------------------


def test_the_text_is_readable_and_short():
    text = cardan.to_json(ROBOTS["arm7"]())
    assert max(map(len, text.splitlines())) <= 110
    assert text.endswith("}\n")
    assert '      "joint": {"Revolute": {"axis": [0.0, 1.0, 0.0]}},\n' in text
    assert text.count('\n      "name": "') + text.count('\n    {"name": "') == 9 + 8
    one = cardan.to_json(ROBOTS["arm7"](), indent=4)
    assert "\n        {" in one


def test_one_change_is_a_small_difference():
    a, b = ROBOTS["arm7"](), ROBOTS["arm7"](payload=0.1) if False else ROBOTS["arm7"]()
    b.add_frame("extra", "base")
    old, new = cardan.to_json(a).splitlines(), cardan.to_json(b).splitlines()
    assert len(set(new) - set(old)) <= 2


def test_a_number_keeps_its_kind():
    for value in (*NASTY, *(-x for x in NASTY), math.pi):
        text = cardan.to_json(SE3(translation=(value, 1.0, 2.0)), indent=None)
        assert bits(cardan.from_json(text).translation[0]) == bits(value)
    read = cardan.from_json('{"cardan": "pose", "schema": 1, "pose": {"translation": [1, 2, -3]}}')
    assert bits(read.translation) == bits(Vector3(1.0, 2.0, -3.0))


# --- joints of one's own --------------------------------------------------------------------------------------------


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


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted(Joint):
    inner: Joint
    manifold = Euclidean(1)

    def transform(self, q):
        return self.inner.transform(q)


class Plain(Joint):
    """No dataclass: what __init__ takes is what it keeps."""

    manifold = Euclidean(1)

    def __init__(self, lead=0.1):
        self.lead = lead
        self.double = lead  # is overwritten by the constructor's own when it is built again

    def transform(self, q):
        return SE3(translation=(self.lead * q[0], 0.0, 0.0))


class Simple(Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(q[0], 0.0, 0.0))


@dataclasses.dataclass(frozen=True)
class Halving(Joint):
    """A constructor that changes what it is given, every time."""

    size: float = 1.0
    manifold = Euclidean(1)

    def __post_init__(self):
        object.__setattr__(self, "size", self.size / 2.0)

    def transform(self, q):
        return SE3(translation=(self.size * q[0], 0.0, 0.0))


@dataclasses.dataclass(frozen=True)
class Sine(CoordinateFunction):
    height: float = 1.0

    def __call__(self, q):
        return self.height * cardan.sin(q[0])

    @property
    def coordinates(self):
        return (0,)


class Outer:
    @dataclasses.dataclass(frozen=True)
    class Inner(Cam):
        pass


class NoJoint:
    pass


@pytest.fixture
def registered(monkeypatch):
    """Registers classes for one test."""
    monkeypatch.setattr("cardan.formats.json_types._registered", {})
    for kind in (Cam, Slotted, Simple, Sine, Outer.Inner):
        assert cardan.register_joint(kind) is kind


VALUES = (
    None, True, 3, -(10**30), 0.1, -0.0, 5e-324, math.inf, -math.inf, "text", "inf", "", (), (1, (2.0, "x")), [], [1.0, [2]],
    {}, {"a": 1, "Revolute": (2.0,)}, np.float32(0.1), np.int8(-3), np.bool_(True), np.zeros((0, 3)), np.eye(3),
    np.array([[1, -2]], dtype=np.int16), np.array([0.1, np.inf, -0.0], dtype=np.float32), np.array(3.0), np.array([True, False]),
    Vector3(1.0, -0.0, math.inf), Matrix3(range(9)), Symmetric3((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)), exp_se3(Motion((1, 2, 3), (1, 2, 3))),
    Motion((1.0, -0.0, 2.0), (0.1, 0.2, math.inf)), Force((1.0, 2.0, 3.0), (0.1, 0.2, 0.3)), Inertia(2.0, (1.0, 2.0, 3.0), np.eye(3)),
    Limits([-math.inf], [1.0]), Revolute([0, 1, 0]), KNEE, (Revolute(), [Constant(0.5)]), Euclidean(2, (1.0, 2.0)),
    Product((Euclidean(1), UnitComplex("sin_cos"), RigidMotions(MRP()), SE2())),
)  # fmt: skip


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_parameters_of_every_type_come_back(value):
    joint = Cam(1 / 3, value, Vector3(0.0, 0.6, 0.8))
    back = cardan.from_json(cardan.to_json(joint))
    strictly(cardan.to_json(joint))
    assert type(back.anything) is type(value)
    assert type(back.axis) is Vector3
    assert bits(back.anything) == bits(value if not isinstance(value, Matrix3) else Matrix3(map(float, value)))
    assert cardan.to_json(back) == cardan.to_json(joint)


@pytest.mark.usefixtures("registered")
def test_a_nan_comes_back():
    assert math.isnan(cardan.from_json(cardan.to_json(Cam(math.nan))).rise)


@pytest.mark.usefixtures("registered")
def test_custom_joints_inside_others_and_in_robots():
    inner = Slotted(Outer.Inner(0.3, Slotted(Cam())))
    for joint in (inner, reverse(inner), Mimic(inner, "x"), Composite([inner, Revolute()]), Simple()):
        assert cardan.from_json(cardan.to_json(joint)) == joint
    custom = OpenSimCustom(coordinates=("a",), rotations=(Sine(0.5), Constant(), Constant()))
    assert cardan.from_json(cardan.to_json(custom)) == custom
    m = Mechanism("robot")
    m.add_body("link")
    m.add_joint("cam", inner, "world", "link")
    assert cardan.load(cardan.to_json(m).encode()).joint("cam") == inner
    assert f'"{Cam.__module__}:Outer.Inner"' in cardan.to_json(m)


def test_computed_attributes_are_no_parameters():
    joint = Cam(0.5)
    assert joint.table == [0.5] * 3
    assert "table" in vars(joint)
    assert cardan.from_json(cardan.to_json(joint), trusted=True) == joint


def test_a_class_in_a_function_needs_registration(monkeypatch):
    monkeypatch.setattr("cardan.formats.json_types._registered", {})

    @dataclasses.dataclass(frozen=True)
    class Local(Cam):
        pass

    with pytest.raises(
        ParameterError, match=r"expected a class that is found at its import path .*Local'\. Define it at"
    ):
        cardan.to_json(Local())
    cardan.register_joint(Local)
    assert cardan.from_json(cardan.to_json(Local(0.2))) == Local(0.2)


def test_only_classes_of_joints_can_be_registered():
    for thing in (NoJoint, Cam(), int, "os:system", None):
        with pytest.raises(ParameterError, match="class to register: got .*expected a class of joint, coordinate"):
            cardan.register_joint(thing)


UNWRITABLE = (
    (Cam(0.1, lambda x: x), r"joint Cam: parameter 'anything' of Cam, of type function: got <function"),
    (Cam(0.1, {1: 2}), r"parameter 'anything' of Cam: key: got 1, expected a text"),
    (Cam(0.1, {1, 2}), r"parameter 'anything' of Cam, of type set: got"),
    (Cam(0.1, 1j), r"parameter 'anything' of Cam, of type complex: got 1j"),
    (Cam(0.1, np.array([1j])), r"parameter 'anything' of Cam: got dtype\('complex128'\), expected an array of float64"),
    (Cam(0.1, (1.0, NoJoint())), r"parameter 'anything' of Cam, of type NoJoint: got"),
    (Cam(0.1, Slotted(Cam(0.1, NoJoint))), r"parameter 'anything' of Cam: parameter 'inner' of Slotted: parameter"),
    (Cam(0.1, SE3(translation=(math.inf, 0, 0))), r"parameter 'anything' of Cam: got inf, expected a finite number"),
    (Plain(), r"joint Plain: got <class .*Plain'>, expected a class that is built from its parameters.*'double'"),
    (Halving(), r"parameter 'size' of Halving: got 0.25, expected the same when Halving is built from its own parameters"),
    (Inertia.from_parameters([math.nan] * 10), r"inertia: got nan, expected a finite number"),
    (Inertia(np.ones(3), np.zeros((3, 3))), r"inertia: got array\(.*expected a number"),
)  # fmt: skip


@pytest.mark.parametrize(("thing", "message"), UNWRITABLE, ids=lambda x: "" if isinstance(x, str) else type(x).__name__)
def test_what_has_no_form_is_refused_by_name(thing, message):
    with pytest.raises(ParameterError, match=message):
        cardan.to_json(thing)


def test_the_joint_in_a_robot_is_named():
    m = Mechanism("robot")
    m.add_body("link")
    m.add_joint("elbow", Cam(0.1, print), "world", "link")
    with pytest.raises(ParameterError, match=r"^joint 'elbow': parameter 'anything' of Cam, of type builtin"):
        cardan.to_json(m)
    with pytest.raises(DTypeError, match="'thing' is a int, expected a Joint, Mechanism, Model"):
        cardan.to_json(3)
    with pytest.raises(DTypeError, match="'source' is a list, expected a path"):
        cardan.from_json([])
    nested = Revolute()
    for _ in range(200):
        nested = Slotted(nested) if False else SHIPPED["Reversed"](nested)
    with pytest.raises(ParameterError, match="at most 100 levels of nesting"):
        cardan.to_json(nested)


# --- files that are not believed ------------------------------------------------------------------------------------


def custom(path, body="{}"):
    return f'{{"cardan": "joint", "schema": 1, "joint": {{"{path}": {body}}}}}'


MALICIOUS = (
    "os:system", "subprocess:Popen", "builtins:eval", "builtins:exec", "posix:system", "pickle:loads", "cardan:Joint",
    "cardan.joints.base:Joint", "cardan.joints.chain:ChainJoint", "cardan:Joint.__init__", "cardan:Joint.__subclasses__",
    "cardan:errors.sys", "builtins:object.__class__", "__main__:__builtins__", "os:environ.clear", ":", "a:", ":a", "os:",
    "os:system:x", "..os:system", "os;import sys:x", "test_json_no_such_module:Cam", "os.path:join", "cardan.formats.json:Path",
    "abc:ABC", "typing:Any", "builtins:type",
)  # fmt: skip


@pytest.mark.parametrize("path", MALICIOUS)
def test_no_file_names_code(path, monkeypatch):
    imported = []
    monkeypatch.setattr("importlib.import_module", lambda name: imported.append(name))
    with pytest.raises(
        DescriptionError, match=r"^<string>:1: error: joint: names the class .* not registered: import it and call"
    ):
        cardan.from_json(custom(path))
    assert imported == []


@pytest.mark.parametrize("path", MALICIOUS)
def test_even_a_trusted_file_names_joints_alone(path):
    message = "is not a class of joint|is no import path|has no class|cannot be imported|TypeError: Can't instantiate"
    with pytest.raises(DescriptionError, match=message):
        cardan.from_json(custom(path), trusted=True)


@pytest.mark.parametrize(
    "name", ["__class__", "__reduce__", "Joint", "object", "exec", "Revolute.transform", "list.append", "", "revolute"]
)
def test_plain_names_are_looked_up_in_a_table_alone(name):
    with pytest.raises(DescriptionError, match="there is no joint or value type"):
        cardan.from_json(custom(name))


def test_the_error_says_how_to_go_on(monkeypatch):
    monkeypatch.setattr("cardan.formats.json_types._registered", {})
    text = cardan.to_json(Cam(0.2))
    path = f"{Cam.__module__}:Cam"
    with pytest.raises(DescriptionError) as caught:
        cardan.from_json(text)
    assert str(caught.value) == (
        f"<string>:4: error: joint: names the class '{path}', which is not cardan's and not registered: import it and "
        f"call cardan.register_joint(Cam) before reading; or, only if you trust whoever wrote the file, pass trusted=True, "
        f"which imports the module '{Cam.__module__}'"
    )
    assert cardan.from_json(text, trusted=True) == Cam(0.2)
    cardan.register_joint(Cam)
    assert cardan.from_json(text) == Cam(0.2)


def test_a_trusted_file_imports_its_module(tmp_path, monkeypatch):
    code = (
        "import dataclasses, cardan\n@dataclasses.dataclass(frozen=True)\nclass Lift(cardan.Joint):\n"
        "    lead: float = 1.0\n    manifold = cardan.manifolds.Euclidean(1)\n"
        "    def transform(self, q):\n        return cardan.SE3(translation=(0.0, 0.0, self.lead * q[0]))\n"
    )
    (tmp_path / "lifts_of_mine.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    text = custom("lifts_of_mine:Lift", '{"lead": 2.5}')
    with pytest.raises(DescriptionError):
        cardan.from_json(text)
    assert "lifts_of_mine" not in sys.modules
    assert cardan.from_json(text, trusted=True).lead == 2.5
    with pytest.raises(DescriptionError, match="has no class 'Lifts'"):
        cardan.from_json(text.replace("Lift", "Lifts", 1).replace("Liftss", "Lifts"), trusted=True)


def test_constructors_judge_what_a_file_says():
    for body, message in (
        (
            '{"axis": [0, 0, 0]}',
            "joint.Revolute: axis of a revolute joint: got .*expected three finite numbers, not all zero",
        ),
        ('{"axis": "z"}', "axis of a revolute joint: got 'z'"),
        ('{"axes": [0, 0, 1]}', "joint.Revolute.axes: there is no key \"axes\" here; did you mean 'axis'"),
        ('{"axis": [0, 0, 1e999]}', "got a number too large for a float, expected a finite number"),
        ("[]", "got a list of 0, expected an object with the parameters of Revolute"),
    ):
        with pytest.raises(DescriptionError, match=message):
            cardan.from_json(custom("Revolute", body))
    with pytest.raises(DescriptionError, match="joint.Mimic: the key 'primary' is missing"):
        cardan.from_json(custom("Mimic", '{"joint": {"Revolute": {}}}'))
    assert cardan.from_json(custom("Revolute")) == Revolute()
    with pytest.raises(DescriptionError, match="got a Linear, expected a joint"):
        cardan.from_json(custom("Linear", '{"slopes": [1]}'))
    with pytest.raises(DescriptionError, match="joint.Reversed: joint to reverse: got 5, expected a joint"):
        cardan.from_json(custom("Reversed", '{"joint": 5}'))


# --- faulty files ---------------------------------------------------------------------------------------------------

GOOD = """{
  "cardan": "mechanism",
  "schema": 1,
  "name": "swing",
  "bodies": [
    {
      "name": "link",
      "inertia": {"mass": 2.0, "first_moment": [0, 0, -0.6], "inertia_at_origin": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    }
  ],
  "joints": [
    {
      "name": "hinge",
      "joint": {"Revolute": {"axis": [0, 1, 0]}},
      "parent": "world",
      "child": "link",
      "parent_pose": {"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "translation": [0, 0, 1]},
      "limits": {"lower": [-2], "upper": [2]}
    }
  ],
  "frames": [{"name": "tip", "body": "link"}],
  "shapes": [{"body": "link", "role": "visual", "geometry": {"Sphere": {"radius": 0.1}}}]
}
"""

FAULTS = (  # old text, new text, line, message
    ('"schema": 1', '"schema": 2', 3, "schema: got 2, expected 1, the newest this cardan knows; .*pip install --upgrade"),
    ('"schema": 1', '"schema": "1"', 3, 'schema: got "1", expected 1'),
    ('"schema": 1', '"schema": true', 3, "schema: got true, expected 1"),
    ('  "schema": 1,\n', "", 1, 'the top level: the key "schema" is missing'),
    ('"mechanism"', '"robot"', 2, "cardan: got \"robot\", expected one of 'mechanism', 'model', 'joint'"),
    ('  "cardan": "mechanism",\n', "", 1, 'the top level: got an object with .*expected an object with "cardan"'),
    ('"name": "swing"', '"name": 3', 4, "name: got 3, expected a text in quotes"),
    ('"name": "swing"', '"nme": "swing"', 4, "nme: there is no key \"nme\" here; did you mean 'name'"),
    ('"name": "link",\n', '"name": "link", "masses": 3,\n', 7, r"bodies\[0\].masses: there is no key \"masses\" here; the keys"),
    ('"name": "link",\n', "\n", 6, r"bodies\[0\]: the key 'name' is missing"),
    ('"name": "link",\n', '"name": "link", "name": "b",\n', 6, r'bodies\[0\]: the key "name" stands here twice'),
    ('"name": "link",\n', '"name": " ",\n', 6, r"bodies\[0\]: name of a body: got ' ', expected a non-empty text"),
    ('"mass": 2.0', '"mass": "2"', 8, r'bodies\[0\].inertia.mass: got "2", expected a finite number'),
    ('"mass": 2.0', '"mass": NaN', 8, r'inertia.mass: NaN is not JSON; where a number may be infinite, write "nan" in quotes'),
    ('"mass": 2.0', '"mass": -Infinity', 8, r'inertia.mass: -Infinity is not JSON; .*write "-inf" in quotes'),
    ('"mass": 2.0', '"mass": "inf"', 8, r'inertia.mass: got "inf", expected a finite number'),
    ('"mass": 2.0', '"mass": 1e400', 8, r"inertia.mass: got a number too large for a float"),
    ('"mass": 2.0', '"mass": 1' + "0" * 350, 8, r"inertia.mass: 1000.* is too large for a number"),
    ('"mass": 2.0', '"mass": 1' + "0" * 5000, 8, r"inertia.mass: 1000.*is too large for a number"),
    ('"mass": 2.0', '"mass": true', 8, r"inertia.mass: got true, expected a finite number"),
    ('"mass": 2.0', '"mass": null', 8, r"inertia.mass: got null, expected a finite number"),
    ("[0, 0, -0.6]", "[0, 0]", 8, r"inertia.first_moment: got a list of 2, expected a list of 3 numbers"),
    ("[0, 0, -0.6]", '[0, "x", 1]', 8, r'inertia.first_moment\[1\]: got "x", expected a finite number'),
    ("[[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n", "[[1, 2, 0], [0, 1, 0], [0, 0, 1]]}\n", 8, "at_origin: the matrix is not symmetric"),
    ("[[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n", "[1, 0, 0, 1, 0, 1]}\n", 8, "at_origin: got a list of 6, expected a list of 3 rows"),
    ('"bodies": [', '"bodies": 5, "b": [', 5, "b: there is no key"),
    ('{"Revolute": {"axis": [0, 1, 0]}}', '"Revolute"', 14, r"joints\[0\].joint: got \"Revolute\", expected a joint, such as"),
    ('{"Revolute": {"axis": [0, 1, 0]}}', "{}", 14, r"joints\[0\].joint: got an empty object, expected a value, or an object"),
    ("Revolute", "Revolut", 14, r"there is no joint or value type 'Revolut'; did you mean 'Revolute'"),
    ('"child": "link"', '"child": "lnk"', 12, r"joints\[0\]: joint 'hinge': there is no body named 'lnk'; did you mean 'link'"),
    ('"child": "link"', '"child": "world"', 12, r"joints\[0\]: joint 'hinge' connects body 'world' with itself"),
    ("[[1, 0, 0], [0, 1, 0], [0, 0, 1]],", "[[1, 0, 0], [0, 1, 0], [0, 0, -1]],", 12, r"parent_pose of joint 'hinge': got .*a rotation"),
    ('"lower": [-2]', '"lower": [-2, 1]', 12, r"joints\[0\]: limits of 'hinge': lower: got .*expected 1 numbers"),
    ('"lower": [-2]', '"lower": [3]', 18, r"joints\[0\].limits: limits lower and upper: got .*expected lower <= upper"),
    ('"lower": [-2]', '"lower": ["nan"]', 18, r"joints\[0\].limits: limit lower: got \(nan,\), expected numbers \(infinite"),
    ('"lower": [-2]', '"lower": ["-Infinity"]', 18, r'limits.lower\[0\]: got "-Infinity", expected a number, "inf" or "-inf"'),
    ('"lower": [-2]', '"lowr": [-2]', 18, r"limits.lowr: there is no key \"lowr\" here; did you mean 'lower'"),
    ('"body": "link"}]', '"body": "lin"}]', 21, r"frames\[0\]: frame 'tip': there is no body named 'lin'"),
    ('"tip"', '"link"', 21, r"frames\[0\]: mechanism 'swing' .*there is already a frame named 'link'"),
    ('"visual"', '"seen"', 22, r"shapes\[0\]: role of a shape: got 'seen', expected 'visual' or 'collision'"),
    ('"radius": 0.1', '"radius": -1', 22, r"shapes\[0\].*: radius of a sphere: got -1.0, expected a finite number >= 0"),
    ('"radius": 0.1', '"radius": "0.1"', 22, r'shapes\[0\].geometry.Sphere.radius: got "0.1", expected a finite'),
    ('"Sphere"', '"Spere"', 22, r"shapes\[0\].geometry: there is no geometry 'Spere'; did you mean 'Sphere'"),
    ('"shapes": [', '"shapes": [7, ', 22, r"shapes\[0\]: got 7, expected an object with the keys 'body', 'role', 'geometry'"),
    ('"shapes": [', '"shapes": {"a": 1}, "x": [', 22, "x: there is no key"),
    ('"name": "swing",', '"name": "swing"', 5, r"not valid JSON: Expecting ',' delimiter \(column 3\)"),
    ('"name": "swing",', '"name": "swing", // no', 4, "not valid JSON: Expecting property name"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "message"), FAULTS, ids=range(len(FAULTS)))
def test_a_fault_is_named_with_its_place(tmp_path, old, new, line, message):
    assert GOOD.count(old) >= 1
    file = tmp_path / "robot.json"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(DescriptionError) as caught:
        cardan.load(file)
    first = caught.value.faults[0]
    assert re.search(message, first.message), first.message
    assert (first.file, first.line, first.severity) == (str(file), line, "error")
    assert len(first.message) < 700
    assert [f.message for f in check(file)] == [f.message for f in caught.value.faults]


def test_the_good_one_is_good():
    m = cardan.from_json(GOOD)
    assert (m.name, len(m.bodies), len(m.joints), len(m.frames), len(m.shapes)) == ("swing", 1, 1, 1, 1)
    assert cardan.load(GOOD).upper.tolist() == [2.0]
    assert check(GOOD) == []


def test_all_faults_are_found_at_once():
    text = GOOD.replace('"mass": 2.0', '"mass": "x"').replace('"axis"', '"axes"').replace('"radius"', '"radiu"')
    with pytest.raises(DescriptionError) as caught:
        cardan.from_json(text)
    assert [f.line for f in caught.value.faults] == [8, 14, 22]
    assert "unknown" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds nothing|is empty|not valid JSON|cannot be read"),
        (b"{", "not valid JSON"),
        (b"[]", "expected an object"),
        (b"null", "expected an object"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": 1} {', "not valid JSON: Extra data"),
        (b"[" * 100000, "nested more than|not valid JSON"),
        (b'{"a":' * 100000, "nested more than|not valid JSON"),
        (b'{"cardan": "joint", "schema": 1, "joint": ' + b'{"Reversed": {"joint": ' * 120 + b'{"Fixed": {}}' + b"}}" * 120 + b"}", "nested more"),
        (b'{"cardan": "joint", "schema": 1, "joint": {"Revolute": {"axis": ' + b"[" * 300 + b"]" * 300 + b"}}}", "nested more"),
        (GOOD.encode("utf-16"), "is not UTF-8"),
        (b'{"cardan": "joint", "schema": 1, "schema": 1}', "the key \"schema\" stands here twice"),
    ],
    ids=range(12),
)  # fmt: skip
def test_files_that_are_no_files_of_ours(tmp_path, content, message):
    file = tmp_path / "robot.json"
    file.write_bytes(content)
    with pytest.raises(DescriptionError, match=message):
        cardan.from_json(file)


def test_a_byte_order_mark_is_allowed(tmp_path):
    file = tmp_path / "robot.json"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert cardan.load_mechanism(file) == cardan.from_json(GOOD)
    assert cardan.load_mechanism(file.read_bytes()) == cardan.from_json("\ufeff" + GOOD)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.sampled_from(list('{}[]",:0e-\\ nt') + [""]), st.integers(1, 6))
def test_damaged_files_are_refused_or_read(start, put, length):
    text = GOOD[:start] + put + GOOD[start + length :]
    try:
        thing = cardan.from_json(text.encode())
    except DescriptionError as error:
        assert all(f.message for f in error.faults)
    else:
        assert cardan.from_json(cardan.to_json(thing)) == thing


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.sampled_from([*SHIPPED, "list", "array", "SE3", "dict"]), inner, max_size=2),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["joint", "pose", "inertia", "limits", "mechanism", "model"]),
    JSON,
    st.sampled_from(sorted(SHIPPED)),
)
def test_any_json_is_refused_or_read(kind, value, name):
    for content in (value, {name: value}):
        text = json.dumps({"cardan": kind, "schema": 1, kind: content})
        try:
            cardan.from_json(text)
        except DescriptionError as error:
            assert all(f.line >= 0 for f in error.faults)


# --- the door -------------------------------------------------------------------------------------------------------


def test_load_and_save(tmp_path):
    m = everything()
    file = tmp_path / "robot.json"
    assert cardan.save(m, file) is None
    assert file.read_text(encoding="utf-8") == cardan.to_json(m)
    assert cardan.load_mechanism(file) == cardan.load_mechanism(str(file)) == m
    assert cardan.to_json(m, file) == file.read_text(encoding="utf-8")
    model = ROBOTS["arm7"]().model(gravity=(0, 0, -1.6))
    cardan.save(model, file)
    assert model_bits(cardan.load(file)) == model_bits(model)
    assert tuple(cardan.load(file, gravity=(0, 0, -3)).gravity) == (0, 0, -3)
    with pytest.raises(MechanismError, match="base='floating': 'arm7' is a model, whose base is chosen"):
        cardan.load(file, base="floating")
    with pytest.raises(DescriptionError, match=r"robot.json:1: error: holds a model, expected a mechanism"):
        cardan.load_mechanism(file)
    cardan.save(Revolute(), file)
    with pytest.raises(DescriptionError, match=r"holds a Revolute, expected a mechanism or a model; cardan.from_json"):
        cardan.load(file)
    assert cardan.from_json(str(file)) == Revolute()


def test_what_cannot_be_saved_or_loaded(tmp_path):
    for name in ("robot.urdf", "robot", "robot.txt"):
        with pytest.raises(ParameterError, match=r"file to save to: got .*expected a name that ends in \.json"):
            cardan.save(everything(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DescriptionError, match=r"no reader for '\.yaml' files; known: \.urdf, \.xml, \.json"):
        cardan.load("robot.yaml")
    with pytest.raises(DescriptionError, match=r"none\.json: error: cannot be read: No such file"):
        cardan.load(tmp_path / "none.json")
    with pytest.raises(
        ParameterError, match=r"option continuous: got 'unit_complex', expected 'angle' for a \.json file"
    ):
        cardan.load(GOOD, continuous="unit_complex")
    with pytest.raises(ParameterError, match="option on_inertia"):
        cardan.load(GOOD, on_inertia="loud")


def test_impossible_inertias_are_doubted():
    text = GOOD.replace("[[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n", "[[9, 0, 0], [0, 1, 0], [0, 0, 1]]}\n")
    with pytest.warns(
        cardan.errors.DescriptionWarning, match=r"<string>:8: warning: bodies\[0\].inertia: body 'link': the"
    ):
        cardan.load(text)
    with pytest.raises(DescriptionError, match="break the triangle inequality"):
        cardan.load(text, on_inertia="error")
    assert cardan.load(text, on_inertia="ignore").nv == 1
    assert [f.severity for f in check(text)] == ["warning"]
    far = GOOD.replace('"mass": 2.0', '"mass": 5e-324')
    assert "so far away" in check(far)[0].message
    for name in ROBOTS:  # point masses, thin rods: rounding alone is no doubt
        assert check(cardan.to_json(ROBOTS[name]())) == []
    m = Mechanism("points")
    for k in range(20):
        m.add_body(f"b{k}", Inertia(0.1 + k, np.random.default_rng(k).normal(size=3)))
    assert check(cardan.to_json(m)) == []


def test_meshes_are_found_again(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a.stl").write_text("solid")
    m = Mechanism("m")
    m.add_body("b")
    m.add_shape(Shape("b", "visual", Mesh("package://pack/a.stl", "/gone/a.stl")))
    text = cardan.to_json(m)
    assert cardan.load_mechanism(text) == m
    found = cardan.load_mechanism(text, packages=[tmp_path])
    assert found.shapes[0].geometry.path == str(tmp_path / "pack" / "a.stl")
    assert bits(found.bodies) == bits(m.bodies)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [True, False])
def test_no_file_is_half_written(tmp_path, monkeypatch, error, existing):
    file = tmp_path / "robot.json"
    if existing:
        cardan.save(Revolute(), file)
    before = file.read_bytes() if existing else None
    real = os.fdopen

    def full(handle, mode):
        stream = real(handle, mode)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                stream.close()

            def write(self, content):
                stream.write(content[:100])
                stream.flush()
                raise error

        return Full()

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(type(error)):
        cardan.save(everything(), file)
    assert (file.read_bytes() if file.exists() else None) == before
    assert [f.name for f in tmp_path.iterdir()] == (["robot.json"] if existing else [])


def test_what_cannot_be_written_leaves_the_file(tmp_path):
    file = tmp_path / "robot.json"
    cardan.save(Revolute(), file)
    with pytest.raises(ParameterError):
        cardan.save(Cam(0.1, print), file)
    assert cardan.from_json(file) == Revolute()
    with pytest.raises(OSError, match="No such file"):
        cardan.save(Revolute(), tmp_path / "none" / "robot.json")


# --- the command line -----------------------------------------------------------------------------------------------


def test_convert_and_use(tmp_path, capsys):
    out, again = tmp_path / "arm.json", tmp_path / "again.json"
    assert main(["convert", urdf_path("arm7"), str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: mechanism 'arm7', 9 bodies\n"
    assert cardan.load_mechanism(out) == cardan.load_mechanism(urdf_path("arm7"))
    assert main(["convert", str(out), str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()
    capsys.readouterr()
    main(["info", urdf_path("arm7"), "--json"])
    expected = capsys.readouterr().out
    assert main(["info", str(out), "--json"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["check", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 0 errors, 0 warnings\n"
    np.savez(tmp_path / "motion.npz", q=np.zeros((2, 7)))
    assert main(["dynamics", str(out), str(tmp_path / "motion.npz"), "-o", str(tmp_path / "tau.npz")]) == 0
    capsys.readouterr()
    out.write_text(out.read_text().replace('"Revolute"', '"Revolt"', 1))
    assert main(["check", str(out)]) == 1
    assert re.search(r"arm\.json:\d+: error: joints\[0\]\.joint: there is no joint", capsys.readouterr().out)


def test_convert_refuses_what_it_cannot_do(tmp_path, capsys):
    assert main(["convert", urdf_path("arm7"), str(tmp_path / "arm.sdf")]) == 1
    assert "expected a name that ends in .json" in capsys.readouterr().err
    assert main(["convert", urdf_path("arm7"), str(tmp_path / "none" / "arm.json")]) == 1
    assert "expected a writable place (No such file or directory)" in capsys.readouterr().err


def test_the_command_line_trusts_if_it_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("cardan.formats.json_types._registered", {})
    m = Mechanism("robot")
    m.add_body("link")
    m.add_joint("cam", Cam(0.3), "world", "link")
    file = tmp_path / "robot.json"
    cardan.save(m, file)
    for command in ("info", "check"):
        assert main([command, str(file)]) == 1
        streams = capsys.readouterr()
        assert "not registered" in streams.out + streams.err
        assert main([command, str(file), "--trusted"]) == 0
        capsys.readouterr()


# --- speed ----------------------------------------------------------------------------------------------------------


def test_a_hundred_bodies_are_read_in_milliseconds():
    rng, m = np.random.default_rng(0), Mechanism("hundred")
    for k in range(100):
        m.add_body(f"b{k}", random_inertia(rng))
        m.add_joint(f"j{k}", Revolute(rng.normal(size=3)), f"b{k - 1}" if k else "world", f"b{k}", random_pose(rng), random_pose(rng), Limits([-1], [1]))  # fmt: skip
    text, times = cardan.to_json(m), []
    for _ in range(9):
        started = time.perf_counter()
        cardan.from_json(text)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.06  # 12 ms on the machine it was written on
