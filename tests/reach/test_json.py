"""JSON: everything comes back to the last bit, nothing is dropped, no file is believed, none is half written."""

import copy
import dataclasses
import json
import math
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import SE3, Actuator, Group, Inertia, Joint, Limits, Mechanism, Motion
from cardan._reach.formats.json.records import GEOMETRIES
from cardan._reach.formats.json.values import SHIPPED
from cardan._robot.model import Annotations, Body, Connection, Frame
from cardan._robot.records import Configuration, ContactSurface, Material
from cardan.description import Shape, Sphere
from cardan.errors import DescriptionError, ParameterError
from cardan.joints import CATALOGUE, Composite, CoordinateFunction, Mimic, Revolute, reverse
from cardan.robots import ROBOTS, urdf_path
from cardan.spatial import Vector3, exp_se3, unit_vector
from json_things import NASTY, bits, everything, model_bits, named, strictly, there_and_back
from mechanisms import random_inertia, random_mechanism, random_pose, random_state
from representatives import in_turn, represented
from robots_data import short, urdf_files
from work import calls

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.floats(allow_nan=False)

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


@pytest.mark.parametrize("joint", [*CATALOGUE, *WRAPPED], ids=named)
def test_every_joint_comes_back(joint):
    back = there_and_back(joint)
    assert back == joint
    assert hash(back) == hash(joint)
    assert bits(back) == bits(joint)
    assert back.parameters().keys() == joint.parameters().keys()


@in_turn("joint", [*CATALOGUE, *WRAPPED])
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


def test_a_mechanism_with_everything_comes_back():
    m = everything()
    back = there_and_back(m)
    assert bits(back) == bits(m)
    assert back == m
    lists = ["bodies", "joints", "frames", "shapes", "actuators", "groups", "configurations"]
    contacts = ["contact_surfaces", "disabled_contacts"]
    assert list(strictly(cardan.to_json(m))) == ["cardan", "schema", "name", "gravity", *lists, *contacts]


def test_what_a_robot_is_made_of_is_what_is_written():
    """Whoever adds a field to a record has to say how it is written."""
    schema = json.loads((Path(cardan.__file__).parent / "_reach/formats/json/robot.schema.json").read_text())
    kinds = {Body: "body", Connection: "connection", Frame: "frame", Shape: "shape", Limits: "limits"}
    kinds |= {Actuator: "actuator", Group: "group", Configuration: "configuration"}
    kinds |= {ContactSurface: "contact_surface", Material: "material"}
    for kind, name in kinds.items():
        assert {f.name for f in dataclasses.fields(kind)} == schema["$defs"][name]["properties"].keys()
    lists = {f.name for f in dataclasses.fields(Annotations)}
    held = {"name", "_gravity", "_bodies", "_joints", "_frames", "_is_made"}
    assert vars(Mechanism()).keys() == held | {f"_{name}" for name in lists}
    model = {f.name for f in dataclasses.fields(cardan.Model) if f.init}
    fields = {"name", "bodies", "connections", "frames", "gravity", "closures", "inputs", "annotations"}
    assert model == fields | {"constraints"}  # which are functions of the user's: writers refuse them
    for document in schema["oneOf"][:2]:
        assert lists <= document["properties"].keys()


def test_every_geometry_has_a_form():
    schema = json.loads((Path(cardan.__file__).parent / "_reach/formats/json/robot.schema.json").read_text())
    assert GEOMETRIES.keys() == schema["$defs"]["geometry"]["properties"].keys()


@pytest.mark.parametrize("name", represented(ROBOTS, by=lambda name: name != "humanoid"))
def test_shipped_robots_come_back(name):
    m = ROBOTS[name]()
    assert bits(there_and_back(m)) == bits(m)
    read = cardan.load_mechanism(urdf_path(name))
    assert bits(there_and_back(read)) == bits(read)
    for base in ("fixed", "floating"):
        model = m.model(base=base, gravity=(0.1, -0.0, -9.80665))
        assert model_bits(there_and_back(model)) == model_bits(model)


@pytest.mark.parametrize(
    "file",
    represented(urdf_files(), by=urdf_files()[::24].count)
    or [pytest.param(None, marks=pytest.mark.skip(reason="example-robot-data is not installed"))],
    ids=lambda f: short(f) if f else "",
)
def test_real_robots_come_back(file):
    try:
        m = cardan.load_mechanism(file, on_inertia="ignore")
    except DescriptionError as error:
        pytest.skip(f"a faulty URDF: {str(error)[:80]}")
    assert bits(there_and_back(m)) == bits(m)
    model = m.model()
    assert model_bits(there_and_back(model)) == model_bits(model)


@pytest.mark.parametrize("seed", represented(range(3), by=[0].count))
@pytest.mark.slow
def test_the_dynamics_are_the_same_to_the_last_bit(seed, quick_target):
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


