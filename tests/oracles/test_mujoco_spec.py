"""Robots handed to MuJoCo by `to_mjspec`: the same masses, forces, motions; what it cannot say is refused by name."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
import linkages
from cardan import conventions
from cardan import joints as J
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere
from cardan._robot.records import Drive, Material
from cardan.errors import DescriptionWarning, DuplicateNameError, MissingExtraError, UnsupportedError
from cardan.interop import to_mjspec
from closeness import close
from mechanisms import random_inertia, random_mechanism, random_pose
from representatives import represented
from robots_data import short, urdf_files
from test_closed_loops import CASES as LOOPED
from two_shapes import random_poses, smallest

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)

AXIS = (0.36, 0.48, 0.8)
EXPRESSIBLE = [
    J.Revolute(AXIS),
    J.Prismatic(AXIS),
    J.Universal((1, 0, 0), (0, 0.6, 0.8)),
    J.SphericalZYX(),
    J.Translation(),
    J.Cylindrical(AXIS),
    J.D6([(1, 0, 0), (0, 0.6, 0.8)], [(0, 0, 1), (1, 0, 0), (0, 1, 0)]),
    J.UnboundedRevolute(AXIS),
    J.UnboundedRevolute(AXIS, "sin_cos"),
    J.Planar(),
    J.PlanarAngle((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0)),
    J.Spherical(),
    J.Fixed(),
    J.Composite(
        [J.Revolute(AXIS), J.Prismatic((0, 0, 1)), J.Universal((1, 0, 0), (0, 1, 0))],
        [random_pose(np.random.default_rng(k)) for k in range(3)],
    ),
]
NOTHING = cardan.Inertia.zero()
HANDFUL = ("panda.urdf", "anymal.urdf", "g1_29dof_rev_1_0.urdf", "ur5_robot.urdf", "double_pendulum.urdf")
REFUSED = ("icub", "icub_reduced", "romeo", "romeo_laas_small", "romeo_small")  # inertias no body has


def same_along_all_axes(c):
    """The joint with what resists it as MuJoCo can say it."""
    if isinstance(c.joint, J.FreeFlyer):
        return replace(c, damping=None, armature=None)
    if isinstance(c.joint, (J.Planar, J.PlanarAngle)):
        return replace(c, damping=[0.1, 0.1, 0.2], armature=[0.0, 0.0, 0.02])
    return replace(c, damping=[0.1] * 3, armature=[0.02] * 3) if isinstance(c.joint, J.Spherical) else c


def tree(seed, joints=EXPRESSIBLE, base="floating", **options):
    model = random_mechanism(seed, joints=joints, **options).model(base=base)
    return replace(model, connections=tuple(map(same_along_all_axes, model.connections)))


class There:
    """A model in MuJoCo, without limits and contacts, and its coordinates there."""

    def __init__(self, model, spec=None):
        self.model, self.mj = model, (to_mjspec(model, shapes=False) if spec is None else spec).compile()
        flags = mujoco.mjtDisableBit
        self.mj.opt.disableflags |= flags.mjDSBL_LIMIT | flags.mjDSBL_CONTACT
        self.mj.opt.tolerance, self.mj.opt.iterations, self.mj.opt.timestep = 0.0, 200, 1e-4
        self.data, self.to = mujoco.MjData(self.mj), conventions.to("mujoco", model)

    def at(self, q, v, tau=None):
        tau = 0.0 if tau is None else self.to.effort(q, tau)
        return self.put(self.to.configuration(q), self.to.velocity(q, v), tau)

    def put(self, qpos, qvel, forces):
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = qpos, qvel, forces
        mujoco.mj_forward(self.mj, self.data)
        return self.data

    def rigid_accelerations(self):
        """Those under its own constraints, were they hard; of constraints that are linear in the coordinates."""
        M, data = self.mass_matrix(), self.data
        J = data.efc_J.reshape(-1, self.mj.nv)[: data.nefc]
        A = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        return np.linalg.lstsq(A, np.r_[data.qfrc_smooth, np.zeros(len(J))])[0][: self.mj.nv]

    def mass_matrix(self):
        M = np.zeros((self.mj.nv, self.mj.nv))
        mujoco.mj_fullM(self.mj, self.data, M)
        return M

    def accelerations(self, there):
        return self.to.from_acceleration(self.data.qpos, self.data.qvel, there)


def check_dynamics(model, states=3, tolerance=1e-12):
    there = There(model)
    rng = np.random.default_rng(0)
    assert (there.mj.nq, there.mj.nv) == (there.to.nq, there.to.nv)
    moving = there.mj.body_weldid > 0
    assert there.mj.body_mass[moving].sum() == pytest.approx(model.mass - model.world_inertia().mass, rel=1e-12)
    q, v = model.random_configuration((states,), seed=0), rng.normal(size=(states, model.nv))
    poses = cardan.forward_kinematics(model, q)
    M, bias = (
        (there.to.mass_matrix(q), there.to.bias_forces(q, v)) if not model.has_mimics and model.nv else (None, None)
    )
    names = {there.mj.body(k).name for k in range(there.mj.nbody)}
    # A massless body between hinges is none there: the next body has all of them.
    own = [n for n, b in enumerate(model.bodies) if b.name in names or any((b.inertia or NOTHING).parameters())]
    ids = [there.mj.body(model.body_names[n]).id for n in own]
    for k in range(states):
        data = there.at(q[k], v[k])
        if M is not None:
            close(there.mass_matrix(), M[k], tolerance)
            close(data.qfrc_bias, bias[k], tolerance)
        close(data.xpos[ids], poses[k][own, :3, 3], tolerance)
        close(data.xmat[ids].reshape(-1, 3, 3), poses[k][own, :3, :3], tolerance)


@pytest.mark.parametrize("robot", ["arm7", "cart_pole", "double_pendulum", "humanoid", "quadruped"])
def test_robots_that_ship(robot, reference_target):
    check_dynamics(getattr(cardan.robots, robot)().model())


def check_file(file, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        try:
            model = cardan.load(file, base=base)
        except cardan.errors.CardanError as error:
            pytest.skip(str(error)[:100])
    if file.stem in REFUSED:
        with pytest.raises(UnsupportedError, match="a mass and moments above"):
            to_mjspec(model)
    else:
        check_dynamics(model)


FILES = {short(file): file for file in urdf_files()}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(HANDFUL)])
def test_robots_from_files(name, reference_target):
    check_file(FILES[name], "fixed" if "panda" in name or "ur5" in name else "floating")


@pytest.mark.full
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", FILES)
def test_all_robots_from_files(name, base, reference_target):
    check_file(FILES[name], base)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.full) for k in range(1, 6))])
def test_every_joint_it_can_say(seed, reference_target):
    check_dynamics(tree(seed))
    check_dynamics(tree(seed, base="fixed", chain=True))


def test_a_users_hinge_is_a_hinge(reference_target):
    class Elbow(J.Joint):
        manifold = J.Revolute().manifold

        def transform(self, q):
            X = cardan.SE3(translation=(0.1, 0.2, -0.1))
            return X @ J.Revolute((0, 1, 0)).transform(q) @ X

    check_dynamics(tree(1, [Elbow(), J.Revolute()]))


def test_the_specification_as_text_says_the_same(reference_target):
    """To the six digits MuJoCo writes."""
    model = tree(0)
    text = to_mjspec(model)
    text.compile()
    there = There(model, mujoco.MjSpec.from_string(text.to_xml()))
    q = model.random_configuration(seed=0)
    there.at(q, np.zeros(model.nv))
    close(there.mass_matrix(), there.to.mass_matrix(q), 1e-5)


# --- loops and mimics: equality constraints, soft by (1 - 0.9999) of the mass they feel ---

LOOPS = LOOPED | {
    "bennett": lambda: linkages.bennett().model(),
}


def ring(*closing):
    """A floating chain of hinges and balls, closed on its first body by joints of which MuJoCo has no constraint."""
    rng = np.random.default_rng(6)
    m = cardan.Mechanism("ring")
    m.add_body("b0", random_inertia(rng))
    joints = [J.Revolute((0.6, 0, 0.8)), J.Spherical(), J.Universal(), J.Revolute((0, 1, 0)), J.Spherical()]
    for k, joint in enumerate(joints):
        m.add_body(f"b{k + 1}", random_inertia(rng))
        m.add_joint(f"j{k}", joint, f"b{k}", f"b{k + 1}", random_pose(rng), random_pose(rng))
    for k, joint in enumerate(closing):
        m.add_joint(f"closing{k}", joint, f"b{len(joints) - k}", "b0", random_pose(rng), random_pose(rng))
    return m.model(base="floating")


def state_on_loops(model):
    rng = np.random.default_rng(1)
    q = cardan.assemble(model, cardan.integrate(model, cardan.assemble(model), 0.1 * rng.normal(size=model.nv)))
    return q, cardan.project_velocity(model, q, rng.normal(size=model.nv)), rng.normal(size=model.nv)


ALWAYS = ("four_bar", "five_bar", "parallelogram")


@pytest.mark.parametrize("name", represented(LOOPS, by=ALWAYS.count))
def test_accelerations_of_loops(name, reference_target):
    model = LOOPS[name]()
    q, v, tau = state_on_loops(model)
    there = There(model)
    there.at(q, 0.0 * v, tau)
    assert np.abs(there.data.efc_pos[: there.data.nefc]).max() < 1e-9
    expected = cardan.constrained_forward_dynamics(model, q, 0.0 * v, tau).accelerations
    close(there.accelerations(there.rigid_accelerations()), expected, 1e-8)
    there.at(q, v, tau)
    expected = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    close(there.accelerations(there.data.qacc), expected, 1e-3)


def test_a_loop_that_mujoco_cannot_close_is_refused():
    with pytest.raises(UnsupportedError, match=r"the loop that joint 'closing0' closes, a Universal.*add that last"):
        to_mjspec(ring(J.Universal((1, 0, 0), (0, 0.6, 0.8))))


def mimics():
    m = cardan.Mechanism("gripper")
    rng = np.random.default_rng(3)
    copies = [J.Mimic(J.Revolute(AXIS), "j0", -0.7, 0.3), J.Mimic(J.Prismatic(AXIS), "j1", 0.4, 0.1)]
    for k, joint in enumerate(
        [J.Revolute((0, 1, 0)), *copies, J.UnboundedRevolute(), J.Mimic(J.UnboundedRevolute(AXIS), "j3", 2.0)]
    ):
        m.add_body(f"b{k}", random_inertia(rng))
        m.add_joint(
            f"j{k}",
            joint,
            f"b{k - 1}" if k else "world",
            f"b{k}",
            random_pose(rng),
            random_pose(rng),
            damping=[0.1],
            armature=[0.05],
        )
    return m.model()


def test_accelerations_of_mimics(reference_target):
    model = mimics()
    check_dynamics(model)
    there = There(model)
    q, v = model.random_configuration(seed=1), np.array([0.4, -0.3])
    tau = np.array([0.5, -1.0])
    there.at(q, v, tau)
    a = cardan.forward_dynamics(model, q, v, tau - cardan.passive_forces(model, q, v))
    expected = there.to.acceleration(q, v, a)
    assert np.abs(there.data.efc_pos[: there.data.nefc]).max() < 1e-12
    close(there.rigid_accelerations(), expected, 1e-11)
    close(there.data.qacc, expected, 1e-3)


# --- what resists, limits and drives ---


def driven():
    m = cardan.Mechanism("driven")
    rng = np.random.default_rng(7)
    kinds = [J.Revolute((0, 1, 0)), J.Prismatic(AXIS), J.Universal(), J.Spherical()]
    for k, joint in enumerate(kinds):
        m.add_body(f"b{k}", random_inertia(rng))
        each = np.arange(1.0, joint.nv + 1)
        limits = J.Limits(-each, 2.0 * each, 3.0 * each, 4.0 * each) if joint.nv < 3 else None
        m.add_joint(
            f"j{k}",
            joint,
            f"b{k - 1}" if k else "world",
            f"b{k}",
            random_pose(rng),
            random_pose(rng),
            limits=limits,
            damping=[0.3] * joint.nv,
            armature=[0.1] * joint.nv,
            friction=[0.2] * joint.nv if joint.nv < 3 else None,
            drive=Drive(20.0 * each, 2.0 * each) if k % 2 == 0 else Drive(0.0, 3.0 * each),
        )
    return m.model(gravity=(0.5, 0.0, -3.0))


def test_limits_drives_and_passive_properties():
    model = driven()
    mj = to_mjspec(model).compile()
    assert list(mj.opt.gravity) == [0.5, 0.0, -3.0]
    assert [mj.joint(k).name for k in range(mj.njnt)] == ["j0", "j1", "j2:0", "j2:1", "j3"]
    assert [mj.actuator(k).name for k in range(mj.nu)] == ["j0", "j1", "j2:0", "j2:1", "j3:0", "j3:1", "j3:2"]
    np.testing.assert_array_equal(mj.jnt_range[:4], np.column_stack([model.lower[:4], model.upper[:4]]))
    np.testing.assert_array_equal(
        mj.jnt_actfrcrange[:4], np.column_stack([model.effort_lower[:4], model.effort_upper[:4]])
    )
    for name, there in (("damping", mj.dof_damping), ("armature", mj.dof_armature), ("friction", mj.dof_frictionloss)):
        np.testing.assert_array_equal(there, model.passive(name))


def test_forces_of_drives(reference_target):
    """tau = stiffness (target - x) - damping v, along every velocity here, within the limits of effort."""
    model = driven()
    there = There(model)
    rng = np.random.default_rng(0)
    q, v, target = model.random_configuration(seed=0), 0.1 * rng.normal(size=model.nv), 0.2 * rng.normal(size=model.nv)
    kp, kd = np.array(model.passive("drive_stiffness")), np.array(model.passive("drive_damping"))
    there.data.ctrl[:] = np.where(kp > 0.0, target, 0.0)
    data = there.at(q, v)
    tau = kp * (np.where(kp > 0.0, target - cardan.limit_coordinates(model, q), 0.0)) - kd * v
    expected = np.clip(tau, model.effort_lower, model.effort_upper)
    assert (expected != tau).any()
    assert (expected == tau).any()
    close(there.to.from_effort(data.qpos, data.qfrc_actuator), expected, 1e-12)


@pytest.mark.parametrize("bounds", [(0.0, 0.0), (-np.inf, 1.0), (0.5, 0.5)])
def test_any_bounds_can_be_compiled(bounds):
    m = cardan.Mechanism()
    m.add_body("b", random_inertia(np.random.default_rng(0)))
    limits = J.Limits([bounds[0]], [bounds[1]], [1.0], [0.0])
    m.add_joint("j", J.Revolute(), "world", "b", limits=limits)
    mj = to_mjspec(m).compile()
    low, high = mj.jnt_range[0]
    assert low < high
    assert high == pytest.approx(bounds[1], abs=1e-15)
    assert np.abs(mj.jnt_actfrcrange[0]).max() < 1e-300


# --- trajectories ---


def our_steps(model, q, v, dt, count):
    """Semi-implicit Euler, as MuJoCo's."""
    for _ in range(count):
        v = v + dt * cardan.forward_dynamics(model, q, v, -cardan.passive_forces(model, q, v))
        q = cardan.integrate(model, q, dt * v)
    return q, v


