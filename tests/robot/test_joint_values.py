"""Joints are values: read once, when they enter a mechanism, whatever their class is made of."""

import copy
import dataclasses
import functools
import pickle
import threading
import types

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia, Mechanism
from cardan.errors import JointError, ParameterError
from cardan.joints import Composite, Mimic, Prismatic, Reversed, Revolute
from cardan.manifolds import Euclidean
from cardan.spatial.rotations import rotation_about_axis

ANGLE = 0.3


def rise(r):
    """A cam of lift r: z = r sin q, so S = r cos q along z."""
    return lambda q: SE3(translation=(0.0, 0.0, r * cardan.sin(q[0])))


class Plain(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, r):
        self.r = r

    def transform(self, q):
        return rise(self.r)(q)


class Slots(cardan.Joint):
    __slots__ = ("r",)
    manifold = Euclidean(1)

    def __init__(self, r):
        self.r = r

    def transform(self, q):
        return rise(self.r)(q)


@dataclasses.dataclass
class Unfrozen(cardan.Joint):
    r: float
    manifold = Euclidean(1)

    def transform(self, q):
        return rise(self.r)(q)


@dataclasses.dataclass(frozen=True)
class Uncompared(cardan.Joint):
    r: float = dataclasses.field(compare=False)
    manifold = Euclidean(1)

    def transform(self, q):
        return rise(self.r)(q)


@dataclasses.dataclass(frozen=True)
class HoldsList(cardan.Joint):
    table: list
    manifold = Euclidean(1)

    def transform(self, q):
        return rise(self.table[0])(q)


class Array(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, r):
        self.table = np.array([r, 0.0])

    def transform(self, q):
        return rise(self.table[0])(q)


class Nested(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, r):
        self.cam = types.SimpleNamespace(profile={"lift": [r]})

    def transform(self, q):
        return rise(self.cam.profile["lift"][0])(q)


class Closure(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, r):
        self.pose = lambda q: rise(r)(q)

    def transform(self, q):
        return self.pose(q)


class Partial(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, r):
        self.pose = functools.partial(lambda r, q: rise(r)(q), r)

    def transform(self, q):
        return self.pose(q)


class NumPyPolynomial(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, r):
        self.profile = np.polynomial.Polynomial([0.0, r])

    def transform(self, q):
        return SE3(translation=(0.0, 0.0, self.profile(cardan.sin(q[0]))))


def by_list(r):
    return HoldsList([r])


def within(r):
    return Composite([Plain(r)])


MAKERS = [Plain, Slots, Unfrozen, Uncompared, by_list, Array, Nested, Closure, Partial, NumPyPolynomial, within]


def model_of(joint):
    m = Mechanism("cam")
    m.add_body("b", Inertia(1.0, (0.0, 0.0, 0.1), np.diag([0.1, 0.1, 0.1])))
    m.add_joint("j", joint, "world", "b")
    return m.model()


def lift_felt(model):
    """Return r as the dynamics has it: the mass matrix is (r cos q)^2, the force of weight 9.81 r cos q."""
    mass = np.sqrt(cardan.mass_matrix(model, [ANGLE])[0, 0]) / np.cos(ANGLE)
    weight = cardan.gravity_forces(model, [ANGLE])[0] / 9.81 / np.cos(ANGLE)
    pose = cardan.frame_transform(model, [ANGLE], "b")[2, 3] / np.sin(ANGLE)
    np.testing.assert_allclose([mass, weight], pose, rtol=1e-12)
    return pose


@pytest.mark.parametrize("make", MAKERS)
def test_two_joints_of_one_class_keep_their_own_parameters(make, quick_target):
    for r in (0.1, 0.7, 0.1, 2.0):
        assert lift_felt(model_of(make(r))) == pytest.approx(r, rel=1e-12)


CHANGES = [
    (Plain, lambda j, r: setattr(j, "r", r)),
    (Slots, lambda j, r: setattr(j, "r", r)),
    (Unfrozen, lambda j, r: setattr(j, "r", r)),
    (Uncompared, lambda j, r: object.__setattr__(j, "r", r)),
    (by_list, lambda j, r: j.table.__setitem__(0, r)),
    (Array, lambda j, r: j.table.__setitem__(0, r)),
    (Nested, lambda j, r: j.cam.profile["lift"].__setitem__(0, r)),
    (within, lambda j, r: setattr(j.joints[0], "r", r)),
]


