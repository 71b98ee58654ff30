"""Constraints that users write as functions: blades, wheels and balls that roll, points on curves; and their laws."""

import functools
import math
import pickle

import mpmath as mp
import numpy as np
import pytest

import cardan
import cardan.interop
from cardan._compiler.program.replay import replay
from cardan._reach.formats.json import values
from cardan._reach.formats.sdf.writer import write_sdf
from cardan.errors import AssemblyError, DescriptionError, MechanismError, ParameterError, UnsupportedError
from cardan.joints import FreeFlyer, Planar, Revolute
from closeness import close
from rolling import (
    BASE,
    BODY,
    RADIUS,
    TRACK,
    Z,
    alone,
    arm_of,
    blade,
    car,
    cart,
    disc,
    pendulum,
    rolling,
    sleigh,
    twist,
)


def state_of(model, seed=0):
    rng = np.random.default_rng(seed)
    q = model.random_configuration(seed=seed)
    return q, cardan.project_velocity(model, q, rng.normal(size=model.nv)), rng.normal(size=model.nv)


def accelerations(model, q, v, tau=None):
    return cardan.constrained_forward_dynamics(model, q, v, np.zeros(model.nv) if tau is None else tau).accelerations


def moved(model, q, v, steps, h):
    """The midpoint rule, of second order."""
    for _ in range(steps):
        middle = v + 0.5 * h * accelerations(model, q, v)
        a = accelerations(model, cardan.integrate(model, q, 0.5 * h * v), middle)
        q, v = cardan.integrate(model, q, h * middle), v + h * a
    return q, v


def energy(model, q, v):
    tree = model.spanning_tree()
    return cardan.kinetic_energy(tree, q, v) + cardan.potential_energy(tree, q)


def test_a_sleigh():
    """Chaplygin's sleigh, its centre of mass a before the blade: du/dt = a w^2, (J + m a^2) dw/dt = -m a u w."""
    m, J, a, u, w = 2.0, 0.3, 0.4, 0.7, -1.3
    model, v = sleigh(), np.array([u, 0.0, w])
    q = model.manifold.integrate(model.neutral(), [0.3, -2.0, 0.8])
    found = cardan.constrained_forward_dynamics(model, q, v, np.zeros(3))
    close(found.accelerations, [a * w * w, 0.0, -m * a * u * w / (J + m * a * a)], 1e-14)
    assert found.wrenches.shape == (0, 6)
    held = cardan.inverse_dynamics(model.spanning_tree(), q, v, found.accelerations)
    (across,) = cardan.loop_multipliers(model, q, held)
    close(across, m * (u * w + a * found.accelerations[2]), 1e-14)  # N, on the blade alone
    assert cardan.mobility(model, q) == 2  # of velocities; no place is out of reach
    close(cardan.project_velocity(model, q, [1.0, 5.0, 1.0]), [1.0, 0.0, 1.0], 1e-14)
    assert cardan.loop_residual(model, q).tolist() == [0.0]
    after, lost = cardan.impact(model, q, [1.0, 5.0, 1.0]).velocities, np.array([0.0, 1.0, 0.0])
    assert abs(after @ lost) < 1e-15
    M = cardan.mass_matrix(model.spanning_tree(), q)
    close(cardan.loop_multipliers(model, q, M @ (after - [1.0, 5.0, 1.0])), [(M @ (after - [1.0, 5.0, 1.0]))[1]], 1e-14)


