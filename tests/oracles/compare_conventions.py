"""cardan against other libraries through `cardan.conventions`: state there, its dynamics, back here.

`python tests/oracles/compare_conventions.py` prints the table over ROBOTS, for every library that is installed. All
libraries read the same URDF text, without shapes.
"""

import importlib
import sys
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np

import cardan
from cardan import conventions
from cardan.coordinates import REFERENCES

ROBOTS = (
    "a1_description/urdf/a1.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go2_description/urdf/go2.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "kinova_description/robots/kinova.urdf",
    "panda_description/urdf/panda.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "z1_description/urdf/z1.urdf",
)
NO_BODY = "an inertia that no body has, which it refuses or replaces"
REFUSED = {  # robots a library does not read, or reads otherwise, and why
    "pinocchio": {"z1": "a link and a joint of one name"},
    "mujoco": dict.fromkeys(("allegro_left_hand", "anymal", "hyq_no_sensors", "tiago_no_hand"), NO_BODY),
    "idyntree": dict.fromkeys(("a1", "kinova", "simple_humanoid"), "the root link has no mass"),
    "newton": {"talos_reduced": "a fixed joint that mimics", "allegro_left_hand": NO_BODY},
    "drake": dict.fromkeys(("allegro_left_hand", "anymal", "hyq_no_sensors", "tiago_no_hand"), NO_BODY)
    | {"talos_reduced": "a fixed joint that mimics"},
}
BASE_JOINT = "root"
STRIPPED = ("visual", "collision", "transmission", "gazebo", "sensor", "dynamics", "drake:acceleration")


def bare(text):
    """A URDF without shapes, friction and foreign elements."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        for child in list(element):
            if child.tag in STRIPPED:
                element.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def our_model(text, floating):
    """The model; None if the root link is the world and cannot float."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return cardan.load(text, base="floating" if floating else "fixed")
        except cardan.errors.MechanismError:
            return None


class Library:
    """What they have in common."""

    reference = ("frame", "world")  # of the frames' Jacobians
    forward_dynamics = jacobian = velocity = None

    def has_body(self, body):
        """Whether it is there, not merged into another."""
        return True


class Pinocchio(Library):
    module, tolerance = "pinocchio", 1e-11

    def __init__(self, text, ours, directory):
        import pinocchio as pin

        self.pin = pin
        root = [pin.JointModelFreeFlyer()] if is_floating(ours) else []
        self.model = pin.buildModelFromXML(text, *root)
        self.data = self.model.createData()
        self.joint_names = [BASE_JOINT if n == "root_joint" else n for n in list(self.model.names)[1:]]

    def inverse_dynamics(self, q, v, a, external=None):
        if external is None:
            return self.pin.rnea(self.model, self.data, q, v, a)
        forces = self.pin.StdVec_Force()
        totals = np.zeros((self.model.njoints, 6))
        for body, wrench in external.items():
            totals[self.model.frames[self.model.getFrameId(body)].parentJoint] += wrench
        forces.extend([self.pin.Force(f) for f in totals])
        return self.pin.rnea(self.model, self.data, q, v, a, forces)

    def forward_dynamics(self, q, v, tau):
        return self.pin.aba(self.model, self.data, q, v, tau)

    def mass_matrix(self, q):
        M = self.pin.crba(self.model, self.data, q)
        return np.triu(M) + np.triu(M, 1).T

    def pose(self, q, body):
        self.pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.model.getFrameId(body)].homogeneous

    def jacobian(self, q, body):
        pin, frame = self.pin, self.model.getFrameId(body)
        return pin.computeFrameJacobian(self.model, self.data, q, frame, pin.LOCAL_WORLD_ALIGNED)