def test_trajectories_to_the_order_of_the_step(reference_target):
    model = tree(2, EXPRESSIBLE[:4] + EXPRESSIBLE[9:12])
    there = There(model)
    there.mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    there.mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    q, v = 0.3 * model.random_configuration(seed=4), 0.3 * np.random.default_rng(4).normal(size=model.nv)
    q = cardan.normalize(model, q)
    gaps = []
    for count in (20, 40):
        there.mj.opt.timestep = 0.02 / count
        there.at(q, v)
        mujoco.mj_step(there.mj, there.data, count)
        ours = our_steps(model, q, v, 0.02 / count, count)
        gaps.append(np.abs(cardan.difference(model, ours[0], there.to.from_configuration(there.data.qpos))).max())
    assert gaps[0] < 2e-3
    assert gaps[1] < 0.6 * gaps[0]


def test_trajectories_of_hinges_are_the_same_numbers(reference_target):
    """Where velocities are the same along both, so is every step of the semi-implicit Euler method."""
    model = cardan.robots.double_pendulum().model()
    there = There(model)
    there.mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    there.mj.opt.timestep = 1e-3
    q, v = np.array([0.5, -0.4]), np.array([1.0, 2.0])
    there.at(q, v)
    mujoco.mj_step(there.mj, there.data, 100)
    ours = our_steps(model, q, v, 1e-3, 100)
    close(there.data.qpos, ours[0], 1e-11)
    close(there.data.qvel, ours[1], 1e-11)


