"""Joints that must not slip (nonholonomic): a blade, a disc, a ball on a turntable, mecanum wheels, and their laws."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import cardan
from cardan import manifolds, scalar
from cardan.errors import MechanismError, UnsupportedError
from cardan.joints import FreeFlyer, Joint, Planar, Reversed, Revolute
from closeness import close


@dataclass(frozen=True)
class Blade(Planar):
    """Glides along x of the child, and not along y."""

    def slip(self, q, v):
        return [v[1]]


@dataclass(frozen=True)
class Ball(Joint):
    """Touches the parent's xy plane. q: the place where, and a quaternion."""

    radius: float
    manifold = manifolds.Product((manifolds.Euclidean(2, reach=1.0), manifolds.UnitQuaternion()))

    def transform(self, q):
        turn = cardan.joints.Spherical().transform(q[2:]).rotation
        return cardan.SE3(turn, cardan.spatial.Vector3(q[0], q[1], self.radius))

    def nearest_configuration(self, X):
        return (*X.translation[:2], *cardan.joints.Spherical().nearest_configuration(X))

    def slip(self, q, v):
        wx, wy, _ = self.transform(q).rotation @ cardan.spatial.Vector3(*v[2:])
        return [v[0] - self.radius * wy, v[1] + self.radius * wx]


@dataclass(frozen=True)
class Wheel(Joint):
    """A disc on the parent's xy plane, about y. q: where, heading, lean, turn. Rollers at an angle may turn.

    The contact moves with (v0, v1) in axes of the plane.
    """

    radius: float
    rollers: float | None = None  # angle from the axle to the rollers' axes [rad]; without, nothing slips
    manifold = manifolds.Euclidean(5, reach=1.0)

    def transform(self, q):
        heading = cardan.joints.Revolute((0.0, 0.0, 1.0)).transform([q[2]])
        lean = cardan.joints.Revolute((1.0, 0.0, 0.0)).transform([q[3]])
        turn = cardan.joints.Revolute((0.0, 1.0, 0.0)).transform([q[4]])
        up = cardan.SE3(translation=(0.0, 0.0, self.radius))
        return cardan.SE3(translation=cardan.spatial.Vector3(q[0], q[1], 0.0)) @ heading @ lean @ up @ turn

    def nearest_configuration(self, X):
        R = X.rotation.rows()
        lean = scalar.asin(R[2][1])  # R = Rz Rx Ry: its y axis is (-s c, c c, s) of heading and lean
        heading, turn = scalar.atan2(-R[0][1], R[1][1]), scalar.atan2(-R[2][0], R[2][2])
        n = scalar.sin(lean) * self.radius
        x, y, _ = X.translation
        return x - n * scalar.sin(heading), y + n * scalar.cos(heading), heading, lean, turn

    def slip(self, q, v):
        s, c = scalar.sin(q[2]), scalar.cos(q[2])
        along, across = c * v[0] + s * v[1] - self.radius * v[4], c * v[1] - s * v[0]
        if self.rollers is None:
            return [along, across]
        return [along * np.sin(self.rollers) + across * np.cos(self.rollers)]


def on_plane(joint, mass, inertia, com=(0.0, 0.0, 0.0), base=None):
    m = cardan.Mechanism("on plane")
    m.add_body("thing", cardan.Inertia(mass=mass, com=com, inertia=np.diag(inertia)))
    m.add_joint("moves", base or FreeFlyer(), "world", "thing")
    m.add_joint("holds", joint, "world", "thing")
    return m.model()


def moved(model, q, v, steps, h):
    """The midpoint rule, of second order."""

    def acceleration(q, v):
        return cardan.constrained_forward_dynamics(model, q, v, np.zeros(model.nv)).accelerations

    for _ in range(steps):
        middle = v + 0.5 * h * acceleration(q, v)
        a = acceleration(cardan.integrate(model, q, 0.5 * h * v), middle)
        q, v = cardan.integrate(model, q, h * middle), v + h * a
    return q, v