def test_a_model_from_any_root_with_a_loop_comes_back():
    m = random_mechanism(3)
    m.add_joint("closing", Revolute([1, 2, 3]), "body1", "body5", random_pose(np.random.default_rng(0)))
    model = m.model(root="body4", base="floating")
    assert [c.name for c in model.closures] == ["closing"]
    assert model_bits(there_and_back(model)) == model_bits(model)
    text = cardan.to_json(model)
    assert '"closures": [' in text
    at = text.rindex('"child": "body5"')
    with pytest.raises(DescriptionError, match="there is no body named 'bdy'"):
        cardan.from_json(text[:at] + text[at:].replace("body5", "bdy", 1))


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ({"b": ("a", "world")}, "the world cannot be a child"),
        (
            {"a": ("world", "a"), "b": ("world", "b"), "c": ("a", "b")},
            "body 'b' has two parents, through joints 'b' and 'c'",
        ),
        ({"a": ("b", "a"), "b": ("a", "b")}, "not connected to the world, or lie on a loop"),
    ],
)
def test_a_model_whose_joints_are_no_tree_is_refused(joints, message):
    m = cardan.Mechanism("two")
    for name in "ab":
        m.add_body(name)
        m.add_joint(name, Revolute([0, 0, 1]), "world", name)
    data = json.loads(cardan.to_json(m.model()))
    data["joints"] = [data["joints"][0] | {"name": n, "parent": p, "child": c} for n, (p, c) in joints.items()]
    with pytest.raises(DescriptionError, match=message):
        cardan.from_json(json.dumps(data))


def test_a_model_with_inputs_comes_back():
    arm = cardan.load(urdf_path("arm7")).with_inputs(tool_com=("tool", "com"), turn=("joint2", "axis"))
    arm = arm.with_inputs("gravity", "mass")
    back = there_and_back(arm)
    assert list(back.inputs) == ["tool_com", "turn", "gravity", "mass"]
    assert model_bits(back) == model_bits(arm)
    assert model_bits(pickle.loads(pickle.dumps(arm))) == model_bits(arm)
    text = cardan.to_json(arm)
    for old, new, message in (
        ('{"name": "mass"}', '{"name": "mas"}', r"inputs\[3\]: .*no constant named 'mas'; did you mean 'mass'"),
        ('"owner": "tool"', '"owner": "tol"', r"inputs\[0\]: .*no .* named 'tol'"),
        ('"owner": "tool", ', "", r"inputs\[0\]: the key 'owner' is missing"),
        ('{"name": "mass"}', "3", r"inputs\[3\]: got 3, expected an object"),
    ):
        assert text.count(old) == 1
        with pytest.raises(DescriptionError, match=message):
            cardan.from_json(text.replace(old, new))


def test_a_model_within_a_function_has_no_form():
    arm = cardan.load(urdf_path("arm7")).with_inputs("mass")

    @cardan.function
    def written(model, q):
        cardan.to_json(model)
        return q

    with pytest.raises(ParameterError, match=r"mass of inertia of body .*expected a number"):
        written(arm, np.zeros(7), mass=np.ones(9))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.lists(FLOATS, min_size=10, max_size=10), st.text(min_size=1, max_size=8))
def test_any_numbers_and_names_come_back(seed, parameters, name):
    rng = np.random.default_rng(seed)
    m = Mechanism(name)
    try:
        m._add_body(name, Inertia.from_parameters(parameters))  # as a file has it
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


@pytest.mark.full
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
    a, b = ROBOTS["arm7"](), ROBOTS["arm7"]()
    b.add_frame("extra", "base")
    old, new = cardan.to_json(a).splitlines(), cardan.to_json(b).splitlines()
    assert len(set(new) - set(old)) <= 2


def test_a_number_keeps_its_kind():
    for value in (*NASTY, *(-x for x in NASTY), math.pi):
        text = cardan.to_json(SE3(translation=(value, 1.0, 2.0)), indent=None)
        assert bits(cardan.from_json(text).translation[0]) == bits(value)
    read = cardan.from_json('{"cardan": "pose", "schema": 1, "pose": {"translation": [1, 2, -3]}}')
    assert bits(read.translation) == bits(Vector3(1.0, 2.0, -3.0))


# --- work -----------------------------------------------------------------------------------------------------------


def chain_text(count):
    rng, m = np.random.default_rng(0), Mechanism("chain")
    for k in range(count):
        m.add_body(f"b{k}", random_inertia(rng))
        m.add_joint(
            f"j{k}",
            Revolute(rng.normal(size=3)),
            f"b{k - 1}" if k else "world",
            f"b{k}",
            random_pose(rng),
            random_pose(rng),
            Limits([-1], [1]),
        )
    return cardan.to_json(m)


@pytest.mark.slow
def test_a_file_is_read_in_work_that_grows_with_its_length():
    few, many = chain_text(50), chain_text(200)
    assert calls(lambda: cardan.from_json(many)) < 4.4 * calls(lambda: cardan.from_json(few))
