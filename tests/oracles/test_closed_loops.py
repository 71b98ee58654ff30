"""Closed loops against Pinocchio's constrained dynamics and MuJoCo's equality constraints."""

import numpy as np
import pytest

import cardan
import linkages
from cardan.joints import Fixed, FreeFlyer, Prismatic, Revolute, Spherical, Universal
from mechanisms import random_inertia, random_pose
from representatives import represented


def pin_pose(pin, X):
    M = np.array(X.homogeneous(), dtype=float)
    return pin.SE3(M[:3, :3], M[:3, 3])


def pin_model(pin, model):
    """The tree of one of our models, built joint by joint, and each body's joint and pose in the joint's frame."""
    kinds = {
        Revolute: lambda j: pin.JointModelRevoluteUnaligned(np.array(j.axis)),
        Prismatic: lambda j: pin.JointModelPrismaticUnaligned(np.array(j.axis)),
        Spherical: lambda j: pin.JointModelSpherical(),
        Universal: lambda j: pin.JointModelUniversal(np.array(j.axis1), np.array(j.axis2)),
        FreeFlyer: lambda j: pin.JointModelFreeFlyer(),
    }
    theirs = pin.Model()
    theirs.gravity.linear = np.array(model.gravity)
    places = {"world": (0, cardan.SE3.identity())}
    stack = [c for c in model.connections if c.parent == "world"]
    while stack:  # depth first: its mass matrix needs the numbers of a branch in one piece
        c = stack.pop()
        stack += [d for d in model.connections if d.parent == c.child]
        above, X = places[c.parent]
        if isinstance(c.joint, Fixed):
            places[c.child] = (above, X @ c.parent_pose @ c.child_pose.inverse())
            number = above
        else:
            placement = pin_pose(pin, X @ c.parent_pose)
            number = theirs.addJoint(above, kinds[type(c.joint)](c.joint), placement, c.name)
            places[c.child] = (number, c.child_pose.inverse())
        inertia = model.body(c.child).inertia
        if inertia is not None:
            moments = np.array(inertia.inertia_at_com.matrix().rows())
            body = pin.Inertia(inertia.mass, np.array(inertia.com), moments)
            theirs.appendBodyToJoint(number, body, pin_pose(pin, places[c.child][1]))
    return theirs, places


def in_their_order(model, theirs):
    """Indices of our q and v in their order."""
    names = list(theirs.names)[1:]
    iq = [i for n in names for i in range(model.nq)[model.q_slice(n)]]
    iv = [i for n in names for i in range(model.nv)[model.v_slice(n)]]
    return iq, iv


def their_solver(pin, model, *, lcaba=False):
    """Their accelerations as a function of q, v and tau in their order."""
    theirs, places = pin_model(pin, model)
    constraints, parts = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for c in model.closures:
        kind = pin.ContactType.CONTACT_6D if isinstance(c.joint, Fixed) else pin.ContactType.CONTACT_3D
        (i, X), (j, Y) = places[c.parent], places[c.child]
        ends = (i, pin_pose(pin, X @ c.parent_pose), j, pin_pose(pin, Y @ c.child_pose))
        ends = ends[2:] + ends[:2] if i == 0 else ends  # `lcaba` fails with the world first
        constraints.append(pin.RigidConstraintModel(kind, theirs, *ends, pin.ReferenceFrame.LOCAL))
        parts.append(constraints[len(constraints) - 1].createData())
    data = theirs.createData()
    settings = pin.ProximalSettings(1e-14, 1e-6 if lcaba else 1e-9, 60)
    if lcaba:
        pin.computeJointMinimalOrdering(theirs, data, constraints)
    else:
        pin.initConstraintDynamics(theirs, data, constraints, parts)
    solve = pin.lcaba if lcaba else pin.constraintDynamics
    return theirs, lambda q, v, tau: solve(theirs, data, q, v, tau, constraints, parts, settings)


def their_accelerations(pin, model, q, v, tau, *, lcaba=False):
    theirs, solve = their_solver(pin, model, lcaba=lcaba)
    iq, iv = in_their_order(model, theirs)
    a = np.empty(model.nv)
    a[iv] = solve(q[iq], v[iv], tau[iv])
    return a