def of_free_body(mass, moments, R, v, w, arm, arm_rate):
    """Accelerations of a body, all in fixed axes, whose point at `arm` keeps still."""
    inertia = R @ np.diag(moments) @ R.T
    J = np.hstack([np.eye(3), np.cross(np.eye(3), arm).T])
    A = np.zeros((9, 9))
    A[:3, :3], A[3:6, 3:6], A[:6, 6:], A[6:, :6] = mass * np.eye(3), inertia, -J.T, J
    b = [*(mass * np.array([0.0, 0.0, -9.81])), *-np.cross(w, inertia @ w), *-np.cross(w, arm_rate)]
    return np.linalg.solve(A, b)[:6]


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.full) for k in (1, 2))])
def test_a_disc_that_leans(seed):
    """Beside Newton's and Euler's equations of a free disc, whose lowest point is held."""
    r, mass = 0.3, 1.5
    model = disc(radius=r, mass=mass)
    q, v, _ = state_of(model, seed)
    ours = accelerations(model, q, v)
    R = cardan.frame_transform(model, q, "thing")[:3, :3]
    u, w, axle = R @ v[:3], R @ v[3:], R[:, 1]
    down, axle_rate = axle * axle[2] - Z, np.cross(w, axle)
    size, down_rate = np.linalg.norm(down), axle_rate * axle[2] + axle * axle_rate[2]
    arm, arm_rate = r * down / size, r * (down_rate - down * (down @ down_rate) / size**2) / size
    np.testing.assert_allclose(u + np.cross(w, arm), 0.0, atol=1e-13)
    a = of_free_body(mass, 0.25 * mass * r * r * np.array([1.0, 2.0, 1.0]), R, u, w, arm, arm_rate)
    close(R @ ours[:3] + np.cross(w, u), a[:3], 1e-12)
    close(R @ ours[3:], a[3:], 1e-12)


@pytest.mark.slow
def test_what_is_held_may_be_a_place_a_velocity_or_an_acceleration():
    """The height of a disc that rolls, as each of the three; and all that rolls as an acceleration."""
    r = 0.3

    def height(model, q):
        return cardan.frame_transform(model, q, "thing")[2, 3] + arm_of(model, q, r)[2]

    def along(model, q, v):
        return rolling(r)(model, q, v)[:2]

    def accelerates(model, q, v, a):
        axle = cardan.frame_transform(model, q, "thing")[:3, 1]
        (_, w), A = twist(model, q, v), cardan.frame_acceleration(model, q, v, a, "thing")
        axle_rate, down = np.cross(w, axle), axle * axle[2] - Z
        down_rate = axle_rate * axle[2] + axle * axle_rate[2]
        size = cardan.sqrt(down @ down)
        arm_rate = (down_rate - down * ((down @ down_rate) / (size * size))) * (r / size)
        return A[:3] + np.cross(A[3:], arm_of(model, q, r)) + np.cross(w, arm_rate)

    model = disc()
    q, v, tau = state_of(model)
    expected = accelerations(model, q, v, tau)
    for others in ((height, along), (along, height), (accelerates,)):
        close(accelerations(disc(*others), q, v, tau), expected, 1e-12)
    held = disc(height, along)
    with_height = cardan.assemble(held, q)
    close(height(held, with_height), 0.0, 1e-12)
    assert cardan.loop_residual(held, with_height).shape == (3,)
    open_by = 0.2 * Z
    q = cardan.integrate(
        held, with_height, np.r_[cardan.frame_transform(held, with_height, "thing")[:3, :3].T @ open_by, 0, 0, 0]
    )
    rate = 10.0
    found = cardan.constrained_forward_dynamics(held, q, v, tau, stabilization=rate)
    K, k = cardan.loop_jacobian(held, q), cardan.loop_bias(held, q, v)
    mends = -2.0 * rate * K @ v - rate**2 * cardan.loop_residual(held, q)  # Baumgarte
    close(K @ found.accelerations + k, mends, 1e-10)
    assert abs(cardan.loop_residual(held, q)[0] - 0.2) < 1e-12
    with pytest.raises(MechanismError, match="impact: constraint 'accelerates' is one of accelerations"):
        cardan.impact(disc(accelerates), q, v)


