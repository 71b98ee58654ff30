"""Closed loops: their constraints, dynamics and assembly."""

import math

import mpmath as mp
import numpy as np
import pytest

import cardan
import linkages
from cardan.errors import AssemblyError, DTypeError, MechanismError, ParameterError, UnknownNameError
from cardan.joints import (
    CATALOGUE,
    ConstantVelocity,
    Ellipsoid,
    Fixed,
    FreeFlyer,
    Joint,
    Mimic,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    SphericalZYX,
    Universal,
    reverse,
)
from cardan.robots import LOOPED, five_bar, four_bar, stewart_platform
from mechanisms import random_inertia, random_pose, times
from representatives import represented

# single states of many mechanisms; the targets are compared below
pytestmark = pytest.mark.usefixtures("quick_target")


class Parabola(Joint):
    """Slides on a parabola and turns with it: S, bias and all else are derived."""

    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        (x,) = q
        return cardan.SE3(cardan.spatial.rotations.rotation_about_axis((0.0, 0.6, 0.8), x), (x, 0.0, x * x))

    def nearest_configuration(self, X_pc):
        return (cardan.spatial.rotations.angle_about_axis((0.0, 0.6, 0.8), X_pc.rotation),)


CLOSING = [j for j in (*CATALOGUE, Parabola(), reverse(Universal()), Reversed(Parabola())) if not j.primaries]
CONSTRAINING = [j for j in CLOSING if j.num_constraints]
OF_EACH_KIND = (Fixed, Revolute, Universal, SphericalZYX, Ellipsoid, ConstantVelocity, Parabola)  # and reversed
every = pytest.mark.parametrize(
    "joint",
    represented(CONSTRAINING, by=lambda j: isinstance(j, OF_EACH_KIND) or j == Reversed(Parabola())),
    ids=lambda j: type(j).__name__,
)


def ring(joint, seed=0):
    """A floating ring of bodies: ball, universal and hinge on one side, six freedoms on the other, and a joint."""
    rng = np.random.default_rng(seed)
    m = cardan.Mechanism("ring")
    m.add_body("a", random_inertia(rng))
    bodies = ["a"]
    for k, kind in enumerate((Spherical(), Universal(), Revolute((0.6, 0.0, 0.8)))):
        m.add_body(f"b{k}", random_inertia(rng))
        m.add_joint(f"j{k}", kind, bodies[-1], f"b{k}", random_pose(rng), random_pose(rng))
        bodies.append(f"b{k}")
    m.add_body("c", random_inertia(rng))
    m.add_joint("free", FreeFlyer(), "a", "c", random_pose(rng), random_pose(rng))
    m.add_joint("closing", joint, bodies[-1], "c", random_pose(rng), random_pose(rng))
    return m.model(base="floating")


def closed_ring(joint, seed=0):
    """The ring and a configuration in which the closing joint has a random configuration, put together by hand."""
    model = ring(joint, seed)
    rng = np.random.default_rng(seed + 1)
    q = model.random_configuration(seed=seed + 2)
    own = joint.random_configuration(seed=seed + 3)
    own = np.clip(own, -1.2, 1.2) if joint.nq == joint.nv else own
    (c,) = model.closures
    parent, a = (cardan.SE3.of(cardan.frame_transform(model, q, body)) for body in (c.parent, "a"))
    child = parent @ c.parent_pose @ joint.transform(tuple(own)) @ c.child_pose.inverse()
    free = model.connection("free")
    X = (a @ free.parent_pose).inverse() @ child @ free.child_pose
    q[model.q_slice("free")] = np.array(FreeFlyer().nearest_configuration(X), dtype=float)
    return model, q, rng


def closed_state(model, seed=0, spread=0.1):
    """A closed configuration, a velocity that keeps it closed, efforts."""
    rng = np.random.default_rng(seed)
    q = cardan.assemble(model)
    q = cardan.assemble(model, cardan.integrate(model, q, spread * rng.normal(size=model.nv)))
    return q, cardan.project_velocity(model, q, rng.normal(size=model.nv)), rng.normal(size=model.nv)


def large(*names):
    return [pytest.param(name, marks=pytest.mark.full) for name in names]


MECHANISMS = {
    **{name: (lambda build=build: build().model()) for name, build in LOOPED.items()},
    "bennett": lambda: linkages.bennett().model(),
    "parallelogram": lambda: linkages.parallelogram().model(),
    "tilted_parallelogram": lambda: linkages.parallelogram(5, tilt=(0.3, 0.5, -0.4)).model(),
    "spherical_four_bar": lambda: linkages.spherical_four_bar().model(),
    "slides": lambda: linkages.slides().model(),
    "leg": lambda: linkages.leg().model(base="floating"),
}
FREEDOMS = {"four_bar": (3, 1), "five_bar": (4, 2), "stewart_platform": (21, 6), "bennett": (3, 1)}
FREEDOMS |= {"parallelogram": (4, 1), "tilted_parallelogram": (6, 1), "spherical_four_bar": (3, 1)}
FREEDOMS |= {"slides": (2, 1), "leg": (15, 9)}
all_mechanisms = pytest.mark.parametrize(
    "name", represented(MECHANISMS, by=lambda name: name not in ("stewart_platform", "tilted_parallelogram"))
)


# --- constraints ---


@every
def test_residual_vanishes_where_the_joint_is_closed_and_only_there(joint):
    model, q, rng = closed_ring(joint)
    assert np.abs(cardan.loop_residual(model, q)).max() < 1e-14
    assert cardan.loop_residual(model, q).shape == (joint.num_constraints,)
    K = cardan.loop_jacobian(model, q)
    away = np.linalg.pinv(K) @ rng.normal(size=joint.num_constraints)
    assert np.abs(cardan.loop_residual(model, cardan.integrate(model, q, 0.1 * away))).max() > 0.01


@pytest.mark.slow
@every
def test_jacobian_is_the_derivative_of_the_residual(joint):
    model, q, _ = closed_ring(joint)
    K, h = cardan.loop_jacobian(model, q), 1e-6
    steps = h * np.eye(model.nv)
    ahead, behind = (cardan.loop_residual(model, cardan.integrate(model, q, s)) for s in (steps, -steps))
    np.testing.assert_allclose(K, ((ahead - behind) / (2.0 * h)).T, atol=3e-9)
    np.testing.assert_allclose(K, cardan.derivative(cardan.loop_residual, "q")(model, q), atol=1e-13)


