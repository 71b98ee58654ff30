"""Several frames in one program: by names, by indices, in every form; each equal to the single one.

Not bit for bit: what a program shares among its results decides which product a sum takes along.
"""

import numpy as np
import pytest

import cardan
from cardan.errors import ParameterError, UnknownNameError
from cardan.joints import CATALOGUE
from mechanisms import random_model, random_state

pytestmark = pytest.mark.filterwarnings("ignore::cardan.errors.RecompilationWarning")

ASKED = {
    cardan.frame_transform: ("q", (4, 4)),
    cardan.jacobian: ("q", (6, "nv")),
    cardan.frame_velocity: ("qv", (6,)),
    cardan.jacobian_derivative: ("qv", (6, "nv")),
    cardan.frame_acceleration: ("qva", (6,)),
}
REFERENCES = ({}, {"at": "frame", "expressed_in": "frame"}, {"at": "world", "expressed_in": "world"})


@pytest.fixture(scope="module", params=(pytest.param("fixed", marks=pytest.mark.full), "floating"))
def model(request):
    return random_model(0, joints=CATALOGUE[:9], base=request.param)


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("function", ASKED, ids=lambda f: f.name)
def test_several_frames_are_the_single_ones(model, function):
    letters, core = ASKED[function]
    state = dict(zip("qva", random_state(model, 3, (2,)), strict=True))
    arrays, names = [state[x] for x in letters], model.frame_names[:: len(model.frame_names) // 5]
    core = tuple(model.nv if n == "nv" else n for n in core)
    for options in ({},) if function is cardan.frame_transform else REFERENCES:
        together = function(model, *arrays, names, **options)
        assert together.shape == (2, len(names), *core)
        for k, name in enumerate(names):
            single = function(model, *arrays, name, **options)
            np.testing.assert_allclose(together[:, k], single, atol=1e-13 * (1.0 + np.abs(single).max()))


def test_indices_are_names_and_one_in_a_tuple_keeps_its_axis():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=0)
    by_name = cardan.jacobian(arm, q, arm.frame_names[2:5])
    np.testing.assert_array_equal(cardan.jacobian(arm, q, (2, 3, 4)), by_name)
    np.testing.assert_array_equal(cardan.jacobian(arm, q, 3), by_name[1])
    assert cardan.jacobian(arm, q, (arm.frame_names[2],)).shape == (1, 6, arm.nv)
    assert cardan.jacobian.bind(arm, frame=(2, 4))(q).shape == (2, 6, arm.nv)
    slope = cardan.derivative(cardan.frame_transform, "q")
    np.testing.assert_allclose(slope(arm, q, (2, 4))[1], slope(arm, q, 4), atol=1e-15)


def test_thirty_frames_are_one_program():
    traced = []

    @cardan.function
    def positions(model, q, frames):
        traced.append(frames)
        return cardan.frame_transform(model, q, frames)[:, :3, 3]

    dog = cardan.robots.humanoid().model(base="floating")
    names = dog.frame_names[:30]
    assert positions(dog, dog.neutral(), names).shape == (len(names), 3)
    positions(dog, dog.random_configuration((4,), seed=0), names)
    assert len(traced) == 1


@pytest.mark.parametrize(
    ("frame", "error", "said"),
    [
        ((), ParameterError, "at least one"),
        (99, ParameterError, "0 to 9"),
        (-1, ParameterError, "0 to 9"),
        (("tool", "tol"), UnknownNameError, "did you mean 'tool'"),
        ((True,), UnknownNameError, "no frame named True"),
        ((("tool",),), UnknownNameError, "no frame named"),
    ],
)
def test_frames_that_are_none_are_refused(frame, error, said):
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    with pytest.raises(error, match=said):
        cardan.jacobian(arm, arm.neutral(), frame)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("LOCAL", "Pinocchio's LOCAL is at='frame', expressed_in='frame'"),
        ("LOCAL_WORLD_ALIGNED", "is at='frame', expressed_in='world'"),
        ("WORLD", "is at='world', expressed_in='world'"),
        ("joint3", "'joint3' is a joint; the body it moves is 'upper_arm_roll'"),
        ("tol", "did you mean 'tool'"),
    ],
)
def test_a_word_that_is_no_frame_leads_to_what_is_meant(word, said):
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    with pytest.raises(UnknownNameError, match=said):
        cardan.jacobian(arm, arm.neutral(), "tool", at=word)
    with pytest.raises(UnknownNameError, match=said):
        cardan.frame_transform(arm, arm.neutral(), word)