class MuJoCo(Library):
    module, tolerance = "mujoco", 1e-11

    def __init__(self, text, ours, directory):
        import mujoco

        self.mujoco = mujoco
        if is_floating(ours):
            text = with_floating_joint(text, ours)
        text = text.replace("</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>')
        self.model = mujoco.MjModel.from_xml_string(text)
        flags = mujoco.mjtDisableBit
        self.model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT
        self.data = mujoco.MjData(self.model)
        self.joint_names = [self.model.joint(k).name for k in range(self.model.njnt)]

    def _set(self, q, v=None):
        self.data.qpos[:] = q
        self.data.qvel[:] = 0.0 if v is None else v
        self.mujoco.mj_forward(self.model, self.data)

    def inverse_dynamics(self, q, v, a, external=None):
        for body, wrench in (external or {}).items():
            self.data.xfrc_applied[self._body(body)] = wrench
        self._set(q, v)
        self.data.qacc[:] = a
        self.mujoco.mj_inverse(self.model, self.data)
        if external:  # qfrc_inverse is what all applied forces together have to be
            applied = np.zeros(self.model.nv)
            for body, wrench in external.items():
                k = self._body(body)
                arguments = (wrench[:3], wrench[3:], self.data.xipos[k], k, applied)
                self.mujoco.mj_applyFT(self.model, self.data, *arguments)
            self.data.xfrc_applied[:] = 0.0
            return self.data.qfrc_inverse - applied
        return self.data.qfrc_inverse.copy()

    def forward_dynamics(self, q, v, tau):
        self.data.qfrc_applied[:] = tau
        self._set(q, v)
        self.data.qfrc_applied[:] = 0.0
        return self.data.qacc.copy()

    def mass_matrix(self, q):
        self._set(q)
        M = np.zeros((self.model.nv, self.model.nv))
        self.mujoco.mj_fullM(self.model, self.data, M)
        return M

    def _body(self, body):
        return self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_BODY, body)

    def has_body(self, body):
        return self._body(body) >= 0

    def pose(self, q, body):
        if (k := self._body(body)) < 0:
            return None
        self._set(q)
        return homogeneous(self.data.xmat[k].reshape(3, 3), self.data.xpos[k])

    def jacobian(self, q, body):
        if (k := self._body(body)) < 0:
            return None
        self._set(q)
        J = np.zeros((2, 3, self.model.nv))
        self.mujoco.mj_jacBody(self.model, self.data, J[0], J[1], k)
        return J.reshape(6, -1)


class IDynTree(Library):
    """In the representation of its options."""

    module, tolerance = "idyntree.swig", 1e-11

    def __init__(self, text, ours, directory, representation="mixed"):
        import idyntree.swig as idt

        self.reference = REFERENCES[representation]
        self.idt, self.floating = idt, is_floating(ours)
        names = [c.name for c in ours.connections if c.joint.nv > 0 and c.name != BASE_JOINT]
        path = directory / "robot.urdf"
        path.write_text(text)
        loader = idt.ModelLoader()
        base = root_link(ours)
        listed = idt.StringVector()
        for name in names:
            listed.push_back(name)
        if not loader.loadReducedModelFromFile(str(path), listed):
            raise RuntimeError("iDynTree refuses it")
        self.dynamics = idt.KinDynComputations()
        links = {loader.model().getLinkName(k) for k in range(loader.model().getNrOfLinks())}
        if base not in links:
            raise RuntimeError(f"the root link {base!r} has no mass and is but a frame there")
        assert self.dynamics.loadRobotModel(loader.model())
        assert self.dynamics.setFloatingBase(base)
        kind = {"mixed": idt.MIXED_REPRESENTATION, "body": idt.BODY_FIXED_REPRESENTATION}
        kind["inertial"] = idt.INERTIAL_FIXED_REPRESENTATION
        self.dynamics.setFrameVelocityRepresentation(kind[representation])
        self.loader = loader  # the model dies with it
        self.model, self.n = loader.model(), len(names)
        self.joint_names = [self.model.getJointName(k) for k in range(self.n)]
        self.joint_names = [BASE_JOINT] * self.floating + self.joint_names

    def _set(self, q, v=None):
        cut = 7 * self.floating
        H = self.idt.Transform.Identity()
        if self.floating:
            R = cardan.spatial.rotations.matrix_from_quaternion_xyzw((*q[4:7], q[3]))
            H.setRotation(self.idt.Rotation(*(float(e) for row in R.rows() for e in row)))
            H.setPosition(self.idt.Position(*q[:3]))
        v = np.zeros(6 * self.floating + self.n) if v is None else v
        twist = v[:6] if self.floating else np.zeros(6)
        gravity = np.array([0.0, 0.0, -9.81])
        H = H.asHomogeneousTransform().toNumPy()
        assert self.dynamics.setRobotState(H, q[cut:], twist, v[6 * self.floating :], gravity)

    def inverse_dynamics(self, q, v, a, external=None):
        self._set(q, v)
        base = a[:6] if self.floating else np.zeros(6)
        forces = self.idt.LinkWrenches(self.model)
        forces.zero()
        for body, wrench in (external or {}).items():
            link = self.model.getLinkIndex(body)
            for k, e in enumerate(wrench):
                forces(link).setVal(k, float(e))
        tau = self.idt.FreeFloatingGeneralizedTorques(self.model)
        joints = self.idt.VectorDynSize(self.n)
        for k, e in enumerate(a[6 * self.floating :]):
            joints.setVal(k, float(e))
        acceleration = self.idt.Vector6()
        for k, e in enumerate(base):
            acceleration.setVal(k, float(e))
        assert self.dynamics.inverseDynamics(acceleration, joints, forces, tau)
        joint_part = tau.jointTorques().toNumPy()
        if not self.floating:
            return joint_part
        wrench = tau.baseWrench()
        return np.concatenate([[wrench.getVal(k) for k in range(6)], joint_part])

    def has_body(self, body):
        return 0 <= self.model.getLinkIndex(body) < self.model.getNrOfLinks()

    def mass_matrix(self, q):
        self._set(q)
        found = self.idt.MatrixDynSize()
        assert self.dynamics.getFreeFloatingMassMatrix(found)
        M = found.toNumPy()
        return M if self.floating else M[6:, 6:]

    def pose(self, q, body):
        if self.dynamics.getFrameIndex(body) < 0:
            return None
        self._set(q)
        return self.dynamics.getWorldTransform(body).asHomogeneousTransform().toNumPy()

    def jacobian(self, q, body):
        if self.dynamics.getFrameIndex(body) < 0:
            return None
        self._set(q)
        found = self.idt.MatrixDynSize(6, 6 + self.n)
        assert self.dynamics.getFrameFreeFloatingJacobian(body, found)
        J = found.toNumPy()
        return J if self.floating else J[:, 6:]