@pytest.mark.slow
@every
def test_bias_keeps_a_motion_closed_to_second_order(joint):
    """Along q(t) with q' = v, K v = 0 and K a + k = 0 the residual has no term in t^2."""
    model, q, rng = closed_ring(joint)
    K = cardan.loop_jacobian(model, q)
    free = np.eye(model.nv) - np.linalg.pinv(K) @ K
    v = free @ rng.normal(size=model.nv)
    k = cardan.loop_bias(model, q, v)
    assert np.abs(k).max() > 1e-2
    a = free @ rng.normal(size=model.nv) - np.linalg.pinv(K) @ k
    curvature = []
    for h in (3e-3, 1.5e-3):
        ends = [cardan.integrate(model, q, sign * h * v + 0.5 * h * h * a) for sign in (1.0, -1.0)]
        curvature.append(np.abs(sum(cardan.loop_residual(model, end) for end in ends)).max() / h**2)
    assert curvature[0] < 2e-3
    assert curvature[1] == pytest.approx(curvature[0] / 4.0, rel=0.1)  # what is left is of fourth order


@every
def test_plain_numbers_make_the_same_bias(joint):
    model, q, rng = closed_ring(joint)
    v = rng.normal(size=model.nv)
    expected = cardan.loop_bias(model, q, v)
    found = cardan.loop_bias.kernel(model, q.tolist(), v.tolist())
    np.testing.assert_allclose(found, expected, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.full
@every
def test_wrenches_hold_the_loop_and_do_no_work(joint):
    """On the open tree, the joint's wrench on its child and the opposite on its parent do what the loop does."""
    model, q, rng = closed_ring(joint)
    v = cardan.project_velocity(model, q, rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv)
    found = cardan.constrained_forward_dynamics(model, q, v, tau)
    (c,) = model.closures
    child, parent = (cardan.SE3.of(cardan.frame_transform(model, q, body)) for body in (c.child, c.parent))
    wrench = c.child_pose @ cardan.Force.of(found.wrenches[0])
    forces = np.zeros((model.nbodies, 6))
    forces[model.body_names.index(c.child)] = np.array(wrench.scalars(), dtype=float)
    back = parent.inverse() @ (child @ -wrench)
    forces[model.body_names.index(c.parent)] = np.array(back.scalars(), dtype=float)
    tree = model.spanning_tree()
    a = cardan.forward_dynamics(tree, q, v, tau, forces)
    np.testing.assert_allclose(found.accelerations, a, atol=1e-9 * np.abs(a).max())
    twists = [cardan.frame_velocity(tree, q, v, body, expressed_in="frame") for body in model.body_names]
    size = np.abs(forces).max() * np.abs(twists).max()
    assert abs(np.sum(forces * twists)) < 1e-11 * size
    assert size > 1e-2


def test_free_joints_and_bounds_make_no_rows():
    model = ring(cardan.joints.Distance(minimum=0.1, maximum=0.8))
    with pytest.raises(MechanismError, match="no joint that closes"):
        cardan.loop_residual(model, model.neutral())
    q, v = model.neutral(), np.zeros(model.nv)
    a = cardan.forward_dynamics(model, q, v, v)  # there is nothing to leave open
    np.testing.assert_array_equal(a, cardan.forward_dynamics(model.spanning_tree(), q, v, v))


def test_a_loop_that_nothing_moves_takes_no_part():
    m = linkages.slides()
    for name in ("left", "right"):
        m.add_body(name, linkages.inertia(4))
        m.add_joint(f"{name}_bolt", cardan.joints.Fixed(), "a", name)
    m.add_joint("still", Revolute((0, 0, 1)), "left", "right")
    model, twin = m.model(), m.remove("still").mechanism.model()
    q, v, tau = closed_state(model)
    found, expected = (cardan.constrained_forward_dynamics(x, q, v, tau) for x in (model, twin))
    assert model.closure_names == ("third", "still")
    np.testing.assert_allclose(found.accelerations, expected.accelerations, rtol=1e-12)
    np.testing.assert_array_equal(found.wrenches[1], 0.0)
    assert cardan.mobility(model, q) == 1


def test_euler_angles_close_a_loop_at_their_singularity():
    """A ball joint by angles resists three forces, whatever its rates can do."""
    model = ring(SphericalZYX())
    twin = ring(Spherical())
    q = closed_ring(SphericalZYX())[1]
    free = model.connection("free")
    (c,) = model.closures
    parent, a = (cardan.SE3.of(cardan.frame_transform(model, q, body)) for body in (c.parent, "a"))
    child = parent @ c.parent_pose @ SphericalZYX().transform((0.3, np.pi / 2, 0.2)) @ c.child_pose.inverse()
    X = (a @ free.parent_pose).inverse() @ child @ free.child_pose
    q[model.q_slice("free")] = np.array(FreeFlyer().nearest_configuration(X), dtype=float)
    v = cardan.project_velocity(model, q, np.random.default_rng(0).normal(size=model.nv))
    tau = np.zeros(model.nv)
    expected = cardan.constrained_forward_dynamics(twin, q, v, tau).accelerations
    found = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


# --- dynamics ---


@all_mechanisms
def test_freedoms(name):
    model = MECHANISMS[name]()
    q = closed_state(model)[0]
    assert (model.nv, cardan.mobility(model, q)) == FREEDOMS[name]
    assert cardan.loop_rank(model, np.stack([q, q])).tolist() == [model.nv - FREEDOMS[name][1]] * 2


@all_mechanisms
def test_accelerations_are_those_of_a_dense_solution(name):
    """Gauss's principle, solved by a pseudo-inverse: among accelerations with K a = -k the nearest to the free ones."""
    model = MECHANISMS[name]()
    q, v, tau = closed_state(model)
    forces = np.random.default_rng(5).normal(size=(model.nbodies, 6))
    K, k = cardan.loop_jacobian(model, q), cardan.loop_bias(model, q, v)
    M = cardan.mass_matrix(model, q)
    free = np.linalg.solve(M, tau - cardan.bias_forces(model, q, v, forces))
    L = np.linalg.cholesky(M)
    A = np.linalg.solve(L, K.T)
    expected = free - np.linalg.solve(L.T, np.linalg.pinv(A.T, rcond=1e-9) @ (K @ free + k))
    found = cardan.constrained_forward_dynamics(model, q, v, tau, forces)
    np.testing.assert_allclose(found.accelerations, expected, atol=1e-10 * np.abs(expected).max())
    assert found.wrenches.shape == (len(model.closures), 6)
    assert np.isfinite(found.wrenches).all()


def slider_crank(slider):
    """Bars of 1 kg and a slider of any mass [kg], in the plane."""
    m = cardan.Mechanism("slider_crank")
    for name, length in (("crank", 0.3), ("rod", 1.0)):
        m.add_body(name, cardan.Inertia(1.0, (length / 2, 0, 0), np.diag([1e-4, length**2 / 12, length**2 / 12])))
    m.add_body("slider", cardan.Inertia(slider, (0.0, 0.0, 0.0), 1e-3 * slider * np.eye(3)))
    m.add_joint("turn", Revolute((0, 0, 1)), "world", "crank")
    m.add_joint("knee", Revolute((0, 0, 1)), "crank", "rod", linkages.pose(0.3))
    m.add_joint("slide", Prismatic((1, 0, 0)), "world", "slider")
    m.add_joint("pin", Revolute((0, 0, 1)), "rod", "slider", linkages.pose(1.0))
    return m.model(gravity=(0.0, -9.81, 0.0))


def dense_accelerations(model, q, v, tau, digits=50):
    """Gauss's principle in many digits: of all a with K a = -k the nearest to the free one."""
    with mp.workdps(digits):
        q, v, tau = ([mp.mpf(float(e)) for e in x] for x in (q, v, tau))
        inverse = mp.matrix(cardan.mass_matrix.kernel(model, q)) ** -1
        K, k = mp.matrix(cardan.loop_jacobian.kernel(model, q)), mp.matrix(cardan.loop_bias.kernel(model, q, v))
        free = inverse * mp.matrix([t - b for t, b in zip(tau, cardan.bias_forces.kernel(model, q, v), strict=True)])
        G, b = K * inverse * K.T, -(K * free + k)
        felt = [G[i, i] for i in range(G.rows) if G[i, i] > mp.mpf(10) ** -25]
        solve = (G + mp.mpf(10) ** -14 * min(felt) * mp.eye(G.rows)) ** -1
        multipliers = mp.zeros(G.rows, 1)
        for _ in range(12):
            multipliers += solve * (b - G * multipliers)
        return np.array([float(e) for e in free + inverse * K.T * multipliers])


def relative_error(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


LIGHT = [(np.float64, 1e-8, 1e-8), (np.float64, 1e8, 1e-8), (np.float32, 1e-4, 2e-5), (np.float32, 1e4, 2e-5)]


@pytest.mark.parametrize(("dtype", "slider", "tolerance"), LIGHT)
def test_a_light_slider_keeps_its_constraint(dtype, slider, tolerance):
    """A dummy link of a milligramme, or of a tonne: what is light is not dependent."""
    model = slider_crank(slider)
    q = cardan.assemble(model, [0.7, -0.3, 1.0], fixed=("turn",))
    v = cardan.project_velocity(model, q, [2.0, 0.0, 0.0], fixed=("turn",))
    q, v, tau = (np.asarray(e, dtype) for e in (q, v, [0.5, 0.0, 0.0]))
    found = cardan.constrained_forward_dynamics(model, q, v, tau)
    expected = dense_accelerations(model, q, v, tau)
    assert relative_error(found.accelerations, expected) < tolerance
    assert np.abs(found.residual).max() < tolerance * np.abs(expected).max()
    drive = cardan.constrained_inverse_dynamics(model, q, v, np.asarray(expected, dtype), actuated=("slide",))
    again = cardan.constrained_forward_dynamics(model, q, v, drive.efforts).accelerations
    assert relative_error(again, expected) < 20.0 * tolerance


def random_loop(joints, decades, seed, place, base="world"):
    """A chain from a base back to it through joints made by functions of a generator, masses over some decades."""
    rng = np.random.default_rng(seed)
    m = cardan.Mechanism("ring")
    if base != "world":
        m.add_body(base, linkages.inertia(77 * seed, 0.3))
        m.add_joint("free", FreeFlyer(), "world", base)
    bodies = [base, *(f"b{k}" for k in range(len(joints) - 1))]
    for k, make in enumerate(joints[:-1]):
        mass = 10.0 ** rng.uniform(-decades / 2.0, decades / 2.0)
        m.add_body(f"b{k}", linkages.inertia(31 * seed + k, 0.3, mass))
        m.add_joint(f"j{k}", make(rng), bodies[k], f"b{k}", place(rng))
    open_chain = m.model()
    q = np.clip(open_chain.random_configuration(seed=seed), -3.0, 3.0)
    start, end = (cardan.SE3.of(cardan.frame_transform(open_chain, q, body)) for body in (base, bodies[-1]))
    last = place(rng)
    m.add_joint("closing", joints[-1](rng), base, bodies[-1], start.inverse() @ end @ last, last)
    return m.model(closing=["closing"]), q, rng


def hinge_in_plane(_):
    return Revolute((0, 0, 1))


def hinge(rng):
    axis = rng.normal(size=3)
    return Revolute(tuple(axis / np.linalg.norm(axis)))


def place_in_plane(rng):
    return linkages.pose(*rng.uniform(-0.5, 0.5, 2))


RINGS = {"plane": ([hinge_in_plane] * 6, place_in_plane), "space": ([hinge] * 8, random_pose)}


@pytest.mark.full
@pytest.mark.parametrize("ring", ["plane", *large("space")])
@pytest.mark.parametrize(("dtype", "decades", "tolerance"), [(np.float64, 8, 1e-8), (np.float32, 4, 1e-3)])
def test_random_loops_of_any_masses(ring, dtype, decades, tolerance):
    done = 0
    for seed in range(10):
        model, q, rng = random_loop(RINGS[ring][0], decades, seed, RINGS[ring][1])
        sizes = np.linalg.svd(cardan.loop_jacobian(model, q), compute_uv=False)
        sizes = sizes[sizes > 1e-9 * sizes[0]]
        if sizes[0] > 30.0 * sizes[-1]:
            continue
        v = cardan.project_velocity(model, q, rng.normal(size=model.nv))
        q, v, tau = (np.asarray(e, dtype) for e in (q, v, rng.normal(size=model.nv)))
        found = cardan.constrained_forward_dynamics(model, q, v, tau)
        expected = dense_accelerations(model, q, v, tau)
        assert relative_error(found.accelerations, expected) < tolerance, seed
        assert np.abs(found.residual).max() < tolerance * np.abs(expected).max()
        done += 1
    assert done >= 3


@pytest.mark.slow
def test_residual_is_what_is_left_of_a_constraint():
    """In float32, sixteen decades of masses leave loops closed that have free coordinates."""
    for seed in range(4):
        model, q, rng = random_loop([hinge] * 8, 16, seed, random_pose)
        v = cardan.project_velocity(model, q, rng.normal(size=model.nv))
        q, v, tau = (np.asarray(e, np.float32) for e in (q, v, rng.normal(size=model.nv)))
        found = cardan.constrained_forward_dynamics(model, q, v, tau)
        expected = cardan.loop_jacobian(model, q.astype(float)) @ found.accelerations.astype(float)
        expected += cardan.loop_bias(model, q.astype(float), v.astype(float))
        scale = np.abs(found.accelerations).max()
        np.testing.assert_allclose(found.residual, expected, atol=1e-4 * scale)
        assert np.abs(found.residual).max() < 1e-3 * scale


def test_constraints_that_clash_are_told_by_the_residual():
    """Bennett's linkage moves only if it is closed; open it has more independent constraints than coordinates."""
    model = MECHANISMS["bennett"]()
    q = cardan.integrate(model, cardan.assemble(model), [0.2, -0.3, 0.1])
    v = np.array([1.0, 2.0, -1.0])
    found = cardan.constrained_forward_dynamics(model, q, v, np.zeros(3))
    expected = cardan.loop_jacobian(model, q) @ found.accelerations + cardan.loop_bias(model, q, v)
    np.testing.assert_allclose(found.residual, expected, atol=1e-9 * np.abs(found.accelerations).max())
    assert np.abs(found.residual).max() > 1e-2


def test_redundant_loops_share_the_load():
    """Of all wrenches the smallest: equal cranks side by side carry alike, and no moment that no motion feels."""
    m = cardan.Mechanism("twin")
    m.add_body("bar", linkages.inertia(9, 0.4, 2.0))
    for k in range(3):
        m.add_body(f"crank{k}", linkages.inertia(1, 0.2))
        x = 0.3 if k else 0.0
        pose = linkages.pose(x, 0.1 * k, zyx=(0.0, 0.5, 0.0))
        m.add_joint(f"low{k}", Revolute((0, 1, 0)), "world", f"crank{k}", pose)
        end = linkages.pose(0.0, 0.0, 0.4, zyx=(0.0, -0.5, 0.0))
        m.add_joint(f"high{k}", Revolute((0, 1, 0)), f"crank{k}", "bar", end, linkages.pose(x, 0.1 * k))
    model = m.model()
    wrenches = cardan.constrained_forward_dynamics(model, model.neutral(), np.zeros(4), np.zeros(4)).wrenches
    np.testing.assert_allclose(wrenches[0], wrenches[1], atol=1e-7 * np.abs(wrenches).max())
    np.testing.assert_allclose(wrenches[:, [1, 3, 5]], 0.0, atol=1e-7)
    assert np.abs(wrenches).max() > 1.0


def lagrangian_four_bar(theta, rate, torque, mechanism):
    """Return the crank's angular acceleration from one coordinate: I(t) t'' + I'(t) t'^2 / 2 + V'(t) = torque.

    Bars by closed form: the coupler and rocker angles are where two circles meet. To 30 digits.
    """
    mp.mp.dps = 30
    ground, crank, coupler, rocker = (mp.mpf(mechanism[n]) for n in ("ground", "crank", "coupler", "rocker"))

    def centres(t):
        bx, bz = crank * mp.cos(t), crank * mp.sin(t)
        dx, dz = ground - bx, -bz
        d = mp.hypot(dx, dz)
        along = (d * d + coupler**2 - rocker**2) / (2 * d)
        aside = mp.sqrt(coupler**2 - along**2)
        cx, cz = bx + (along * dx - aside * dz) / d, bz + (along * dz + aside * dx) / d
        angles = (t, mp.atan2(cz - bz, cx - bx), mp.atan2(cz, cx - ground))
        return [(bx / 2, bz / 2), ((bx + cx) / 2, (bz + cz) / 2), ((cx + ground) / 2, cz / 2)], angles

    lengths = (crank, coupler, rocker)
    masses = [mechanism["density"] * length for length in lengths]
    radius = mp.mpf("0.01")
    moments = [m * (3 * radius**2 + length**2) / 12 for m, length in zip(masses, lengths, strict=True)]

    def inertia(t):
        total = mp.mpf(0)
        for k in range(3):
            x, z, angle = (mp.diff(lambda s, k=k, f=f: f(*centres(s), k), t) for f in (X, Z, ANGLE))
            total += masses[k] * (x**2 + z**2) + moments[k] * angle**2
        return total

    def potential(t):
        return sum(m * mp.mpf("9.81") * z for m, (_, z) in zip(masses, centres(t)[0], strict=True))

    slope = mp.diff(inertia, theta)
    return float((torque - slope * rate**2 / 2 - mp.diff(potential, theta)) / inertia(theta))


def X(points, _, k):
    return points[k][0]


def Z(points, _, k):
    return points[k][1]


def ANGLE(_, angles, k):
    return angles[k]


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.0, -2.5])
def test_four_bar_is_the_lagrangian_of_its_crank(turn):
    shape = {"ground": 0.4, "crank": 0.15, "coupler": 0.4, "rocker": 0.3, "density": 2.0}
    model = four_bar(**shape).model()
    q = model.neutral()
    for part in np.linspace(0.0, turn, 8):
        q[model.q_slice("crank_joint")] = part
        q = cardan.assemble(model, q, fixed=("crank_joint",))
    assert q[0] == turn
    v = np.zeros(3)
    v[0] = 4.0
    v = cardan.project_velocity(model, q, v, fixed=("crank_joint",))
    found = cardan.constrained_forward_dynamics(model, q, v, [0.3, 0.0, 0.0]).accelerations[0]
    expected = lagrangian_four_bar(mp.mpf(1.0 + turn), mp.mpf(4.0), mp.mpf("0.3"), shape)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("turn", [1e-1, 1e-2, 1e-3, 1e-4, 2e-5])