@pytest.mark.parametrize(("make", "change"), CHANGES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_change_counts_for_what_is_built_after_it_and_for_nothing_else(make, change):
    joint = make(0.1)
    before, untouched = model_of(joint), model_of(joint)
    assert lift_felt(before) == pytest.approx(0.1)
    change(joint, 0.2)
    assert lift_felt(model_of(joint)) == pytest.approx(0.2)
    assert lift_felt(before) == pytest.approx(0.1)
    assert lift_felt(untouched) == pytest.approx(0.1)  # nothing had been computed with it before the change
    assert lift_felt(model_of(make(0.2))) == pytest.approx(0.2)
    assert lift_felt(model_of(make(0.1))) == pytest.approx(0.1)


@pytest.mark.parametrize(("make", "change"), CHANGES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_joint_by_itself_is_what_it_is_now(make, change):
    joint = make(0.1)
    for r in (0.1, 0.5, 0.1):
        change(joint, r)
        for seen, factor in ((joint, 1.0), (Reversed(joint), -1.0)):
            (S,) = seen.motion_subspace((ANGLE,))
            assert S.linear[2] == pytest.approx(factor * r * np.cos(ANGLE), rel=1e-12)
            bias = seen.bias((ANGLE,), (2.0,))
            assert bias.linear[2] == pytest.approx(factor * -4.0 * r * np.sin(ANGLE), rel=1e-12)


def test_class_attributes_and_methods_count_for_what_is_built_after_their_change():
    class Shared(cardan.Joint):
        manifold = Euclidean(1)
        r = 0.1

        def transform(self, q):
            return rise(self.r)(q)

    assert lift_felt(model_of(Shared())) == pytest.approx(0.1)
    Shared.r = 0.4
    assert lift_felt(model_of(Shared())) == pytest.approx(0.4)
    Shared.transform = lambda self, q: rise(3.0 * self.r)(q)
    assert lift_felt(model_of(Shared())) == pytest.approx(1.2)


RADIUS = {"r": 0.1}
FACTOR = 1.0


def factor():
    return FACTOR


class ReadsGlobals(cardan.Joint):
    manifold = Euclidean(1)

    def transform(self, q):
        return rise(factor() * RADIUS["r"])(q)


def test_globals_count_for_what_is_built_after_their_change(monkeypatch):
    """As in a notebook, where the cell of the constants is run again and that of the class is not."""
    assert lift_felt(model_of(ReadsGlobals())) == pytest.approx(0.1)
    monkeypatch.setitem(RADIUS, "r", 0.4)
    assert lift_felt(model_of(ReadsGlobals())) == pytest.approx(0.4)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert lift_felt(model_of(ReadsGlobals())) == pytest.approx(0.8)

    def other():
        return other.value

    other.value = 3.0
    monkeypatch.setitem(globals(), "factor", other)
    assert lift_felt(model_of(ReadsGlobals())) == pytest.approx(1.2)
    other.value = 4.0
    assert lift_felt(model_of(ReadsGlobals())) == pytest.approx(1.6)


def test_the_joint_of_a_model_cannot_be_changed_behind_its_back():
    for joint in (Plain(0.1), Slots(0.1), Unfrozen(0.1)):
        model = model_of(joint)
        with pytest.raises(JointError, match=r"\.r cannot be set: .*replace_joint"):
            model.joint("j").r = 0.2
        joint.r = 0.2  # the caller's own
        assert lift_felt(model) == pytest.approx(0.1)
    model = model_of(Array(0.1))
    with pytest.raises(ValueError, match="read-only"):
        model.joint("j").table[0] = 0.2


def test_nor_that_of_a_copy_or_pickle_of_a_model():
    """What is compiled for it would go on with the old parameter, and so would what is derived."""
    for copied in (copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))):
        plain, array = copied(model_of(Plain(0.1))), copied(model_of(Array(0.1)))
        with pytest.raises(JointError, match="cannot be set"):
            plain.joint("j").r = 0.2
        with pytest.raises(ValueError, match="read-only"):
            array.joint("j").table[0] = 0.2
        assert lift_felt(plain) == pytest.approx(0.1)
        assert plain == model_of(Plain(0.1))
        assert array == model_of(Array(0.1)) != model_of(Array(0.2))