# --- shapes ---

SHAPES = {
    "BOX": (Box((0.2, 0.4, 0.6)), [0.1, 0.2, 0.3]),
    "SPHERE": (Sphere(0.3), [0.3, 0.0, 0.0]),
    "ELLIPSOID": (Ellipsoid((0.1, 0.2, 0.3)), [0.1, 0.2, 0.3]),
    "CYLINDER": (Cylinder(0.1, 0.4), [0.1, 0.2, 0.0]),
    "CAPSULE": (Capsule(0.1, 0.4), [0.1, 0.2, 0.0]),
}


def body_with(*shapes):
    m = cardan.Mechanism("shapes")
    m.add_body("b", random_inertia(np.random.default_rng(0)))
    m.add_joint("j", J.Revolute(), "world", "b")
    for shape in shapes:
        m.add_shape(shape)
    return m


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes_are_geoms_without_mass(kind):
    geometry, size = SHAPES[kind]
    pose = random_pose(np.random.default_rng(1))
    shapes = (Shape("b", "collision", geometry, pose, "solid", surface=Material(0.5, torsional=0.1), group=2, mask=3),)
    m = body_with(
        *shapes, Shape("b", "visual", geometry, pose, rgba=(1, 0, 0, 1)), Shape("world", "collision", Plane())
    )
    apart = to_mjspec(
        body_with(*shapes, Shape("world", "collision", Plane(), mask=1))
    ).compile()  # one lets touch alone
    assert not np.any(apart.geom_contype[[0, 1]] & apart.geom_conaffinity[[1, 0]])
    mj = to_mjspec(m).compile()
    geom = mj.geom("solid")
    assert geom.type[0] == getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    np.testing.assert_allclose(geom.size, size)
    np.testing.assert_allclose(geom.pos, pose.translation)
    np.testing.assert_allclose(geom.friction, [0.5, 0.1, 0.0])
    assert (geom.condim[0], geom.contype[0], geom.conaffinity[0]) == (4, 2, 3)
    assert mj.geom("b:0").contype[0] == 0
    assert mj.body("b").mass[0] == pytest.approx(m.bodies[0].inertia.mass)
    assert to_mjspec(m, shapes=False).compile().ngeom == 0
    assert to_mjspec(m.model()).compile().ngeom == 3
    assert to_mjspec(m.model(), shapes=m.shapes).compile().ngeom == 3


