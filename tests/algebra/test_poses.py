"""Poses at hand: their constructors, logarithm and error, rotations in arrays, and wrenches applied at frames."""

import inspect
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan import SE3, pose_error
from cardan.errors import DTypeError, NotFiniteError, ParameterError, ShapeError, UnknownNameError
from cardan.spatial import rotations as ro

RNG = np.random.default_rng(4)
ARM = cardan.robots.arm7().model()
DOG = cardan.load(cardan.robots.urdf_path("quadruped"), base="floating")
REFERENCES = [(at, axes) for at in ("frame", "world") for axes in ("frame", "world")]


def twists(*shape, angle=2.0, length=1.0):
    return np.concatenate(
        [length * RNG.normal(size=(*shape, 3)), RNG.uniform(-1, 1, (*shape, 3)) * angle / 3**0.5], axis=-1
    )


def matrices(*shape, **sizes):
    return np.array(SE3.exp(twists(*shape, **sizes)))


# --- exp, log, error -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2)])
@pytest.mark.parametrize(("angle", "length"), [(3.1, 1.0), (1e-9, 1e-9), (1e-5, 1e9), (2.0, 1e-9)])
def test_log_undoes_exp_at_every_scale(shape, angle, length):
    given = twists(*shape, angle=angle, length=length)
    found = np.array(SE3.exp(given).log())
    assert found.shape == (*shape, 6)
    np.testing.assert_allclose(found[..., 3:], given[..., 3:], atol=4e-15 * angle, rtol=1e-14)
    np.testing.assert_allclose(found[..., :3], given[..., :3], atol=2e-14 * length)
    np.testing.assert_array_equal(SE3.log(np.array(SE3.exp(given))), found)


@pytest.mark.parametrize(("at", "expressed_in"), REFERENCES)
def test_the_error_is_the_jacobians_times_the_velocity(at, expressed_in, quick_target):
    """To first order, in the same reference; and it leads to the target exactly."""
    q = ARM.random_configuration((4,), seed=1)
    v = 1e-6 * RNG.normal(size=q.shape)
    X, Y = (cardan.frame_transform(ARM, c, "tool") for c in (q, q + v))
    J = cardan.jacobian(ARM, q, "tool", at=at, expressed_in=expressed_in)
    error = pose_error(X, Y, at=at, expressed_in=expressed_in)
    np.testing.assert_allclose(error, (J @ v[..., None])[..., 0], atol=1e-11)


def test_the_error_leads_from_one_pose_to_the_other():
    X, Y = matrices(5), matrices(3, 1)
    body, spatial = pose_error(X, Y), pose_error(X, Y, at="world", expressed_in="world")
    assert body.shape == (3, 5, 6)
    np.testing.assert_allclose(np.array(SE3.of(X) @ SE3.exp(body)), np.broadcast_to(Y, (3, 5, 4, 4)), atol=1e-14)
    np.testing.assert_allclose(np.array(SE3.exp(spatial) @ SE3.of(X)), np.broadcast_to(Y, (3, 5, 4, 4)), atol=1e-14)
    turned = np.concatenate([X[..., :3, :3] @ part[..., None] for part in (body[..., :3], body[..., 3:])], axis=-2)
    np.testing.assert_allclose(pose_error(X, Y, expressed_in="world"), turned[..., 0], atol=1e-14)
    np.testing.assert_array_equal(pose_error(X, X[0])[0], np.zeros(6))
    np.testing.assert_array_equal(pose_error(SE3.of(X), SE3.of(Y)), body)


def test_it_is_pinocchios_log6():
    pin = pytest.importorskip("pinocchio")
    X, Y = matrices(6), matrices(6)
    theirs = [pin.log6(pin.SE3(x).actInv(pin.SE3(y))).vector for x, y in zip(X, Y, strict=True)]
    np.testing.assert_allclose(pose_error(X, Y), theirs, atol=1e-13)