def test_a_sleigh():
    """Chaplygin's sleigh, its centre of mass a before the blade: du/dt = a w^2, (J + m a^2) dw/dt = -m a u w."""
    m, J, a = 2.0, 0.3, 0.4
    model = on_plane(Blade(), m, (0.1, 0.2, J), com=(a, 0.0, 0.0), base=Planar())
    assert model.closure_names == ("holds",)
    u, w = 0.7, -1.3
    v = np.array([u, 0.0, w])
    found = cardan.constrained_forward_dynamics(model, model.neutral(), v, np.zeros(3))
    close(found.accelerations, [a * w * w, 0.0, -m * a * u * w / (J + m * a * a)], 1e-14)
    assert cardan.mobility(model, model.neutral()) == 2  # of velocities
    assert np.abs(cardan.project_velocity(model, model.neutral(), [1.0, 5.0, 1.0])[1]) < 1e-12
    wrench = found.wrenches[0]
    both = np.tile(v, (2, 1))
    np.testing.assert_array_equal(cardan.evaluate_joint(Blade(), "slip", [[0.0, 0.0, 1.0, 0.0]] * 2, both), [[0.0]] * 2)
    close(wrench[:2], [0.0, m * (u * w + a * found.accelerations[2])], 1e-13)  # across the blade alone


def of_free_body(mass, moments, R, v, w, arm, arm_rate, held):
    """Accelerations of a body, all in fixed axes, whose point at `arm` keeps the `held` parts of its velocity at 0."""
    inertia = R @ np.diag(moments) @ R.T
    skew = np.cross(np.eye(3), arm)  # arm x, as a matrix of its transpose
    A = np.zeros((6 + len(held), 6 + len(held)))
    A[:3, :3], A[3:6, 3:6] = mass * np.eye(3), inertia
    J = held @ np.hstack([np.eye(3), skew.T])
    A[:6, 6:], A[6:, :6] = -J.T, J
    b = [*(mass * np.array([0.0, 0.0, -9.81])), *-np.cross(w, inertia @ w), *-(held @ np.cross(w, arm_rate))]
    return np.linalg.solve(A, b)[:6]


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.full) for k in (1, 2))])
def test_a_disc_that_leans(seed):
    """Beside Newton's and Euler's equations of a free disc, whose lowest point is held."""
    rng, r, mass = np.random.default_rng(seed), 0.3, 1.5
    moments = 0.25 * mass * r * r * np.array([1.0, 2.0, 1.0])
    model, joint = on_plane(Wheel(r), mass, moments), Wheel(r)
    at = [0.1, -0.2, *rng.uniform(-1.0, 1.0, 3)]
    q = np.array(FreeFlyer().nearest_configuration(joint.transform(at)), dtype=float)
    v = cardan.project_velocity(model, q, rng.normal(size=6))
    np.testing.assert_allclose(cardan.loop_residual(model, q), 0.0, atol=1e-15)
    found = cardan.constrained_forward_dynamics(model, q, v, np.zeros(6))
    R = np.array(joint.transform(at).rotation.rows(), dtype=float)
    u, w, axle = R @ v[:3], R @ v[3:], R[:, 1]
    down = axle * axle[2] - np.array([0.0, 0.0, 1.0])
    size = np.linalg.norm(down)
    axle_rate = np.cross(w, axle)
    down_rate = axle_rate * axle[2] + axle * axle_rate[2]
    arm, arm_rate = r * down / size, r * (down_rate - down * (down @ down_rate) / size**2) / size
    np.testing.assert_allclose(u + np.cross(w, arm), 0.0, atol=1e-13)
    a = of_free_body(mass, moments, R, u, w, arm, arm_rate, np.eye(3))
    ours = found.accelerations
    close(R @ ours[:3] + np.cross(w, u), a[:3], 1e-12)
    close(R @ ours[3:], a[3:], 1e-12)