class Newton(Library):
    module, tolerance = "newton", 3e-5  # it computes in float32

    def __init__(self, text, ours, directory):
        import newton
        import warp

        warp.config.quiet = True
        self.newton, self.warp = newton, warp
        builder = newton.ModelBuilder()
        builder.add_urdf(text, floating=is_floating(ours))
        self.joint_names = [name.split("/")[-1] for name in builder.joint_label]
        types = list(builder.joint_type)
        self.bodies = [name.split("/")[-1] for name in builder.body_label]
        fixed = newton.JointType.FIXED
        self.joint_names = [
            BASE_JOINT if t == newton.JointType.FREE else n
            for n, t in zip(self.joint_names, types, strict=True)
            if t != fixed
        ]
        self.model = builder.finalize(device="cpu")
        self.state = self.model.state()

    def _set(self, q, v=None):
        array = self.warp.array
        v = np.zeros(self.model.joint_dof_count) if v is None else v
        self.state.joint_q = array(np.asarray(q, "f4"), dtype=self.warp.float32, device="cpu")
        self.state.joint_qd = array(np.asarray(v, "f4"), dtype=self.warp.float32, device="cpu")
        self.newton.eval_fk(self.model, self.state.joint_q, self.state.joint_qd, self.state)

    def mass_matrix(self, q):
        self._set(q)
        nv = self.model.joint_dof_count
        return self.newton.eval_mass_matrix(self.model, self.state).numpy()[0][:nv, :nv]

    def inverse_dynamics(self, q, v, a):
        self._set(q, v)
        n, nv = self.newton, self.model.joint_dof_count
        zeros = lambda: self.warp.zeros(nv, dtype=self.warp.float32, device="cpu")  # noqa: E731
        coriolis, gravity, tau = zeros(), zeros(), zeros()
        n.eval_inverse_dynamics_passive(self.model, self.state, gravity_force=gravity, coriolis_force=coriolis)
        M = n.eval_mass_matrix(self.model, self.state)
        qdd = self.warp.array(np.asarray(a, "f4"), dtype=self.warp.float32, device="cpu")
        forces = {"coriolis_force": coriolis, "gravity_force": gravity}
        n.eval_inverse_dynamics_force(self.model, self.state, mass_matrix=M, joint_qdd=qdd, joint_f=tau, **forces)
        return tau.numpy().astype(float)

    def pose(self, q, body):
        self._set(q)
        x = self.state.body_q.numpy()[self.bodies.index(body)].astype(float)
        R = cardan.spatial.rotations.matrix_from_quaternion_xyzw(x[3:])
        return homogeneous(np.array([list(row) for row in R.rows()]), x[:3])

    def velocity(self, q, v, body):
        """[v of the centre of mass, omega] in the world."""
        self._set(q, v)
        return self.state.body_qd.numpy()[self.bodies.index(body)].astype(float)