def test_a_ball_on_a_turntable_goes_in_circles():
    """Affine in v. Its centre's velocity turns 2/7 as fast as the table, whatever its mass and radius (Earnshaw)."""
    r, mass, W = 0.11, 0.7, 3.0

    def rolls(model, q, v):
        u, w = twist(model, q, v)
        return u - r * np.cross(w, Z) - W * np.cross(Z, cardan.frame_transform(model, q, "thing")[:3, 3])

    inertia = cardan.Inertia(mass=mass, com=(0.0, 0.0, 0.0), inertia=0.4 * mass * r * r * np.eye(3))
    model = alone(FreeFlyer(), inertia).with_constraints(rolls)
    q, v, _ = state_of(model)
    assert np.abs(cardan.loop_jacobian(model, q) @ v).max() > 0.1  # not at rest where it touches
    R = cardan.frame_transform(model, q, "thing")[:3, :3]
    u, w = R @ v[:3], R @ v[3:]
    a = accelerations(model, q, v)
    close(R @ a[:3] + np.cross(w, u), 2.0 / 7.0 * W * np.cross(Z, u), 1e-12)
    # the table works: what is held is not orthogonal to the motion
    held = cardan.inverse_dynamics(model.spanning_tree(), q, v, a)
    slower = np.array([*v[:3], 0.0, 0.0, 0.0])
    after = cardan.impact(
        model, q, slower, 0.5
    ).velocities  # of what differs from the table's velocity, half comes back
    relative = [cardan.function(rolls)(model, q, x) for x in (slower, after)]
    close(relative[1], -0.5 * relative[0], 1e-12)
    assert abs(held @ v) > 1e-3


def test_a_cart_on_mecanum_wheels():
    """Velocities of the cart are those that its four wheels say; it goes where they push."""
    model, r, reach = cart(), 0.05, 0.45
    assert cardan.mobility(model, model.neutral()) == 3
    vx, vy, w = 0.4, -0.3, 0.5
    v = cardan.project_velocity(model, model.neutral(), [vx, vy, w, 0, 0, 0, 0], fixed=("moves",))
    signs = [(-1, -1), (1, 1), (1, -1), (-1, 1)]
    close(v[3:], [(vx + s * vy + t * reach * w) / r for s, t in signs], 1e-12)


@pytest.mark.slow
def test_a_car_turns_about_one_centre():
    """Eight rows, two of which depend on others: the tie rod lets all wheels roll. Radii and speeds are geometry's."""
    model, angle, speed = car(), 0.3, 5.0
    q = model.neutral()
    q[model.q_slice("steering")] = angle
    assert (cardan.loop_rank(model, q), cardan.mobility(model, q)) == (6, 2)
    start = np.zeros(model.nv)
    start[0] = speed
    v = cardan.project_velocity(model, q, start, fixed=("steering",))
    rate = v[2] / v[0]
    close(rate, math.tan(angle) / BASE, 1e-12)
    for name, x, y in (("left_front", BASE, TRACK / 2), ("right_front", BASE, -TRACK / 2), ("left_rear", 0, TRACK / 2)):
        turning = v[model.v_slice(f"{name}_axle")][0]
        close(RADIUS * turning, v[0] * math.hypot(1.0 - y * rate, x * rate), 1e-12)
    # pushed by its engine it gains what the engine does, in whatever it turns
    tau = np.zeros(model.nv)
    tau[model.v_slice("left_rear_axle")] = tau[model.v_slice("right_rear_axle")] = 100.0
    found = cardan.constrained_forward_dynamics(model, q, v, tau)
    assert np.abs(found.residual).max() < 1e-9
    tree, h = model.spanning_tree(), 1e-4
    kinetic = [
        cardan.kinetic_energy(
            tree,
            cardan.integrate(model, q, s * h * (v + 0.5 * s * h * found.accelerations)),
            v + s * h * found.accelerations,
        )
        for s in (-1, 1)
    ]
    close((kinetic[1] - kinetic[0]) / (2 * h), tau @ v, 1e-6)
    everywhere = model.random_configuration((20,), seed=0)
    assert set(cardan.loop_rank(model, everywhere).tolist()) == {6}