def welded():
    """A floating chain whose ends are joined rigidly: what a six-dimensional constraint is."""
    rng = np.random.default_rng(6)
    m = cardan.Mechanism("welded")
    m.add_body("b0", random_inertia(rng))
    joints = [Revolute((0.6, 0, 0.8)), Spherical(), Universal(), Revolute((0, 1, 0)), Spherical(), Prismatic((0, 0, 1))]
    for k, joint in enumerate(joints):
        m.add_body(f"b{k + 1}", random_inertia(rng))
        m.add_joint(f"j{k}", joint, f"b{k}", f"b{k + 1}", random_pose(rng), random_pose(rng))
    m.add_joint("weld", Fixed(), "b6", "b0", random_pose(rng), random_pose(rng))
    return m


CASES = {
    "four_bar": lambda: cardan.robots.four_bar().model(),
    "five_bar": lambda: cardan.robots.five_bar().model(),
    "stewart_platform": lambda: cardan.robots.stewart_platform().model(),
    "leg": lambda: linkages.leg().model(base="floating"),
    "parallelogram": lambda: linkages.parallelogram(4, tilt=(0.3, 0.5, -0.4)).model(),
    "watt": lambda: linkages.watt().model(),
    "peaucellier": lambda: linkages.peaucellier().model(),
    "delta": lambda: linkages.delta().model(),
    "excavator": lambda: linkages.excavator().model(),
    "humanoid": lambda: linkages.humanoid_with_rods().model(base="floating"),
    "welded": lambda: welded().model(base="floating"),
}


def test_a_hand_of_pinocchio():
    """Its fingers free there: M and h are Pinocchio's, what tendons do is x = f(q), x' = F v, x'' = F a + g."""
    pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
    model, free = linkages.hand().model(), linkages.hand(free=True).model()
    theirs, _ = pin_model(pin, free)
    iq, iv = in_their_order(free, theirs)
    data, rng = theirs.createData(), np.random.default_rng(0)
    q, v, tau = (rng.uniform(-1.0, 1.0, model.nv) for _ in range(3))
    w, dw = q[0], v[0]
    x, F, g = np.zeros(free.nv), np.zeros((free.nv, model.nv)), np.zeros(free.nv)
    x[0], F[0, 0] = w, 1.0
    for k in range(4):
        n, u = q[1 + k], v[1 + k]
        y, slope = 0.1 + 0.8 * n + 0.15 * n * n, 0.8 + 0.3 * n
        dy, ddy = slope * u, 0.3 * u * u  # without the knuckle's own acceleration
        x[1 + 3 * k : 4 + 3 * k] = n, y, 0.7 * y + 0.2 * y * w
        F[1 + 3 * k, 1 + k], F[2 + 3 * k, 1 + k] = 1.0, slope
        F[3 + 3 * k, 1 + k], F[3 + 3 * k, 0] = (0.7 + 0.2 * w) * slope, 0.2 * y
        g[2 + 3 * k], g[3 + 3 * k] = ddy, (0.7 + 0.2 * w) * ddy + 0.4 * dy * dw
    dx, M, h = F @ v, np.zeros((free.nv, free.nv)), np.zeros(free.nv)
    M[np.ix_(iv, iv)] = np.triu(pin.crba(theirs, data, x[iq])) + np.triu(data.M, 1).T
    h[iv] = pin.nonLinearEffects(theirs, data, x[iq], dx[iv])
    expected = np.linalg.solve(F.T @ M @ F, tau - F.T @ (h + M @ g))
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), expected, rtol=1e-9)


@pytest.mark.parametrize("name", represented(CASES, by=("four_bar", "leg", "parallelogram", "welded").count))
def test_accelerations_of_pinocchio(name):
    """A planar hinge that closes a loop is a ball joint there: the same mechanism, other redundant rows."""
    pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
    model = CASES[name]()
    cluster = cardan.clustered(model)
    out, back = cardan.converter(cluster, model), cardan.converter(model, cluster)
    rng = np.random.default_rng(1)
    q = cardan.assemble(model, cardan.integrate(model, cardan.assemble(model), 0.1 * rng.normal(size=model.nv)))
    for _ in range(3):
        v = cardan.project_velocity(model, q, rng.normal(size=model.nv))
        tau = rng.normal(size=model.nv)
        ours = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
        expected = their_accelerations(pin, model, q, v, tau)
        np.testing.assert_allclose(ours, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))
        x, dx = back.configuration(q), back.velocity(q, v)
        moved = out.acceleration(x, dx, cardan.forward_dynamics(cluster, x, dx, back.effort(q, tau)))
        np.testing.assert_allclose(moved, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))


