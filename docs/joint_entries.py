"""What docs/joints.md says that the code does not: formulas, singular configurations, other libraries' names.

The formulas are Python, and `tests/test_catalogue_page.py` evaluates them at random configurations: R and p are the
pose, S the columns of the motion subspace, c the bias.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """What to write about a joint type.

    Attributes:
        formulas: R, p, S and c, in terms of q, v and the joint's parameters.
        singular: where S loses rank, in a few words; then more, after a full stop.
        peers: library to its name of this joint, and what is different there.
    """

    formulas: str
    singular: str = "never"
    peers: dict[str, str] = field(default_factory=dict)


PIN, RBD, IDT, MUJOCO, NEWTON, DRAKE, OPENSIM, URDF, SDF = PEERS = (
    "Pinocchio",
    "RigidBodyDynamics.jl",
    "iDynTree",
    "MuJoCo",
    "Newton",
    "Drake",
    "OpenSim",
    "URDF",
    "SDF",
)
_GIMBAL_LOCK = "q1 = ±π/2. There the first and the last axis are aligned, and S has rank 2"
_QUATERNION = """\
x, y, z, w = {q} / norm({q})
u = [x, y, z]
R = I + 2 * w * skew(u) + 2 * skew(u) @ skew(u)
"""
_ALL = """\
S = [col(e_x, 0), col(e_y, 0), col(e_z, 0), col(0, e_x), col(0, e_y), col(0, e_z)]
c = col(0, 0)"""

ENTRIES: dict[str, Entry] = {
    "Fixed": Entry(
        "R, p = I, zero\nS = []\nc = col(0, 0)",
        peers={
            PIN: "`JointFixed` of the model graph; in a model, a frame of type `FIXED_JOINT`",
            RBD: "`Fixed`",
            IDT: "`FixedJoint`",
            MUJOCO: "a body without a joint",
            NEWTON: "`FIXED`",
            DRAKE: "`WeldJoint`",
            OPENSIM: "`WeldJoint`",
            URDF: "`fixed`",
            SDF: "`fixed`",
        },
    ),
    "Revolute": Entry(
        "R, p = Rot(axis, q[0]), zero\nS = [col(0, axis)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelRX`, `RY`, `RZ`, `RevoluteUnaligned`; an axis not of unit length is not refused",
            RBD: "`Revolute`",
            IDT: "`RevoluteJoint`; the axis may pass beside the origins; its sign depends on which link is called the child",
            MUJOCO: "`hinge`; its `ref` shifts the angle",
            NEWTON: "`REVOLUTE`",
            DRAKE: "`RevoluteJoint`",
            OPENSIM: "`PinJoint`, about z",
            URDF: "`revolute`; `continuous` has no limits",
            SDF: "`revolute`, `continuous`",
        },
    ),
    "Prismatic": Entry(
        "R, p = I, q[0] * axis\nS = [col(axis, 0)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelPX`, `PY`, `PZ`, `PrismaticUnaligned`; an axis of length 2 moves twice as far",
            RBD: "`Prismatic`",
            IDT: "`PrismaticJoint`",
            MUJOCO: "`slide`; its `ref` shifts the displacement",
            NEWTON: "`PRISMATIC`",
            DRAKE: "`PrismaticJoint`",
            OPENSIM: "`SliderJoint`, along x",
            URDF: "`prismatic`",
            SDF: "`prismatic`",
        },
    ),
    "Helical": Entry(
        "R, p = Rot(axis, q[0]), pitch * q[0] * axis\nS = [col(pitch * axis, axis)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelHX`, `HY`, `HZ`, `HelicalUnaligned`; pitch in m/rad, as here",
            DRAKE: "`ScrewJoint`; `screw_pitch` in m per turn, 2π pitch",
            OPENSIM: "`CustomJoint`; in Simbody `MobilizedBody::Screw`, pitch in m/rad",
            SDF: "`screw`; `screw_thread_pitch` in m per turn, 2π pitch; the older `thread_pitch` in rad/m and left-handed, "
            "-1/pitch",
        },
    ),
    "UnboundedRevolute": Entry(
        "cos_q, sin_q = unit_circle(q, order)  # q / norm(q), or the other way round\n"
        "R, p = I + sin_q * skew(axis) + (1 - cos_q) * skew(axis) @ skew(axis), zero\n"
        "S = [col(0, axis)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelRUBX`, `RUBY`, `RUBZ`, `RevoluteUnboundedUnaligned`; (cos, sin); the axis of the last cannot be "
            "set from Python",
            RBD: "`SinCosRevolute`; (sin, cos)",
            IDT: "`RevoluteSO2Joint`; (cos, sin); not in its Python bindings",
            URDF: '`continuous` is read as this joint with `continuous="unit_complex"`',
        },
    ),
    "Universal": Entry(
        "R2 = Rot(axis2, q[1])\nR, p = Rot(axis1, q[0]) @ R2, zero\n"
        "S = [col(0, R2.T @ axis1), col(0, axis2)]\nc = col(0, -v[0] * v[1] * cross(axis2, R2.T @ axis1))",
        "never. The axes are never parallel, as the second is carried along",
        {
            PIN: "`JointModelUniversal`; parallel axes are not refused; derivatives, Coriolis matrix and Jacobian rate wrong",
            MUJOCO: "two `hinge` joints of one body",
            NEWTON: "`D6` of two angles; right for orthogonal axes only",
            DRAKE: "`UniversalJoint`; about x, then y",
            OPENSIM: "`UniversalJoint`; about x, then y",
            SDF: "`universal`",
        },
    ),
    "Spherical": Entry(
        _QUATERNION.format(q="q") + "p = zero\nS = [col(0, e_x), col(0, e_y), col(0, e_z)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelSpherical`; the same q and v; another norm of q is not refused",
            RBD: "`QuaternionSpherical`; (w, x, y, z)",
            IDT: "`SphericalJoint`; (w, x, y, z); v in the second link's axes; the centre may lie beside the origins",
            MUJOCO: "`ball`; (w, x, y, z); v in child axes",
            NEWTON: "`BALL`; (x, y, z, w); v in parent axes",
            OPENSIM: "`BallJoint`; coordinates are angles about x, y, z, carried along; speeds are the angular velocity",
            SDF: "`ball`",
        },
    ),
    "SphericalZYX": Entry(
        "s1, c1, s2, c2 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])\n"
        "R, p = Rot(e_z, q[0]) @ Rot(e_y, q[1]) @ Rot(e_x, q[2]), zero\n"
        "S = [col(0, [-s1, c1 * s2, c1 * c2]), col(0, [0, c2, -s2]), col(0, e_x)]\n"
        "c = col(\n    0,\n    [\n        -c1 * v[0] * v[1],\n"
        "        -s1 * s2 * v[0] * v[1] + c1 * c2 * v[0] * v[2] - s2 * v[1] * v[2],\n"
        "        -s1 * c2 * v[0] * v[1] - c1 * s2 * v[0] * v[2] - c2 * v[1] * v[2],\n    ],\n)",
        _GIMBAL_LOCK,
        {
            PIN: "`JointModelSphericalZYX`; derivatives, Coriolis matrix and Jacobian rate wrong",
            MUJOCO: "three `hinge` joints of one body",
            NEWTON: "`D6` of three angles about z, y, x",
            DRAKE: "`BallRpyJoint`; (roll, pitch, yaw); v is the angular velocity in parent axes, not the rates",
            OPENSIM: "`GimbalJoint`; angles about x, y, z, carried along, in this order; speeds their rates",
        },
    ),
    "Translation": Entry(
        "R, p = I, q\nS = [col(e_x, 0), col(e_y, 0), col(e_z, 0)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelTranslation`",
            MUJOCO: "three `slide` joints of one body",
            NEWTON: "`D6` of three displacements",
            OPENSIM: "`CustomJoint`",
        },
    ),
    "Planar": Entry(
        "x, y, cos_q, sin_q = q[0], q[1], *(q[2:] / norm(q[2:]))\n"
        "R, p = [[cos_q, -sin_q, 0], [sin_q, cos_q, 0], [0, 0, 1]], [x, y, 0]\n"
        "S = [col(e_x, 0), col(e_y, 0), col(0, e_z)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelPlanar`; the same q and v",
            RBD: "`Planar`; with an angle, see `PlanarAngle`",
            MUJOCO: "two `slide` joints and a `hinge`; linear velocity in parent axes",
            NEWTON: "`D6`; linear velocity in parent axes",
            DRAKE: "`PlanarJoint`; (x, y, angle); v their rates, in parent axes",
            OPENSIM: "`PlanarJoint`; (angle, x, y); speeds their rates",
            URDF: "`planar`; its `axis` is the normal, turned to z by the placement",
        },
    ),
    "PlanarAngle": Entry(
        "normal = cross(x_axis, y_axis)\nR, p = Rot(normal, q[2]), q[0] * x_axis + q[1] * y_axis\n"
        "S = [col(x_axis, 0), col(y_axis, 0), col(0, normal)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelPlanar`; (x, y, cos, sin), in the xy plane",
            RBD: "`Planar`; the same q; v the same, but angular first in twists",
            MUJOCO: "two `slide` joints and a `hinge`; linear velocity in parent axes",
            NEWTON: "`D6`; linear velocity in parent axes",
            DRAKE: "`PlanarJoint`; the same q, in the xy plane; v their rates, in parent axes",
            OPENSIM: "`PlanarJoint`; (angle, x, y); speeds their rates",
        },
    ),
    "FreeFlyer": Entry(
        _QUATERNION.format(q="q[3:]") + "p = q[:3]\n" + _ALL,
        peers={
            PIN: "`JointModelFreeFlyer`; the same q and v",
            RBD: "`QuaternionFloating`; q = (w, x, y, z, p), v = (angular, linear) in child axes",
            IDT: "the free base, which is no joint; its velocity is mixed, body or inertial, linear first",
            MUJOCO: "`free`; q = (p, w, x, y, z); linear velocity in world axes, angular in body axes",
            NEWTON: "`FREE`; the same q; v in parent axes, the linear part that of the centre of mass",
            DRAKE: "`QuaternionFloatingJoint`; q = (w, x, y, z, p), v = (angular, linear) in parent axes",
            OPENSIM: "`FreeJoint`; coordinates three angles about x, y, z, then p; speeds angular first",
            URDF: "`floating`",
            SDF: "a link that no joint holds",
        },
    ),
    "FloatingMRP": Entry(
        "p, s = q[:3], q[3:]\nn = dot(s, s)\n"
        "R = I + (8 * skew(s) @ skew(s) + 4 * (1 - n) * skew(s)) / (1 + n) ** 2\n" + _ALL,
        "never. The parameters, axis tan(angle / 4), go to infinity at a whole turn; `principal_value` changes to their "
        "shadow, -s / n, where n > 1",
        {
            RBD: "`SPQuatFloating`; q = (s, p), v = (angular, linear); its integrator never changes to the shadow",
            DRAKE: "`RpyFloatingJoint`; six coordinates as well, but angles",
        },
    ),
    "Ellipsoid": Entry(
        "s0, c0, s1, c1, s2, c2 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])\n"
        "A = diag(radii)\n"
        "R = Rot(e_x, q[0]) @ Rot(e_y, q[1]) @ Rot(e_z, q[2])\n"
        "n = R @ e_z  # (s1, -s0 c1, c0 c1)\n"
        "p = A @ n\n"
        "n0, n1 = vec(0, -c0 * c1, -s0 * c1), vec(c1, s0 * s1, -c0 * s1)\n"
        "n00, n01, n11 = vec(0, s0 * c1, -c0 * c1), vec(0, c0 * s1, s0 * s1), -n\n"
        "S = [\n    col(R.T @ A @ n0, [c1 * c2, -c1 * s2, s1]),\n    col(R.T @ A @ n1, [s2, c2, 0]),\n    col(0, e_z),\n]\n"
        "w = v[0] * vec(c1 * c2, -c1 * s2, s1) + v[1] * vec(s2, c2, 0) + v[2] * e_z\n"
        "curved = n00 * v[0] ** 2 + 2 * n01 * v[0] * v[1] + n11 * v[1] ** 2\n"
        "c = col(\n    R.T @ A @ curved - cross(w, R.T @ A @ (n0 * v[0] + n1 * v[1])),\n    [\n"
        "        -s1 * c2 * v[0] * v[1] - c1 * s2 * v[0] * v[2] + c2 * v[1] * v[2],\n"
        "        s1 * s2 * v[0] * v[1] - c1 * c2 * v[0] * v[2] - s2 * v[1] * v[2],\n"
        "        c1 * v[0] * v[1],\n    ],\n)",
        _GIMBAL_LOCK + ", even if the radii are equal",
        {
            PIN: "`JointModelEllipsoid`; the same q and v; radii are 0 by default, and `==` does not see them; cannot be "
            "reversed; derivatives, Coriolis matrix and Jacobian rate wrong",
            OPENSIM: "`EllipsoidJoint`; the same pose for the same three angles; speeds are the angular velocity in parent "
            "axes, not their rates",
        },
    ),
    "D6": Entry(
        "R = product(Rot(a, t) for a, t in zip(angular, q[len(linear) :]))\n"
        "p = sum(d * a for a, d in zip(linear, q))\n"
        "along = [R.T @ a for a in linear]\n"
        "about = [product(Rot(a, t) for a, t in later).T @ axis for axis, later in each(angular, q[len(linear) :])]\n"
        "S = [*(col(a, 0) for a in along), *(col(0, a) for a in about)]\n"
        "w, bias, rates = zero, zero, v[len(linear) :]\n"
        "for a, rate in reversed([*zip(about, rates)]):  # from the last rotation to the first\n"
        "    bias = bias - cross(w, a) * rate\n"
        "    w = w + a * rate\n"
        "c = col(-cross(w, sum(d * a for a, d in zip(along, v))), bias)",
        "three angles: where the second has carried the third axis onto the first",
        {
            PIN: "`JointModelComposite`",
            MUJOCO: "`slide` and `hinge` joints of one body, in this order",
            NEWTON: "`D6`; the same q and v; two angles are wrong unless their axes are orthogonal",
            OPENSIM: "`CustomJoint`; `GimbalJoint` for three angles about x, y, z",
        },
    ),
    "Composite": Entry(
        "# P, X_i, S_i, c_i, v_i: placement, pose, subspace, bias and velocity of the i-th joint of the chain\n"
        "X, S, c, w = pose(I, zero), [], col(0, 0), col(0, 0)\n"
        "for P, X_i, S_i, c_i, v_i in reversed(chain):  # X: the end of the chain, seen from behind the i-th joint\n"
        "    columns = [inv(Ad(X)) @ s for s in S_i]\n"
        "    twist = sum(s * r for s, r in zip(columns, v_i))\n"
        "    c = c + inv(Ad(X)) @ c_i - ad(w) @ twist\n"
        "    w = w + twist\n"
        "    S = columns + S\n"
        "    X = P @ X_i @ X\n"
        "R, p = X[:3, :3], X[:3, 3]",
        "where one of its joints is, or their motions become dependent",
        {
            PIN: "`JointModelComposite`; the same order; derivatives, Coriolis matrix and Jacobian rate wrong",
            MUJOCO: "several joints of one body",
        },
    ),
    "Reversed": Entry(
        "X, S_joint, c_joint = inner(q, v)\n"
        "R, p = X[:3, :3].T, -X[:3, :3].T @ X[:3, 3]\n"
        "S = [-Ad(X) @ s for s in S_joint]\nc = -Ad(X) @ c_joint",
        "where the joint is",
        {
            PIN: "the model graph walks edges backwards; not those of an ellipsoid or a mimic joint, and q may change",
            RBD: "`Fixed`, `Revolute`, `Prismatic`, `SinCosRevolute` flip their axis, and their bounds, too, which is wrong",
            IDT: "every joint, by saying which link is the child",
            OPENSIM: "in Simbody `MobilizedBody::Reverse`",
        },
    ),
    "Cylindrical": Entry(
        "R, p = Rot(axis, q[1]), q[0] * axis\nS = [col(axis, 0), col(0, axis)]\nc = col(0, 0)",
        peers={
            PIN: "`JointModelComposite`",
            MUJOCO: "a `slide` and a `hinge` of one body",
            NEWTON: "`D6`",
            OPENSIM: "`CustomJoint`",
        },
    ),
    "VariableScrew": Entry(
        "h = sum(h_k * q[0] ** k for k, h_k in enumerate(pitch))\n"
        "slope = sum(k * h_k * q[0] ** (k - 1) for k, h_k in enumerate(pitch) if k)\n"
        "R, p = Rot(axis, q[0]), axis * sum(h_k * q[0] ** (k + 1) / (k + 1) for k, h_k in enumerate(pitch))\n"
        "S = [col(h * axis, axis)]\nc = col(slope * v[0] ** 2 * axis, 0)",
        peers={OPENSIM: "`CustomJoint` with a polynomial"},
    ),
    "ConstantVelocity": Entry(
        "a1, a2, a3 = axis1, axis2, cross(axis1, axis2)\n"
        "R1 = Rot(a1, q[0])\nR, m = R1 @ Rot(a2, 2 * q[1]) @ R1, R1 @ Rot(a2, q[1]) @ a3\np = length * m\n"
        "b = R1 @ a2  # the second axis, in parent axes\n"
        "S = [\n    col(R.T @ (length * cross(a1, m)), R.T @ a1 + a1),\n"
        "    col(R.T @ (length * cross(b, m)), 2 * R1.T @ a2),\n]\n"
        "w = v[0] * S[0][3:] + v[1] * S[1][3:]  # of the child, in its axes\n"
        "u = v[0] * a1 + v[1] * b  # of the middle shaft, in parent axes\n"
        "c = col(\n"
        "    length * R.T @ (cross(v[0] * v[1] * cross(a1, b), m) + cross(u, cross(u, m)))\n"
        "    - cross(w, length * R.T @ cross(u, m)),\n"
        "    -v[0] * cross(w, R.T @ a1) - 2 * v[0] * v[1] * cross(a1, R1.T @ a2),\n)",
        "q1 = ±π/2. The shafts lie on one another there, bent by π",
    ),
    "Spline": Entry(
        "X = frames[0]\n"
        "for k in range(1, len(frames)):\n"
        "    V = log(inv(frames[k - 1]) @ frames[k])\n"
        "    X = X @ exp(weight(k, q[0]) * V)  # from 0 to 1: a cubic B-spline, summed up\n"
        "R, p = X[:3, :3], X[:3, 3]\n"
        "E, w, bias = pose(I, zero), col(0, 0), col(0, 0)  # E: the end, seen from behind the k-th screw\n"
        "for k in reversed(range(1, len(frames))):\n"
        "    V = log(inv(frames[k - 1]) @ frames[k])\n"
        "    s = inv(Ad(E)) @ V\n"
        "    bias = bias + slope2(k, q[0]) * s - ad(w) @ (slope(k, q[0]) * s)  # slopes: d weight / dq and its slope\n"
        "    w = w + slope(k, q[0]) * s\n"
        "    E = exp(weight(k, q[0]) * V) @ E\n"
        "S = [w]\nc = v[0] ** 2 * bias",
        "where frames turn back, so that the curve halts",
        {
            DRAKE: "`CurvilinearJoint`; arcs and straight lines in a plane; q is the length along them",
            OPENSIM: "`CustomJoint` with splines for each coordinate",
        },
    ),
    "OpenSimCustom": Entry(
        "R = product(Rot(axis, f(q)) for axis, f in zip(rotation_axes, rotations))\n"
        "p = sum(f(q) * axis for axis, f in zip(translation_axes, translations))\n"
        "turns = each(rotation_axes, [f(q) for f in rotations])  # each axis with the turns behind it\n"
        "about = [product(Rot(a, t) for a, t in later).T @ axis for axis, later in turns]\n"
        "along = [R.T @ axis for axis in translation_axes]\n"
        "S = [\n    col(\n"
        "        sum(slope(f, j) * a for a, f in zip(along, translations)),\n"
        "        sum(slope(f, j) * a for a, f in zip(about, rotations)),\n"
        "    )\n    for j in range(len(q))\n]  # slope(f, j): df / dq_j\n"
        "w, bias = zero, zero\n"
        "for a, f in reversed([*zip(about, rotations)]):  # f_dot, f_ddot: its derivatives by time, with constant v\n"
        "    bias = bias + f_ddot(f) * a - cross(w, f_dot(f) * a)\n"
        "    w = w + f_dot(f) * a\n"
        "c = col(\n"
        "    sum(f_ddot(f) * a - cross(w, f_dot(f) * a) for a, f in zip(along, translations)),\n"
        "    bias,\n)",
        "where the functions' slopes, or the axes as they lie then, are dependent",
        {
            MUJOCO: "joints of one body, tied by `equality` constraints of polynomials",
            OPENSIM: "`CustomJoint`; the same order; a `SimmSpline` has other ends than `NaturalSpline`",
        },
    ),
    "Cable": Entry(
        "b = q[1] * across[0] + q[2] * across[1]  # across: unit vectors normal to the axis\n"
        "t = norm(b)\n"
        "R, p = Rot(b / t, t), q[0] * axis\n"
        "f, g = (1 - cos(t)) / t**2, (t - sin(t)) / t**3\n"
        "J = I - f * skew(b) + g * skew(b) @ skew(b)\n"
        "S = [col(R.T @ axis, 0), col(0, J @ across[0]), col(0, J @ across[1])]\n"
        "b_dot = v[1] * across[0] + v[2] * across[1]\n"
        "swung, t_dot = cross(b, b_dot), dot(b, b_dot) / t\n"
        "f_dot, g_dot = (sin(t) / t**2 - 2 * f / t) * t_dot, (f / t - 3 * g / t) * t_dot\n"
        "c = col(\n    -v[0] * cross(J @ b_dot, R.T @ axis),\n"
        "    -f_dot * swung + g_dot * cross(b, swung) + g * cross(b_dot, swung),\n)",
        "where the bend is a whole turn",
        {
            MUJOCO: "a chain of `ball` joints with the plugin `mujoco.elasticity.cable`",
            NEWTON: "`CABLE`, from 1.6 on `ROD`; an energy between free bodies; its two coordinates carry no state",
        },
    ),
    "Distance": Entry(
        _QUATERNION.format(q="q[3:]") + "p = q[:3]\n" + _ALL + "\n"
        "assert minimum <= norm(p) <= maximum  # for a solver to honour",
        peers={
            MUJOCO: "a free body and a `tendon` with limits",
            NEWTON: "`DISTANCE`; q and v as of its `FREE`; honoured by the solver XPBD alone; a negative bound is none",
            DRAKE: "a `DistanceConstraint`; equal bounds",
            OPENSIM: "a `ConstantDistanceConstraint`; equal bounds",
        },
    ),
    "Mimic": Entry(
        "X, S_inner, c_inner = inner(multiplier * q + offset, multiplier * v)\n"
        "R, p = X[:3, :3], X[:3, 3]\nS = [multiplier * s for s in S_inner]\nc = c_inner",
        "where the inner joint is, and everywhere if the multiplier is 0",
        {
            PIN: "`JointModelMimic`; of one-axis joints only, and after its primary; no forward dynamics, no derivatives",
            MUJOCO: "an `equality` of two joints",
            NEWTON: "a mimic constraint between two joints",
            DRAKE: "a coupler constraint between two joints",
            OPENSIM: "a `CoordinateCouplerConstraint`",
            URDF: "`<mimic>`",
            SDF: "`<mimic>`; multiplier (leader - reference) + offset",
        },
    ),
}
"""By type name."""