def test_a_cone_is_a_hull_of_many_sides():
    """MuJoCo has none: other shapes are as far from it, to 0.13 % of its radius."""
    a, A, B = (
        Cone(0.2, 0.5),
        random_poses(np.random.default_rng(2), 40, 0.5),
        random_poses(np.random.default_rng(3), 40),
    )
    for b in (Box((0.2, 0.4, 0.6)), Sphere(0.3), Capsule(0.1, 0.4)):
        m = cardan.Mechanism("two")
        for name, shape in (("a", a), ("b", b)):
            m.add_body(name, random_inertia(np.random.default_rng(0)))
            m.add_joint(name, J.FreeFlyer(), "world", name)
            m.add_shape(Shape(name, "collision", shape, name=name))
        mj, found = to_mjspec(m).compile(), []
        data = mujoco.MjData(mj)
        for R_a, p_a, R_b, p_b in zip(*A, *B, strict=True):
            turns = [np.roll(Rotation.from_matrix(R).as_quat(), 1) for R in (R_a, R_b)]
            data.qpos[:] = [*p_a, *turns[0], *p_b, *turns[1]]
            mujoco.mj_kinematics(mj, data)
            found.append(mujoco.mj_geomDistance(mj, data, 0, 1, 9.0, None))
        expected = smallest(a, A, b, B)
        assert (expected > 0.0).sum() > 10
        apart = expected > 0.0
        np.testing.assert_allclose(np.array(found)[apart], expected[apart], atol=3e-4)


