"""Shows of contact against analysis: what rolls, tilts, stands, meshes and is held, by the default solver."""

import numpy as np
import pytest

import cardan
from cardan import SE3, Drive, Inertia, Material, Mechanism, WorldBuilder
from cardan._motion.simulation.solvers import XPBD, Featherstone
from cardan.description import Box, Cone, Cylinder, Ellipsoid, Hull, Plane, Shape, Sphere
from cardan.joints import Cylindrical, FreeFlyer, Prismatic, Revolute
from contact_worlds import EARTH, energy

full = pytest.mark.full


def on_ground(shape, friction, *, slope=0.0, height=0.0, turn=None, rolling=0.0, density=1000.0):
    """One body on a half space; on a slope gravity leans towards x."""
    b = WorldBuilder(gravity=(EARTH * np.sin(slope), 0.0, -EARTH * np.cos(slope)))
    surface = Material(friction=friction, rolling=rolling)
    b.add_ground(surface)
    b.add_body("body", pose=SE3(translation=[0.0, 0.0, height]))
    b.add_shape("body", shape, pose=turn or SE3(), density=density, material=surface)
    return b.finalize()


def turns(motion):
    """Return the rotations of the first body of a rollout, (T, 3, 3)."""
    return SE3.from_quaternion(motion.q[:, 0, 3:7], motion.q[:, 0, :3]).matrix()[:, :3, :3]


def speeds(motion):
    """Return the linear and the angular velocity of the first body of a rollout in world axes, (T, 3) each."""
    v = motion.v[:, 0, :6].reshape(-1, 2, 3) @ np.swapaxes(turns(motion), -1, -2)
    return v[:, 0], v[:, 1]


# --- an incline ---


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, pytest.param(1e-2, marks=full)])
def test_a_box_on_an_incline_sticks_just_below_the_critical_angle_and_slides_just_above(dt):
    """With mu = 0.5: at 0.98 of the critical slope it stays, at 1.02 it slides by g (sin - mu cos) t^2 / 2."""
    for part in (0.98, 1.02):
        slope = np.arctan(0.5 * part)
        world = on_ground(Box((0.2, 0.2, 0.1)), 0.5, slope=slope, height=0.05)
        after = Featherstone(world, dt).step(world.state(), steps=round(1.0 / dt))
        excess = max(EARTH * (np.sin(slope) - 0.5 * np.cos(slope)), 0.0)
        assert after.q[0, 0] == pytest.approx(0.5 * excess, rel=5e-3, abs=1e-3)
        assert after.v[0, 0] == pytest.approx(excess, rel=5e-3, abs=1e-3)


# --- what rolls ---

