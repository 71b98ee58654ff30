"""Derivatives of the dynamics and of any function: two ways, laws, and finite differences."""

import numpy as np
import pytest

import cardan
from cardan.errors import MechanismError, ParameterError, UnknownNameError
from closeness import close
from mechanisms import central_difference, random_inertia, random_model, random_pose, random_state

SEEDS = pytest.mark.parametrize("seed", [7, *(pytest.param(k, marks=pytest.mark.full) for k in (0, 1, 2))])


def trees(seed, **options):
    """A tree of a third of the joint types, for seeds above 2 of a sixth: a derivative is a long program to trace."""
    plain = [j for j in cardan.joints.CATALOGUE if j.nv and not j.primaries]
    parts = 3 if seed < 3 else 6
    return random_model(seed, joints=plain[seed % parts :: parts], **options)


@pytest.mark.usefixtures("quick_target")
@SEEDS
def test_the_recursions_agree_with_differentiating_the_program(seed):
    """On trees with every joint type; the two share nothing but the algorithm that is differentiated."""
    model = trees(seed)
    q, v, a = random_state(model, seed)
    forces = np.random.default_rng(seed).normal(size=(model.nbodies, 6))
    by = cardan.inverse_dynamics_derivatives(model, q, v, a, forces)
    for wrt, found in zip(("q", "v", "a"), by, strict=True):
        plain = cardan.derivative(cardan.inverse_dynamics, wrt, mode="forward").on("numpy")(model, q, v, a, forces)
        close(found, plain, model=model, equation=f"dID/d{wrt}")
    close(by.da, cardan.mass_matrix(model, q), model=model, equation="dID/da = M")


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize(
    ("make", "seed"), [(trees, 7), *(pytest.param(random_model, k, marks=pytest.mark.full) for k in (0, 1))]
)
def test_they_agree_with_finite_differences(make, seed):
    model = make(seed)
    q, v, a = random_state(model, seed)
    by = cardan.inverse_dynamics_derivatives(model, q, v, a)
    for j in range(model.nv):
        e = np.eye(model.nv)[j]
        moved = central_difference(lambda h: cardan.inverse_dynamics(model, cardan.integrate(model, q, h * e), v, a))  # noqa: B023
        np.testing.assert_allclose(by.dq[:, j], moved, atol=2e-7 * np.abs(by.dq).max())


@pytest.mark.slow
@pytest.mark.usefixtures("quick_target")
@SEEDS
def test_forward_dynamics(seed):
    model = trees(seed)
    q, v, tau = random_state(model, seed)
    forces = np.random.default_rng(seed).normal(size=(model.nbodies, 6))
    by = cardan.forward_dynamics_derivatives(model, q, v, tau, forces)
    M = cardan.mass_matrix(model, q)
    close(M @ by.dtau, np.eye(model.nv), 1e-15 * np.linalg.cond(M) + 1e-12, model=model, equation="M dFD/dtau = 1")
    for wrt, found in zip(("q", "v"), by[:2], strict=True):
        plain = cardan.derivative(cardan.forward_dynamics, wrt, mode="forward").on("numpy")(model, q, v, tau, forces)
        close(M @ found, M @ plain, 1e-15 * np.linalg.cond(M) + 1e-11, model=model, equation=f"M dFD/d{wrt}")


