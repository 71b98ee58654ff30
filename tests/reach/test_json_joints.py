"""JSON of one's own joints: parameters of every type, and files that are not believed."""

import dataclasses
import math
import sys

import numpy as np
import pytest

import cardan
from cardan import SE3, Force, Inertia, Joint, Limits, Mechanism, Motion
from cardan._reach.formats.json.values import SHIPPED
from cardan.errors import DescriptionError, DTypeError, ParameterError
from cardan.joints import Composite, Constant, CoordinateFunction, Mimic, OpenSimCustom, Revolute, reverse
from cardan.manifolds import MRP, SE2, Euclidean, Product, UnitComplex
from cardan.manifolds import SE3 as RigidMotions
from cardan.spatial import Matrix3, Symmetric3, Vector3, exp_se3
from json_things import Cam, bits, strictly


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
    monkeypatch.setattr("cardan._reach.formats.json.values._registered", {})
    for kind in (Cam, Slotted, Simple, Sine, Outer.Inner):
        assert cardan.register_joint(kind) is kind


VALUES = (
    None,
    True,
    3,
    -(10**30),
    0.1,
    -0.0,
    5e-324,
    math.inf,
    -math.inf,
    "text",
    "inf",
    "",
    (),
    (1, (2.0, "x")),
    [],
    [1.0, [2]],
    {},
    {"a": 1, "Revolute": (2.0,)},
    np.float32(0.1),
    np.int8(-3),
    np.bool_(True),
    np.zeros((0, 3)),
    np.eye(3),
    np.array([[1, -2]], dtype=np.int16),
    np.array([0.1, np.inf, -0.0], dtype=np.float32),
    np.array(3.0),
    np.array([True, False]),
    Vector3(1.0, -0.0, math.inf),
    Matrix3(range(9)),
    Symmetric3((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
    exp_se3(Motion((1, 2, 3), (1, 2, 3))),
    Motion((1.0, -0.0, 2.0), (0.1, 0.2, math.inf)),
    Force((1.0, 2.0, 3.0), (0.1, 0.2, 0.3)),
    Inertia(2.0, (1.0, 2.0, 3.0), np.eye(3)),
    Limits([-math.inf], [1.0]),
    Revolute([0, 1, 0]),
    cardan.joints.condylar_knee(),
    (Revolute(), [Constant(0.5)]),
    Euclidean(2, (1.0, 2.0)),
    Product((Euclidean(1), UnitComplex("sin_cos"), RigidMotions(MRP()), SE2())),
)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_parameters_of_every_type_come_back(value):
    joint = Cam(1 / 3, value, Vector3(0.0, 0.6, 0.8))
    back = cardan.from_json(cardan.to_json(joint))
    strictly(cardan.to_json(joint))
    assert type(back.anything) is type(value)
    assert type(back.axis) is Vector3
    assert bits(back.anything) == bits(
        value if not isinstance(value, Matrix3) else Matrix3(map(float, value.entries()))
    )
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
    assert f'"{Outer.__module__}:Outer.Inner"' in cardan.to_json(m)


def test_computed_attributes_are_no_parameters():
    joint = Cam(0.5)
    assert joint.table == [0.5] * 3
    assert "table" in vars(joint)
    assert cardan.from_json(cardan.to_json(joint), trusted=True) == joint


def test_a_class_in_a_function_needs_registration(monkeypatch):
    monkeypatch.setattr("cardan._reach.formats.json.values._registered", {})

    @dataclasses.dataclass(frozen=True)
    class Local(Cam):
        pass

    with pytest.raises(ParameterError, match=r"expected one that is found at its import path .*Local'\. Define it at"):
        cardan.to_json(Local())
    cardan.register_joint(Local)
    assert cardan.from_json(cardan.to_json(Local(0.2))) == Local(0.2)


def test_only_classes_of_joints_can_be_registered():
    for thing in (NoJoint, Cam(), int, "os:system", None):
        with pytest.raises(ParameterError, match=r"class to register: got .*expected a class of joint, coordinate"):
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
    (
        Halving(),
        r"parameter 'size' of Halving: got 0.25, expected the same when Halving is built from its own parameters",
    ),
    (Inertia.from_parameters([math.nan] * 10), r"inertia: got nan, expected a finite number"),
    (Inertia(np.ones(3), np.zeros((3, 3))), r"inertia: got array\(.*expected a number"),
)


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
        nested = SHIPPED["Reversed"](nested)
    with pytest.raises(ParameterError, match="at most 100 levels of nesting"):
        cardan.to_json(nested)


# --- files that are not believed ------------------------------------------------------------------------------------


def custom(path, body="{}"):
    return f'{{"cardan": "joint", "schema": 1, "joint": {{"{path}": {body}}}}}'


MALICIOUS = (
    "os:system",
    "subprocess:Popen",
    "builtins:eval",
    "builtins:exec",
    "posix:system",
    "pickle:loads",
    "cardan:Joint",
    "cardan._robot.joints.joint:Joint",
    "cardan._robot.joints.catalogue.chains:ChainJoint",
    "cardan:Joint.__init__",
    "cardan:Joint.__subclasses__",
    "cardan:errors.sys",
    "builtins:object.__class__",
    "__main__:__builtins__",
    "os:environ.clear",
    ":",
    "a:",
    ":a",
    "os:",
    "os:system:x",
    "..os:system",
    "os;import sys:x",
    "test_json_no_such_module:Cam",
    "os.path:join",
    "cardan._reach.formats.json.codec:Path",
    "abc:ABC",
    "typing:Any",
    "builtins:type",
)


@pytest.mark.parametrize("path", MALICIOUS)
def test_no_file_names_code(path, monkeypatch):
    imported, from_json = [], cardan.from_json  # which itself is imported when first asked for
    monkeypatch.setattr("importlib.import_module", lambda name: imported.append(name))
    with pytest.raises(
        DescriptionError, match=r"^<string>: error: joint: names the class .* not registered: import it and call"
    ):
        from_json(custom(path))
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
    monkeypatch.setattr("cardan._reach.formats.json.values._registered", {})
    text = cardan.to_json(Cam(0.2))
    path = f"{Cam.__module__}:Cam"
    with pytest.raises(DescriptionError) as caught:
        cardan.from_json(text)
    assert str(caught.value) == (
        f"<string>: error: joint: names the class '{path}', which is not cardan's and not registered: import it and "
        "call cardan.register_joint(Cam) before reading; or, only if you trust whoever wrote the file, pass "
        f"trusted=True, which imports the module '{Cam.__module__}'"
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
    with pytest.raises(DescriptionError, match=r"joint\.Mimic: the key 'primary' is missing"):
        cardan.from_json(custom("Mimic", '{"joint": {"Revolute": {}}}'))
    assert cardan.from_json(custom("Revolute")) == Revolute()
    with pytest.raises(DescriptionError, match="got a Linear, expected a joint"):
        cardan.from_json(custom("Linear", '{"slopes": [1]}'))
    with pytest.raises(DescriptionError, match=r"joint\.Reversed: joint to reverse: got 5, expected a joint"):
        cardan.from_json(custom("Reversed", '{"joint": 5}'))