def test_near_a_dead_point_errors_are_rounding_over_the_sine(turn):
    points = {"a": (0.0, 0.0), "b": (-0.1, 0.3), "c": (0.15, 0.15), "d": (0.4, 0.0)}  # coupler and rocker in a line
    links = {"crank": "ab", "coupler": "bc", "rocker": "dc"}
    joints = [("crank", "base", "crank", "a"), ("coupler", "crank", "coupler", "b"), ("rocker", "base", "rocker", "d")]
    model = linkages.planar(points, links, [*joints, ("closing", "coupler", "rocker", "c")]).model()
    q = cardan.assemble(model, [0.0, 0.0, turn], fixed=("rocker",))
    sine = abs(math.sin(q[0] + q[1] - q[2]))  # of the angle between the columns of coupler and rocker
    tau = [0.3, -0.2, 0.5]
    found = cardan.constrained_forward_dynamics(model, q, np.zeros(3), tau).accelerations
    state = ([mp.mpf(float(e)) for e in x] for x in (q, np.zeros(3), tau))
    exact = cardan.constrained_forward_dynamics.kernel(model, *state).accelerations
    assert max(abs(float((mp.mpf(a) - b) / b)) for a, b in zip(found.tolist(), exact, strict=True)) < 1e-14 / sine