def test_users_joints_are_told_apart_by_class_and_parameters():
    """And models that hold them say nothing of what their code does to other processes."""
    assert model_of(Plain(0.1)) != model_of(Unfrozen(0.1))
    assert model_of(Plain(0.1)).digest is None


def test_a_copy_or_pickle_of_a_kept_joint_is_free_again():
    for twin in (
        copy.copy(model_of(Plain(0.1)).joint("j")),
        pickle.loads(pickle.dumps(model_of(Plain(0.1)).joint("j"))),
    ):
        twin.r = 0.5
        assert lift_felt(model_of(twin)) == pytest.approx(0.5)


def test_what_the_class_computes_for_itself_once_may_stay():
    class Lazy(Plain):
        def transform(self, q):
            if not hasattr(self, "_doubled"):
                self._doubled = 2.0 * self.r
            return rise(0.5 * self._doubled)(q)

    assert lift_felt(model_of(Lazy(0.3))) == pytest.approx(0.3)


def test_shipped_joints_are_kept_as_they_are():
    joint = Revolute((0.0, 0.6, 0.8))
    m = Mechanism()
    m.add_body("b")
    assert m.add_joint("j", joint, "world", "b").joint is joint


def test_replace_joint_and_the_base_joint_are_kept_as_well():
    m = Mechanism("m")
    m.add_body("b", Inertia(1.0, (0.0, 0.0, 0.1), np.diag([0.1, 0.1, 0.1])))
    m.add_joint("j", Prismatic(), "world", "b")
    joint = Plain(0.1)
    model = m.replace_joint("j", joint).mechanism.model()
    free = Mechanism("m")
    free.add_body("b", Inertia(1.0, (0.0, 0.0, 0.1), np.diag([0.1, 0.1, 0.1])))
    based = free.model(root="b", base=joint)
    joint.r = 5.0
    assert lift_felt(model) == pytest.approx(0.1)
    assert lift_felt(based) == pytest.approx(0.1)


def test_parameters_that_cannot_be_read_are_refused_by_name():
    joint = Plain(0.1)
    joint.module, joint.helper = np, cardan.sin
    assert lift_felt(model_of(joint)) == pytest.approx(0.1)
    for opaque in (threading.Lock(), (x for x in ()), memoryview(b"")):
        joint.opaque = opaque
        with pytest.raises(JointError, match=rf"Plain: .* is a {type(opaque).__name__}, which cannot be read; keep"):
            model_of(joint)
    joint.opaque = [joint]
    with pytest.raises(JointError, match="is a Plain that is part of itself, which cannot be read"):
        model_of(joint)


def test_slots_are_parameters_too():
    assert Slots(0.1) != Slots(0.7)
    assert Slots(0.1) == Slots(0.1)
    assert Slots(0.25).parameters() == {"r": 0.25}
    varied = model_of(Slots(0.1)).with_inputs(r=("j", "r"))
    M = cardan.mass_matrix(varied, [ANGLE], r=np.array([0.1, 0.7]))
    np.testing.assert_allclose(M[:, 0, 0], (np.array([0.1, 0.7]) * np.cos(ANGLE)) ** 2)


# --- the first checks --------------------------------------------------------------------------------------------


class User(cardan.Joint):
    manifold = Euclidean(1)

    def __init__(self, f):
        self.f = f

    def transform(self, q):
        return self.f(q)


class NoManifold(cardan.Joint):
    def transform(self, q):
        return SE3()


class NumberForManifold(NoManifold):
    manifold = 1


class TooManyColumns(User):
    def motion_subspace(self, q):
        return [cardan.Motion((0, 0, 1), (0, 0, 0))] * 2