def test_a_point_on_a_circle_is_a_pendulum():
    model, angle, rate, length = pendulum(), 0.7, 1.5, 0.5
    s, c = math.sin(angle), math.cos(angle)
    q, v = length * np.array([s, -c]), length * rate * np.array([c, s])
    turning = -9.81 / length * s
    expected = length * (turning * np.array([c, s]) + rate**2 * np.array([-s, c]))
    close(accelerations(model, q, v), expected, 1e-13)
    close(accelerations(model, [q, q], [v, 0.0 * v])[1], length * turning * np.array([c, s]), 1e-13)
    single = accelerations(model, *(x.astype(np.float32) for x in (q, v, np.zeros(2))))
    assert single.dtype == np.float32
    close(single, expected, 1e-5)


MODELS = {"sleigh": sleigh, "disc": disc, "cart": cart, "car": car, "pendulum": pendulum}
some = pytest.mark.parametrize(
    "name", ["sleigh", "pendulum", *(pytest.param(n, marks=pytest.mark.full) for n in ("disc", "cart", "car"))]
)


def closed_state(model, seed=0):
    q, v, tau = state_of(model, seed)
    q = cardan.assemble(model, q)
    return q, cardan.project_velocity(model, q, v), tau


@some
def test_what_is_held_does_no_work_and_the_motion_is_the_one_of_least_force(name):
    """Gauss: of all motions that are allowed, it is the one nearest to the free one, by the mass matrix."""
    model = MODELS[name]()
    q, v, tau = closed_state(model)
    a, tree = accelerations(model, q, v, tau), model.spanning_tree()
    held = cardan.inverse_dynamics(tree, q, v, a) - tau
    assert abs(held @ v) < 1e-10 * np.abs(held).max()
    K = cardan.loop_jacobian(model, q)
    close(K.T @ cardan.loop_multipliers(model, q, held), held, 1e-9)
    free = np.linalg.svd(K)[2][cardan.loop_rank(model, q) :]
    np.testing.assert_allclose(free @ held, 0.0, atol=1e-9 * np.abs(held).max())


@some
def test_rows_are_differences_in_fifty_digits(name):
    """K v and K a + k are the first and second rates of c along a motion."""
    model = MODELS[name]()
    (constraint,) = model.constraints
    q, v, a = closed_state(model)
    takes = constraint.__code__.co_argcount - 1
    c = cardan.function(constraint).trace(model).program
    K, k = cardan.loop_jacobian(model, q), cardan.loop_bias(model, q, v)
    with mp.workdps(50):
        Q, V, A = ([mp.mpf(float(e)) for e in x] for x in (q, v, a))
        h = mp.mpf(10) ** -16

        def at(t):
            place = list(model.manifold.integrate(Q, [t * x + t * t / 2 * y for x, y in zip(V, A, strict=True)]))
            given = [*place, *(x + t * y for x, y in zip(V, A, strict=True))][: model.nq + (takes - 1) * model.nv]
            values = replay(c, given)
            return [values[r] for r in c.results]

        one, two = at(h), at(-h)
        slope = [float((x - y) / (2 * h)) for x, y in zip(one, two, strict=True)]
        second = [float((x - 2 * z + y) / h**2) for x, z, y in zip(one, at(mp.mpf(0)), two, strict=True)]
    if takes == 1:
        np.testing.assert_allclose(K @ v, slope, atol=1e-13)
        np.testing.assert_allclose(K @ a + k, second, atol=1e-12)
    else:
        np.testing.assert_allclose(K @ a + k, slope, atol=1e-12 * max(1.0, np.abs(K).max() * np.abs(a).max()))


