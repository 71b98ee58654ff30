"""Other libraries' conventions: laws that any change of coordinates obeys, orders, tables, refusals.

That the conventions are really theirs is for the libraries themselves to say: tests/oracles/test_convention_robots.py.
"""

import pickle

import numpy as np
import pytest

import cardan
from cardan import conventions
from cardan import joints as J
from closeness import close
from mechanisms import central_difference, random_mechanism, random_state, times

OPTIONS = {
    "drake": [{}],
    "idyntree": [{"representation": r} for r in ("mixed", "body", "inertial")],
    "isaac": [{}, {"quaternion": "wxyz", "velocity_of": "link"}, {"merged_bodies": True}],
    "mujoco": [{}],
    "newton": [{}, {"merged_bodies": True}],
    "pinocchio": [{}, {"continuous": "angle"}],
    "rigidbodydynamics": [{}],
}
CASES = [(peer, options) for peer, several in OPTIONS.items() for options in several]
ALWAYS = [(peer, several[0]) for peer, several in OPTIONS.items()] + [("pinocchio", {"continuous": "angle"})]
FREE = (J.FreeFlyer, J.FloatingMRP, J.Distance)


pytestmark = pytest.mark.usefixtures("reference_target")


def has(peer, joint):
    """Whether the library has a joint, somewhere in a tree."""
    m = cardan.Mechanism("one")
    m.add_body("a")
    m.add_body("b")
    m.add_joint("j", joint, "a", "b")
    model = m.model(base="floating")
    try:
        conventions.to(peer, model)
    except cardan.errors.MechanismError:
        return False
    return True


def tree_for(peer, seed=1, base="floating", mimics=False, every=1):
    kinds = [j for j in J.CATALOGUE if (isinstance(j, J.Fixed) or j.primaries) or has(peer, j)]
    kinds = [j for j in kinds if mimics or not j.primaries][::every]
    return random_mechanism(seed, joints=kinds).model(base=base)


@pytest.fixture(
    scope="module",
    params=[pytest.param(c, marks=[] if c in ALWAYS else pytest.mark.full) for c in CASES],
    ids=lambda c: "-".join(map(str, (c[0], *c[1].values()))),
)
def case(request):
    peer, options = request.param
    model = tree_for(peer, every=1 if request.config.getoption("--full") else 2)
    there = conventions.to(peer, model, **options)
    q, v, a = random_state(model, 4)
    return model, there, q, v, a


def there_of(case):
    _, c, q, v, a = case
    return c.configuration(q), c.velocity(q, v), c.acceleration(q, v, a)


def test_every_library_has_joints_beyond_the_hinge():
    assert len([j for j in J.CATALOGUE if not j.primaries and has("pinocchio", j)]) >= 15
    for peer in conventions.PEERS:
        assert has(peer, J.Prismatic((1, 0, 0)))
        assert not has(peer, J.Reversed(J.Ellipsoid((1, 2, 3))))


def test_round_trips(case):
    model, c, q, v, a = case
    p, w, b = there_of(case)
    assert (p.shape, w.shape, b.shape) == ((c.nq,), (c.nv,), (c.nv,))
    back = c.from_configuration(p)
    close(cardan.difference(model, q, back), np.zeros(model.nv))
    close(c.configuration(back), p)
    close(c.from_velocity(p, w), v)
    close(c.from_acceleration(p, w, b), a)
    rng = np.random.default_rng(1)
    tau, A = rng.normal(size=model.nv), rng.normal(size=(3, model.nv))
    close(c.from_effort(p, c.effort(q, tau)), tau)
    close(c.from_jacobian(p, c.jacobian(q, A)), A)
    close(times(c.jacobian(q, A), w), A @ v)
    f = rng.normal(size=(model.nbodies, 6))
    close(c.from_external_forces(p, c.external_forces(q, f)), f)