def limbed(*, base="floating", roots=1):
    """Limbs long and short: hinges and balls in two branches of a trunk, one of them longer than a limb may be."""
    rng = np.random.default_rng(5)
    m = cardan.Mechanism("limbed")
    kinds = (
        cardan.joints.Revolute((0.0, 0.0, 1.0)),
        cardan.joints.Revolute((0.6, 0.0, 0.8)),
        cardan.joints.Spherical(),
    )
    for root in range(roots):
        m.add_body(f"{root}", random_inertia(rng))
        above = {k: k - 1 for k in range(17)} | {14: 1, 16: 14}
        for k, p in above.items():
            m.add_body(f"{root}.{k}", random_inertia(rng))
            parent = f"{root}.{p}" if p >= 0 else f"{root}"
            joint = kinds[2] if k in (3, 15) else kinds[k % 2]
            m.add_joint(f"to {root}.{k}", joint, parent, f"{root}.{k}", random_pose(rng), armature=[0.03] * joint.nv)
    return m.model(base=base)


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("options", [{}, {"base": "fixed"}, {"roots": 2}], ids=str)
@pytest.mark.full
def test_forward_dynamics_of_limbs_of_every_length(options):
    model = limbed(**options)
    q, v, tau = random_state(model, 4)
    forces = np.random.default_rng(0).normal(size=(model.nbodies, 6))
    by = cardan.forward_dynamics_derivatives(model, q, v, tau, forces)
    a = cardan.forward_dynamics(model, q, v, tau, forces)
    M, felt = cardan.mass_matrix(model, q), cardan.inverse_dynamics_derivatives(model, q, v, a, forces)
    for found, other in zip(by[:2], felt[:2], strict=True):
        close(M @ found, -other, 1e-13 * np.linalg.cond(M), model=model, equation="dFD = -M^-1 dID")
    close(by.dtau, np.linalg.inv(M))


def test_a_floating_base_alone_answers_to_its_own_motion(quick_target):
    """By its position nothing, by its orientation gravity, by its linear velocity w x v; exact zeros elsewhere."""
    model = cardan.robots.quadruped().model(base="floating")
    pattern = cardan.forward_dynamics_derivatives.sparsity(model)
    assert not pattern.dq[:, :3].any()
    assert not pattern.dq[6:, :6].any()
    assert not pattern.dv[6:, :3].any()
    q, v, tau = random_state(model, 1)
    by = cardan.forward_dynamics_derivatives(model, q, v, tau)
    R = cardan.frame_transform(model, q, model.body_names[0])[:3, :3]
    np.testing.assert_allclose(by.dq[:3, 3:6], np.cross(R.T @ model.gravity, np.eye(3)).T, atol=1e-13)
    np.testing.assert_allclose(by.dv[:3, :3], np.cross(np.eye(3), v[3:6]).T, atol=1e-14)


def test_a_floating_base_with_armature_does_not(quick_target):
    """A rotor on the base's coordinates is moved by them alone, so that invariance does not hold."""
    m = cardan.Mechanism("held")
    rng = np.random.default_rng(0)
    m.add_body("ground", random_inertia(rng))
    for name, parent, joint in (
        ("base", "ground", cardan.joints.FreeFlyer()),
        ("arm", "base", cardan.joints.Revolute((0.0, 1.0, 0.0))),
    ):
        m.add_body(name, random_inertia(rng))
        m.add_joint(f"to {name}", joint, parent, name, random_pose(rng), armature=rng.uniform(0.1, 1.0, size=joint.nv))
    model = m.model(base="fixed")
    q, v, tau = random_state(model, 1)
    by = cardan.forward_dynamics_derivatives(model, q, v, tau)
    for wrt, found in zip(("q", "v", "tau"), by, strict=True):
        close(found, cardan.derivative(cardan.forward_dynamics, wrt).on("numpy")(model, q, v, tau))


def test_small_parts_far_from_the_base_are_as_exact_as_near_ones(quick_target):
    """Fingers of a millimetre on arms of a metre; their inertias were found in the base's frame, right to 1e-10."""
    m = cardan.Mechanism("hand")
    m.add_body("0")
    for k, length in enumerate((1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-3), 1):
        mass = 1e3 * length**3
        m.add_body(
            f"{k}", cardan.Inertia(mass, 3 * [0.3 * length], np.diag(mass * length**2 * np.array([0.1, 0.11, 0.12])))
        )
        joint, at = cardan.joints.Revolute(np.eye(3)[k % 3]), cardan.SE3(translation=(1.0, 0.2, 0.1))
        m.add_joint(f"to {k}", joint, f"{k - 1}", f"{k}", at if k < 5 else cardan.SE3(translation=(1e-3, 0.0, 0.0)))
    model = m.model(base="fixed")
    q, v, tau = random_state(model, 0)
    found = cardan.forward_dynamics_derivatives(model, q, v, tau).dtau
    inverse = cardan.mass_matrix_inverse(model, q)
    sizes = np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
    np.testing.assert_allclose(found / sizes, inverse / sizes, rtol=0, atol=2e-12)