def simulate(model, seconds, step, stabilization=0.0, q=None, v=None):
    """Runge and Kutta's fourth order on the manifold: the largest energy drift, kinetic energy and gap; q and v."""
    q = model.neutral() if q is None else q
    v, still = np.zeros(model.nv) if v is None else v, np.zeros(model.nv)
    bound = cardan.constrained_forward_dynamics.on("llvm").bind(model, stabilization=stabilization)
    move, gap = cardan.integrate.on("llvm").bind(model), cardan.loop_residual.on("llvm").bind(model)
    kinetic, potential = (f.on("llvm").bind(model) for f in (cardan.kinetic_energy, cardan.potential_energy))

    def a(q, v):
        return bound(q, v, still).accelerations

    start = kinetic(q, v) + potential(q)
    drift = fastest = widest = 0.0
    for _ in range(round(seconds / step)):
        a1 = a(q, v)
        v2 = v + step / 2 * a1
        a2 = a(move(q, step / 2 * v), v2)
        v3 = v + step / 2 * a2
        a3 = a(move(q, step / 2 * v2), v3)
        v4 = v + step * a3
        a4 = a(move(q, step * v3), v4)
        q = move(q, step / 6 * (v + 2 * v2 + 2 * v3 + v4))
        v = v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        energy = kinetic(q, v)
        drift = max(drift, abs(energy + potential(q) - start))
        fastest, widest = max(fastest, energy), max(widest, np.abs(gap(q)).max())
    return drift, fastest, widest, q, v


