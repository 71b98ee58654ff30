"""What cardan writes as URDF, read by Pinocchio: the same robot, from files and from mechanisms no file describes."""

import warnings

import numpy as np
import pytest

import cardan
from cardan.formats import write_urdf
from cardan.joints import Planar, Spherical
from representatives import represented
from rerooting import relative, state
from robots_data import urdf_files
from urdf_mechanisms import expressible

pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)
FILES = {file.stem: file for file in urdf_files()}
ROBOTS = ("panda", "ur5_robot", "kinova", "solo12", "anymal-kinova", "talos_reduced", "icub", "baxter", "tiago", "go2")


def permutation(model, theirs):
    """Where their coordinates and velocities are in ours."""
    iq, iv = np.empty(theirs.nq, dtype=int), np.empty(theirs.nv, dtype=int)
    for name, joint in zip(list(theirs.names)[1:], list(theirs.joints)[1:], strict=True):
        if not joint.nv:
            continue  # a mimic
        iq[joint.idx_q : joint.idx_q + joint.nq] = np.arange(model.nq)[model.q_slice(name)]
        iv[joint.idx_v : joint.idx_v + joint.nv] = np.arange(model.nv)[model.v_slice(name)]
    return iq, iv


def assert_agrees(model, text, moved, seed=0):
    """Mass matrix, bias forces and link poses of our model, and of Pinocchio's of the text."""
    theirs = pin.buildModelFromXML(text, mimic=True)
    data = theirs.createData()
    assert (theirs.nq, theirs.nv) == (model.nq, model.nv)
    iq, iv = permutation(model, theirs)
    q, v, _, _ = state(model, seed)
    q_theirs, v_theirs = np.array(q)[iq], np.array(v)[iv]
    theirs.armature = armature(model)[iv]
    M = np.triu(pin.crba(theirs, data, q_theirs))
    ours = np.array(cardan.mass_matrix.kernel(model, q), dtype=float)[np.ix_(iv, iv)]
    assert relative(ours, M + np.triu(M, 1).T) < 1e-11
    bias = np.array(cardan.inverse_dynamics.kernel(model, q, v, [0.0] * model.nv), dtype=float)[iv]
    assert relative(bias, pin.nonLinearEffects(theirs, data, q_theirs, v_theirs)) < 1e-11
    pin.framesForwardKinematics(theirs, data, q_theirs)
    for body in model.body_names:
        X = cardan.frame_transform.kernel(model, q, body)
        X = X @ moved[body] if body in moved else X
        assert relative(X.homogeneous(), data.oMf[theirs.getFrameId(body, pin.BODY)].homogeneous) < 1e-11, body


def armature(model):
    """Ours along v: Pinocchio skips the extension."""
    values = np.zeros(model.nv)
    for c in model.connections:
        values[model.v_slice(c.name)] = c.armature
    return values


@pytest.mark.skipif(not FILES, reason="needs the `oracles` extra: example-robot-data")
@pytest.mark.parametrize("name", represented(ROBOTS, by=ROBOTS[::3].count))
def test_robots(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cardan.errors.DescriptionWarning)
        mechanism = cardan.load_mechanism(str(FILES[name]), continuous="unit_complex")
    written = write_urdf(mechanism)
    assert written.moved == {}
    assert_agrees(mechanism.model(), written.text, {})


@pytest.mark.parametrize("seed", represented(range(12), by=range(0, 12, 4).count))
def test_mechanisms_with_poses_on_both_sides(seed):
    """Without what Pinocchio has not: ball joints in URDF, mimics as it has them, limits that end on one side."""
    full = expressible(seed)
    m = cardan.Mechanism(full.name)
    for body in full.bodies:
        m.add_body(body.name, body.inertia)
    for c in full.joints:
        joint = c.joint.joint if hasattr(c.joint, "primary") else Planar() if c.joint == Spherical() else c.joint
        if type(joint).__name__ == "Revolute" and not np.isfinite([*c.limits.lower, *c.limits.upper]).any():
            joint = cardan.joints.UnboundedRevolute(joint.axis)  # continuous: Pinocchio takes (cos, sin)
        m.add_joint(c.name, joint, c.parent, c.child, c.parent_pose, c.child_pose, c.limits, armature=c.armature)
    written = write_urdf(m)
    back = cardan.load_mechanism(written.text, on_inertia="ignore")
    root = next(b.name for b in back.bodies if b.name not in {c.child for c in back.joints})
    assert_agrees(m.model(root=root), written.text, written.moved, seed)
