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