@pytest.mark.full
def test_four_bar_for_ten_seconds():
    """At steps of 1 ms: what drifts without stabilisation, and what is left of the gap with it."""
    model = four_bar().model()
    drift, fastest, gap, *_ = simulate(model, 10.0, 1e-3)
    assert fastest > 1.0  # J
    assert drift < 2e-6 * fastest
    assert 1e-9 < gap < 1e-6  # m
    steady = simulate(model, 10.0, 1e-3, stabilization=10.0)
    assert steady[0] < 2e-6 * fastest
    assert steady[2] < 1e-9


def test_stabilization_closes_a_gap_at_its_rate():
    model = five_bar().model().with_gravity((0.0, 0.0, 0.0))
    rng = np.random.default_rng(0)
    q = cardan.integrate(model, model.neutral(), 1e-3 * rng.normal(size=model.nv))
    v = np.zeros(model.nv)
    start = np.abs(cardan.loop_residual(model, q)).max()
    rate, seconds = 20.0, 0.5
    *_, q, v = simulate(model, seconds, 1e-3, rate, q, v)
    left = np.abs(cardan.loop_residual(model, q)).max() / start
    assert left == pytest.approx((1.0 + rate * seconds) * math.exp(-rate * seconds), rel=0.05)  # critical damping
    with pytest.raises(ParameterError, match="stabilization: got -1"):
        cardan.constrained_forward_dynamics(model, q, v, v, stabilization=-1.0)


def test_bennett_moves_through_its_range():
    """Overconstrained: nothing but exact dependence lets it move."""
    model = linkages.bennett().model()
    q = cardan.assemble(model)
    v = cardan.project_velocity(model, q, [1.0, 0.0, 0.0])
    drift, fastest, gap, end, _ = simulate(model, 2.0, 1e-3, 0.0, q, 5.0 * v / abs(v[0]))
    assert abs(end - q).max() > 1.0
    assert gap < 1e-7
    assert drift < 1e-6 * fastest


@pytest.mark.slow
def test_a_crank_too_many_swings_on():
    """Redundant in the plane: hanging, ten seconds without stabilization."""
    model = linkages.parallelogram(tilt=(0.3, 0.5, -0.4)).model().with_gravity((0.0, 0.0, 9.81))
    drift, fastest, gap, *_ = simulate(model, 10.0, 1e-3, 0.0, cardan.assemble(model))
    assert fastest > 1.0
    assert drift < 1e-10 * fastest
    assert gap < 1e-12


@pytest.mark.slow
def test_a_parallelogram_falls_through_flat():
    """There its loops lose rank; projected every 20 ms it passes twice."""
    model = linkages.parallelogram().model()
    q, v = cardan.assemble(model), np.zeros(4)
    start, fastest = cardan.potential_energy(model, q), 0.0
    for _ in range(60):
        q, v = simulate(model, 0.02, 1e-3, 0.0, q, v)[3:]
        q = cardan.assemble(model, q)
        v = cardan.project_velocity(model, q, v)
        energy = cardan.kinetic_energy(model, q, v)
        fastest = max(fastest, energy)
        assert abs(energy + cardan.potential_energy(model, q) - start) < 2e-3
    assert fastest > 7.0
    assert 5.0 < q[0] < 2.0 * np.pi  # up again on the other side
    np.testing.assert_allclose(q, q[0] * np.array([1.0, -1.0, 1.0, 1.0]), atol=1e-9)  # not folded


# --- other trees of the same mechanism ---


def alternatives(name):
    if name == "four_bar":
        m = four_bar()
        return [m.model(closing=[c]) for c in ("closing_joint", "crank_joint", "coupler_joint", "rocker_joint")]
    if name == "stewart_platform":
        m = stewart_platform()
        return [
            m.model(),
            m.model(closing=[f"ball{k}" for k in range(1, 6)]),
            m.model(closing=["slide2", "universal5"]),
        ]
    m = linkages.leg()
    return [
        m.model(base="floating"),
        m.model(root="tarsus", base="floating", closing=("rod_top", "crank")),
        m.model(root="pelvis", base=cardan.joints.FloatingMRP(), closing=("ankle", "push_top")),
    ]


@pytest.mark.parametrize("name", ["four_bar", *large("stewart_platform", "leg")])
def test_dynamics_do_not_depend_on_the_tree(name):
    first, *others = alternatives(name)
    q, v, tau = closed_state(first)
    found = cardan.constrained_forward_dynamics(first, q, v, tau).accelerations
    for other in others:
        conversion = cardan.converter(first, other)
        theirs = conversion.configuration(q), conversion.velocity(q, v)
        assert np.abs(cardan.loop_residual(other, theirs[0])).max() < 1e-12
        assert np.abs(cardan.loop_jacobian(other, theirs[0]) @ theirs[1]).max() < 1e-12 * (1 + np.abs(v).max())
        a = cardan.constrained_forward_dynamics(other, *theirs, conversion.effort(q, tau)).accelerations
        expected = conversion.acceleration(q, v, found)
        np.testing.assert_allclose(a, expected, atol=1e-9 * np.abs(expected).max())


# --- inverse dynamics ---


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*(n for n in MECHANISMS if n not in ("stewart_platform", "leg")), *large("stewart_platform", "leg")]
)
def test_inverse_dynamics_with_every_drive_makes_the_motion(name):
    model = MECHANISMS[name]()
    q, v, tau = closed_state(model)
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    found = cardan.constrained_inverse_dynamics(model, q, v, a)
    assert np.abs(found.unbalanced).max() < 1e-10 * (1.0 + np.abs(tau).max())
    again = cardan.constrained_forward_dynamics(model, q, v, found.efforts).accelerations
    np.testing.assert_allclose(again, a, atol=1e-9 * np.abs(a).max())
    if all(isinstance(node.joint, Revolute) for node in model.nodes):
        assert found.efforts @ found.efforts <= tau @ tau * (1.0 + 1e-9)
    K = cardan.loop_jacobian(model, q)
    null = np.linalg.svd(K)[2][np.linalg.matrix_rank(K, tol=1e-8) :]
    np.testing.assert_allclose(null @ (tau - found.efforts), 0.0, atol=1e-9)  # the same virtual power