@pytest.mark.full
def test_a_ball_on_a_turntable_goes_in_circles():
    """Its centre's velocity turns 2/7 as fast as the table, whatever its mass and radius (Earnshaw)."""
    r, mass, W = 0.11, 0.7, 3.0
    m = cardan.Mechanism("table")
    m.add_body("table", cardan.Inertia(mass=1.0, com=(0.0, 0.0, 0.0), inertia=1e9 * np.eye(3)))
    m.add_body("ball", cardan.Inertia(mass=mass, com=(0.0, 0.0, 0.0), inertia=0.4 * mass * r * r * np.eye(3)))
    m.add_joint("pivot", Revolute((0.0, 0.0, 1.0)), "world", "table")
    m.add_joint("flies", FreeFlyer(), "world", "ball")
    m.add_joint("rolls", Ball(r), "table", "ball")
    model = m.model()
    q = np.array([0.4, 0.2, -0.1, r, *np.array([0.1, -0.5, 0.3, 0.8]) / np.linalg.norm([0.1, -0.5, 0.3, 0.8])])
    v = cardan.project_velocity(model, q, [W, *np.random.default_rng(0).normal(size=6)], fixed=("pivot",))
    found = cardan.constrained_forward_dynamics(model, q, v, np.zeros(7))
    R = np.array(FreeFlyer().transform(list(q[1:])).rotation.rows(), dtype=float)
    u, w = R @ v[1:4], R @ v[4:]
    a = R @ found.accelerations[1:4] + np.cross(w, u)
    close(a, 2.0 / 7.0 * np.cross([0.0, 0.0, W], u), 1e-8)

    reverse = cardan.Mechanism("from the ball")  # the joint seen from its child
    for body in m.bodies:
        reverse.add_body(body.name, body.inertia)
    for name, joint, parent, child in (
        ("pivot", Revolute((0.0, 0.0, 1.0)), "world", "table"),
        ("flies", FreeFlyer(), "world", "ball"),
        ("rolls", Reversed(Ball(r)), "ball", "table"),
    ):
        reverse.add_joint(name, joint, parent, child)
    other = cardan.constrained_forward_dynamics(reverse.model(), q, v, np.zeros(7))
    close(other.accelerations, found.accelerations, 1e-9)


@pytest.mark.full
def test_a_cart_on_mecanum_wheels():
    """Velocities of the cart are those that its four wheels say; it goes where they push."""
    r, length, width = 0.05, 0.25, 0.2
    m = cardan.Mechanism("cart")
    m.add_body("cart", cardan.Inertia(mass=10.0, com=(0.0, 0.0, 0.0), inertia=np.eye(3)))
    m.add_joint("moves", Planar(), "world", "cart", parent_pose=cardan.SE3(translation=(0.0, 0.0, r)))
    places = [(length, width), (length, -width), (-length, width), (-length, -width)]
    for k, (x, y) in enumerate(places):
        m.add_body(f"wheel{k}", cardan.Inertia(mass=0.5, com=(0.0, 0.0, 0.0), inertia=1e-3 * np.eye(3)))
        pose = cardan.SE3(translation=(x, y, 0.0))
        m.add_joint(f"axle{k}", Revolute((0.0, 1.0, 0.0)), "cart", f"wheel{k}", parent_pose=pose)
        m.add_joint(f"rolls{k}", Wheel(r, np.pi / 4 * (-1) ** (k in (0, 3))), "world", f"wheel{k}")
    model = m.model()
    assert cardan.mobility(model, model.neutral()) == 3
    vx, vy, w = 0.4, -0.3, 0.5
    v = cardan.project_velocity(model, model.neutral(), [vx, vy, w, 0, 0, 0, 0], fixed=("moves",))
    signs = [(-1, -1), (1, 1), (1, -1), (-1, 1)]
    expected = [(vx + s * vy + t * (length + width) * w) / r for s, t in signs]
    close(v[3:], expected, 1e-12)