@pytest.mark.slow
def test_traced_it_is_the_same_and_has_derivatives_where_it_is_0():
    @cardan.function(shapes={"target": (4, 4)}, returns=(6,))
    def error(model, q, target):
        return pose_error(cardan.frame_transform(model, q, "tool"), target)

    q = ARM.random_configuration((3,), seed=2)
    X, Y = cardan.frame_transform(ARM, q, "tool"), matrices(3)
    np.testing.assert_allclose(error(ARM, q, Y), pose_error(X, Y), atol=1e-14)
    slope = cardan.derivative(error, "q")(ARM, q, X)
    np.testing.assert_allclose(slope, -cardan.jacobian(ARM, q, "tool", expressed_in="frame"), atol=1e-13)


def test_bad_references_and_poses_are_named():
    with pytest.raises(ParameterError, match=r"pose_error: at: got 'LOCAL', expected 'frame' or 'world'"):
        pose_error(np.eye(4), np.eye(4), at="LOCAL")
    with pytest.raises(ShapeError, match=r"'X_target' has shape \(3, 3\), expected \(\.\.\., 4, 4\)"):
        pose_error(np.eye(4), np.eye(3))


def test_the_logarithm_of_other_matrices_is_entry_by_entry():
    @cardan.function(shapes={"A": (4, 4)})
    def logarithms(model, A):
        return cardan.log(A)

    A = RNG.uniform(0.5, 2.0, (4, 4))
    np.testing.assert_allclose(logarithms(ARM, A), np.log(A), atol=1e-15)
    assert cardan.log(np.zeros((0, 4, 4))).shape == (0, 4, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cardan.log(matrices()),
        lambda: cardan.log(matrices(3)),
        lambda: cardan.log(SE3()),
        lambda: cardan.exp(SE3()),
        lambda: cardan.exp(cardan.Motion.zero()),
    ],
)
def test_what_acts_entry_by_entry_names_what_acts_on_poses(call):
    with pytest.raises(
        TypeError, match=r"cardan\.SE3\.log\(X\).*cardan\.pose_error\(X, Y\).*cardan\.SE3\.exp\(twist\)"
    ):
        call()
    np.testing.assert_array_equal(cardan.log(np.full((4, 4), 2.0)), np.log(np.full((4, 4), 2.0)))


# --- constructors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_constructors_agree_with_scipy(shape):
    xyzw, rpy, p = RNG.normal(size=(*shape, 4)), RNG.normal(size=(*shape, 3)), RNG.normal(size=(*shape, 3))
    for scale in (1.0, 1e-9, 1e9, 1e-200, 1e200):
        X = np.array(SE3.from_quaternion(scale * xyzw, p))
        R = Rotation.from_quat(xyzw.reshape(-1, 4)).as_matrix().reshape(*shape, 3, 3)
        np.testing.assert_allclose(X[..., :3, :3], R, atol=2e-15)
    np.testing.assert_array_equal(X[..., :3, 3], p)
    R = Rotation.from_euler("xyz", rpy.reshape(-1, 3)).as_matrix().reshape(*shape, 3, 3)
    np.testing.assert_allclose(np.array(SE3.from_rpy(rpy, p))[..., :3, :3], R, atol=2e-15)
    np.testing.assert_array_equal(np.array(SE3.from_matrix(X)), X)
    np.testing.assert_array_equal(np.array(SE3.from_matrix(X[..., :3, :3], p)), X)


def test_constructors_take_lists_integers_and_single_precision():
    assert SE3.from_rpy([0, 0, 0], [1, 2, 3]).translation == (1.0, 2.0, 3.0)
    assert SE3.from_quaternion([0, 0, 0, 2]) == SE3()
    assert np.array(SE3.from_quaternion([[0, 0, 0, 1], [1, 0, 0, 0]])).shape == (2, 4, 4)
    assert SE3.from_matrix(matrices().astype(np.float32)) is not None  # orthonormal to its own precision
    assert np.array(SE3.from_rpy(np.ones((2, 3), np.float32))).dtype == np.float32