@pytest.mark.full
def test_stewart_platform_is_driven_by_its_slides():
    model = stewart_platform().model()
    slides = tuple(f"slide{k}" for k in range(1, 7))
    index = [model.v_slice(name).start for name in slides]
    q, v, _ = closed_state(model)
    tau = np.zeros(model.nv)
    tau[index] = np.random.default_rng(1).normal(size=6) * 30.0
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    found = cardan.constrained_inverse_dynamics(model, q, v, a, actuated=slides)
    np.testing.assert_allclose(found.efforts, tau, atol=1e-10)
    np.testing.assert_allclose(found.unbalanced, 0.0, atol=1e-10)
    wrenches = cardan.constrained_forward_dynamics(model, q, v, tau).wrenches
    np.testing.assert_allclose(found.wrenches, wrenches, atol=1e-9 * np.abs(wrenches).max())
    fewer = cardan.constrained_inverse_dynamics(model, q, v, a, actuated=slides[:5])
    assert np.abs(fewer.unbalanced).max() > 1.0
    total = fewer.efforts + fewer.unbalanced
    K = cardan.loop_jacobian(model, q)
    M_a = cardan.inverse_dynamics(model, q, v, a)
    assert np.abs(np.linalg.svd(K)[2][15:] @ (M_a - total)).max() < 1e-9
    assert set(np.flatnonzero(fewer.efforts)) == set(index[:5])


def test_extra_drives_share():
    model = five_bar().model()
    q, v, tau = closed_state(model)
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    three = ("left_joint", "right_joint", "left_elbow")
    found = cardan.constrained_inverse_dynamics(model, q, v, a, actuated=three).efforts
    K = cardan.loop_jacobian(model, q)
    null = np.linalg.svd(K)[2][2:]
    index = [model.v_slice(n).start for n in three]
    smallest = np.linalg.pinv(null[:, index]) @ (null @ tau)
    np.testing.assert_allclose(found[index], smallest, atol=1e-7 * np.abs(smallest).max())
    assert found[[i for i in range(4) if i not in index]].tolist() == [0.0]


# --- assembly ---


def test_assembly_of_a_batch_row_by_row():
    model = stewart_platform().model()
    rng = np.random.default_rng(0)
    q0 = cardan.integrate(model, model.neutral(), 0.2 * rng.normal(size=(4, 3, model.nv)))
    q = cardan.assemble(model, q0)
    assert q.shape == (4, 3, model.nq)
    assert np.abs(cardan.loop_residual(model, q)).max() < 1e-12
    assert np.abs(cardan.loop_residual(model, q0)).max() > 0.1
    np.testing.assert_allclose(cardan.assemble(model, q0[2, 1]), q[2, 1], atol=1e-12)
    np.testing.assert_allclose(cardan.assemble(model, q), q, atol=1e-14)  # what is closed stays as it is


def test_assembly_takes_the_smallest_step():
    model = stewart_platform().model()
    q0 = cardan.integrate(model, model.neutral(), 1e-3 * np.random.default_rng(0).normal(size=(5, model.nv)))
    q = cardan.assemble(model, q0)
    step = cardan.difference(model, q0, q)
    K = cardan.loop_jacobian(model, q)
    inside = times(np.linalg.pinv(K) @ K, step)
    assert np.linalg.norm(step - inside, axis=-1).max() < 5e-3 * np.linalg.norm(step, axis=-1).min()


def test_assembly_holds_what_it_is_told_to():
    model = five_bar().model()
    q0 = model.neutral()
    q0[model.q_slice("left_joint")], q0[model.q_slice("right_joint")] = 0.2, -0.1
    q = cardan.assemble(model, q0, fixed=("left_joint", "right_joint"))
    assert q[model.q_slice("left_joint")] == 0.2
    assert q[model.q_slice("right_joint")] == -0.1
    tip = cardan.frame_transform(model, q, "tip")[:3, 3]
    for side in ("left", "right"):
        elbow = cardan.frame_transform(model, q, f"{side}_lower")[:3, 3]
        assert np.linalg.norm(tip - elbow) == pytest.approx(0.35, abs=1e-12)


@pytest.mark.parametrize("name", ["bennett", "tilted_parallelogram", "spherical_four_bar"])
def test_assembly_of_dependent_constraints(name):
    model = MECHANISMS[name]()
    q = cardan.assemble(model)
    rng = np.random.default_rng(3)
    found = cardan.assemble(model, cardan.integrate(model, q, 0.3 * rng.normal(size=(20, model.nv))))
    assert np.abs(cardan.loop_residual(model, found)).max() < 1e-12


def test_impossible_assembly_is_refused_with_what_is_left(native_target):
    """Bars of 0.15, 0.4 and 0.3 m between pivots 2 m apart: stretched out, 1.15 m are missing."""
    model = linkages.four_bar_too_far_apart(2.0).model()
    with pytest.raises(AssemblyError, match=r"'closing_joint' open by 1\.15") as error:
        cardan.assemble(model)
    assert error.value.loop == "closing_joint"
    assert error.value.rows == ()
    assert np.linalg.norm([error.value.residual]) == pytest.approx(1.15, abs=0.01)


def outwards(model):
    """Angles of the driven joints that turn the upper bars away from each other."""
    poses = [cardan.frame_transform(model, model.neutral(), f"{side}_upper") for side in ("left", "right")]
    now = [math.atan2(X[2, 0], X[0, 0]) for X in poses]
    return [-math.pi - now[0], -now[1]]


def test_rows_that_do_not_close_are_named():
    model = five_bar(lower=0.3, depth=0.4).model()
    q0 = np.tile(model.neutral(), (2, 3, 1))
    for k in (0, 2):  # arms outwards: 0.7 m between the elbows, for two bars of 0.3 m
        q0[1, k, [model.q_slice("left_joint").start, model.q_slice("right_joint").start]] = outwards(model)
    with pytest.raises(AssemblyError, match=r"in 2 rows of the batch \(\(1, 0\), \(1, 2\)\)") as error:
        cardan.assemble(model, q0, fixed=("left_joint", "right_joint"))
    assert error.value.rows == ((1, 0), (1, 2))