def test_constraints_that_depend_on_one_another_move_alike():
    """The same blade twice, in other units and again as it is held by a loop."""
    once = sleigh()

    def again(model, q, v):
        return [1e3 * blade(model, q, v), -blade(model, q, v)]

    q, v, tau = state_of(once)
    many = once.with_constraints(again)
    assert cardan.loop_rank(many, q) == 1
    close(accelerations(many, q, v, tau), accelerations(once, q, v, tau), 1e-9)
    a = accelerations(once, q, v, tau)
    efforts = cardan.constrained_inverse_dynamics(many, q, v, a, actuated=("moves",))
    close(accelerations(many, q, v, efforts.efforts), a, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_do_not_matter(scale):
    model = pendulum()
    (circle,) = model.constraints
    q, v, tau = closed_state(model)
    expected = accelerations(model, q, v, tau)
    other = model.spanning_tree().with_constraints(lambda model, q: scale * circle(model, q))
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        close(accelerations(other, *(x.astype(dtype) for x in (q, v, tau))), expected, tolerance)
    close(accelerations(other.with_constraints(circle), q, v, tau), expected, 1e-13)


@pytest.mark.slow
def test_constraints_stand_beside_loops():
    """A crank of a four-bar that is told how it accelerates: its effort is the drive's that would do it."""

    def told(model, q, v, a):
        return a[0] - 3.0

    loop = cardan.robots.four_bar().model()
    model = loop.with_constraints(told)
    q = cardan.assemble(loop)
    v = cardan.project_velocity(loop, q, [1.0, 0.0, 0.0], fixed=("crank_joint",))
    found = cardan.constrained_forward_dynamics(model, q, v, np.zeros(3))
    close(found.accelerations[0], 3.0, 1e-12)
    drive = cardan.constrained_inverse_dynamics(loop, q, v, found.accelerations, actuated=("crank_joint",))
    close(found.wrenches, drive.wrenches, 1e-9)
    held = cardan.inverse_dynamics(model.spanning_tree(), q, v, found.accelerations)
    close(cardan.loop_multipliers(model, q, held)[-1], drive.efforts[0], 1e-9)
    as_cluster = cardan.clustered(loop, independent=["crank_joint"]).with_constraints(told)
    close(accelerations(as_cluster, q, v[:1]), [3.0], 1e-12)


@pytest.mark.full
def test_the_root_does_not_matter_where_frames_are_named():
    m = cardan.Mechanism("skater")
    m.add_body("thing", BODY)
    m.add_body("pole", cardan.Inertia(mass=0.5, com=(0.3, 0.0, 0.0), inertia=0.1 * np.eye(3)))
    m.add_joint("arm", Revolute((0.0, 0.0, 1.0)), "thing", "pole", cardan.SE3(translation=(0.2, 0.1, 0.0)))
    models = [m.model(root=root, base="floating").with_constraints(blade) for root in ("thing", "pole")]
    there = cardan.converter(*models)
    q, v, _ = state_of(models[0])
    close(
        accelerations(models[1], there.configuration(q), there.velocity(q, v)),
        there.acceleration(q, v, accelerations(models[0], q, v)),
        1e-9,
    )


def test_constants_as_inputs():
    """Of the robot, and of what the constraint asks for: a place of its frame."""
    m = cardan.Mechanism("skater")
    m.add_body("thing", BODY)
    m.add_joint("moves", Planar(), "world", "thing")
    m.add_frame("edge", "thing", cardan.SE3(translation=(-0.1, 0.0, 0.0)))

    def edge(model, q, v):
        return cardan.frame_velocity(model, q, v, "edge", expressed_in="frame")[1]

    names = {"mass": [3.0], "frame_pose": [cardan.SE3(translation=(-0.3, 0.1, 0.0)).homogeneous()]}
    first = m.model().with_constraints(edge).with_inputs(*names)
    second = m.model().with_inputs(*names).with_constraints(edge)
    alike = m.model().with_values(**names).with_constraints(edge)
    q, v, tau = state_of(alike)
    expected = accelerations(alike, q, v, tau)
    for model in (first, second):
        found = cardan.constrained_forward_dynamics(model, q, v, tau, **names).accelerations
        close(found, expected, 1e-12)
    by_mass = cardan.derivative(cardan.constrained_forward_dynamics, "mass")(first, q, v, tau, **names)["accelerations"]
    h = 1e-5
    ends = [
        cardan.constrained_forward_dynamics(first, q, v, tau, **{**names, "mass": [3.0 + s * h]}).accelerations
        for s in (-1, 1)
    ]
    close(by_mass[:, 0], (ends[1] - ends[0]) / (2 * h), 1e-7)


@pytest.mark.full
@pytest.mark.parametrize("name", ["sleigh", "disc", "car"])
def test_energy_of_what_rolls_stays(name):
    model = MODELS[name]()
    q, v, _ = closed_state(model)
    errors = []
    for h in (2e-3, 1e-3):  # of second order
        after = moved(model, q, v, round(0.2 / h), h)
        slips = cardan.loop_jacobian(model, after[0]) @ after[1]
        errors.append([abs(energy(model, *after) - energy(model, q, v)), np.abs(slips).max()])
    assert errors[1][1] < 1e-4
    np.testing.assert_allclose(errors[0][0] / errors[1][0], 4.0, rtol=0.4)


@pytest.mark.slow
def test_worlds():
    """At the end of each step nothing slips; other solvers refuse."""
    world = alone_in_a_world().with_constraints(blade)
    state = world.state(v=[0.5, 0.0, 1.0])
    after = cardan.solvers.Featherstone(world, dt=1e-3).step(state, steps=200)
    assert abs(after.v[0, 1]) < 1e-12
    kinetic = [float(cardan.kinetic_energy(world.model.spanning_tree(), s.q[0], s.v[0])) for s in (state, after)]
    assert abs(kinetic[1] - kinetic[0]) < 1e-3 * kinetic[0]
    for solver in (cardan.solvers.XPBD, cardan.solvers.MuJoCo):
        with pytest.raises(UnsupportedError, match="constraint 'blade'"):
            solver(world, dt=1e-3)


def alone_in_a_world():
    m = cardan.Mechanism("sleigh")
    m.add_body("thing", BODY)
    m.add_joint("moves", Planar(), "world", "thing")
    return m.world()


WRONG = {
    "squares": (lambda model, q, v: v[0] * v[1], r"constraint '<lambda>'.*not affine in v.*A\(q\) v - b\(q\)"),
    "roots": (lambda model, q, v: cardan.sqrt(v[0] * v[0] + 1.0), "not affine in v"),
    "turns with v": (lambda model, q, v, a: v[0] * a[0], "not affine in a"),
    "of places": (lambda model, q, v: q[0], "does not depend on v"),
    "constant": (lambda model, q: 1.0 + 0.0 * q[0], "does not depend on q"),
    "half": (lambda model, q, v: [v[0], 1.0], "does not depend on v"),
    "nothing": (lambda model, q: [], "no numbers"),
    "too many": (lambda model, q, v, a, tau: v[0], r"functions of \(model, q\)"),
    "no model": (lambda q, v: v[0], r"functions of \(model, q\)"),
    "no function": (3.0, "functions of"),
}


@pytest.mark.parametrize(("function", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_constraint_is_refused_at_once(function, message):
    with pytest.raises(ParameterError, match=message):
        alone(Planar(), BODY).with_constraints(function)


def test_affine_in_disguise_is_affine():
    """What cancels exactly is none of v."""
    model = alone(Planar(), BODY).with_constraints(lambda model, q, v: (v[1] + 1.0) ** 2 - v[1] ** 2 - v[0])
    close(cardan.loop_jacobian(model, model.neutral()), [[-1.0, 2.0, 0.0]], 1e-15)


def test_what_cannot_hold_is_named():
    def stands(model, q, v):
        return v[0]

    def runs(model, q, v):
        return v[0] - 1.0

    def far(model, q):
        return q[0] * q[0] + 1.0

    free = alone(Planar(), BODY)
    q = free.neutral()
    with pytest.raises(AssemblyError, match=r"the velocity nearest to it leaves '(stands|runs)' open by 0.5"):
        cardan.project_velocity(free.with_constraints(stands, runs), q, np.zeros(3))
    with pytest.raises(AssemblyError, match="leaves 'far' open by 1"):
        cardan.assemble(free.with_constraints(far))
    a = cardan.constrained_forward_dynamics(
        free.with_constraints(lambda model, q, v, a: [a[0], a[0] - 1.0]), q, np.zeros(3), np.zeros(3)
    )
    assert np.abs(a.residual).max() > 0.4  # said, not hidden
    level = free.with_constraints(lambda model, q: 0.5 * q[0] ** 2)  # its row is 0 here, and cannot hold v
    found = cardan.constrained_forward_dynamics(level, q, [1.0, 0.0, 0.0], np.zeros(3))
    np.testing.assert_allclose(found.accelerations, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.residual, 1.0)


def test_mujoco_refuses_them_by_name():
    pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)
    with pytest.raises((ParameterError, UnsupportedError), match="blade"):
        cardan.interop.to_mjspec(sleigh())


def test_what_does_not_know_constraints_refuses_by_name():
    model = sleigh()
    zero = np.zeros(3)
    with pytest.raises(MechanismError, match=r"has constraints \('blade'\)"):
        cardan.forward_dynamics(model, model.neutral(), zero, zero)
    with pytest.raises(MechanismError, match=r"constraints of yours \('blade'\) are no loops"):
        cardan.clustered(model)
    for write in (cardan.to_urdf, write_sdf):
        with pytest.raises((ParameterError, UnsupportedError), match=r"'blade', .*JSON names functions"):
            write(model)
    assert not cardan.compare(model, model.spanning_tree())
    assert model != model.spanning_tree()
    assert model == pickle.loads(pickle.dumps(model))
    assert model.constraint_names == ("blade",)
    assert model.spanning_tree().constraints == ()


def test_json_names_functions():
    model, text = sleigh(), cardan.to_json(sleigh())
    assert '"constraints": ["rolling:blade"]' in text
    with pytest.raises(DescriptionError, match=r"constraints\[0\]: names the function 'rolling:blade', which is not"):
        cardan.from_json(text)
    assert cardan.from_json(text, trusted=True) == model
    for other, why in (
        ("rolling:nobody", "has no function 'nobody'"),
        ("Revolute", "'Revolute' is not a function that constrains a model"),
        ("rolling:np", "has no function|is not a function"),
        ("rolling:BODY", "is not a function"),
        ("rolling:sleigh", "sleigh"),  # of other arguments
    ):
        with pytest.raises(DescriptionError, match=why):
            cardan.from_json(text.replace("rolling:blade", other), trusted=True)
    cardan.register_joint(blade)
    try:
        q, v, tau = state_of(model)
        read = cardan.from_json(text)
        np.testing.assert_array_equal(accelerations(read, q, v, tau), accelerations(model, q, v, tau))
    finally:
        values._registered.clear()


def test_functions_whose_path_leads_elsewhere_are_not_registered():
    """Files would have read one for the other."""

    def within(model, q):
        return q[0]

    for function in (within, lambda model, q: q[0], functools.wraps(blade)(within)):
        with pytest.raises(ParameterError, match="with an import path of its own"):
            cardan.register_joint(function)


def test_functions_without_a_place_have_no_json():
    free = sleigh().spanning_tree()
    with pytest.raises(ParameterError, match="Define it at the top of a module"):
        cardan.to_json(free.with_constraints(lambda model, q: q[0]))
    with pytest.raises(ParameterError, match="a function at the top of a module"):
        cardan.to_json(free.with_constraints(functools.partial(blade)))
