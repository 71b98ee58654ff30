"""Pinocchio's answers to the questions of `accuracy.py`."""

import numpy as np

import cardan
from cardan import joints as J


def pin_joint(pin, joint):
    """The same joint in Pinocchio, or None."""

    def vector(axis):
        return np.array([float(e) for e in axis])

    def pose(X):
        return pin.SE3(X.matrix())

    if isinstance(joint, J.Composite):
        model = pin.JointModelComposite(pin_joint(pin, joint.joints[0]), pose(joint.placements[0]))
        for one, X in zip(joint.joints[1:], joint.placements[1:], strict=True):
            model.addJoint(pin_joint(pin, one), pose(X))
        return model
    if isinstance(joint, J.UnboundedRevolute):
        return pin.JointModelRUBZ() if joint == J.UnboundedRevolute((0.0, 0.0, 1.0)) else None
    makers = {
        J.Revolute: lambda: pin.JointModelRevoluteUnaligned(vector(joint.axis)),
        J.Prismatic: lambda: pin.JointModelPrismaticUnaligned(vector(joint.axis)),
        J.Helical: lambda: pin.JointModelHelicalUnaligned(vector(joint.axis), joint.pitch),
        J.Universal: lambda: pin.JointModelUniversal(vector(joint.axis1), vector(joint.axis2)),
        J.Spherical: pin.JointModelSpherical,
        J.SphericalZYX: pin.JointModelSphericalZYX,
        J.Translation: pin.JointModelTranslation,
        J.Planar: pin.JointModelPlanar,
        J.FreeFlyer: pin.JointModelFreeFlyer,
        J.Ellipsoid: lambda: pin.JointModelEllipsoid(*joint.radii),
    }
    return makers[type(joint)]() if type(joint) in makers else None


def pin_values(robot):
    """Pinocchio's results, for the same states; None where it has no such joint."""
    import pinocchio as pin

    mechanism, model = robot.mechanism, pin.Model()
    if pin_joint(pin, robot.joint) is None:
        return None
    above = cardan.SE3()
    for k, (c, body) in enumerate(zip(mechanism.joints, mechanism.bodies[-3:], strict=True)):
        index = model.addJoint(k, pin_joint(pin, c.joint), pin.SE3((above @ c.parent_pose).matrix()), c.name)
        above = c.child_pose.inverse()
        matrix = np.array([list(row) for row in body.inertia.inertia_at_com.matrix().rows()])
        inertia = pin.Inertia(body.inertia.mass, np.array(list(body.inertia.com)), matrix)
        model.appendBodyToJoint(index, inertia, pin.SE3(above.matrix()))
    frame = model.addFrame(pin.Frame("tool", 3, 0, pin.SE3(above.matrix()), pin.FrameType.OP_FRAME))
    model.armature = np.concatenate([c.armature for c in mechanism.joints])
    data, nv = model.createData(), model.nv
    parts = [_pin_state(pin, model, data, frame, robot, i) for i in range(len(robot.q))]
    assert nv == robot.model.nv
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


def _pin_state(pin, model, data, frame, robot, i):
    q, v, a, tau = robot.q[i], robot.v[i], robot.a[i], robot.tau[i]
    joint = model.joints[2]
    jdata = joint.createData()
    joint.calc(jdata, q, v)
    found = {"X": jdata.M.homogeneous[:3], "S": np.array(jdata.S).reshape(6, joint.nv), "bias": jdata.c.vector}
    found["tau"], found["a"] = pin.rnea(model, data, q, v, a).copy(), pin.aba(model, data, q, v, tau).copy()
    dq, dv, da = (np.array(x) for x in pin.computeRNEADerivatives(model, data, q, v, a))
    found |= {"dtau/dq": dq, "dtau/dv": dv, "dtau/da": np.triu(da) + np.triu(da, 1).T}
    dq, dv, dtau = (np.array(x) for x in pin.computeABADerivatives(model, data, q, v, tau))
    found |= {"da/dq": dq, "da/dv": dv, "da/dtau": np.triu(dtau) + np.triu(dtau, 1).T}
    C = np.array(pin.computeCoriolisMatrix(model, data, q, v))
    found |= {"C v": C @ v, "C + C'": C + C.T}
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    pin.updateFramePlacements(model, data)
    found["dJ/dt"] = np.array(pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL))
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    dq, _ = pin.getFrameVelocityDerivatives(model, data, frame, pin.LOCAL)
    found["dV/dq"] = np.array(dq)
    _, dq, dv, _ = pin.getFrameAccelerationDerivatives(model, data, frame, pin.LOCAL)
    found |= {"dA/dq": np.array(dq), "dA/dv": np.array(dv)}
    dh, dq, dv, _ = pin.computeCentroidalDynamicsDerivatives(model, data, q, v, a)
    return found | {"dh/dq": np.array(dh), "dh'/dq": np.array(dq), "dh'/dv": np.array(dv)}