def test_projected_velocities():
    model = stewart_platform().model()
    rng = np.random.default_rng(0)
    q = cardan.assemble(model, cardan.integrate(model, model.neutral(), 0.1 * rng.normal(size=(5, model.nv))))
    v = rng.normal(size=(5, model.nv))
    w = cardan.project_velocity(model, q, v)
    K = cardan.loop_jacobian(model, q)
    assert np.abs(times(K, w)).max() < 1e-13
    change = w - v
    np.testing.assert_allclose(np.linalg.pinv(K) @ K @ change[..., None], change[..., None], atol=1e-12)
    slides = tuple(f"slide{k}" for k in range(1, 7))
    index = [model.v_slice(name).start for name in slides]
    driven = cardan.project_velocity(model, q, v, fixed=slides)
    np.testing.assert_array_equal(driven[:, index], v[:, index])
    assert np.abs(times(K, driven)).max() < 1e-12
    with pytest.raises(AssemblyError, match="the velocity nearest to it"):
        cardan.project_velocity(model, q[0], v[0], fixed=(*slides, "universal1"))


# --- derivatives, batches, targets ---


@pytest.mark.parametrize("name", ["four_bar", *large("leg")])
@pytest.mark.parametrize("wrt", ["q", "v", "tau"])
def test_derivatives_are_those_by_differences(name, wrt):
    model = MECHANISMS[name]()
    q, v, tau = closed_state(model)
    state = {"q": q, "v": v, "tau": tau}

    def at(shift):
        moved = cardan.integrate(model, q, shift) if wrt == "q" else state[wrt] + shift
        return cardan.constrained_forward_dynamics(model, **{**state, wrt: moved})

    h = 1e-6
    ahead, behind = (at(sign * h * np.eye(model.nv)) for sign in (1.0, -1.0))
    exact = cardan.derivative(cardan.constrained_forward_dynamics, wrt)(model, q, v, tau)
    for part in ("accelerations", "wrenches"):
        differences = np.moveaxis(getattr(ahead, part) - getattr(behind, part), 0, -1) / (2.0 * h)
        np.testing.assert_allclose(exact[part], differences, atol=2e-7 * np.abs(differences).max() + 1e-12)


def test_derivative_of_an_overconstrained_loop_along_its_motion():
    model = linkages.bennett().model()
    q, v, tau = closed_state(model)
    along = v / np.linalg.norm(v)
    h = 1e-4
    ends = [cardan.assemble(model, cardan.integrate(model, q, s * along)) for s in (h, -h)]
    ends = [cardan.constrained_forward_dynamics(model, e, np.zeros(3), tau).accelerations for e in ends]
    exact = cardan.derivative(cardan.constrained_forward_dynamics, "q")(model, q, np.zeros(3), tau)["accelerations"]
    np.testing.assert_allclose(exact @ along, (ends[0] - ends[1]) / (2.0 * h), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["four_bar", "bennett", *large("tilted_parallelogram", "leg")])
def test_native_batches_and_float32(name):
    model = MECHANISMS[name]()
    rng = np.random.default_rng(0)
    base = cardan.assemble(model)
    q = cardan.assemble(model, cardan.integrate(model, base, 0.1 * rng.normal(size=(3, 1, model.nv))))
    v = cardan.project_velocity(model, q, rng.normal(size=(3, 1, model.nv)))
    tau = rng.normal(size=(2, model.nv))
    native, reference = (cardan.constrained_forward_dynamics.on(t)(model, q, v, tau) for t in ("llvm", "numpy"))
    single = cardan.constrained_forward_dynamics.on("llvm")(model, *(e.astype(np.float32) for e in (q, v, tau)))
    assert {e.shape[:2] for e in native} == {(3, 2)}
    for got, expected, one in list(zip(native, reference, single, strict=True))[:2]:
        assert got.shape[:2] == (3, 2)
        assert one.dtype == np.float32
        size = np.abs(expected).max()
        np.testing.assert_allclose(got, expected, atol=3e-6 * size)  # dependent wrenches: rounding over mu
        np.testing.assert_allclose(one, expected, atol=2e-2 * size)
    scale = np.abs(reference.accelerations).max()
    assert np.abs(native.residual).max() < 1e-10 * scale
    assert np.abs(single.residual).max() < 1e-3 * scale
    np.testing.assert_allclose(native.accelerations, reference.accelerations, atol=1e-9 * scale)
    np.testing.assert_allclose(single.accelerations, reference.accelerations, atol=1e-3 * scale)


def test_masses_as_inputs():
    model = four_bar().model()
    varied = model.with_inputs("mass")
    masses = {"mass": np.array([0.0, 0.4, 0.9, 0.5])}
    q, v, tau = closed_state(model)
    found = cardan.constrained_forward_dynamics(varied, q, v, tau, **masses).accelerations
    twin = model.with_values(**masses)
    expected = cardan.constrained_forward_dynamics(twin, q, v, tau).accelerations
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert np.abs(found - cardan.constrained_forward_dynamics(model, q, v, tau).accelerations).max() > 0.1


def test_every_inertial_input_at_its_own_value():
    """The base of the four-bar has no mass: an input whose value is 0 is the same robot as the constant 0."""
    model = four_bar().model()
    q, v, tau = closed_state(model)
    varied = model.with_inputs("mass", "com", "inertia", "parent_pose")
    for function in (cardan.constrained_forward_dynamics, cardan.constrained_inverse_dynamics):
        for got, expected in zip(
            function(varied, q, v, tau, **varied.input_values()), function(model, q, v, tau), strict=True
        ):
            np.testing.assert_allclose(got, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))


def test_more_drives_than_freedoms_in_float32():
    """Of all efforts that make the motion the smallest, to single precision over what is taken for dependence."""
    model = five_bar().model()
    q, v, tau = closed_state(model)
    a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    single = cardan.constrained_inverse_dynamics(model, *(e.astype(np.float32) for e in (q, v, a)))
    assert relative_error(single.efforts, cardan.constrained_inverse_dynamics(model, q, v, a).efforts) < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("make", [linkages.leg, linkages.bennett, linkages.parallelogram, five_bar])
def test_shares_of_redundant_drives_in_float32(make):
    """The leg's drives differ by a hundred in what they move: rounding of the one is not to be a share of the other."""
    model = make().model()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        around = cardan.integrate(model, model.neutral(), 0.3 * rng.normal(size=model.nv))
        q = cardan.assemble(model, around)
        v = cardan.project_velocity(model, q, rng.normal(size=model.nv))
        a = cardan.constrained_forward_dynamics(model, q, v, rng.normal(size=model.nv)).accelerations
        expected = cardan.constrained_inverse_dynamics(model, q, v, a).efforts
        found = cardan.constrained_inverse_dynamics(model, *(e.astype(np.float32) for e in (q, v, a)))
        assert relative_error(found.efforts, expected) < 1e-2
        moved = cardan.constrained_forward_dynamics(model, q, v, found.efforts.astype(float)).accelerations
        assert relative_error(moved, a) < 1e-5