# --- relative to another frame ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("reference_target")
@pytest.mark.parametrize("given", [*REFERENCES, {"at": "body3", "expressed_in": "frame5"}], ids=str)
@pytest.mark.parametrize("other", ["frame6", "frame1", "body2"])
def test_relative_motion_agrees_with_itself_and_with_differences(model, given, other):
    """`frame6` is relative to itself, too: nothing moves."""
    q, v, a = random_state(model, seed=3)
    options = {**given, "relative_to": other}
    for frame in ("frame6", "body2"):
        J = cardan.jacobian(model, q, frame, **options)
        rate = cardan.jacobian_derivative(model, q, v, frame, **options)
        velocity = cardan.frame_velocity(model, q, v, frame, **options)
        acceleration = cardan.frame_acceleration(model, q, v, a, frame, **options)
        np.testing.assert_allclose(J @ v, velocity, atol=1e-12)
        np.testing.assert_allclose(J @ a + rate @ v, acceleration, atol=1e-11 * (1 + np.abs(acceleration).max()))
        if frame == other:
            assert not J.any()
        moved = [cardan.jacobian(model, cardan.integrate(model, q, s * v), frame, **options) for s in (1e-6, -1e-6)]
        np.testing.assert_allclose(rate, (moved[0] - moved[1]) / 2e-6, atol=1e-6)


@pytest.mark.usefixtures("reference_target")
def test_relative_velocity_is_the_rate_of_the_relative_pose(model):
    q, v, _ = random_state(model, seed=4)
    X = [
        cardan.SE3.of(cardan.frame_transform(model, cardan.integrate(model, q, s * v), "frame6", relative_to="frame1"))
        for s in (-1e-6, 1e-6)
    ]
    rate = np.array(X[0].inverse().__matmul__(X[1]).log()) / 2e-6
    got = cardan.frame_velocity(model, q, v, "frame6", expressed_in="frame", relative_to="frame1")
    np.testing.assert_allclose(got, rate, atol=1e-8)
    by = cardan.frame_velocity_derivatives(model, q, v, "frame6", expressed_in="frame", relative_to="frame1")
    np.testing.assert_allclose(by.dv @ v, got, atol=1e-12)


@pytest.mark.usefixtures("reference_target")
def test_several_relative_frames_and_an_unknown_one(model):
    q, v, _ = random_state(model, seed=4)
    both = cardan.frame_velocity(model, q, v, ["frame6", "body2"], relative_to="frame1")
    one = cardan.frame_velocity(model, q, v, "body2", relative_to="frame1")
    np.testing.assert_allclose(both[1], one, atol=1e-14)
    with pytest.raises(UnknownNameError, match="no frame named 'frame99'"):
        cardan.jacobian(model, q, "body2", relative_to="frame99")


def test_relative_motion_is_that_of_idyntree():
    iDynTree = pytest.importorskip("idyntree.bindings")
    text = cardan.to_urdf(cardan.robots.quadruped())
    dog = cardan.load_mechanism(text).model(base="floating")
    loader = iDynTree.ModelLoader()
    assert loader.loadModelFromString(text, "urdf")
    kin = iDynTree.KinDynComputations()
    assert kin.loadRobotModel(loader.model())
    q, v, _ = random_state(dog, seed=7)
    base = kin.getFloatingBase()
    names = [kin.model().getJointName(i) for i in range(kin.model().getNrOfDOFs())]
    v_own = [dog.v_slice(n).start for n in names]
    twist = cardan.frame_velocity(dog, q, v, base)
    kin.setRobotState(
        cardan.frame_transform(dog, q, base),
        q[[dog.q_slice(n).start for n in names]],
        twist,
        v[v_own],
        np.array([0.0, 0.0, -9.81]),
    )
    here, there = dog.body_names[-1], dog.body_names[4]
    frames = kin.getFrameIndex(there), kin.getFrameIndex(here)
    matrix = iDynTree.MatrixDynSize(6, len(names))
    for representation, axes in ((iDynTree.MIXED_REPRESENTATION, there), (iDynTree.BODY_FIXED_REPRESENTATION, "frame")):
        kin.setFrameVelocityRepresentation(representation)
        assert kin.getRelativeJacobian(*frames, matrix)
        J = cardan.jacobian(dog, q, here, expressed_in=axes, relative_to=there)
        np.testing.assert_allclose(J[:, v_own], matrix.toNumPy(), atol=1e-12)
        velocity = cardan.frame_velocity(dog, q, v, here, expressed_in=axes, relative_to=there)
        np.testing.assert_allclose(velocity, matrix.toNumPy() @ v[v_own], atol=1e-12)