def test_power_and_mass_matrix(case):
    model, c, q, v, _ = case
    p, w, _ = there_of(case)
    tau = np.random.default_rng(2).normal(size=model.nv)
    if c.title != "Newton":  # its joint_f of a free joint is along other axes than its joint_qd
        close(c.effort(q, tau) @ w, tau @ v)
    M = cardan.mass_matrix(model, q)
    close(c.mass_matrix(q), c.mass_matrix(q, M), 1e-13)
    close(c.from_mass_matrix(p, c.mass_matrix(q)), M)
    close(0.5 * w @ c.mass_matrix(q) @ w, cardan.kinetic_energy(model, q, v))


def test_acceleration_is_the_derivative_of_the_velocity(case):
    model, c, q, v, a = case
    rate = central_difference(lambda s: c.velocity(cardan.integrate(model, q, s * v), v + s * a))
    close(c.acceleration(q, v, a), rate, 1e-7)


def test_equation_of_motion(case):
    model, c, q, v, a = case
    if c.title == "Newton":
        pytest.skip("joint_f of a free joint is along other axes than joint_qd")
    _, w, b = there_of(case)
    tau = c.effort(q, cardan.inverse_dynamics(model, q, v, a))
    M, bias = c.mass_matrix(q), c.bias_forces(q, v)
    close(M @ b + bias, tau, 1e-11)
    close(c.coriolis_matrix(q, v) @ w + c.effort(q, cardan.gravity_forces(model, q)), bias, 1e-11)
    rate = central_difference(lambda s: c.mass_matrix(cardan.integrate(model, q, s * v)))
    C = c.coriolis_matrix(q, v)
    close(C + C.T, rate, 1e-7)


def test_newton_efforts_turn_with_the_anchor():
    """joint_f = R_w,anchor (what does the work along joint_qd), on a free joint far from the root, too."""
    model = tree_for("newton")
    c = conventions.to("newton", model)
    q, v, a = random_state(model, 9)
    b = c.acceleration(q, v, a)
    tau = c.effort(q, cardan.inverse_dynamics(model, q, v, a))
    work, turned = c.mass_matrix(q) @ b, c.bias_forces(q, v)
    count = 0
    for row in c.rows:
        if not isinstance(row.connection.joint, FREE):
            np.testing.assert_allclose((work + turned)[row.v_there], tau[row.v_there], atol=1e-10)
            continue
        count += 1
        R = cardan.frame_transform(model, q, row.connection.parent)[:3, :3] @ np.array(
            row.connection.parent_pose.matrix()[:3, :3]
        )
        for part in (row.v_there[:3], row.v_there[3:]):
            np.testing.assert_allclose(R @ work[part] + turned[part], tau[part], atol=1e-10)
            np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert count == 4


class Hinge(J.Joint):
    """A user's: a turn by q about an axis beside the origin, then a fixed pose."""

    manifold = cardan.manifolds.Euclidean(1)
    unit, rise = 1.0, 0.0

    def transform(self, q):
        turn = cardan.SE3(J.Revolute((0, 0.6, 0.8)).transform([self.unit * q[0]]).rotation)
        beside = cardan.SE3(translation=(0.1, 0.2, 0.3))
        along = cardan.SE3(translation=[self.rise * q[0] * e for e in (0, 0.6, 0.8)])
        return beside @ along @ turn @ beside.inverse() @ J.Revolute((1, 0, 0)).transform([0.4])


class HalfHinge(Hinge):
    unit = 0.5


class Screw(Hinge):
    rise = 0.2


class Stopped(Hinge):
    """A hinge as far as one tries, but not beyond four radians."""

    def transform(self, q):
        return Hinge().transform([cardan.where(q[0] > 4.0, 4.0, q[0])])


class Slide(J.Joint):
    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        return cardan.SE3(translation=(0.6 * q[0], 0.8 * q[0], 0.5))


class Turn(Hinge):
    """On the circle."""

    manifold = cardan.manifolds.UnitComplex("sin_cos")

    def transform(self, q):
        return J.UnboundedRevolute((0, 0, 1), "sin_cos").transform(q)