class Drake(Library):
    module, tolerance = "pydrake.multibody.plant", 1e-11

    def __init__(self, text, ours, directory):
        from pydrake.multibody import plant, tree
        from pydrake.multibody.math import SpatialForce
        from pydrake.multibody.parsing import Parser

        self.SpatialForce = SpatialForce
        self.plant_module, self.tree = plant, tree
        self.plant = plant.MultibodyPlant(0.0)
        (self.instance,) = Parser(self.plant).AddModelsFromString(text, "urdf")
        if not is_floating(ours) and BASE_JOINT in ours.joint_names:
            base = self.plant.GetFrameByName(root_link(ours), self.instance)
            self.plant.WeldFrames(self.plant.world_frame(), base)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        indices = self.plant.GetJointIndices(self.instance)
        joints = [self.plant.get_joint(k) for k in indices]
        joints = sorted((j for j in joints if j.num_velocities()), key=lambda j: j.velocity_start())
        self.joint_names = [BASE_JOINT if j.num_velocities() == 6 else j.name() for j in joints]

    def _set(self, q, v=None):
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, np.zeros(self.plant.num_velocities()) if v is None else v)

    def inverse_dynamics(self, q, v, a, external=None):
        self._set(q, v)
        forces = self.tree.MultibodyForces(self.plant)
        for name, wrench in (external or {}).items():
            body = self.plant.GetBodyByName(name, self.instance)
            body.AddInForceInWorld(self.context, self.SpatialForce(wrench[:3], wrench[3:]), forces)
        gravity = self.plant.CalcGravityGeneralizedForces(self.context)
        return self.plant.CalcInverseDynamics(self.context, a, forces) - gravity

    def mass_matrix(self, q):
        self._set(q)
        return self.plant.CalcMassMatrix(self.context)

    def _frame(self, body):
        return self.plant.GetFrameByName(body, self.instance)

    def pose(self, q, body):
        self._set(q)
        return self._frame(body).CalcPoseInWorld(self.context).GetAsMatrix4()

    def jacobian(self, q, body):
        self._set(q)
        world, kind = self.plant.world_frame(), self.tree.JacobianWrtVariable.kV
        arguments = (self.context, kind, self._frame(body), np.zeros(3), world, world)
        J = self.plant.CalcJacobianSpatialVelocity(*arguments)
        return np.vstack([J[3:], J[:3]])


LIBRARIES = {
    "pinocchio": Pinocchio,
    "mujoco": MuJoCo,
    "idyntree": IDynTree,
    "newton": Newton,
    "drake": Drake,
}


def is_floating(model):
    return BASE_JOINT in model.joint_names and model.v_slice(BASE_JOINT) != slice(0, 0)


def root_link(model):
    """The body the URDF hangs everything on."""
    children = {c.child for c in model.connections if c.parent != "world"}
    return next((b for b in model.body_names if b not in children), "world")


def with_floating_joint(text, model):
    """The URDF with its root link on a floating joint."""
    root = ElementTree.fromstring(text)
    link = ElementTree.Element("link", name="world")
    joint = ElementTree.Element("joint", name=BASE_JOINT, type="floating")
    ElementTree.SubElement(joint, "parent", link="world")
    ElementTree.SubElement(joint, "child", link=root_link(model))
    root.insert(0, link)
    root.insert(1, joint)
    return ElementTree.tostring(root, encoding="unicode")


def homogeneous(rotation, position):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation, position
    return X