def test_meshes_from_files(tmp_path):
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(1, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4)]
    lines = [*("v {} {} {}".format(*c) for c in corners), *("f {} {} {}".format(*f) for f in faces)]
    path = tmp_path / "wedge.obj"
    path.write_text("\n".join(lines))
    mesh = Mesh("wedge.obj", str(path), (0.1, 0.2, 0.3))
    m = body_with(Shape("b", "collision", mesh), Shape("b", "visual", mesh))
    mj = to_mjspec(m).compile()
    assert (mj.ngeom, mj.nmesh) == (2, 1)
    data = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, data)
    corners_there = data.geom_xpos[0] + mj.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T
    expected = np.array(corners) * (0.1, 0.2, 0.3)
    assert np.abs(corners_there[:, None] - expected).sum(-1).min(0).max() < 1e-7


def test_missing_files_and_planes_that_move_are_named():
    with pytest.raises(cardan.errors.ParameterError, match=r"gone\.obj"):
        to_mjspec(body_with(Shape("b", "visual", Mesh("gone.obj"))))
    with pytest.raises(UnsupportedError, match="plane on the moving body 'b'"):
        to_mjspec(body_with(Shape("b", "collision", Plane())))
    with pytest.raises(UnsupportedError, match="restitution of shape 'bouncy'"):
        to_mjspec(body_with(Shape("b", "collision", Sphere(0.1), name="bouncy", surface=Material(restitution=0.5))))


