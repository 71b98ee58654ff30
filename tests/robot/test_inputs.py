"""Constants of a model as inputs: the same numbers as a model built with them, and derivatives by them."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import cardan
from cardan import Inertia, Mechanism, joints
from cardan.errors import CardanError, MechanismError, ParameterError, ShapeError, UnknownNameError
from cardan.joints import (
    CATALOGUE,
    Composite,
    Distance,
    Ellipsoid,
    Helical,
    Mimic,
    Prismatic,
    Revolute,
    Spherical,
    Spline,
    Universal,
)
from mechanisms import random_model, random_state
from representatives import represented

ALL = (
    "mass",
    "com",
    "inertia",
    "parent_pose",
    "child_pose",
    "frame_pose",
    "armature",
    "damping",
    "friction",
    "gravity",
)

FUNCTIONS = {
    "inverse_dynamics": lambda m, q, v, a, **k: cardan.inverse_dynamics(m, q, v, a, **k),
    "forward_dynamics": lambda m, q, v, a, **k: cardan.forward_dynamics(m, q, v, a, **k),
    "mass_matrix": lambda m, q, v, a, **k: cardan.mass_matrix(m, q, **k),
    "coriolis_matrix": lambda m, q, v, a, **k: cardan.coriolis_matrix(m, q, v, **k),
    "gravity_forces": lambda m, q, v, a, **k: cardan.gravity_forces(m, q, **k),
    "passive_forces": lambda m, q, v, a, **k: cardan.passive_forces(m, q, v, **k),
    "frame_transform": lambda m, q, v, a, **k: cardan.frame_transform(m, q, m.frame_names[-1], **k),
    "jacobian": lambda m, q, v, a, **k: cardan.jacobian(m, q, m.frame_names[-1], **k),
    "kinetic_energy": lambda m, q, v, a, **k: cardan.kinetic_energy(m, q, v, **k),
    "potential_energy": lambda m, q, v, a, **k: cardan.potential_energy(m, q, **k),
    "center_of_mass": lambda m, q, v, a, **k: cardan.center_of_mass(m, q, **k),
    "centroidal_momentum": lambda m, q, v, a, **k: cardan.centroidal_momentum(m, q, v, **k),
    "inverse_dynamics_derivatives": lambda m, q, v, a, **k: cardan.inverse_dynamics_derivatives(m, q, v, a, **k).dq,
    "forward_dynamics_derivatives": lambda m, q, v, a, **k: cardan.forward_dynamics_derivatives(m, q, v, a, **k).dq,
}


def changed(model, rng):
    """Other values for all inputs: masses and lengths scaled, poses turned."""
    values = {}
    for name, own in model.input_values().items():
        given = model.inputs[name]
        if given.is_pose:
            twists = 0.2 * rng.normal(size=(*own.shape[:-2], 6))
            moves = [cardan.spatial.exp_se3(cardan.Motion(t[:3], t[3:])).homogeneous() for t in twists.reshape(-1, 6)]
            values[name] = own @ np.array(moves, dtype=float).reshape(own.shape)
        else:
            values[name] = own * rng.uniform(0.7, 1.4, size=() if name in ("com", "inertia") else own.shape)
    return values


@pytest.fixture(scope="module")
def tree():
    kinds = (Revolute, Prismatic, Universal, Spherical, Ellipsoid, Composite, Helical, Mimic)
    return random_model(3, base="floating", joints=[j for j in CATALOGUE if type(j) in kinds])


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.full] * n.endswith(("derivatives", "coriolis_matrix"))) for n in FUNCTIONS],
)
@pytest.mark.usefixtures("quick_target")
def test_inputs_give_what_a_model_built_with_the_same_numbers_gives(tree, name):
    varied, function = tree.with_inputs(*ALL), FUNCTIONS[name]
    q, v, a = random_state(tree, 1)
    for values in (varied.input_values(), changed(varied, np.random.default_rng(5))):
        expected = function(varied.with_values(**values), q, v, a)
        np.testing.assert_allclose(
            function(varied, q, v, a, **values), expected, rtol=2e-10, atol=1e-10 * np.abs(expected).max()
        )


@pytest.mark.slow
def test_each_state_has_its_own_values_and_nothing_is_compiled_anew(tree):
    varied = tree.with_inputs("mass", "gravity")
    q, v, a = random_state(tree, 2, (3, 4))
    rng = np.random.default_rng(0)
    mass = varied.input_values()["mass"] * rng.uniform(0.5, 2.0, size=(4, 1))
    gravity = rng.normal(size=(3, 1, 3))
    traced = []

    @cardan.function
    def inverse_dynamics(model, q, v, a):
        traced.append(model)
        return cardan.inverse_dynamics(model, q, v, a)

    tau = inverse_dynamics(varied, q, v, a, mass=mass, gravity=gravity)
    for i, j in np.ndindex(3, 4):
        one = inverse_dynamics(varied, q[i, j], v[i, j], a[i, j], mass=mass[j], gravity=gravity[i, 0])
        np.testing.assert_allclose(tau[i, j], one, rtol=1e-12, atol=1e-12 * np.abs(one).max())
    for i, j in ((0, 0), (1, 2), (2, 1), (0, 3)):
        plain = tree.with_values(mass=mass[j]).with_gravity(gravity[i, 0])
        expected = cardan.inverse_dynamics.on("numpy")(plain, q[i, j], v[i, j], a[i, j])
        np.testing.assert_allclose(tau[i, j], expected, rtol=1e-9)
    fast = inverse_dynamics.bind(varied)
    assert np.array_equal(fast(q, v, a, np.broadcast_to(mass, (3, 4, len(tree.bodies))), gravity), tau)
    assert len(traced) == 1
    single = [x.astype(np.float32) for x in (q, v, a, mass, gravity)]
    low = inverse_dynamics(varied, *single[:3], mass=single[3], gravity=single[4])
    assert low.dtype == np.float32
    assert np.abs(low - tau).max() < 2e-4 * np.abs(tau).max()


def test_the_ten_parameters_act_as_the_regressor_says():
    bare = random_model(4, base="floating", armature=False, joints=CATALOGUE[1:5])
    varied = bare.with_inputs("inertial_parameters")
    q, v, a = random_state(bare, 4)
    p = varied.input_values()["inertial_parameters"]
    assert np.array_equal(p, bare.inertial_parameters())
    Y = cardan.torque_regressor(bare, q, v, a)
    np.testing.assert_allclose(cardan.inverse_dynamics(varied, q, v, a, inertial_parameters=p), Y @ p, atol=1e-9)
    found = cardan.derivative(cardan.inverse_dynamics, "inertial_parameters")(varied, q, v, a, inertial_parameters=p)
    np.testing.assert_allclose(found, Y, atol=1e-9 * np.abs(Y).max())


def differences(function, values, name, pose, h=1e-6):
    """Central differences by an input, along the tangent of poses."""
    own = values[name]
    columns = []
    if pose:
        for m, k in np.ndindex(own.reshape(-1, 16).shape[0], 6):
            sides = []
            for sign in (1.0, -1.0):
                e = sign * h * np.eye(6)[k]
                X = own.reshape(-1, 4, 4).copy()
                X[m] = X[m] @ np.array(cardan.spatial.exp_se3(cardan.Motion(e[:3], e[3:])).homogeneous(), dtype=float)
                sides.append(function(values | {name: X.reshape(own.shape)}))
            columns.append((sides[0] - sides[1]) / (2 * h))
        return np.moveaxis(np.array(columns), 0, -1)
    for k in range(own.size):
        e = h * np.eye(own.size)[k].reshape(own.shape)
        columns.append((function(values | {name: own + e}) - function(values | {name: own - e})) / (2 * h))
    return np.moveaxis(np.array(columns), 0, -1)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize(
    "name", represented(ALL, by=("mass", "com", "inertia", "gravity", "parent_pose", "friction").count)
)
@pytest.mark.parametrize("of", ["inverse_dynamics", pytest.param("forward_dynamics", marks=pytest.mark.full)])
def test_derivatives_by_every_constant(of, name):
    model = random_model(8, base="fixed", joints=[CATALOGUE[k] for k in (1, 7, 14, 16)])
    varied = model.with_inputs(name)
    rng = np.random.default_rng(0)
    q, v, a = random_state(model, 1)
    values, function = changed(varied, rng), getattr(cardan, of)
    if name == "inertia":
        values[name] = 0.5 * (values[name] + values[name].swapaxes(-1, -2))
    exact = cardan.derivative(function, name)(varied, q, v, a, **values)
    reference = differences(lambda w: function(varied, q, v, a, **w), values, name, varied.inputs[name].is_pose)
    assert exact.reshape(reference.shape).shape == reference.shape
    np.testing.assert_allclose(exact.reshape(reference.shape), reference, atol=2e-7 * max(1.0, np.abs(reference).max()))
    nothing = {"damping", "friction", "frame_pose"}
    assert (np.abs(exact).max() == 0.0) == (name in nothing)


PARAMETERS = [
    (Ellipsoid(radii=(0.5, 0.7, 1.1)), "radii"),
    (joints.Reversed(Ellipsoid(radii=(0.5, 0.7, 1.1))), "joint.radii"),
    (joints.Helical(axis=(0.0, 0.6, 0.8), pitch=0.2), "pitch"),
    (joints.Revolute(axis=(0.36, 0.48, 0.8)), "axis"),
    (joints.VariableScrew(axis=(0.0, 0.6, 0.8), pitch=(0.2, -0.1, 0.03)), "pitch"),
    (joints.ConstantVelocity(axis1=(0.6, 0.0, 0.8), axis2=(0.0, 1.0, 0.0), length=0.2), "length"),
    (joints.Composite([joints.Revolute(axis=(1.0, 0.0, 0.0)), Ellipsoid(radii=(0.5, 0.7, 1.1))]), "joints.1.radii"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize(
    ("joint", "path"),
    represented(PARAMETERS, by=lambda case: not isinstance(case[0], Ellipsoid | joints.ConstantVelocity)),
    ids=lambda e: type(e).__name__ if not isinstance(e, str) else e,
)
def test_parameters_of_joints(joint, path):
    m = Mechanism("one")
    m.add_body("a", Inertia(1.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.2, 0.15])))
    m.add_body("b", Inertia(2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.2, 0.25])))
    m.add_joint("base", joints.Spherical(), "world", "a")
    m.add_joint("joint", joint, "a", "b")
    model = m.model()
    varied = model.with_inputs(own=("joint", path))
    values = (
        {name: 1.1 * value for name, value in varied.input_values().items()}
        if path != "axis"
        else (varied.input_values())
    )
    q, v, a = random_state(model, 0)
    rebuilt = varied.with_values(**values)
    if path != "axis":
        assert rebuilt.joint("joint") != model.joint("joint")
    for name in ("inverse_dynamics", "forward_dynamics", "coriolis_matrix", "inverse_dynamics_derivatives"):
        expected = FUNCTIONS[name](rebuilt, q, v, a)
        np.testing.assert_allclose(FUNCTIONS[name](varied, q, v, a, **values), expected, atol=1e-11)
    exact = cardan.derivative(cardan.inverse_dynamics, "own")(varied, q, v, a, **values)
    reference = differences(lambda w: cardan.inverse_dynamics(varied, q, v, a, **w), values, "own", False)
    np.testing.assert_allclose(exact.reshape(reference.shape), reference, atol=1e-7)
    assert np.abs(exact).max() > 1e-3


def test_a_multiplier_that_is_an_input_may_be_0_and_is_taken_by_states_of_worlds():
    """Its spring was at rest nowhere, so that every step diverged; states took no multipliers."""
    m = Mechanism("copies")
    copy = joints.Mimic(joints.Prismatic((1.0, 0.0, 0.0)), "a", 1.0, 0.1)
    for name, joint, spring in (("a", joints.Prismatic((1.0, 0.0, 0.0)), None), ("b", copy, cardan.Spring([30.0]))):
        m.add_body(name + "_body", Inertia(1.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
        m.add_joint(name, joint, "world", name + "_body", spring=spring)
    world = m.world().with_inputs(k=("b", "multiplier"))
    after = cardan.solvers.Featherstone(world, 1e-3).step(world.state(v=[1.0], k=0.0), steps=10)
    assert (after.q[0, 0], after.v[0, 0]) == pytest.approx((0.01, 1.0))


@pytest.mark.usefixtures("reference_target")
def test_the_multiplier_of_a_joint_that_copies_another():
    """No function took it; of one that copies a copy, neither offset nor multiplier."""
    m, above = Mechanism("copies"), "world"
    hinge, first = joints.Revolute((0.0, 0.6, 0.8)), joints.Mimic(joints.Revolute((1.0, 0.0, 0.0)), "j0", -0.5, 0.2)
    for k, joint in enumerate((hinge, first, joints.Mimic(hinge, "j1", 2.0))):
        m.add_body(f"b{k}", Inertia(1.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.2, 0.15])))
        m.add_joint(f"j{k}", joint, above, f"b{k}", armature=[0.1], spring=cardan.Spring([2.0], [0.3]))
        above = f"b{k}"
    varied = m.model().with_inputs(multiplier=("j1", "multiplier"), offset=("j1", "offset"))
    values, (q, v, a) = {"multiplier": np.array(-0.7), "offset": np.array(0.1)}, random_state(varied, 0)
    rebuilt = varied.with_values(**values)
    for function, args in ((cardan.inverse_dynamics, (q, v, a)), (cardan.passive_forces, (q, v))):
        np.testing.assert_allclose(function(varied, *args, **values), function(rebuilt, *args), atol=1e-13)
        exact = cardan.derivative(function, "multiplier")(varied, *args, **values)
        reference = differences(lambda w, f=function, x=args: f(varied, *x, **w), values, "multiplier", False)
        np.testing.assert_allclose(exact.ravel(), reference.ravel(), atol=1e-7)


class Short(cardan.Joint):
    """An ellipsoid by its transform alone, its radii a plain attribute."""

    manifold = cardan.manifolds.Euclidean(3)

    def __init__(self, radii):
        self.radii = tuple(radii)

    def transform(self, q):
        a, b, c = self.radii
        R = cardan.spatial.rotations.matrix_from_xyz(q)
        return cardan.SE3(R, (a, b, c) * R[:, 2])


def test_parameters_of_a_joint_written_by_its_transform():
    models = {}
    for kind in (Short, Ellipsoid):
        m = Mechanism("one")
        m.add_body("b", Inertia(2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.2, 0.25])))
        m.add_joint("j", kind((0.5, 0.7, 1.1)), "world", "b")
        models[kind] = m.model().with_inputs(radii=("j", "radii"))
    q, v, a = random_state(models[Short], 0, (5,))
    radii = np.random.default_rng(0).uniform(0.3, 1.2, size=(5, 3))
    for name in ("inverse_dynamics", "coriolis_matrix", "inverse_dynamics_derivatives"):
        short, full = (FUNCTIONS[name](models[kind], q, v, a, radii=radii) for kind in (Short, Ellipsoid))
        np.testing.assert_allclose(short, full, atol=1e-12)


@pytest.mark.full
def test_users_functions_and_derivatives_within_functions(tree):
    varied = tree.with_inputs("mass")

    @cardan.function(shapes={"measured": ("nv",)})
    def misfit(model, q, v, a, measured):
        e = cardan.inverse_dynamics(model, q, v, a) - measured
        return e @ e

    @cardan.function
    def slope(model, q, v):
        return cardan.gradient(cardan.kinetic_energy, "q")(model, q, v)

    q, v, a = random_state(tree, 9)
    mass = varied.input_values()["mass"] * 1.1
    measured = cardan.inverse_dynamics(tree, q, v, a)
    error = cardan.inverse_dynamics(varied, q, v, a, mass=mass) - measured
    np.testing.assert_allclose(misfit(varied, q, v, a, measured, mass=mass), error @ error)
    g = cardan.gradient(misfit, "mass")(varied, q, v, a, measured, mass=mass)
    J = cardan.derivative(cardan.inverse_dynamics, "mass")(varied, q, v, a, mass=mass)
    np.testing.assert_allclose(g, 2.0 * error @ J, atol=1e-9 * np.abs(g).max())
    H = cardan.hessian(misfit, "mass")(varied, q, v, a, measured, mass=mass)
    np.testing.assert_allclose(H, 2.0 * J.T @ J, atol=1e-9 * np.abs(H).max())
    direction = np.random.default_rng(1).normal(size=mass.shape)
    along = cardan.jacobian_vector_product(cardan.inverse_dynamics, "mass")(
        varied, q, v, a, mass=mass, direction=direction
    )
    np.testing.assert_allclose(along, J @ direction, atol=1e-9 * np.abs(along).max())
    back = cardan.vector_jacobian_product(cardan.inverse_dynamics, "mass")(varied, q, v, a, mass=mass, weights=error)
    np.testing.assert_allclose(back, error @ J, atol=1e-9 * np.abs(back).max())
    plain = slope(tree.with_values(mass=mass), q, v)
    np.testing.assert_allclose(slope(varied, q, v, mass=mass), plain, atol=1e-10 * np.abs(plain).max())


def test_a_pose_input_has_a_jvp_along_twists(tree):
    varied = tree.with_inputs(tool=(tree.frames[-1].name, "pose"))
    q, _, _ = random_state(tree, 0)
    name = tree.frames[-1].name
    X = varied.input_values()
    J = cardan.derivative(cardan.frame_transform, "tool")(varied, q, name, **X)
    assert J.shape == (4, 4, 6)
    along = cardan.jacobian_vector_product(cardan.frame_transform, "tool")(
        varied, q, name, **X, direction=np.arange(6.0)
    )
    np.testing.assert_allclose(along, J @ np.arange(6.0), atol=1e-14)


@pytest.mark.full
def test_derivatives_by_external_forces(tree):
    q, v, a = random_state(tree, 6)
    f = np.random.default_rng(0).normal(size=(tree.nbodies, 6))
    D = cardan.derivative(cardan.inverse_dynamics, "external_forces")(tree, q, v, a, external_forces=f)
    assert D.shape == (tree.nv, tree.nbodies, 6)
    for b, body in enumerate(tree.body_names):
        J = cardan.jacobian(tree, q, body, expressed_in=body)
        np.testing.assert_allclose(D[:, b], -J.T, atol=1e-11)
    F = cardan.derivative(cardan.forward_dynamics, "external_forces")(tree, q, v, a, external_forces=f)
    M = cardan.mass_matrix(tree, q)
    np.testing.assert_allclose(np.einsum("ij,jbk->ibk", M, F), -D, atol=1e-7 * np.abs(D).max())


def test_models_with_inputs_are_models(tree):
    varied = tree.with_inputs("mass").with_inputs(tip=("joint3", "parent_pose"))
    assert list(varied.inputs) == ["mass", "tip"]
    assert "inputs mass, tip" in repr(varied)
    twin = pickle.loads(pickle.dumps(varied))
    assert dict(twin.inputs) == dict(varied.inputs)
    assert varied.with_gravity((0, 0, 0)).inputs == varied.inputs
    rest = varied.with_values(mass=varied.input_values()["mass"])
    assert list(rest.inputs) == ["tip"]
    text = cardan.inverse_dynamics.explain(varied)
    assert "inverse_dynamics" in text
    n = len(tree.bodies)
    assert cardan.mass_matrix.signature(varied) == f"({tree.nq}),({n}),(4,4)->({tree.nv},{tree.nv})"


def test_a_model_without_inputs_is_filled_with_nothing(tree):
    assert tree.filled_with({}) is tree
    with pytest.raises(KeyError):
        tree.filled_with({"mass": 1.0})


def test_fewer_inputs_cost_less(tree):
    count = {n: cardan.inverse_dynamics.program(tree.with_inputs(*n)).operations for n in [(), ("gravity",), ("mass",)]}
    assert count[()] <= count["gravity",] < count["mass",]
    one = cardan.inverse_dynamics.program(tree.with_inputs(m=("body3", "mass"))).operations
    assert one < count["mass",]


@pytest.mark.parametrize(
    ("error", "fragment", "make"),
    [
        (UnknownNameError, "did you mean 'mass'", lambda m: m.with_inputs("masss")),
        (UnknownNameError, "radii=('joint', 'radii')", lambda m: m.with_inputs("radii")),
        (UnknownNameError, "no body named 'nobody'", lambda m: m.with_inputs(x=("nobody", "mass"))),
        (UnknownNameError, "no joint named 'nobody'", lambda m: m.with_inputs(x=("nobody", "radii"))),
        (ParameterError, "(owner, constant)", lambda m: m.with_inputs(x="mass")),
        (ParameterError, "both determine the mass of 'body1'", lambda m: m.with_inputs("mass", x=("body1", "mass"))),
        (ParameterError, "both determine", lambda m: m.with_inputs("com", "inertial_parameters")),
        (
            ParameterError,
            "both determine the pose",
            lambda m: m.with_inputs("frame_pose", x=(m.frames[0].name, "pose")),
        ),
        (ParameterError, "it twice", lambda m: m.with_inputs("mass").with_inputs("mass")),
        (MechanismError, "lock, then with_inputs", lambda m: m.with_inputs("mass").lock({"joint1": 0.1})),
        (ShapeError, "mass", lambda m: m.with_values(mass=[1.0])),
        (ParameterError, "a mass >= 0", lambda m: m.with_values(mass=-np.ones(m.nbodies))),
        (ParameterError, "finite", lambda m: m.with_values(mass=np.full(m.nbodies, np.nan))),
        (ParameterError, "rotation matrix", lambda m: m.with_values(parent_pose=np.ones((len(m.joint_names), 4, 4)))),
    ],
)
def test_what_is_wrong_is_said(tree, error, fragment, make):
    with pytest.raises(error) as caught:
        make(tree)
    assert fragment in str(caught.value)


def test_calls_that_do_not_fit(tree):
    varied = tree.with_inputs("mass")
    q, v, a = random_state(tree, 0)
    with pytest.raises(ParameterError, match=r"mass=.*input_values"):
        cardan.inverse_dynamics(varied, q, v, a)
    with pytest.raises(TypeError):
        cardan.inverse_dynamics(tree, q, v, a, mass=1.0)
    with pytest.raises(ShapeError, match="mass"):
        cardan.inverse_dynamics(varied, q, v, a, mass=np.ones(3))
    clash = tree.with_inputs(q=("body1", "mass"))
    with pytest.raises(ParameterError, match="with_inputs\\(my_q="):
        cardan.mass_matrix(clash, q, q=1.0)
    with pytest.raises(UnknownNameError, match="no array argument named 'mas'; did you mean 'mass'"):
        cardan.derivative(cardan.inverse_dynamics, "mas")(varied, q, v, a, mass=varied.input_values()["mass"])


def test_parameters_that_cannot_be_inputs_are_refused():
    m = Mechanism("odd")
    for k, joint in enumerate(
        [joints.Revolute((0, 0, 1)), Mimic(joints.Revolute((0, 1, 0)), "j0"), Distance(0.1, 0.5)]
    ):
        m.add_body(f"b{k}", Inertia(1.0))
        m.add_joint(f"j{k}", joint, "world" if k == 0 else f"b{k - 1}", f"b{k}")
    m.add_body("s", Inertia(1.0))
    m.add_joint("spline", Spline([cardan.SE3(), cardan.SE3(translation=(0, 0, 1))]), "b2", "s")
    model = m.model()
    for owner, constant in [
        ("j0", "nothing"),
        ("j0", "manifold"),
        ("j1", "primary"),
        ("spline", "frames"),
        ("spline", "span"),
    ]:
        with pytest.raises(CardanError, match=r"number|parameters|only calculate"):
            model.with_inputs(x=(owner, constant))


def test_a_parameter_that_a_spline_orders_is_refused_in_whole_sentences():
    """Its message was a quote within a quote, cut in the middle."""

    @dataclass(frozen=True)
    class Cam(cardan.Joint):
        heights: tuple[float, ...] = (0.0, 0.1, 0.0)
        manifold = cardan.manifolds.Euclidean(1)

        def transform(self, q):
            return cardan.SE3(translation=(0.0, cardan.joints.NaturalSpline((-1.0, 0.0, 1.0), self.heights)(q), q[0]))

    m = cardan.Mechanism("cam")
    m.add_body("follower", cardan.Inertia(1.0, (0.0, 0.0, 0.1), np.eye(3)))
    m.add_joint("cam", Cam(), "world", "follower")
    with pytest.raises(
        ParameterError, match=r"only calculate with\. Of a symbol it said: y of a natural spline: .*\.$"
    ):
        m.model().with_inputs(heights=("cam", "heights"))