def differences(library, text, floating, directory, seed=0, **options):
    """The largest relative difference of each quantity, here; None where the two cannot be compared."""
    ours = our_model(text, floating)
    if ours is None:
        return None
    theirs = LIBRARIES[library](text, ours, directory, **options)
    order = theirs.joint_names if library == "idyntree" else None
    there = conventions.to(library, ours, order=order, **options)
    assert list(there.joint_names) == [n for n in theirs.joint_names if n in ours.joint_names], "order of joints"
    rng = np.random.default_rng(seed)
    q, (v, a) = ours.random_configuration(seed=seed), rng.normal(size=(2, ours.nv))
    q = np.where(np.isfinite(q), q, 0.0)
    p, w, b = there.configuration(q), there.velocity(q, v), there.acceleration(q, v, a)
    found = {}

    def note(name, mine, other):
        scale = max(1.0, np.abs(other).max(initial=0.0))
        found[name] = max(found.get(name, 0.0), float(np.abs(np.asarray(mine) - other).max(initial=0.0) / scale))

    tau = theirs.inverse_dynamics(p, w, b)
    note("inverse dynamics", there.from_effort(p, tau), cardan.inverse_dynamics(ours, q, v, a))
    note("mass matrix", there.from_mass_matrix(p, theirs.mass_matrix(p)), cardan.mass_matrix(ours, q))
    if theirs.forward_dynamics and not there.followers:
        effort = there.effort(q, cardan.inverse_dynamics(ours, q, v, a))
        acceleration = there.from_acceleration(p, w, theirs.forward_dynamics(p, w, effort))
        M = cardan.mass_matrix(ours, q)
        note("forward dynamics, times M", M @ acceleration, M @ a)
    for body in ours.body_names:
        X = theirs.pose(p, body)
        if X is not None:
            note("poses", X, cardan.frame_transform(ours, q, body))
    for body in ours.body_names[:: max(1, len(ours.body_names) // 4)]:
        if theirs.jacobian and (J := theirs.jacobian(p, body)) is not None:
            at, axes = theirs.reference
            mine = cardan.jacobian(ours, q, body, at=at, expressed_in=axes)
            note("Jacobian", there.from_jacobian(p, J), mine)
        if theirs.velocity:
            inertia = ours.body(body).inertia
            com = np.zeros(3) if inertia is None or inertia.mass == 0.0 else np.array(list(inertia.com))
            X, V = cardan.frame_transform(ours, q, body), cardan.frame_velocity(ours, q, v, body)
            expected = np.concatenate([V[:3] + np.cross(V[3:], X[:3, :3] @ com), V[3:]])
            note("velocity", theirs.velocity(p, w, body), expected)
    return found


def with_external_forces(library, text, directory, **options):
    """The largest relative difference of the efforts under random wrenches on all bodies, free in the world."""
    ours = our_model(text, True)
    theirs = LIBRARIES[library](text, ours, directory, **options)
    there = conventions.to(library, ours, order=theirs.joint_names, **options)
    rng = np.random.default_rng(3)
    q, (v, a) = ours.random_configuration(seed=3), rng.normal(size=(2, ours.nv))
    f = rng.normal(size=(ours.nbodies, 6)) * [[theirs.has_body(body)] for body in ours.body_names]
    assert np.count_nonzero(f) > 40
    external = dict(zip(ours.body_names, there.external_forces(q, f), strict=True))
    external = {body: wrench for body, wrench in external.items() if theirs.has_body(body)}
    p, w, b = there.configuration(q), there.velocity(q, v), there.acceleration(q, v, a)
    tau = there.from_effort(p, theirs.inverse_dynamics(p, w, b, external))
    expected = cardan.inverse_dynamics(ours, q, v, a, f)
    return np.abs(tau - expected).max() / np.abs(expected).max()


def installed():
    names = []
    for name, library in LIBRARIES.items():
        try:
            importlib.import_module(library.module)
        except ImportError:
            continue
        names.append(name)
    return names


def main():
    import tempfile
    from pathlib import Path

    from robots_data import robots_folder

    for library in sys.argv[1:] or installed():
        worst, count, refused = {}, set(), dict(REFUSED[library])
        for robot in ROBOTS:
            if robot.split("/")[-1][:-5] in REFUSED[library]:
                continue
            text = bare((robots_folder() / robot).read_bytes())
            for floating in (False, True):
                where = f"{robot.split('/')[-1]} {'floating' if floating else 'fixed'}"
                try:
                    with tempfile.TemporaryDirectory() as directory:
                        found = differences(library, text, floating, Path(directory))
                except Exception as error:
                    refused[where] = f"{type(error).__name__}: {' | '.join(str(error).strip().splitlines())[:250]}"
                    continue
                if found is None:
                    continue
                count.add(robot)
                for name, error in found.items():
                    worst.setdefault(name, []).append((error, where))
        print(f"\n{library}: {len(count)} robots")
        for name, errors in worst.items():
            error, where = max(errors)
            print(f"    {name:28s} {error:8.1e}   {where}   ({len(errors)})")
        for where, reason in refused.items():
            print(f"    without {where}: {reason}")


if __name__ == "__main__":
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