class ListForMotion(User):
    def motion_subspace(self, q):
        return [[0, 0, 1, 0, 0, 0]]


class OwnRates(User):
    def velocity_to_configuration_derivative(self, q, v):
        return (2.0 * v[0],)


class OwnSteps(User):
    def integrate(self, q, v):
        return (q[0] + 2.0 * v[0],)


class SevenVelocities(User):
    manifold = Euclidean(7)


def turned(q):
    return rotation_about_axis((0.0, 0.0, 1.0), q[0])


WRONG = [
    (NoManifold(), "NoManifold: manifold is None; .*manifold = cardan.manifolds.Euclidean"),
    (NumberForManifold(), "manifold is 1; .*manifold = cardan.manifolds.Euclidean"),
    (User(lambda q: np.eye(4)), "transform returns a ndarray; return cardan.SE3"),
    (User(lambda q: (np.eye(3), np.zeros(3))), "transform returns a tuple; return cardan.SE3"),
    (User(lambda q: SE3(-turned(q))), "R is a reflection"),
    (User(lambda q: SE3(turned(q) * 2.0)), "a rotation times a factor"),
    (User(lambda q: SE3(rotation_about_axis((0.7071, 0.7071, 0.0), q[0]))), "R"),
    (
        User(lambda q: SE3(translation=(0.0, 0.0, np.cos(q)))),
        r"transform raises ShapeError: .*np.cos\(q\[0\]\) instead of np.cos\(q\)",
    ),
    (User(lambda q: SE3(translation=(0.0, 0.0, q[1]))), "IndexError.*test_joint_values.py"),
    (User(lambda q: SE3(translation=(0.0, 0.0, float("nan")))), "nowhere a pose of finite numbers"),
    (TooManyColumns(lambda q: SE3(translation=(0.0, 0.0, q[0]))), "S has 2 columns, expected nv = 1"),
    (ListForMotion(lambda q: SE3(translation=(0.0, 0.0, q[0]))), "a list for a Motion; return cardan.Motion"),
    (OwnRates(lambda q: SE3(turned(q))), "write a manifold whose velocity_to_configuration_derivative it is"),
    (OwnSteps(lambda q: SE3(turned(q))), "write a manifold whose integrate it is"),
    (SevenVelocities(lambda q: SE3(translation=(0.0, 0.0, q[0]))), "nv is 7, expected at most 6"),
]


@pytest.mark.parametrize(("joint", "words"), WRONG)
def test_a_joint_that_cannot_serve_is_refused_when_it_enters(joint, words):
    m = Mechanism()
    m.add_body("b")
    for made in (lambda: joint, lambda: Composite([Revolute(), joint]), lambda: Reversed(joint)):
        try:
            outer = made()
        except Exception:  # one without a manifold is no part of another, either
            continue
        with pytest.raises(JointError, match=words):
            m.add_joint("j", outer, "world", "b")
    assert m.joints == ()


def test_a_joint_may_be_undefined_at_some_configurations():
    joint = User(lambda q: SE3(translation=(0.0, 0.0, cardan.sqrt(q[0]))))
    assert np.isfinite(cardan.mass_matrix(model_of(joint), [ANGLE])).all()


def test_a_mimic_of_a_users_joint_is_checked():
    m = Mechanism()
    m.add_body("b")
    with pytest.raises(JointError, match="returns a ndarray"):
        m.add_joint("j", Mimic(User(lambda q: np.eye(4)), "other"), "world", "b")


def test_composites_and_splines_take_rotations_only():
    for bad in (
        SE3(np.diag([1.0, 1.0, -1.0])),
        SE3(2.0 * np.eye(3)),
        SE3(rotation_about_axis((0.7071, 0.7071, 0), 1.0)),
    ):
        with pytest.raises(ParameterError, match=r"placement 1 of a composite joint.*a rotation matrix"):
            Composite([Revolute(), Revolute()], [SE3(), bad])
        with pytest.raises(ParameterError, match=r"frame 1 of a spline joint.*a rotation matrix"):
            cardan.joints.Spline(frames=(SE3(), bad))