@pytest.mark.parametrize("peer", conventions.PEERS)
def test_joints_of_a_user_are_what_their_motion_is(peer):
    turn = J.UnboundedRevolute(order="sin_cos")
    for joint, shipped in ((Hinge(), J.Revolute()), (Slide(), J.Prismatic()), (Turn(), turn)):
        assert has(peer, joint)
        assert has(peer, J.Composite((joint, joint))) == has(peer, J.Composite((shipped, shipped)))
    assert has(peer, Screw()) == has(peer, J.Helical())
    assert not has(peer, HalfHinge())  # its coordinate is another angle
    assert not has(peer, Stopped())
    model = random_mechanism(0, joints=[Hinge(), Slide(), Turn()]).model(base="floating")
    own = {"continuous": "angle"} if peer == "pinocchio" else {}
    c = conventions.to(peer, model, **own)
    q, v, _ = random_state(model, 1)
    for name in model.joint_names[1:]:
        row = next(row for row in c.rows if row.connection.name == name)
        assert c.velocity(q, v)[row.v_there] == v[row.v]
        if not isinstance(row.joint, Turn):
            assert c.configuration(q)[row.q_there] == q[row.q]
    assert "Hinge" in str(c)


@pytest.mark.parametrize("peer", conventions.PEERS)
def test_pickles_single_precision_and_loops(peer):
    """A model with a loop, mimics and other names: what is written there are the coordinates of its tree."""
    m = cardan.robots.four_bar()
    m = m.renamed({j.name: f"x{k}" for k, j in enumerate(m.joints)}).mechanism
    model = m.model(base="floating")
    c = conventions.to(peer, model)
    q, v, a = random_state(model, 0, (5,))
    there = c.acceleration(q, v, a)
    again = pickle.loads(pickle.dumps(c))
    assert str(again) == str(c)
    np.testing.assert_array_equal(again.acceleration(q, v, a), there)
    single = c.acceleration(*(x.astype("f4") for x in (q, v, a)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, there, atol=1e-4)


def test_what_is_kept_on_disk_belongs_to_one_convention(monkeypatch):
    """The same methods of the same model, under other conventions: no program is taken for another one's."""
    model = random_mechanism(0, joints=[J.Revolute((0, 0, 1)), J.Spherical()]).model(base="floating")
    q, v, _ = random_state(model, 1)

    def velocities():
        found = [conventions.to("idyntree", model, representation=r) for r in ("mixed", "body", "inertial")]
        found += [conventions.to("mujoco", model), conventions.to("drake", model), cardan.representation(model, "body")]
        found += [conventions.to("mujoco", model, order=["joint1", "joint0", "root"])]
        return [c.velocity(q, v) for c in found]

    expected = velocities()
    monkeypatch.delenv("CARDAN_TARGET")
    for _ in range(2):
        for one, other in zip(velocities(), expected, strict=True):
            close(one, other)


def test_permutations_name_exact_copies(case):
    model, c, q, _, _ = case
    v = np.random.default_rng(5).normal(size=model.nv)
    for found, there, here in (
        (c.q_permutation, c.configuration(q), q),
        (c.v_permutation, c.velocity(q, v), v),
    ):
        copied = found >= 0
        np.testing.assert_array_equal(there[copied], here[found[copied]])
        assert len(set(found[copied])) == copied.sum()
    for row in c.rows:
        if not row.chart.note:
            assert c.q_permutation[row.q_there].tolist() == list(row.q)
            assert c.v_permutation[row.v_there].tolist() == list(row.v)


@pytest.mark.parametrize("peer", conventions.PEERS)
@pytest.mark.parametrize("base", [pytest.param("fixed", marks=pytest.mark.full), "floating"])
def test_batches(peer, base):
    model = tree_for(peer, seed=2, base=base)
    c = conventions.to(peer, model)
    q, v, a = random_state(model, 4, (2, 1, 3))
    p, w = c.configuration(q), c.velocity(q, v)
    assert p.shape == (2, 1, 3, c.nq)
    assert c.mass_matrix(q).shape == (2, 1, 3, c.nv, c.nv)
    np.testing.assert_allclose(c.acceleration(q, v, a)[1, 0, 2], c.acceleration(*(x[1, 0, 2] for x in (q, v, a))))
    np.testing.assert_allclose(c.from_velocity(p, w), v, atol=1e-12)


@pytest.mark.parametrize("peer", conventions.PEERS)
def test_mimics_with_coordinates_of_their_own(peer):
    m = cardan.Mechanism("gripper")
    for body in ("hand", "left", "right"):
        m.add_body(body, cardan.Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("left", J.Revolute((0, 0, 1)), "hand", "left", limits=cardan.Limits([-1], [1]))
    m.add_joint("right", J.Mimic(J.Revolute((0, 0, 1)), "left", -2.0, 0.3), "hand", "right", limits=None)
    model = m.model(base="floating")
    own = {"continuous": "angle"} if peer == "pinocchio" else {}
    c, without = conventions.to(peer, model, **own), conventions.to(peer, model, mimics=False, **own)
    assert c.followers == ("right",)
    assert (c.nv, without.nv, without.followers) == (8, 7, ())
    q, v, a = random_state(model, 1)
    left, right = (c.joint_names.index(n) for n in ("left", "right"))
    p, w, b = c.configuration(q), c.velocity(q, v), c.acceleration(q, v, a)
    at = {row.connection.name: row.q_there[0] for row in c.rows}
    assert p[at["right"]] == pytest.approx(-2.0 * p[at["left"]] + 0.3, abs=1e-15)
    for x in (w, b):
        assert x[5 + right] == pytest.approx(-2.0 * x[5 + left], abs=1e-15)
    np.testing.assert_allclose(c.from_acceleration(p, w, b), a, atol=1e-14)
    tau = np.random.default_rng(0).normal(size=8)
    assert c.from_effort(p, tau) @ v == pytest.approx(tau @ w)
    # the mass matrix of the two fingers without the coupling gives that with it
    free = m.model(base="floating")
    independent = cardan.Mechanism("gripper")
    for body in m.bodies:
        independent.add_body(body.name, body.inertia)
    for name in ("left", "right"):
        independent.add_joint(name, J.Revolute((0, 0, 1)), "hand", name, limits=cardan.Limits([-9], [9]))
    apart = conventions.to(peer, independent.model(base="floating"), **own)
    M = apart.mass_matrix(apart.from_configuration(p))
    np.testing.assert_allclose(c.from_mass_matrix(p, M), cardan.mass_matrix(free, q), atol=1e-12)
    for refused in (c.mass_matrix, lambda q: c.jacobian(q, np.eye(7)), lambda q: c.bias_forces(q, v)):
        with pytest.raises(cardan.errors.MechanismError, match="'right' mimic other joints"):
            refused(q)


ORDERS = {
    "drake": "k m z a q",
    "idyntree": "m k z q a",
    "isaac": "k z m a q",
    "mujoco": "k m z a q",
    "newton": "k m z a q",
    "pinocchio": "q k m z a",
    "rigidbodydynamics": "k z m a q",
}


@pytest.mark.parametrize("peer", conventions.PEERS)
def test_order_of_joints(peer):
    """A tree whose document order is no rule's; one joint hangs behind a fixed one, called b."""
    m = cardan.Mechanism("t")
    for body in "BKZMAFQ":
        m.add_body(body, cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    for name, parent, child in (("m", "K", "M"), ("k", "B", "K"), ("z", "B", "Z"), ("b", "B", "F"), ("q", "F", "Q")):
        m.add_joint(name, J.Fixed() if name == "b" else J.Revolute((0, 0, 1)), parent, child)
    m.add_joint("a", J.Revolute((0, 0, 1)), "Z", "A")
    model = m.model(base="floating")
    assert " ".join(conventions.to(peer, model).joint_names) == "root " + ORDERS[peer]
    chosen = ["root", "a", "q", "m", "z", "k"]
    c = conventions.to(peer, model, order=chosen)
    assert list(c.joint_names) == chosen
    v = np.arange(11.0)
    there = c.velocity(model.neutral(), v)
    np.testing.assert_array_equal(there[6:], [v[model.v_slice(n)][0] for n in chosen[1:]])


def test_the_table_shows_what_changes():
    model = random_mechanism(0, joints=[J.Revolute((0, 0, 1)), J.Spherical()]).model(base="floating")
    text = str(conventions.to("mujoco", model))
    assert text.startswith("random0 in MuJoCo: nq 12 -> 12, nv 10 -> 10")
    line = next(line for line in text.splitlines() if line.startswith("root"))
    assert line.split()[:6] == ["root", "FreeFlyer", "0:7", "0:7", "0:6", "0:6"]
    assert "quaternion (w, x, y, z); linear velocity in world axes" in line
    assert "axes of the child body" in text
    newton = str(conventions.to("newton", model))
    assert "velocity of the centre of mass; effort in world axes" in newton
    assert "angular velocity in parent axes" in newton
    assert "RigidBodyDynamics.jl: nq = 12" in repr(conventions.to("rigidbodydynamics", model))


def test_refusals():
    model = random_mechanism(0, joints=[J.Revolute((0, 0, 1)), J.Ellipsoid((1, 2, 3))]).model(base="floating")
    with pytest.raises(cardan.errors.MechanismError, match=r"a Ellipsoid, has no counterpart in MuJoCo; it has free"):
        conventions.to("mujoco", model)
    with pytest.raises(cardan.errors.UnknownNameError, match="did you mean 'pinocchio'"):
        conventions.to("pinochio", model)
    with pytest.raises(cardan.errors.UnknownNameError, match="did you mean 'continuous'"):
        conventions.to("pinocchio", model, continous="angle")
    with pytest.raises(cardan.errors.UnknownNameError, match="no choice of representation named 'wrong'"):
        conventions.to("idyntree", model, representation="wrong")
    with pytest.raises(cardan.errors.ParameterError, match=r"Missing, unknown or twice: \['root'\]"):
        conventions.to("pinocchio", model, order=["joint0", "joint1"])
    with pytest.raises(cardan.errors.ParameterError, match=r"Missing, unknown or twice: \['root'\]"):
        conventions.to("pinocchio", model, order=["root", "root", "joint0", "joint1"])
    m = cardan.Mechanism("two")
    m.add_body("a")
    m.add_body("b")
    m.add_joint("j", J.FreeFlyer(), "a", "b")
    fly, skewed = m.model(base="floating"), J.Universal((1, 0, 0), (0.6, 0.8, 0))
    with pytest.raises(cardan.errors.MechanismError, match=r"'j' .* has no counterpart in MuJoCo; it has free \(of a"):
        conventions.to("mujoco", fly)
    tilted = random_mechanism(0, joints=[skewed]).model()
    with pytest.raises(cardan.errors.MechanismError, match="axes at right angles"):
        conventions.to("drake", tilted)


def test_a_mimic_joint_on_the_circle_has_an_angle_without_a_seam(reference_target):
    """Where it is written as one: multiplier times that of its primary, also beyond pi."""
    m = cardan.Mechanism("wheels")
    for k, joint in enumerate([J.UnboundedRevolute(), J.Mimic(J.UnboundedRevolute(), "j0", 2.5, 0.3)]):
        m.add_body(f"b{k}")
        m.add_joint(f"j{k}", joint, "world", f"b{k}")
    there = conventions.to("mujoco", m.model())
    np.testing.assert_allclose(there.configuration([np.cos(3.0), np.sin(3.0)]), [3.0, 7.8], atol=1e-12)