# --- refusals ---

LACKING = [
    J.Ellipsoid((0.1, 0.2, 0.3)),
    J.Cable(),
    J.FreeFlyer(),
    J.Reversed(J.Universal()),
    J.Distance(0.0, 1.0),
    J.Helical(),
    J.ConstantVelocity(),
]


@pytest.mark.parametrize("joint", LACKING, ids=lambda joint: type(joint).__name__)
def test_joints_it_lacks_are_named(joint):
    m = body_with()
    m.add_body("c", random_inertia(np.random.default_rng(1)))
    m.add_joint("odd", joint, "b", "c")
    with pytest.raises(UnsupportedError, match="MuJoCo cannot take joint 'odd'"):
        to_mjspec(m)


@pytest.mark.parametrize(
    ("joint", "properties", "message"),
    [
        (J.Spherical(), {"damping": [1, 2, 3]}, "not the same about all axes"),
        (J.Spherical(), {"limits": J.Limits([-1] * 3, [1] * 3)}, "a limit of joint 'odd'"),
        (J.Planar(), {"armature": [1, 1, 1]}, "along the plane of joint 'odd'"),
        (J.Planar(), {"damping": [1, 2, 1]}, "along the plane of joint 'odd'"),
        (J.Planar(), {"drive": Drive(1.0)}, "the drive of joint 'odd'"),
        (J.Spherical(), {"drive": Drive(1.0)}, "stiffness of the drive of joint 'odd', a ball"),
        (J.FreeFlyer(), {"damping": [1] * 5 + [2]}, "not the same about all axes"),
        (J.FreeFlyer(), {"friction": [1] * 6}, "damping or friction of joint 'odd'"),
    ],
)
def test_properties_it_cannot_say_are_named(joint, properties, message):
    m = cardan.Mechanism()
    m.add_body("b", random_inertia(np.random.default_rng(1)))
    m.add_joint("odd", joint, "world", "b", **properties)
    with pytest.raises(UnsupportedError, match=message):
        to_mjspec(m)


def test_the_damping_of_a_free_joint_is_the_same_along_all_axes():
    m = cardan.Mechanism()
    m.add_body("b", random_inertia(np.random.default_rng(1)))
    m.add_joint("j", J.FreeFlyer(), "world", "b", damping=[0.3] * 6)
    model = m.model()
    there, q, v = There(model), model.random_configuration(seed=0), np.arange(1.0, 7.0)
    data = there.at(q, v)
    expected = -there.to.effort(q, cardan.passive_forces(model, q, v))
    close(data.qfrc_passive, expected, 1e-14)