def test_constructors_are_traced():
    @cardan.function(shapes={"xyzw": (4,), "rpy": (3,), "p": (3,), "X": (4, 4)})
    def poses(model, xyzw, rpy, p, X):
        return SE3.from_quaternion(xyzw, p), SE3.from_rpy(rpy, p), SE3.from_matrix(X), SE3.exp(SE3.log(X))

    xyzw, rpy, p, X = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=3), matrices()
    found = poses(ARM, xyzw, rpy, p, X)
    for got, expected in zip(found, (SE3.from_quaternion(xyzw, p), SE3.from_rpy(rpy, p), X, X), strict=True):
        np.testing.assert_allclose(got, np.array(expected), atol=2e-15)


def test_constructors_take_the_components_of_many_states():
    """A joint's own transform has q of all states by components, and gives some of them and zeros to a constructor."""
    a, b, c = RNG.normal(size=(3, 5))
    rolled = np.array(SE3.from_rpy(np.stack([0 * a, b, 0 * a], axis=-1), np.stack([0 * a, 0 * a, c], axis=-1)))
    np.testing.assert_array_equal(np.array(SE3.from_rpy([0.0, b, 0], (0, 0.0, c))), rolled)
    np.testing.assert_array_equal(np.array(SE3.from_rpy((a, b, c))), np.array(SE3.from_rpy(np.stack([a, b, c], -1))))
    rows = RNG.normal(size=(2, 3))
    np.testing.assert_array_equal(np.array(SE3.from_rpy(list(rows))), np.array(SE3.from_rpy(rows)))
    many = matrices(3)
    np.testing.assert_array_equal(np.array(SE3.from_matrix(list(many))), many)
    np.testing.assert_array_equal(np.array(SE3.from_matrix(list(many[0, :3, :3])))[:3, :3], many[0, :3, :3])
    rows = SE3.from_rpy([np.zeros(3), [0.1, 0.2, 0.3], (0.0, 0.0, 1.0)])  # some of them lists
    np.testing.assert_array_equal(rows.matrix()[1], SE3.from_rpy((0.1, 0.2, 0.3)).matrix())
    with pytest.raises(ShapeError, match=r"np\.stack\(\.\.\., axis=-1\) makes one array of components"):
        SE3.from_rpy([a[:3], b[:3], c[:3]])  # rows of three states would look the same


@pytest.mark.parametrize("states", [(), (2,), (3,), (4, 3)])
def test_a_joint_hands_its_whole_q_to_a_constructor(states):
    class Turned(cardan.Joint):
        manifold = cardan.manifolds.Euclidean(3)

        def transform(self, q):
            return SE3.from_rpy(q, [0.0, q[1], 0.1])

    q = RNG.normal(size=(*states, 3))
    p = np.stack([0 * q[..., 0], q[..., 1], 0 * q[..., 0] + 0.1], axis=-1)
    np.testing.assert_allclose(cardan.evaluate_joint(Turned(), "transform", q), np.array(SE3.from_rpy(q, p)))