@pytest.mark.parametrize("of", [cardan.forward_dynamics_derivatives, cardan.mass_matrix_inverse], ids=lambda f: f.name)
@pytest.mark.parametrize("length", [1, 18])  # of a tree that is shallow, or deep
def test_a_joint_that_moves_nothing_is_told(of, length):
    """Wherever it is: in a frame that is not the joint's own, what is 0 would be a rounding error."""
    m = cardan.Mechanism("idle")
    rng = np.random.default_rng(0)
    m.add_body("0", random_inertia(rng))
    for k in range(1, length + 1):
        m.add_body(f"{k}", random_inertia(rng))
        m.add_joint(f"to {k}", cardan.joints.Revolute((0.0, 0.0, 1.0)), f"{k - 1}", f"{k}", random_pose(rng))
    m.add_body("rod", cardan.Inertia(1.0, (0.0, 0.0, 0.3), np.diag([0.1, 0.1, 0.0])))
    m.add_joint("spin", cardan.joints.Revolute((0.0, 0.0, 1.0)), f"{length}", "rod", random_pose(rng))
    with pytest.raises(MechanismError, match="'spin' moves nothing that has inertia"):
        of.trace(m.model(base="floating"))


@pytest.mark.full
def test_batches_and_fixed_bases():
    model = random_model(3, base="fixed")
    q, v, a = random_state(model, 3, shape=(4, 3))
    by = cardan.inverse_dynamics_derivatives(model, q, v, a)
    assert by.dq.shape == by.dv.shape == by.da.shape == (4, 3, model.nv, model.nv)
    one = cardan.inverse_dynamics_derivatives(model, q[2, 1], v[2, 1], a[2, 1])
    for whole, single in zip(by, one, strict=True):
        close(whole[2, 1], single, 1e-13)
    fast = cardan.inverse_dynamics_derivatives.bind(model)
    np.testing.assert_array_equal(fast(q, v, a).dq, by.dq)


def test_energies_forces_and_jacobians_are_each_others_derivatives(quick_target):
    model = cardan.robots.quadruped().model(base="floating")
    q, v, _ = random_state(model, 0, shape=(5,))
    close(cardan.gradient(cardan.potential_energy, "q")(model, q), cardan.gravity_forces(model, q))
    M = cardan.mass_matrix(model, q)
    close(cardan.gradient(cardan.kinetic_energy, "v")(model, q, v), np.einsum("...ij,...j", M, v))
    close(cardan.hessian(cardan.kinetic_energy, "v")(model, q, v), M)
    close(cardan.derivative(cardan.center_of_mass, "q")(model, q), cardan.center_of_mass_jacobian(model, q))
    foot = model.body_names[-1]
    J = cardan.jacobian(model, q, foot, at="frame", expressed_in="world")
    dX = cardan.derivative(cardan.frame_transform, "q")(model, q, foot)
    assert dX.shape == (5, 4, 4, model.nv)
    close(dX[..., :3, 3, :], J[:, :3])


@pytest.mark.usefixtures("quick_target")
def test_the_hessian_is_the_second_derivative_along_geodesics():
    model = trees(1)
    q, v, _ = random_state(model, 1)
    direction = v / np.linalg.norm(v)
    H = cardan.hessian(cardan.potential_energy, "q")(model, q)
    np.testing.assert_array_equal(H, H.T)

    def along(t):
        return cardan.potential_energy(model, cardan.integrate(model, q, t * direction))

    h = 1e-3
    numeric = (-along(2 * h) + 16 * along(h) - 30 * along(0.0) + 16 * along(-h) - along(-2 * h)) / (12 * h * h)
    assert direction @ H @ direction == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@pytest.mark.full