def test_a_drive_of_a_mimic_joint_is_named():
    m = body_with()
    m.add_body("c", random_inertia(np.random.default_rng(1)))
    m.add_joint("odd", J.Mimic(J.Revolute(), "j"), "b", "c", drive=Drive(1.0))
    with pytest.raises(UnsupportedError, match="the drive of joint 'odd', which mimics 'j'"):
        to_mjspec(m)


def test_a_massless_body_is_named():
    m = body_with()
    m.add_body("light")
    m.add_joint("k", J.Revolute(), "b", "light")
    with pytest.raises(UnsupportedError, match="'light', with all that is fixed to it"):
        to_mjspec(m)


def test_names_that_would_be_one_there_are_told():
    m = body_with()
    m.add_body("c", random_inertia(np.random.default_rng(1)))
    m.add_body("d", random_inertia(np.random.default_rng(2)))
    m.add_joint("k", J.Universal(), "b", "c")
    m.add_joint("k:1", J.Revolute(), "c", "d")
    with pytest.raises(DuplicateNameError, match="there is already a joint named 'k:1'"):
        to_mjspec(m)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e6])
def test_small_and_large_robots(scale, reference_target):
    """Lengths times scale, masses times its cube."""
    rng = np.random.default_rng(1)
    m = cardan.Mechanism("scaled")
    for k, joint in enumerate([J.Revolute(AXIS), J.Spherical(), J.Prismatic(AXIS)]):
        own, poses = random_inertia(rng), [random_pose(rng) for _ in range(2)]
        turned = np.array(own.inertia_at_com.matrix().rows(), dtype=float)
        m.add_body(f"b{k}", cardan.Inertia(own.mass * scale**3, scale * np.array(own.com), scale**5 * turned))
        poses = [cardan.SE3(X.rotation, X.translation * scale) for X in poses]
        m.add_joint(f"j{k}", joint, f"b{k - 1}" if k else "world", f"b{k}", *poses)
    model = m.model()
    there = There(model)
    q, v = model.random_configuration(seed=0), rng.normal(size=model.nv)
    data = there.at(q, v)
    M, bias = there.to.mass_matrix(q), there.to.bias_forces(q, v)
    np.testing.assert_allclose(there.mass_matrix(), M, rtol=0, atol=1e-11 * np.abs(M).max())
    np.testing.assert_allclose(data.qfrc_bias, bias, rtol=0, atol=1e-11 * np.abs(bias).max())


def test_without_mujoco_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[mujoco\]"'):
        to_mjspec(body_with())


def test_what_is_no_robot_is_said():
    with pytest.raises(cardan.errors.DTypeError, match="a mechanism, a model or a world"):
        to_mjspec("panda.urdf")


def test_a_world_begins_there_where_it_begins_here():
    """As a keyframe; what moves freely, without it too. With helical joints and loops, which become others there."""
    b = cardan.WorldBuilder()
    b.add_ground()
    for k in range(3):
        b.add_body(f"box{k}", pose=cardan.SE3(translation=[k, 0, 0.5]))
        b.add_shape(f"box{k}", Box((0.1, 0.1, 0.1)))
    b.add(cardan.robots.quadruped(), prefix="dog/", base="floating")
    b.v["box1_free"] = [1.0, 0, 0, 0, 2.0, 0]
    world = b.finalize()
    there = to_mjspec(world, annotations=True).compile()
    data = mujoco.MjData(there)
    np.testing.assert_allclose(data.qpos[:21].reshape(3, 7)[:, :3], [[0, 0, 0.5], [1, 0, 0.5], [2, 0, 0.5]])
    assert there.key(0).name == "initial"
    mujoco.mj_resetDataKeyframe(there, data, 0)
    mujoco.mj_forward(there, data)
    state = world.state()
    here = dict(zip(world.links, state.poses[0], strict=True))
    for name, pose in here.items():
        np.testing.assert_allclose(data.body(name).xpos, pose[:3], atol=1e-12)
        np.testing.assert_allclose(np.abs(data.body(name).xquat @ pose[[6, 3, 4, 5]]), 1.0)
    convert = cardan.conventions.to("mujoco", world.model)
    np.testing.assert_allclose(data.qvel, convert.velocity(state.q[0], state.v[0]))
    assert data.contact.dist.min() > -1e-9