DEEP = {
    "chain on a ball": lambda: linkages.closed_chain(16, Spherical()).model(),
    "welded chain": lambda: linkages.closed_chain(24, Fixed()).model(),
    "hands": lambda: linkages.humanoid_that_holds(("hands", Spherical(), "left_hand", "right_hand")),
    "soles": lambda: linkages.humanoid_that_holds(
        *((f"{side}_holds", Fixed(), "world", f"{side}_foot") for side in ("left", "right"))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("lcaba", [False, True])
@pytest.mark.parametrize("name", DEEP)
def test_deep_trees_of_pinocchio(name, lcaba):
    """By the factors of M, and by articulated bodies of its own."""
    pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
    model = DEEP[name]()
    rng = np.random.default_rng(2)
    q = cardan.assemble(model, cardan.integrate(model, cardan.assemble(model), 0.3 * rng.normal(size=model.nv)))
    v = cardan.project_velocity(model, q, rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv)
    ours = cardan.constrained_forward_dynamics(model, q, v, tau).accelerations
    expected = their_accelerations(pin, model, q, v, tau, lcaba=lcaba)
    np.testing.assert_allclose(ours, expected, atol=(1e-6 if lcaba else 1e-10) * np.abs(expected).max())


def mjcf(model):
    """A fixed tree of hinges as MJCF, its closing hinges as ball joints (`connect`), as stiff as they can be."""

    def pose(X):
        M = np.array(X.homogeneous(), dtype=float)
        quaternion = np.roll(cardan.spatial.rotations.quaternion_xyzw_from_matrix(X.rotation), 1)
        return f'pos="{numbers(M[:3, 3])}" quat="{numbers(quaternion)}"'

    def body(c):
        inertia = model.body(c.child).inertia
        inside = ""
        if inertia is not None:
            J = np.array(inertia.inertia_at_com.matrix().rows(), dtype=float)
            six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
            inside = f'<inertial mass="{inertia.mass!r}" pos="{numbers(inertia.com)}" fullinertia="{numbers(six)}"/>'
        if isinstance(c.joint, Revolute):
            inside += f'<joint name="{c.name}" type="hinge" axis="{numbers(c.joint.axis)}"/>'
        inside += "".join(body(d) for d in model.connections if d.parent == c.child)
        return f'<body name="{c.child}" {pose(c.parent_pose)}>{inside}</body>'

    def connect(c):
        where = f'body1="{c.parent}" body2="{c.child}" anchor="{numbers(c.parent_pose.translation)}"'
        return f'<connect {where} solimp="0.99999 0.99999 0.001"/>'

    roots = "".join(body(c) for c in model.connections if c.parent == "world")
    loops = "".join(connect(c) for c in model.closures)
    return (
        '<mujoco><compiler angle="radian" boundmass="0" boundinertia="0" balanceinertia="false"/>'
        '<option><flag contact="disable"/></option>'
        f"<worldbody>{roots}</worldbody><equality>{loops}</equality></mujoco>"
    )


def numbers(values):
    return " ".join(repr(float(e)) for e in values)


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "parallelogram"])
def test_accelerations_of_mujoco_at_rest(name):
    """Its constraints are soft and leave out the bias k, so: at rest, as stiff as they can be, to 0.1 percent."""
    mujoco = pytest.importorskip("mujoco", reason="needs the `oracles` extra: mujoco", exc_type=ImportError)
    built = {
        "four_bar": cardan.robots.four_bar,
        "five_bar": cardan.robots.five_bar,
        "parallelogram": linkages.parallelogram,
    }[name]()
    model = built.model(closing=["high1", "high2"] if name == "parallelogram" else ())
    theirs = mujoco.MjModel.from_xml_string(mjcf(model))
    data = mujoco.MjData(theirs)
    iq = [model.q_slice(theirs.joint(k).name).start for k in range(theirs.njnt)]
    rng = np.random.default_rng(2)
    q = cardan.assemble(model, cardan.integrate(model, cardan.assemble(model), 0.1 * rng.normal(size=model.nv)))
    tau = rng.normal(size=model.nv)
    data.qpos[:], data.qfrc_applied[:] = q[iq], tau[iq]
    mujoco.mj_forward(theirs, data)
    ours = cardan.constrained_forward_dynamics(model, q, np.zeros(model.nv), tau).accelerations[iq]
    np.testing.assert_allclose(ours, data.qacc, atol=1e-3 * np.abs(ours).max())