LYING = SE3([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
ROUND = {"sphere": (Sphere(0.1), SE3(), 0.4), "cylinder": (Cylinder(0.1, 0.2), LYING, 0.5)}
"""A shape, how it lies, and I / m r^2."""


@pytest.mark.parametrize("kind", ROUND)
def test_what_slips_comes_to_roll(kind):
    """Thrown at v0 without spin it slips until t = v0 / (mu g (1 + m r^2 / I)), then rolls at v0 / (1 + I / m r^2)."""
    shape, turn, ratio = ROUND[kind]
    world, v0, mu, dt = on_ground(shape, 0.3, height=0.1, turn=turn), 2.0, 0.3, 1e-3
    motion = Featherstone(world, dt).rollout(world.state(v=[[v0, 0, 0, 0, 0, 0]]), steps=1000)
    v, w = speeds(motion)
    slip, until = v[:, 0] - 0.1 * w[:, 1], v0 / (mu * EARTH * (1.0 + 1.0 / ratio))
    slips = int(np.argmax(slip < 1e-3)) * dt
    assert slips == pytest.approx(until, abs=0.03 * until)
    np.testing.assert_allclose(v[-1], [v0 / (1.0 + ratio), 0.0, 0.0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(w[-1], [0.0, v0 / (1.0 + ratio) / 0.1, 0.0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ROUND)
def test_what_rolls_down_an_incline_is_slowed_by_its_inertia_alone(kind):
    """By g sin / (1 + I / m r^2), if friction holds it."""
    shape, turn, ratio = ROUND[kind]
    world = on_ground(shape, 0.6, slope=0.3, height=0.1, turn=turn)
    after = Featherstone(world, 5e-3).step(world.state(), steps=200)
    assert after.time[0] == pytest.approx(1.0)
    motion = Featherstone(world, 5e-3).rollout(after, steps=1)
    assert speeds(motion)[0][0, 0] == pytest.approx(EARTH * np.sin(0.3) / (1.0 + ratio), rel=1e-5)


# --- a coin ---


def spun_coin(tilt, radius=0.05, thick=0.002, rolling=0.0):
    """A coin that rolls round on its rim while its centre is still: its world, state, and the rate of its precession.

    About the centre, with c the point of contact, N = m g and Om upwards: Om x L = c x N. The spin is along c, so that
    c is at rest.
    """
    world = on_ground(Cylinder(radius, thick), 1.0, rolling=rolling, density=8000.0)
    m = world.model.mass
    across, about = m * (3.0 * radius**2 + thick**2) / 12.0, 0.5 * m * radius**2
    sin, cos, share = np.sin(tilt), np.cos(tilt), 0.5 * thick / radius
    lever = radius * cos - 0.5 * thick * sin
    rate = np.sqrt(m * EARTH * lever / (sin * cos * across - sin * sin * about * share))
    state = world.state()
    height = radius * sin + 0.5 * thick * cos
    state.q = [[0.0, 0.0, height, 0.0, np.sin(0.5 * tilt), 0.0, np.cos(0.5 * tilt)]]
    state.v = [[0.0, 0.0, 0.0, -rate * sin, 0.0, rate * sin * share]]
    return world, state, rate


def wobble(motion):
    """Return the tilt of the body's axis z and the angle by which it has gone round."""
    axis = turns(motion)[:, :, 2]
    return np.arccos(np.clip(axis[:, 2], -1.0, 1.0)), np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("make", [Featherstone, XPBD])
def test_a_coin_rolls_round_on_its_rim(make):
    """It keeps its tilt and rate for 8 turns.

    With the lever of a step's beginning its tilt would be 0.33 and 0.13 in the end.
    """
    world, state, rate = spun_coin(0.3)
    motion = make(world, 1e-3).rollout(state, steps=1000)
    tilt, angle = wobble(motion)
    np.testing.assert_allclose(tilt, 0.3, atol=4e-3)
    assert angle[-1] - angle[0] == pytest.approx(rate, rel=8e-3)
    now = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    np.testing.assert_allclose(now[:, 0] / energy(world, state), 1.0, atol=6e-3)
    assert np.hypot(*motion.q[-1, 0, :2]) < 1e-3


@full
def test_a_coin_spins_down_ever_faster():
    """Euler's disk with rolling friction rho: it sinks as sqrt(tilt) = sqrt(tilt_0) - 2/3 rho sqrt(g / R) t / R.

    That is the power rho m g |w| taken from the energy 3/2 m g R sin(tilt) of a thin disk at a small tilt. It goes
    round at sqrt(4 g / (R sin(tilt))), 5 times as fast in the end, and its energy never grows.
    """
    radius, rolling, start = 0.05, 1e-3, 0.3
    world, state, _ = spun_coin(start, radius, rolling=rolling)
    motion = Featherstone(world, 1e-3).rollout(state, steps=2400, every=10)
    tilt, angle = wobble(motion)
    now = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    assert np.all(np.diff(now[:, 0]) < 0.0)
    sinks = np.sqrt(start) - 2.0 / 3.0 * rolling * np.sqrt(EARTH / radius) / radius * motion.time[:, 0]
    np.testing.assert_allclose(tilt, sinks**2, rtol=0.03, atol=1.5e-3)
    rate = np.gradient(angle, motion.time[:, 0])[5:-5]
    np.testing.assert_allclose(rate, np.sqrt(4.0 * EARTH / (radius * np.sin(tilt[5:-5]))), rtol=0.03)
    assert rate[-1] > 4.5 * rate[0]


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("make", [Featherstone, XPBD])
@pytest.mark.parametrize("shape", [Cylinder(0.1, 0.04), Cone(0.1, 0.04), Ellipsoid((0.1, 0.1, 0.02))], ids=repr)
def test_what_spins_nearly_flat_is_not_thrown_by_the_way_round_its_rim(shape, make, dt):
    """The lowest point raced round the rim, and what its lever turned by threw coins up, at 1400 times their energy."""
    rng, worlds = np.random.default_rng(0), 32
    world = on_ground(shape, 0.5, density=500.0)
    tilt, rest = 10.0 ** rng.uniform(-4.0, -1.0, worlds), np.zeros(worlds)
    q = np.stack([rest, rest, 0.02 + 0.1 * np.sin(tilt), np.sin(0.5 * tilt), rest, rest, np.cos(0.5 * tilt)], axis=1)
    state = world.state(worlds=worlds, q=q, v=rng.normal(size=(worlds, 6)) * [0.5, 0.5, 0.5, 10.0, 10.0, 10.0])
    motion = make(world, dt).rollout(state, steps=int(0.2 / dt))
    now = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    assert (np.diff(now, axis=0) / energy(world, state)).max() < 0.3


# --- a cone ---


def on_its_side(radius, length):
    """The pose of a cone that lies along x, its tip at the origin."""
    half = np.arctan2(radius, length)
    turn = SE3.from_rpy((0.0, -0.5 * np.pi - half, 0.0)).rotation
    return SE3(turn, [0.5 * length * np.cos(half), 0.0, 0.5 * length * np.sin(half)])


@pytest.mark.slow
@pytest.mark.parametrize("ground", ["plane", "box"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_cone_on_its_side_rolls_around_its_tip(ground, dtype):
    """Its side at rest, it goes round in 2 pi / W if it turns by W / tan(half its angle) about that. A hull stops."""
    radius, length, rate, dt = 0.1, 0.3, 1.5, 1e-3
    half, X = np.arctan2(radius, length), on_its_side(radius, length)
    b = WorldBuilder()
    b.add_ground() if ground == "plane" else b.add_shape("world", Box((2, 2, 0.2)), SE3(translation=(0, 0, -0.1)))
    b.add_body("cone", pose=X)
    b.add_shape("cone", Cone(radius, length), density=500.0)
    world = b.finalize()
    spin, place = np.array([-rate / np.tan(half), 0.0, 0.0]), np.array([*X.translation])
    R, state = np.array([[*row] for row in X.rotation.rows()]), world.state(dtype=dtype)
    state.v = [[*(np.cross(spin, place) @ R), *(spin @ R)]]
    motion = Featherstone(world, dt).rollout(state, steps=round(2.0 * np.pi / rate / dt))
    R = turns(motion)
    tip = motion.q[:, 0, :3] + 0.5 * length * R[:, :, 2]
    np.testing.assert_allclose(tip, 0.0, atol=3e-4)
    np.testing.assert_allclose(R[:, 2, 2], -np.sin(half), atol=1e-3)
    angle = np.unwrap(np.arctan2(-R[:, 1, 2], -R[:, 0, 2]))
    assert angle[-1] - angle[0] == pytest.approx(rate * (motion.time[-1, 0] - motion.time[0, 0]), rel=3e-3)
    assert np.linalg.norm(speeds(motion)[1][-1]) == pytest.approx(rate / np.tan(half), rel=3e-3)


def test_a_cone_on_its_tip_falls_as_a_pendulum():
    """Upright it stays; from a tilt e it falls as e cosh(l t), l^2 = m g 3/4 h / I, I = m (3/20 r^2 + 3/5 h^2)."""
    radius, length, tilt, dt = 0.1, 0.3, 1e-3, 1e-3
    growth = np.sqrt(0.75 * length * EARTH / (0.15 * radius**2 + 0.6 * length**2))
    world = on_ground(Cone(radius, length), 1.0)
    states = world.state(2)
    for k, angle in enumerate((0.0, tilt)):
        turn = np.pi + angle
        states.q[k] = [
            0.0,
            0.5 * length * np.sin(turn),
            -0.5 * length * np.cos(turn),
            np.sin(turn / 2),
            0,
            0,
            np.cos(turn / 2),
        ]
    motion = Featherstone(world, dt).rollout(states, steps=round(4.0 / growth / dt))
    R = SE3.from_quaternion(motion.q[..., 3:7], motion.q[..., :3]).matrix()[..., :3, :3]
    np.testing.assert_allclose(R[:, 0, 2, 2], -1.0, atol=1e-12)
    fell = np.arcsin(np.hypot(R[:, 1, 0, 2], R[:, 1, 1, 2]))
    np.testing.assert_allclose(fell, tilt * np.cosh(growth * motion.time[:, 1]), rtol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_cone_stands_and_lies_on_a_plane(dtype):
    for turn in (SE3(), on_its_side(0.1, 0.3)):
        world = on_ground(Cone(0.1, 0.3), 0.5, turn=SE3(turn.rotation), height=turn.translation.z or 0.15)
        after = Featherstone(world, 2e-3).step(world.state(dtype=dtype), steps=500)
        assert np.abs(after.v).max() < (1e-6 if dtype is np.float64 else 1e-4)
        np.testing.assert_allclose(after.q, world.state().q, atol=5e-4)


# --- what stands on itself ---


def arch(thickness, count=9, width=0.3):
    """Wedges in a half circle of radius 1, each touching its neighbours and the ground."""
    b = WorldBuilder()
    b.add_ground()
    for k in range(count):
        ends = np.pi * np.array([k, k + 1]) / count
        centre = np.array([np.cos(ends.mean()), 0.0, np.sin(ends.mean())])
        rims = [(1.0 + side * thickness, y, a) for a in ends for side in (-0.5, 0.5) for y in (-0.5, 0.5)]
        corners = [np.array([r * np.cos(a), y * width, r * np.sin(a)]) - centre for r, y, a in rims]
        b.add_body(f"wedge{k}", pose=SE3(translation=centre.tolist()))
        b.add_shape(f"wedge{k}", Hull.of(corners), name=f"wedge{k}", density=2000.0)
    pairs = [f"wedge{k}/wedge{k + 1}" for k in range(count - 1)]
    world = b.finalize()
    names = {pair.name for pair in world.pairs}
    return world.with_contacts([p if p in names else "/".join(p.split("/")[::-1]) for p in pairs] + ["*/ground"])


def settled(world, frictions, seconds, dt=2e-3):
    """Return the solver, the state after a time of a world for each friction, and how far its bodies went [m].

    A friction is of all pairs, or one of each.
    """
    world = world.with_inputs("contact_friction")
    mu = np.zeros((len(frictions), len(world.pairs))) + np.reshape(frictions, (len(frictions), -1))
    solver, start = Featherstone(world, dt), world.state(len(mu), contact_friction=mu)
    state = solver.step(start, steps=round(seconds / dt))
    return solver, state, np.linalg.norm((state.poses - start.poses)[:, :, :3], axis=-1).max(axis=-1)


@full
def test_an_arch_of_wedges_stands_by_its_thickness_and_friction():
    """It stands at 0.15 of its radius; below Couplet's 0.107 it folds on hinges, without friction it slides apart.

    The ground bears half of the weight on either side, and the thrust of both sides is the same.
    """
    solver, state, moved = settled(arch(0.15), (0.6, 0.0), 2.0)
    assert moved[0] < 1.5e-3  # what its joints give way by
    assert np.abs(state.v[0]).max() < 1e-3
    assert moved[1] > 0.5
    world, force = solver.world, solver.contact_forces(state)
    below = np.array([pair.name.endswith("ground") for pair in world.pairs])[force.pair]
    sides = [force.force[0, below & (np.sign(force.point[0, :, 0]) == s)].sum(axis=0) for s in (1.0, -1.0)]
    half = 0.5 * EARTH * world.model.mass
    np.testing.assert_allclose([f[2] for f in sides], half, rtol=1e-3)
    assert sides[0][0] == pytest.approx(-sides[1][0], rel=1e-3)
    assert 0.0 < -sides[0][0] < 0.6 * half
    assert settled(arch(0.09), (0.6,), 2.0)[2] > 0.5


TILT = np.radians(20.0)


def leaning(tilt=TILT, length=0.1, thick=0.003):
    """A card with its foot on a rough floor and its head on a smooth wall."""
    b = WorldBuilder()
    b.add_ground()
    wall = SE3([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # its normal is x
    b.add_shape("world", Plane(), pose=wall, name="wall")
    cos, sin = np.cos(tilt), np.sin(tilt)
    centre = [0.5 * (thick * cos + length * sin), 0.0, 0.5 * (thick * sin + length * cos)]
    b.add_body("card", pose=SE3([[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]], centre))
    b.add_shape("card", Box((thick, 0.06, length)), density=700.0)
    return b.finalize()


@pytest.mark.slow
def test_a_card_leans_on_a_wall_by_the_friction_of_its_foot():
    """It slips where mu < (tan(tilt) - thickness / length) / 2: the moment about its foot, the wall being smooth."""
    least = 0.5 * (np.tan(TILT) - 0.03)
    world = leaning()
    of_floor = np.array([float(pair.name.endswith("ground")) for pair in world.pairs])
    _, _, moved = settled(world, np.outer([1.03 * least, 0.97 * least], of_floor), 1.0)
    assert moved[0] < 1e-4
    assert moved[1] > 1e-2


def card_house(tilt=TILT, size=(0.003, 0.063, 0.088)):
    """Two tents of two cards each, a card across them, and a tent on top."""
    b = WorldBuilder()
    b.add_ground()
    thick, _, length = size
    cos, sin = np.cos(tilt), np.sin(tilt)
    out, up = 0.5 * (thick * cos + length * sin), 0.5 * (thick * sin + length * cos)

    def add_tent(x, z):
        for side in (-1.0, 1.0):
            R = [[cos, 0.0, -side * sin], [0.0, 1.0, 0.0], [side * sin, 0.0, cos]]
            name = f"card{x:+.3f}{z:+.3f}{side:+.0f}"
            b.add_body(name, pose=SE3(R, [x + side * out, 0.0, z + up]))
            b.add_shape(name, Box(size), name=name, density=700.0)

    for x in (-2.0 * out, 2.0 * out):
        add_tent(x * 1.005, 0.0)
    b.add_body("across", pose=SE3(translation=[0.0, 0.0, 2.0 * up + 0.5 * thick]))
    b.add_shape("across", Box((4.0 * out + 0.02, size[1], thick)), name="across", density=700.0)
    add_tent(0.0, 2.0 * up + thick)
    return b.finalize()


@full
def test_a_house_of_cards_stands_by_friction():
    """Where edges lie on one another it needs mu > tan(tilt) = 0.36."""
    _, _, moved = settled(card_house(), (0.5, 0.1), 3.0)
    assert moved[0] < 1e-4
    assert moved[1] > 0.05


# --- what is held ---


def gripper(mass=1.0, side=0.1):
    """A hand on a driven slide, two fingers on slides across it, and a box on the ground between them."""
    m = Mechanism("gripper")
    for name, weighs in (("hand", 1.0), ("left", 0.1), ("right", 0.1), ("box", mass)):
        m.add_body(name, Inertia(weighs, (0.0, 0.0, 0.0), weighs * side**2 / 6.0 * np.eye(3)))
    up = SE3(translation=(0.0, 0.0, 0.5 * side))
    m.add_joint("lift", Prismatic((0, 0, 1)), "world", "hand", parent_pose=up, drive=Drive([2e4], [400.0]))
    for name, sign in (("left", -1.0), ("right", 1.0)):
        place = SE3(translation=(sign * (0.5 * side + 0.01), 0.0, 0.0))
        m.add_joint(name, Prismatic((-sign, 0, 0)), "hand", name, parent_pose=place)
        m.add_shape(Shape(name, "collision", Box((0.02, 0.04, 0.04)), name=name))
    m.add_joint("free", FreeFlyer(), "world", "box", parent_pose=up)
    m.add_shape(Shape("box", "collision", Box((side, side, side)), name="box"))
    return m.world(ground=True).with_inputs("contact_friction")


@full
def test_a_gripper_lifts_a_box_and_loses_it_by_friction():
    """Two fingers with force F bear 2 mu F: 1.3 m g lift it at 0.2 g, 0.95 m g do not; 0.9 m g let it sink at 0.1 g."""
    world, dt, mu = gripper(), 2e-3, 0.5
    solver, n = Featherstone(world, dt), 3
    state = world.state(n, contact_friction=np.full((n, len(world.pairs)), mu))
    control = world.control(n)
    joints, grip = world.model.slices, EARTH / (2.0 * mu)
    fingers = [joints[name][1].start for name in ("left", "right")]
    lift, height = joints["lift"][1].start, joints["free"][0].start + 2

    def behind(state):
        return state.q[:, joints["lift"][0].start] - state.q[:, height]

    control.effort[:, fingers] = grip * np.array([[1.3], [0.95], [1.3]])
    state = solver.step(state, control, steps=100)
    for k in range(200):  # up by 0.0785 m: as long faster as slower
        t, pull = (k + 1) * dt, 0.2 * EARTH
        late = max(t - 0.2, 0.0)
        control.position[:, lift] = 0.5 * pull * t**2 - pull * late**2
        control.velocity[:, lift] = pull * (t - 2.0 * late)
        state = solver.step(state, control)
    assert np.abs(behind(state)[[0, 2]]).max() < 1e-3
    assert state.q[1, height] < 1e-3
    before, control.velocity[:, lift] = behind(state), 0.0
    control.effort[2, fingers] = 0.9 * grip
    state = solver.step(state, control, steps=100)
    assert np.abs(behind(state)[0] - before[0]) < 1e-4
    assert behind(state)[2] - before[2] == pytest.approx(0.5 * 0.1 * EARTH * 0.2**2, rel=0.05)


# --- what meshes ---


PRESSURE = np.radians(27.0)  # at 20 degrees, a gear of 8 teeth would be undercut


def tooth(count, module=0.01, width=0.02, pressure=PRESSURE, play=0.01):
    """The corners of a tooth of an involute gear, about x: it is convex, so the gear is as many hulls as teeth."""
    pitch = 0.5 * module * count
    base, tip = pitch * np.cos(pressure), pitch + 0.85 * module
    radii = np.linspace(max(base, pitch - module), tip, 5)

    def involute(r):
        return np.sqrt((r / base) ** 2 - 1.0) - np.arccos(base / r)

    half = 0.5 * np.pi / count * (1.0 - play) + involute(pitch) - involute(radii)
    flank = np.stack([radii * np.cos(half), radii * np.sin(half)], axis=-1)
    sides = [(x, sign * y, z) for x, y in flank for sign in (-1.0, 1.0) for z in (-0.5 * width, 0.5 * width)]
    return Hull.of(sides)


def gears(counts=(8, 16), module=0.01, load=0.2):
    """Two gears on fixed axes, the first driven, the second braked by a damper; pairs of teeth that can meet."""
    m = Mechanism("gears")
    first, second = counts
    for k, n in enumerate(counts):
        r = 0.5 * module * n
        mass = 7800.0 * np.pi * r * r * 0.02
        m.add_body(f"gear{k}", Inertia(mass, (0, 0, 0), mass * r * r * np.diag([0.25, 0.25, 0.5])))
        given = {"damping": [load]} if k else {"drive": Drive([0.0], [20.0])}
        place = SE3(translation=(0.5 * module * (first + second) * k, 0.0, 0.0))
        m.add_joint(f"axis{k}", Revolute((0, 0, 1)), "world", f"gear{k}", parent_pose=place, **given)
        own = tooth(n, module)
        for i in range(n):
            a = 2.0 * np.pi * i / n + k * (np.pi + np.pi / n)  # the second's gap looks at the first's tooth
            R = [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
            m.add_shape(Shape(f"gear{k}", "collision", own, SE3(R, (0, 0, 0)), name=f"{k}:{i}"))
    world = m.world()
    # The second turns half as fast, so that each of its teeth meets two of the first, again and again.
    numbers = [sum(int(name.split(":")[1]) for name in pair.name.split("/")) for pair in world.pairs]
    meet = [pair.name for pair, number in zip(world.pairs, numbers, strict=True) if number % first in (0, first - 1)]
    return world.with_contacts(meet).with_inputs("contact_friction")


@full
def test_gears_of_hulls_turn_in_the_ratio_of_their_teeth():
    """8 teeth drive 16: half as far, but for the play; without friction nearly all of the power comes out."""
    world, dt, load, speed = gears(), 1e-3, 0.2, 10.0
    solver, control = Featherstone(world, dt), world.control(2)
    control.velocity[:, 0] = speed
    state = world.state(2, contact_friction=np.outer([0.0, 0.2], np.ones(len(world.pairs))))
    state = solver.step(state, control, steps=200)
    motion = solver.rollout(state, control, steps=2000)
    gone = motion.q[-1] - motion.q[0]
    np.testing.assert_allclose(gone[:, 1] / gone[:, 0], -0.5, rtol=2e-3)
    given = (20.0 * (speed - motion.v[..., 0]) * motion.v[..., 0]).mean(axis=0)
    share = (load * motion.v[..., 1] ** 2).mean(axis=0) / given
    assert 0.95 < share[0] < 1.0  # what teeth lose that meet with play, on flanks of four facets
    assert 0.88 < share[1] < share[0] - 0.02


SLOPE = np.tan(np.radians(15.0))  # of a thread's flanks


def piece_of_thread(width, lead, radii, halves):
    """A hull between two angles of a thread: its half thickness at the inner and at the outer radius."""
    ends = [(a, r, half) for a in (-0.5 * width, 0.5 * width) for r, half in zip(radii, halves, strict=True)]
    turns = [(a, r, sign * half) for a, r, half in ends for sign in (-1.0, 1.0)]
    return Hull.of([(r * np.cos(a), r * np.sin(a), lead * a / (2.0 * np.pi) + up) for a, r, up in turns])


def bolt_with_nut(lead=0.02, r=0.01, pieces=16, gyration=0.018):
    """One and a half turns of a bolt's thread, and two pieces of a nut's on the same axis, with 1 mm of play."""
    m = Mechanism("bolt")
    m.add_body("nut", Inertia(0.1, (0, 0, 0), 0.1 * gyration**2 * np.diag([0.6, 0.6, 1.0])))
    m.add_joint("axis", Cylindrical((0, 0, 1)), "world", "nut", parent_pose=SE3(translation=(0, 0, 0.5 * lead)))
    radii, width = (0.9 * r, 1.1 * r), 2.0 * np.pi / pieces
    ridge = [0.2 * lead - (x - r) * SLOPE for x in radii]
    groove = [0.5 * lead - half - 0.5e-3 for half in ridge]
    kinds = {"world": (ridge, range(24)), "nut": (groove, (0.5 * pieces * (k + 0.5) for k in range(2)))}
    for body, (halves, places) in kinds.items():
        for k, place in enumerate(places):
            a = width * place
            R = [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
            at = SE3(R, (0.0, 0.0, lead * a / (2.0 * np.pi)))
            own = piece_of_thread(width, lead, radii, halves)
            m.add_shape(Shape(body, "collision", own, at, name=f"{body}{k}"))
    return m.world().with_inputs("contact_friction")


@full
def test_a_nut_of_hulls_runs_down_its_bolt_and_locks_by_friction():
    """It goes one lead a turn; without friction at g / (1 + (2 pi k / lead)^2), k its radius of gyration.

    With mu above tan(rise of the thread) cos(slope of its flanks) = 0.307 it stays.
    """
    lead, gyration = 0.02, 0.018
    world, n = bolt_with_nut(lead, gyration=gyration), 3
    state = world.state(n, contact_friction=np.outer([0.0, 0.28, 0.34], np.ones(len(world.pairs))))
    solver = Featherstone(world, 1e-3)
    early = solver.step(state, steps=100)
    late = solver.step(early, steps=200)
    gone = late.q - early.q
    np.testing.assert_allclose(gone[:2, 0] / gone[:2, 1], lead / (2.0 * np.pi), rtol=0.02)
    falls = EARTH / (1.0 + (2.0 * np.pi * gyration / lead) ** 2)
    assert -late.q[0, 0] == pytest.approx(0.5 * falls * 0.3**2, rel=0.05)  # it begins with a drop of a third of a mm
    assert gone[1, 0] < -1e-3
    assert np.abs(gone[2, 0]) < 1e-5