def test_a_mimic_joint_in_a_loop():
    """Both hinges of a toggle turn alike; its end slides: the crank's one coordinate is the freedom."""
    m = cardan.Mechanism("toggle")
    for k, name in enumerate(("crank", "rod", "slider")):
        m.add_body(name, linkages.inertia(k, 0.2))
    m.add_joint("crank_joint", Revolute((0, 0, 1)), "world", "crank", armature=[0.02])
    m.add_joint("rod_joint", Mimic(Revolute((0, 0, 1)), "crank_joint", -2.0), "crank", "rod", linkages.pose(0.3))
    m.add_joint("slide", Prismatic((1, 0, 0)), "world", "slider")
    m.add_joint("pin", Revolute((0, 0, 1)), "rod", "slider", linkages.pose(0.3))
    model = m.model()
    q = cardan.assemble(model, [0.4, 0.5])
    assert q[1] == pytest.approx(0.6 * math.cos(q[0]), abs=1e-12)
    assert cardan.mobility(model, q) == 1
    v = cardan.project_velocity(model, q, [1.0, 0.0], fixed=("crank_joint",))
    a = cardan.constrained_forward_dynamics(model, q, v, [0.2, 0.1]).accelerations
    assert v[1] == pytest.approx(-0.6 * math.sin(q[0]), abs=1e-12)
    assert a[1] == pytest.approx(-0.6 * (math.sin(q[0]) * a[0] + math.cos(q[0])), abs=1e-10)


def test_symbols_and_floats_go_through():
    model = four_bar().model()
    q, v, tau = (e.tolist() for e in closed_state(model))
    compiled = cardan.constrained_forward_dynamics(model, q, v, tau)
    plain = cardan.constrained_forward_dynamics.kernel(model, q, v, tau)
    np.testing.assert_allclose(plain.accelerations, compiled.accelerations, atol=1e-10)

    @cardan.function
    def power(model, q, v, tau):
        a = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
        return sum(e * r for e, r in zip(cardan.inverse_dynamics(model, q, v, a) - tau, v, strict=True))

    assert abs(power(model, q, v, tau)) < 1e-13


# --- errors ---


def test_forward_dynamics_do_not_leave_loops_open_in_silence():
    model = four_bar().model()
    q, v = model.neutral(), np.zeros(3)
    for function in (cardan.forward_dynamics, cardan.forward_dynamics_derivatives):
        with pytest.raises(MechanismError, match=r"'closing_joint'.*constrained_forward_dynamics.*spanning_tree"):
            function(model, q, v, v)
    tree = model.spanning_tree()
    assert tree.closures == ()
    assert (tree.nq, tree.joint_names) == (model.nq, model.joint_names)
    a = cardan.forward_dynamics(tree, q, v, v)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), v, atol=1e-12)


def test_models_without_loops_are_told():
    model = cardan.robots.arm7().model()
    q, v = model.neutral(), np.zeros(7)
    for call in (
        lambda: cardan.loop_residual(model, q),
        lambda: cardan.loop_jacobian(model, q),
        lambda: cardan.loop_bias(model, q, v),
        lambda: cardan.constrained_forward_dynamics(model, q, v, v),
        lambda: cardan.constrained_inverse_dynamics(model, q, v, v),
        lambda: cardan.assemble(model),
        lambda: cardan.project_velocity(model, q, v),
        lambda: cardan.loop_rank(model, q),
    ):
        with pytest.raises(MechanismError, match="no joint that closes a loop"):
            call()


def test_names_are_checked():
    model = four_bar().model()
    q, v = model.neutral(), np.zeros(3)
    with pytest.raises(MechanismError, match="'closing_joint' closes a loop and has no coordinates"):
        cardan.assemble(model, fixed=("closing_joint",))
    with pytest.raises(UnknownNameError, match="did you mean 'crank_joint'"):
        cardan.constrained_inverse_dynamics(model, q, v, v, actuated=("crank_join",))
    with pytest.raises(DTypeError, match=r"expected a tuple: \('crank_joint',\)"):
        cardan.assemble(model, fixed="crank_joint")
    with pytest.raises(ParameterError, match="tolerance of assemble"):
        cardan.assemble(model, tolerance=0.0)


# --- what ships ---


@pytest.mark.parametrize("name", LOOPED)
def test_shipped_loops_are_closed_at_zero(name):
    mechanism = LOOPED[name]()
    model = mechanism.model()
    assert np.abs(cardan.loop_residual(model, model.neutral())).max() < 1e-15
    assert all(b.inertia is None or b.inertia.faults() == [] for b in mechanism.bodies)
    assert {s.body for s in mechanism.shapes} == {b.name for b in mechanism.bodies} - {"base"}


@pytest.mark.parametrize(
    ("build", "arguments"),
    [
        (four_bar, {"rocker": 0.05}),
        (four_bar, {"crank": -1.0}),
        (five_bar, {"depth": 3.0}),
        (stewart_platform, {"height": 0.0}),
    ],
)
def test_shipped_loops_refuse_what_does_not_close(build, arguments):
    with pytest.raises(ParameterError):
        build(**arguments)


def test_a_mechanism_without_freedoms_stands_still():
    m = cardan.Mechanism("truss")
    for name in ("a", "b"):
        m.add_body(name, cardan.Inertia(1.0, (0.5, 0.0, 0.0), 0.1 * np.eye(3)))
    hinge = cardan.joints.Revolute((0.0, 1.0, 0.0))
    end = cardan.SE3(translation=(1.0, 0.0, 0.0))
    m.add_joint("left", hinge, "world", "a")
    m.add_joint("middle", hinge, "a", "b", end)
    m.add_joint("right", hinge, "b", "world", end, cardan.SE3(translation=(-1.0, 0.0, 0.5)))
    model = m.model()
    q, tau = cardan.assemble(model), np.array([0.3, -0.2])
    assert cardan.mobility(model, q) == 0
    found = cardan.constrained_forward_dynamics(model, q, np.zeros(2), tau)
    np.testing.assert_array_equal(np.abs(found.accelerations), 0.0)
    # the wrench on the closing joint's child bears what the tree would need to stand still
    K = cardan.loop_jacobian(model, q)
    multipliers = np.linalg.lstsq(K.T, cardan.gravity_forces(model.spanning_tree(), q) - tau, rcond=None)[0]
    np.testing.assert_allclose(np.linalg.norm(found.wrenches), np.linalg.norm(multipliers), rtol=1e-12)
    np.testing.assert_allclose(cardan.impact(model, q, np.ones(2)).velocities, 0.0, atol=1e-15)
    by = cardan.constrained_forward_dynamics_derivatives(model, q, np.zeros(2), tau)
    np.testing.assert_array_equal(by.dq, np.zeros((2, 2)))