REFLECTION, STRETCHED = np.diag([1.0, 1.0, -1.0]), np.stack([np.eye(4), np.diag([1.0, 1.01, 1.0, 1.0])])


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: SE3.from_quaternion((0, 0, 0, 0)), ParameterError, "xyzw: got 'a quaternion of norm 0', expected"),
        (lambda: SE3.from_quaternion([[0, 0, 0, 1], [0] * 4]), ParameterError, "norm 0 at index 1 of the batch"),
        (lambda: SE3.from_quaternion((np.nan, 0, 0, 1)), NotFiniteError, r"xyzw\[0\] is nan"),
        (lambda: SE3.from_quaternion((0, 0, 1)), ShapeError, r"'xyzw' has shape \(3,\), expected \(\.\.\., 4\)"),
        (lambda: SE3.from_quaternion(("a", 0, 0, 1)), DTypeError, "expected real numbers"),
        (lambda: SE3.from_quaternion(None), ShapeError, "'xyzw'"),
        (lambda: SE3.from_quaternion([[1, 2], [3]]), ShapeError, "'xyzw'"),
        (lambda: SE3.from_rpy((0, np.inf, 0)), NotFiniteError, r"SE3\.from_rpy: rpy\[1\] is inf"),
        (lambda: SE3.from_rpy((1, 2)), ShapeError, r"SE3\.from_rpy.*expected \(\.\.\., 3\)"),
        (lambda: SE3.from_rpy((0, 0, 0), (0, 0, 1j)), DTypeError, "'translation' is of dtype complex"),
        (lambda: SE3.from_matrix(REFLECTION), ParameterError, "a reflection, of determinant -1"),
        (lambda: SE3.from_matrix(STRETCHED), ParameterError, r"not orthonormal \(by 0.0201\) at index 1.*svd"),
        (lambda: SE3.from_matrix(np.eye(4) + np.eye(4, k=-3)), ParameterError, "last row 0 0 0 1. Transpose it"),
        (lambda: SE3.from_matrix(np.full((4, 4), np.nan)), NotFiniteError, r"matrix\[0, 0\] is nan"),
        (lambda: SE3.from_matrix(np.eye(4), (1, 2, 3)), ParameterError, "none beside a 4x4 matrix"),
        (lambda: SE3.from_matrix(np.eye(5)), ShapeError, r"\(\.\.\., 4, 4\) or \(\.\.\., 3, 3\)"),
        (lambda: SE3.exp((1, 2, 3)), ShapeError, "expected"),
    ],
)
def test_what_is_no_pose_is_refused_with_its_reason(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


# --- rotations in arrays ---------------------------------------------------------------------------------------------

CHARTS = [
    (name, function)
    for name, function in vars(ro).items()
    if not name.startswith("_") and name.startswith(("matrix_from", "quaternion", "mrp", "zyx", "xyz", "r"))
    if inspect.isfunction(function) and "axis" not in name and function.__module__ == ro.__name__
]
SAMPLES = {
    "R": lambda n: matrices(n)[:, :3, :3],
    4: lambda n: RNG.normal(size=(n, 4)),
    3: lambda n: RNG.normal(size=(n, 3)),
}


@pytest.mark.parametrize(("name", "function"), CHARTS)
def test_rotations_take_arrays_and_give_arrays(name, function):
    """What each row gives alone, given as scalars; any batch, either precision, no row mixed up with a component."""
    parameters = list(inspect.signature(function).parameters)
    of_4 = {"q", "a", "b"}
    given = [SAMPLES["R" if p == "R" else 4 if p in of_4 else 3](4) for p in parameters]
    rows = [
        np.array(function(*(cardan.spatial.Matrix3.of(g) if g.ndim == 2 else tuple(g.tolist()) for g in row)))
        for row in zip(*given, strict=True)
    ]
    found = function(*given)
    np.testing.assert_allclose(found, rows, atol=1e-14)
    np.testing.assert_allclose(function(**dict(zip(parameters, given, strict=True))), rows, atol=1e-14)
    np.testing.assert_allclose(function(*(g[0] for g in given)), rows[0], atol=1e-14)
    assert function(*(g.reshape(2, 1, 2, *g.shape[1:]) for g in given)).shape == (2, 1, 2, *rows[0].shape)
    assert function(*(g.astype(np.float32) for g in given)).dtype == np.float32
    with pytest.raises(ShapeError, match=r"cardan\.spatial"):
        function(*(np.ones((7, 5)) for _ in given))


def test_angles_about_an_axis_take_arrays():
    angle, axis = RNG.uniform(-3, 3, 4), np.array([0.0, 0.6, 0.8])
    R = np.array(ro.rotation_about_axis(axis, angle))
    assert R.shape == (4, 3, 3)
    np.testing.assert_allclose(ro.angle_about_axis(axis, R), angle, atol=1e-15)


# --- wrenches --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expressed_in", ["world", "frame", "front_left_foot"])
def test_the_power_of_an_applied_force_is_that_of_its_point(expressed_in, quick_target):
    """tau . v of the wrench = force . velocity of the point + torque . angular velocity."""
    q = DOG.random_configuration((3,), seed=3)
    v, force, torque, point = (RNG.normal(size=(3, n)) for n in (DOG.nv, 3, 3, 3))
    wrench = cardan.wrench_at(DOG, q, "rear_right_foot", force, torque, point=point, expressed_in=expressed_in)
    assert wrench.shape == (3, DOG.nbodies, 6)
    tau = cardan.bias_forces(DOG, q, 0 * v) - cardan.bias_forces(DOG, q, 0 * v, wrench)
    X = SE3.of(cardan.frame_transform(DOG, q, "rear_right_foot"))
    V = cardan.Motion.of(cardan.frame_velocity(DOG, q, v, "rear_right_foot", expressed_in="frame"))
    speed = cardan.spatial.stack(X.rotation @ (V.linear + V.angular.cross(cardan.spatial.Vector3.of(point))))
    turning = cardan.spatial.stack(X.rotation @ V.angular)
    axes = {"frame": "rear_right_foot"}.get(expressed_in, expressed_in)
    R = cardan.frame_transform(DOG, q, axes)[:, :3, :3]
    turned = [(R @ given[..., None])[..., 0] for given in (force, torque)]
    power = (turned[0] * speed).sum(-1) + (turned[1] * turning).sum(-1)
    np.testing.assert_allclose((tau * v).sum(-1), power, atol=1e-12)


def test_a_wrench_lies_on_the_body_that_carries_the_frame():
    q = ARM.random_configuration(seed=1)
    m = cardan.robots.arm7()
    m.add_frame("tip", "tool", SE3.from_rpy((0.0, 0.5, 0.0), (0.0, 0.0, 0.1)))
    with_tip = m.model()
    wrench = cardan.wrench_at(with_tip, q, "tip", (0.0, 0.0, -10.0))
    at = with_tip.body_names.index("tool")
    assert np.flatnonzero(np.abs(wrench).sum(axis=1)).tolist() == [at]
    J = cardan.jacobian(with_tip, q, "tip")
    tau = cardan.bias_forces(with_tip, q, 0 * q) - cardan.bias_forces(with_tip, q, 0 * q, wrench)
    np.testing.assert_allclose(tau, J.T @ [0, 0, -10.0, 0, 0, 0], atol=1e-13)
    assert cardan.wrench_at.program(ARM, frame="tool", expressed_in="frame").operations == 0  # it is that of the body


def test_it_serves_within_functions_and_other_processes():
    @cardan.function(returns=("nv",))
    def pushed(model, q, v, tau):
        return cardan.forward_dynamics(model, q, v, tau, cardan.wrench_at(model, q, "tool", (0.0, 0.0, -10.0)))

    q = ARM.random_configuration((2,), seed=1)
    wrench = pickle.loads(pickle.dumps(cardan.wrench_at))(ARM, q, "tool", (0.0, 0.0, -10.0))
    expected = cardan.forward_dynamics(ARM, q, 0 * q, 0 * q, wrench)
    np.testing.assert_allclose(pushed(ARM, q, 0 * q, 0 * q), expected, atol=1e-11)


def test_a_wrench_needs_a_body():
    q = ARM.neutral()
    with pytest.raises(ParameterError, match="got 'world', expected a body, or a frame on one"):
        cardan.wrench_at(ARM, q, "world", (0, 0, 1))
    with pytest.raises(UnknownNameError, match="'joint3' is a joint; the body it moves is 'upper_arm_roll'"):
        cardan.wrench_at(ARM, q, "joint3", (0, 0, 1))
    with pytest.raises(ShapeError, match="'force'"):
        cardan.wrench_at(ARM, q, "tool", (0, 1))


@pytest.mark.parametrize(
    "make",
    [
        lambda a: SE3(translation=a[..., 0]),
        lambda a: SE3.from_quaternion((0.0, 0.0, 0.0, 1.0), a[..., 0]),
        lambda a: SE3.from_matrix(a, a[..., 0]),
        lambda a: SE3(a),
    ],
)
def test_poses_stay_as_they_were_made(make):
    """A batch of poses was a view of the arrays it was made of, and moved with them."""
    given = np.tile(np.eye(3), (5, 1, 1))
    X = make(given)
    before = X.matrix()
    given += 1.0
    np.testing.assert_array_equal(X.matrix(), before)