def test_second_derivatives_of_inverse_dynamics():
    """d^2 tau / dq dv, symmetric where it must be: d/dv of (d tau / dq) is d/dq of (d tau / dv)."""
    model = cardan.robots.arm7().model()
    q, v, a = random_state(model, 2)
    dqv = cardan.derivative(cardan.derivative(cardan.inverse_dynamics, "q"), "v")(model, q, v, a)
    dvq = cardan.derivative(cardan.derivative(cardan.inverse_dynamics, "v"), "q")(model, q, v, a)
    assert dqv.shape == (7, 7, 7)
    close(dqv, np.swapaxes(dvq, -1, -2))
    twice = cardan.derivative(cardan.inverse_dynamics_derivatives, "v")(model, q, v, a)
    close(twice["dq"], dqv)


def test_products(quick_target):
    model = cardan.robots.quadruped().model(base="floating")
    q, v, a = random_state(model, 4, shape=(3,))
    rng = np.random.default_rng(0)
    direction, weights = rng.normal(size=(2, 3, model.nv))
    by = cardan.inverse_dynamics_derivatives(model, q, v, a)
    jvp = cardan.jacobian_vector_product(cardan.inverse_dynamics, "q")(model, q, v, a, direction=direction)
    close(jvp, np.einsum("bij,bj->bi", by.dq, direction))
    vjp = cardan.vector_jacobian_product(cardan.inverse_dynamics, "q")(model, q, v, a, weights=weights)
    close(vjp, np.einsum("bi,bij->bj", weights, by.dq))
    energy = cardan.vector_jacobian_product(cardan.potential_energy, "q")(model, q, weights=np.ones(3))
    close(energy, cardan.gravity_forces(model, q))


def test_functions_of_ones_own():
    @cardan.function(shapes={"target": (3,)})
    def distance(model, q, target, frame="world"):
        X = cardan.frame_transform(model, q, frame)
        return sum((X[i][3] - target[i]) ** 2 for i in range(3))

    model = cardan.robots.arm7().model()
    q, _, _ = random_state(model, 6)
    hand, target = model.body_names[-1], np.array([0.3, 0.2, 0.5])
    p = cardan.frame_transform(model, q, hand)[:3, 3]
    close(cardan.gradient(distance, "target")(model, q, target, frame=hand), 2.0 * (target - p))
    J = cardan.jacobian(model, q, hand)[:3]
    close(cardan.gradient(distance, "q")(model, q, target, frame=hand), 2.0 * J.T @ (p - target))
    numeric = cardan.hessian(distance, "target")(model, q, target, frame=hand)
    close(numeric, 2.0 * np.eye(3))
    assert "distance" in cardan.gradient(distance, "q").name


def test_what_cannot_be_differentiated_is_refused():
    model = cardan.robots.arm7().model()
    q, v, a = random_state(model, 0)
    with pytest.raises(UnknownNameError, match="'tau'"):
        cardan.derivative(cardan.inverse_dynamics, "tau")(model, q, v, a)
    with pytest.raises(ParameterError, match="mode"):
        cardan.derivative(cardan.inverse_dynamics, "q", mode="sideways")
    with pytest.raises(ParameterError, match=r"@cardan\.function"):
        cardan.derivative(lambda model, q: q, "q")
    with pytest.raises(ParameterError, match="one number"):
        cardan.gradient(cardan.inverse_dynamics, "q")(model, q, v, a)
    with pytest.raises(ParameterError, match="external_forces"):
        cardan.derivative(cardan.inverse_dynamics, "external_forces")(model, q, v, a)
    with pytest.raises(ParameterError, match="returns"):
        cardan.vector_jacobian_product(cardan.torque_regressor, "q")(model, q, v, a, weights=1.0)


def test_rates_that_cost_no_operation_are_not_taken_for_zero():
    """A polar joint: d S / dq is constant, and not 0."""
    polar = cardan.joints.Composite([cardan.joints.Revolute(), cardan.joints.Prismatic((1.0, 0.0, 0.0))])
    m = cardan.Mechanism("polar")
    m.add_body("arm", cardan.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("joint", polar, "world", "arm")
    model = m.model()
    q, v, a = random_state(model, 0)
    by = cardan.inverse_dynamics_derivatives(model, q, v, a)
    for wrt, found in zip(("q", "v", "a"), by, strict=True):
        close(found, cardan.derivative(cardan.inverse_dynamics, wrt)(model, q, v, a))