@pytest.mark.full
def test_energy_of_a_disc_that_rolls_stays():
    r, mass = 0.3, 1.5
    model = on_plane(Wheel(r), mass, 0.25 * mass * r * r * np.array([1.0, 2.0, 1.0]))
    q = np.array(FreeFlyer().nearest_configuration(Wheel(r).transform([0.0, 0.0, 0.0, 0.3, 0.0])), dtype=float)
    v = cardan.project_velocity(model, q, [1.5, 0.0, 0.0, 0.3, 5.0, 1.0])
    tree = model.spanning_tree()

    def energy(q, v):
        return cardan.kinetic_energy(tree, q, v) + cardan.potential_energy(tree, q)

    errors = []
    for h in (2e-3, 1e-3):  # of second order
        after = moved(model, q, v, round(0.2 / h), h)
        gap, slip = cardan.loop_residual(model, after[0]), cardan.loop_jacobian(model, after[0]) @ after[1]
        errors.append([abs(energy(*after) - energy(q, v)), np.abs(gap).max(), np.abs(slip).max()])
    assert max(errors[1]) < 1e-4
    np.testing.assert_allclose(np.divide(*errors), 4.0, rtol=0.2)


@pytest.mark.full
def test_worlds_and_derivatives():
    """A step keeps what must not slip from slipping; named derivatives are those of differences."""
    m = cardan.Mechanism("sleigh")
    m.add_body("thing", cardan.Inertia(mass=2.0, com=(0.4, 0.0, 0.0), inertia=np.diag([0.1, 0.2, 0.3])))
    m.add_joint("moves", Planar(), "world", "thing")
    m.add_joint("holds", Blade(), "world", "thing")
    world = m.world()
    state = world.state(v=[0.5, 0.0, 1.0])
    after = cardan.solvers.Featherstone(world, dt=1e-3).step(state, steps=200)
    assert abs(after.v[0, 1]) < 1e-10
    E = 0.5 * 2.0 * (0.5**2 + (0.4 * 1.0) ** 2) + 0.5 * 0.3
    u, _, w = after.v[0]
    assert abs(0.5 * 2.0 * (u * u + (0.4 * w) ** 2) + 0.5 * 0.3 * w * w - E) < 1e-3 * E
    with pytest.raises(UnsupportedError, match="slip"):
        cardan.solvers.XPBD(world, dt=1e-3)

    model = on_plane(Wheel(0.3), 1.5, (0.03, 0.06, 0.03))
    q = np.array(FreeFlyer().nearest_configuration(Wheel(0.3).transform([0.1, 0.2, 0.3, 0.4, 0.5])), dtype=float)
    v = cardan.project_velocity(model, q, np.random.default_rng(1).normal(size=6))
    by = cardan.constrained_forward_dynamics_derivatives(model, q, v, np.zeros(6))
    h = 1e-6

    def a(q, v):
        return cardan.constrained_forward_dynamics(model, q, v, np.zeros(6)).accelerations

    for name, at in (("dq", lambda e: a(cardan.integrate(model, q, e), v)), ("dv", lambda e: a(q, v + e))):
        numeric = np.array([(at(h * e) - at(-h * e)) / (2.0 * h) for e in np.eye(6)]).T
        close(getattr(by, name), numeric, 1e-6)


def test_what_is_refused():
    m = cardan.Mechanism("sleigh")
    m.add_body("thing", cardan.Inertia(mass=1.0))
    m.add_joint("holds", Blade(), "world", "thing")
    model = m.model(base="floating")
    assert model.closure_names == ("holds",)
    with pytest.raises(MechanismError, match=r"'holds' must not slip \(Blade\)"):
        dataclasses.replace(model, connections=model.closures, closures=())

    class Crooked(Planar):
        def slip(self, q, v):
            return [v[1] * v[0]]

    m = cardan.Mechanism("crooked")
    m.add_body("thing", cardan.Inertia(mass=1.0))
    with pytest.raises(cardan.errors.JointError, match="slip is not linear in v"):
        m.add_joint("holds", Crooked(), "world", "thing")
