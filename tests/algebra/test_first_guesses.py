"""What is written first by those who come from elsewhere, and what they are told: the right name, and no riddle."""

import copy
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan._algebra.explained import Explained
from cardan._dynamics.call import suggestions
from words_of_guides import WORDS as WORDS_OF_GUIDES

pytestmark = pytest.mark.usefixtures("reference_target")

GUESSES = [
    ("arm.dof", "model.nv"),
    ("cardan.frame_transform(arm, q, 1.0)", "frame: got 'a float'"),
    ("cardan.gravity_forces(arm, map(float, q))", "an array of objects such as <map"),
    ("arm.total_mass", "model.mass"),
    ("cardan.fd", "cardan.forward_dynamics"),
    ("cardan.loadURDF", "cardan.load(file)"),
    ("arm7.world().control(effort=np.zeros(7))", "control.effort"),
    ("setattr(arm7.world(), 'gravity', 0.0)", "world.model.gravity"),
    ("setattr(arm7.world(), 'dt', 0.01)", "a solver's"),
    ("setattr(arm, 'gravity', 0.0)", "dataclasses.replace(it, gravity=...)"),
    ("setattr(cardan.Material(), 'mu', 0.3)", "'Material' object has no attribute 'mu'"),
    ("delattr(cardan.joints.Revolute(), 'axis')", "dataclasses.replace(it, axis=...)"),
    ("arm7.world(dt=0.01)", "cardan.solvers.Featherstone(world, dt=...)"),
    ("cardan.plot(arm, path='arm.png')", "savefig(path)"),
    ("cardan.Mechanism('a').add_joint('b', spam=1)", "it takes"),
    ("cardan.joints.Hinge", "cardan.joints.Revolute"),
    ("cardan.optimal.solve(None, q, q, q, warm_start=None)", "near= the last solution"),
    ("arm7.with_drives({'*': cardan.Drive(1.0)}).world()", ".mechanism.world"),
    ("cardan.mass_matrix(arm7.world(), q)", "is its .model"),
    ("cardan.WorldBuilder().add_terrain", "HeightField"),
    ("cardan.ilqr", "cardan.optimal.solve"),
    # (what is written, what the message must hold)
    # words of other libraries, asked of the package
    ("cardan.rnea", "Pinocchio's rnea is cardan.inverse_dynamics"),
    ("cardan.crba", "Pinocchio's crba is cardan.mass_matrix"),
    ("cardan.aba", "Pinocchio's aba is cardan.forward_dynamics"),
    ("cardan.nle", "Pinocchio's nle is cardan.bias_forces"),
    ("cardan.nonLinearEffects", "cardan.bias_forces"),
    ("cardan.computeJointJacobians", "cardan.jacobian(model, q, frame)"),
    ("cardan.getFrameJacobian", "cardan.jacobian"),
    ("cardan.framesForwardKinematics", "cardan.forward_kinematics"),
    ("cardan.computeCentroidalMap", "cardan.centroidal_momentum_matrix"),
    ("cardan.ccrba", "cardan.centroidal_momentum_matrix"),
    ("cardan.log6", "Pinocchio's log6 is cardan.SE3.log"),
    ("cardan.exp6", "Pinocchio's exp6 is cardan.SE3.exp"),
    ("cardan.log3", "cardan.spatial.rotations.rotation_vector_from_matrix"),
    ("cardan.exp3", "cardan.spatial.rotations.matrix_from_rotation_vector"),
    ("cardan.neutral", "cardan.Model.neutral"),
    ("cardan.randomConfiguration", "Pinocchio's randomConfiguration is cardan.Model.random_configuration"),
    ("cardan.buildModelFromUrdf", "Pinocchio's buildModelFromUrdf is cardan.load"),
    ("cardan.buildReducedModel", "Pinocchio's buildReducedModel is cardan.Model.lock"),
    ("cardan.appendModel", "cardan.Mechanism.append"),
    ("cardan.Data", "Pinocchio's Data is not needed"),
    ("cardan.mj_step", "cardan.solvers.MuJoCo"),
    ("cardan.mj_inverse", "cardan.inverse_dynamics"),
    ("cardan.mj_forward", "cardan.forward_dynamics"),
    ("cardan.mj_fullM", "cardan.mass_matrix"),
    ("cardan.mj_jac", "cardan.jacobian"),
    ("cardan.mj_integratePos", "cardan.integrate"),
    ("cardan.MjModel", "cardan.load"),
    ("cardan.MjData", "cardan.State"),
    ("cardan.eval_jacobian", "Newton's eval_jacobian is cardan.jacobian"),
    ("cardan.eval_mass_matrix", "Newton's eval_mass_matrix is cardan.mass_matrix"),
    ("cardan.ModelBuilder", "Newton's ModelBuilder is cardan.WorldBuilder"),
    ("cardan.ArticulationView", "Newton's ArticulationView is cardan.World.view"),
    ("cardan.dynamics_bias", "RigidBodyDynamics.jl's dynamics_bias is cardan.bias_forces"),
    ("cardan.geometric_jacobian", "RigidBodyDynamics.jl's geometric_jacobian is cardan.jacobian"),
    ("cardan.MechanismState", "not needed: functions take q and v"),
    ("cardan.CalcMassMatrix", "Drake's CalcMassMatrix is cardan.mass_matrix"),
    ("cardan.MultibodyPlant", "Drake's MultibodyPlant is cardan.load(file)"),
    ("cardan.Parser", "Drake's Parser is cardan.load"),
    ("cardan.RigidTransform", "cardan.SE3"),
    ("cardan.KinDynComputations", "iDynTree's KinDynComputations is not needed"),
    ("cardan.fkine", "roboticstoolbox's fkine is cardan.frame_transform"),
    ("cardan.jacob0", "cardan.jacobian"),
    ("cardan.gravload", "cardan.gravity_forces"),
    ("cardan.ikine", "cardan.inverse_kinematics"),
    ("cardan.jtraj", "cardan.trajectories.MinimumJerk"),
    ("cardan.teach", "cardan.show"),
    ("cardan.FrameTask", "cardan.tasks.FramePose"),
    ("cardan.dIntegrate", "Pinocchio's dIntegrate is cardan.integrate_derivatives"),
    ("cardan.dDifference", "Pinocchio's dDifference is cardan.difference_derivatives"),
    ("cardan.base_parameters", "it is cardan.identification.base_parameters"),
    ("cardan.friction_regressor", "cardan.identification.regressor"),
    ("cardan.energy_regressor", "cardan.kinetic_energy_regressor"),
    # guesses
    ("cardan.log(np.eye(4))", "cardan.SE3.log(X)"),
    ("cardan.log(cardan.SE3())", "cardan.SE3.log(X)"),
    ("cardan.Revolute", "it is cardan.joints.Revolute"),
    ("cardan.pose", "it is cardan.SE3(rotation, translation)"),
    ("cardan.optimal.lqr", "cardan.optimal.riccati"),
    ("cardan.solvers.Euler", "cardan.solvers.Featherstone(world, dt)"),
    ("arm7.world().sensors", "cardan.imu"),
    ("cardan.Box", "it is cardan.description.Box"),
    ("cardan.frame_jacobian", "it is cardan.jacobian(model, q, frame)"),
    ("cardan.frame_pose", "it is cardan.frame_transform(model, q, frame)"),
    ("cardan.step", "cardan.solvers.Featherstone(world, dt).step(state)"),
    ("cardan.simulate", "solver.rollout"),
    ("cardan.contact", "cardan.WorldBuilder"),
    ("cardan.keyframes", "model.named_configurations"),
    ("cardan.mass_matrx", "did you mean 'mass_matrix'"),
    ("cardan.total_energy", "cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)"),
    ("cardan.operational_space_inertia", "cardan.mass_matrix_inverse(model, q)"),
    ("cardan.computeDelassusMatrix", "cardan.loop_jacobian(model, q)"),
    ("cardan.getVelocity", "Pinocchio's getVelocity is cardan.frame_velocity"),
    ("arm7.model(closing=['joint3'])", "add a FreeFlyer first"),
    # frames, references
    ('cardan.jacobian(arm, q, "tool", expressed_in="local")', "LOCAL is at='frame', expressed_in='frame'"),
    ('cardan.jacobian(arm, "tool", q)', "Is the order right?"),
    ('cardan.jacobian(arm, q, "tool", at="LOCAL")', "Pinocchio's LOCAL is at='frame', expressed_in='frame'"),
    ('cardan.jacobian(arm, q, "tool", at="LOCAL_WORLD_ALIGNED")', "at='frame', expressed_in='world' (the default)"),
    ('cardan.jacobian(arm, q, "tool", expressed_in="WORLD")', "at='world', expressed_in='world'"),
    ('cardan.jacobian(arm, q, "tool", reference_frame="LOCAL")', "did you mean 'at' or 'expressed_in'?"),
    ('cardan.jacobian(arm, q, "tool", at="wolrd")', "did you mean 'world'?"),
    ('cardan.jacobian(arm, q, "joint3")', "'joint3' is a joint; the body it moves is 'upper_arm_roll'"),
    ('cardan.jacobian(arm, q, frame_id="tool")', "there is no argument 'frame_id'; did you mean 'frame'?"),
    # attributes of a model
    ("arm.joint_limits", "model.lower and model.upper"),
    ("arm.lowerPositionLimit", "it is model.lower"),
    ("arm.keyframes", "model.named_configurations"),
    ("arm.nbody", "model.nbodies, without the world"),
    ("arm.getFrameId", "frames are called by their names"),
    ("arm.mass_matrix", "it is a function: cardan.mass_matrix(model, ...)"),
    ("arm.rnea", "Pinocchio's rnea is cardan.inverse_dynamics"),
    ("arm.createData", "not needed: functions return their results"),
    ("arm.joint_name", "did you mean 'joint_names'"),
    ("arm7.nq", "coordinates belong to a model, which has a root"),
    ("arm7.world().state().qpos", "it is state.q"),
    ("arm.world", "it is a mechanism's: cardan.load_mechanism(file).world()"),
    ("arm7.world().contacts", "world.collide(state) for what does"),
    ("arm7.world().gravity", "it is world.model.gravity"),
    ("cardan.WorldBuilder().add_robot", "builder.add(mechanism)"),
    ("cardan.fk", "cardan.forward_kinematics(model, q)"),
    ("cardan.gravity_compensation", "cardan.gravity_forces(model, q)"),
    # arguments
    ('arm.lock(["joint3"])', "expected coordinates by joint: {'knee': 0.5}"),
    ('arm7.lock("joint3")', "expected coordinates by joint: {'knee': 0.5}"),
    ('arm.with_inputs(x=("upper_arm_roll", "Inertia"))', "no constant named 'Inertia'; did you mean 'inertia'"),
    ("cardan.inverse_dynamics(arm.with_inputs('mass', 'com'), q, v, a, mass=1.0)", "com=..., shape (..., 9, 3)"),
    ("arm7.with_drives(cardan.Drive(10.0, 1.0))", 'expected a dict of drives by joint: {"*": Drive(400.0, 40.0)}'),
    ("arm7.add_shape(cardan.description.Sphere(0.1))", 'expected a Shape: Shape("link", "collision", Box('),
    ("cardan.save('arm.urdf', arm)", "expected a path: cardan.save(thing, file)"),
    ("arm7.world().state(num_envs=3)", "the number of worlds is worlds="),
    ("cardan.solvers.Featherstone(arm7.world(), 0.01).step(arm7.world().state(), 10)", "counted by steps="),
    ("cardan.mass_matrix(arm, q, q)", "mass_matrix(model, q, *, packed=False): too many positional arguments"),
    ("cardan.mass_matrix(arm)", "mass_matrix(model, q, *, packed=False): missing a required argument: 'q'"),
    ("cardan.inverse_dynamics(arm, q, v, qdd=a)", "there is no argument 'qdd'; did you mean 'a'?"),
    ("cardan.mass_matrix(arm7, q)", "argument 'model' is a Mechanism, expected a cardan.Model"),
    ("cardan.mass_matrix(arm, np.zeros((7, 5)))", "The batch comes first: is it transposed?"),
    ('cardan.inverse_dynamics.on("gpu")', "no target named 'gpu'; the names are 'cuda', 'llvm', 'numpy'"),
    ("cardan.mass_matrix(dog, np.zeros(dog.nq))", "Begin with model.neutral()"),
    ('cardan.function(shapes={"x": ("nv-6",)})(lambda model, x: x)', "lambda model: (model.nv - 6,)"),
    ('cardan.function(shapes={"x": 3})(lambda model, x: x)', "expected a tuple of whole numbers"),
    # files
    ('cardan.load("panda")', "load panda_description.URDF_PATH of the package robot_descriptions"),
    ('cardan.load(path, packages="folder")', "no option named 'packages'; did you mean 'package_dirs'"),
    ("cardan.load(path, floating_base=True)", 'cardan.load(file, base="floating") makes it float'),
    ('cardan.load_mechanism(path, base="floating")', 'cardan.load(file, base="floating") makes it float'),
    ('cardan.load(path, mesh_dir="folder")', "no option named 'mesh_dir'; did you mean 'package_dirs'"),
    # NumPy in one's own functions
    ("run(lambda model, q: q if q[0] > 0 else -q)", "use cardan.where(condition, a, b)"),
    ("run(lambda model, q: [q, q[:3]])", "returned as a tuple, a named tuple or a dictionary"),
    ("run(lambda model, q: float(q[0]))", "no float(), int() or round()"),
    ("run(lambda model, q: q[q > 0])", "use np.where(mask, x, 0)"),
    ("run(lambda model, q: np.linalg.lstsq(np.eye(7), q))", "use cardan.solve(A.T @ A, A.T @ b)"),
    ("run(lambda model, q: np.sort(q))", "choose with np.where, np.minimum, np.maximum"),
    ("run(lambda model, q: assigned(np.zeros(7), q))", "begin with np.zeros_like(q)"),
    ("run(lambda model, q: np.linalg.eigh(np.outer(q, q)))", "give its result to the function as an argument"),
    # one's own joints
    ("joint(lambda self, q: np.eye(4))", "transform returns a ndarray; return cardan.SE3(rotation, translation)"),
    ("joint(lambda self, q: (np.eye(3), np.zeros(3)))", "return cardan.SE3(rotation, translation)"),
    ("joint(lambda self, q: cardan.SE3(translation=(np.cos(q), 0, 0)))", "np.cos(q[0]) instead of np.cos(q)"),
    ("joint(lambda self, q: cardan.SE3(-cardan.SE3().rotation))", "R is a reflection"),
    ("joint(lambda self, q: cardan.SE3(), manifold=None)", "manifold = cardan.manifolds.Euclidean(1)"),
    ("joint(lambda self, q: cardan.SE3(), manifold=1)", "manifold = cardan.manifolds.Euclidean(1)"),
    ("joint(lambda self, q: slide(math.sin(q[0])))", "not math's"),
    ("joint(lambda self, q: slide(q[0] if q[0] > 0 else 0.0))", "use cardan.where(condition, a, b)"),
    ("joint(lambda self, q: slide(CubicSpline([0, 1, 2], [0, 1, 3])(q[0])))", "cardan.joints.NaturalSpline"),
    ("joint(lambda self, q: cardan.SE3(Rotation.from_euler('z', q[0]).as_matrix()))", "cardan.spatial.rotations"),
]


def run(kernel):
    return cardan.function(kernel)(cardan.robots.arm7().model(), np.full(7, 0.1))


def assigned(out, q):
    out[0] = q[0]
    return out


def slide(x):
    return cardan.SE3(translation=(x, 0.0, 0.0))


def joint(transform, manifold=cardan.manifolds.Euclidean(1)):  # noqa: B008 -- it is immutable
    kind = type("Mine", (cardan.Joint,), {"manifold": manifold, "transform": transform})
    m = cardan.Mechanism()
    m.add_body("body", cardan.Inertia(1.0))
    m.add_joint("joint", kind(), "world", "body")
    return cardan.mass_matrix(m.model(), [0.1])


@pytest.fixture(scope="module")
def names():
    import math

    arm7 = cardan.robots.arm7()
    arm = arm7.model()
    found = {"arm7": arm7, "arm": arm, "dog": cardan.robots.quadruped().model(base="floating"), "math": math}
    found |= {"q": arm.neutral(), "v": np.zeros(7), "a": np.zeros(7), "path": cardan.robots.urdf_path("arm7")}
    return globals() | found


@pytest.mark.parametrize(("written", "said"), GUESSES, ids=[written for written, _ in GUESSES])
def test_a_first_guess_leads_to_what_was_meant(written, said, names):
    if "CubicSpline" in written or "Rotation." in written:
        pytest.importorskip("scipy")
        from scipy.interpolate import CubicSpline
        from scipy.spatial.transform import Rotation

        names = names | {"CubicSpline": CubicSpline, "Rotation": Rotation}
    with pytest.raises((cardan.CardanError, AttributeError, TypeError)) as caught:
        eval(written, names)
    assert said in str(caught.value)


WORKS = [
    # what was refused when the list of guesses was made, and is taken now
    ("cardan.spatial.rotations.rotation_vector_from_matrix(np.eye(3))", (3,)),
    ("run(lambda model, q: cardan.where(q > 0, q, 0))", (7,)),
    ("run(lambda model, q: np.where(q > 0, np.tanh(q), np.arctan(q)))", (7,)),
    ("run(lambda model, q: np.linalg.solve(np.eye(7), np.clip(q, 0, 1)))", (7,)),
    ("run(lambda model, q: np.linalg.norm(np.outer(q, q), axis=1))", (7,)),
    ("run(lambda model, q: (q, q[:3]))[1]", (3,)),
    ("joint(lambda self, q: slide(np.interp(q[0], [0.0, 1.0], [0.0, 2.0])))", (1, 1)),
    ("np.array(cardan.SE3())", (4, 4)),
    ("cardan.SE3.from_matrix(np.eye(4)).matrix()", (4, 4)),
    ("np.array(cardan.SE3.log(np.eye(4)))", (6,)),
    ("cardan.derivative(cardan.inverse_dynamics, ('q', 'v'))(arm, q, v, a).dv", (7, 7)),
    ("cardan.derivative(cardan.inverse_dynamics, ['q', 'v'])(arm, q, v, a).dq", (7, 7)),
    ("cardan.inverse_kinematics(arm, frame='tool', target=cardan.frame_transform(arm, q, 'tool')).q", (7,)),
    ("np.array(cardan.SE3().rotation)[:, 2]", (3,)),
    ("np.eye(3) @ cardan.SE3().rotation", (3, 3)),
    ("(1, 2, 3) + cardan.SE3().translation / 2", (3,)),
    ("cardan.gravity_forces(arm, range(7))", (7,)),
]


@pytest.mark.parametrize(("written", "shape"), WORKS, ids=[written for written, _ in WORKS])
def test_what_was_refused_once_is_taken_now(written, shape, names):
    assert np.shape(eval(written, names)) == shape


NO_TRUTHS = [
    "arm7.world(ground='no')",
    "arm7.world(ground=cardan.description.Sphere(1.0))",
    "arm7.world(self_collision='no')",
    "cardan.WorldBuilder().add(arm7, stand='no')",
    "cardan.WorldBuilder().add_body('box', lock_inertia='no')",
    "cardan.load(path, trusted='no')",
    "cardan.from_json('{}', trusted='no')",
    "cardan.raycast(arm7.world(), arm7.world().initial, (0, 0, 3), (0, 0, -1), yaw_only='no')",
]


@pytest.mark.parametrize("written", NO_TRUTHS)
def test_what_is_no_truth_value_is_not_taken_for_true(written, names):
    """`trusted="no"` ran a file's code, and a terrain given as `ground=` was a plane, without a word."""
    with pytest.raises(cardan.errors.ParameterError, match="expected True"):
        eval(written, names)


SET = [
    ("arm7", "gravty", "did you mean 'gravity'?"),
    ("arm7", "damping", "has no attribute 'damping'"),
    ("builder", "targts", "has no attribute 'targts'"),
    ("solver", "gravity", "model.gravity"),
    ("solver", "iterations", "make another Featherstone"),
    ("step", "targets", "has no attribute 'targets'"),
]


@pytest.mark.parametrize(("thing", "attribute", "said"), SET)
def test_what_is_set_and_read_by_nobody_is_refused(thing, attribute, said, names):
    """`mechanism.gravty = (0, 0, 0)` and `solver.gravity = ...` were lost without a word."""
    arm7 = names["arm7"].copy()
    made = {"arm7": arm7, "builder": cardan.WorldBuilder(), "solver": cardan.solvers.Featherstone(arm7.world(), 0.01)}
    if thing == "step":
        pytest.importorskip("daqp")
        made["step"] = cardan.tasks.DifferentialIK(names["arm"], cardan.tasks.Damping(), dt=0.01)
    for each in (made[thing], copy.copy(made[thing])):
        with pytest.raises(AttributeError, match=re.escape(said)):
            setattr(each, attribute, (0.0, 0.0, 0.0))
    arm7.gravity, arm7.self_collision, arm7._note = (0.0, 0.0, -1.62), True, "a subclass's own"
    assert tuple(arm7.model().gravity) == (0.0, 0.0, -1.62)


def said_elsewhere():
    """Yield every phrase of the tables of words."""
    for place in suggestions.tables().values():
        for table in place.values():
            yield from table.values()


def test_what_the_hints_name_exists(names):
    world = names["arm7"].world()
    arm, control, view = names["arm"], world.control(), world.view("*")
    holders = {"cardan": cardan, "model": arm, "mechanism": names["arm7"], "builder": cardan.WorldBuilder()}
    holders |= {"world": world, "state": world.state(), "control": control, "view": view}
    holders |= {"Joint": cardan.Joint, "X": cardan.SE3(), "V": cardan.Motion.zero(), "F": cardan.Force.zero()}
    holders |= {"S": arm.joint("joint1").subspace([0.0]), "solver": cardan.solvers.Featherstone(world, 0.01)}
    for phrase in said_elsewhere():
        for path in re.findall(rf"\b(?:{'|'.join(holders)})(?:\.[A-Za-z_]\w*)+", phrase):
            thing, *parts = path.split(".")
            found = holders[thing]
            for part in parts:
                assert hasattr(found, part), (phrase, path)
                found = getattr(found, part)


def test_every_word_of_the_guides_has_an_answer(names):
    world, arm = names["arm7"].world(), names["arm"]
    asked = {"package": cardan, "Joint": arm.joint("joint1"), "Model": arm, "Mechanism": names["arm7"], "World": world}
    asked |= {"State": world.state(), "Control": world.control(), "View": world.view("*")}
    asked |= {"WorldBuilder": cardan.WorldBuilder(), "MotionSubspace": arm.joint("joint1").subspace([0.0])}
    unanswered = []
    for place, found in WORDS_OF_GUIDES.items():
        for word in found:
            try:
                getattr(asked[place], word)
            except AttributeError as error:
                said = str(error)
                if not re.search(rf"has no attribute '{word}'[:;] ", said) or "did you mean" in said:
                    unanswered.append((place, said))
    assert unanswered == []


@pytest.mark.parametrize(
    ("kind", "word", "said"),
    [
        (cardan.SE3, "Identity", "cardan.SE3()"),
        (cardan.Motion, "Zero", "cardan.Motion.zero()"),
        (cardan.Mechanism, "from_urdf", "cardan.load_mechanism(file)"),
        (cardan.World, "from_urdf", "cardan.load_mechanism(file).world()"),
        (cardan.State, "body_f", "control.wrenches"),
    ],
)
def test_a_class_answers_as_its_objects_do(kind, word, said):
    """`pin.SE3.Identity()` is asked of the class, which had nothing to say."""
    with pytest.raises(AttributeError) as caught:
        getattr(kind, word)
    assert str(caught.value) == f"type {kind.__name__!r} has no attribute {word!r}; it is {said}"
    assert not hasattr(kind, "__dataframe__")


PROBED = """
import sys, cardan
world = cardan.robots.arm7().world()
model = world.model
things = cardan, cardan.joints, world, model, world.mechanism, world.state(), cardan.SE3(), model.joint("joint1")
before = set(sys.modules)
assert not any(hasattr(thing, name) for thing in things for name in ("shape_of_it", "rnea", "__dataframe__"))
assert set(sys.modules) == before, set(sys.modules) - before
"""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("cardan.Material(mu=0.5)", "'mu'; did you mean 'friction'?"),
        ("cardan.Drive(kp=1.0)", "'kp'; did you mean 'stiffness'?"),
        ("cardan.joints.Revolute(axes=(0, 0, 1))", "'axes'; did you mean 'axis'?"),
        ("cardan.joints.Planar(axis=(0, 0, 1))", "'axis'; it takes nothing"),
        ("cardan.description.Box(extents=(1, 1, 1))", "'extents'; did you mean 'size'?"),
        ("cardan.solvers.XPBD(None, timestep=0.1)", "'timestep'; did you mean 'dt'?"),
        ("cardan.tasks.FramePose('tool', goal=None)", "'goal'; did you mean 'target'?"),
        ("cardan.tasks.Stack(tree=None)", "'tree'; it takes model, tasks, where"),
        ("cardan.World(cardan.robots.arm7())", "it is made by mechanism.world(), or the finalize() of a"),
        ("cardan.Model(nam='arm')", "it is made by mechanism.model()"),
    ],
)
def test_a_keyword_that_a_class_does_not_take(written, said, names):
    with pytest.raises(TypeError, match=re.escape(said)):
        eval(written, names)


def test_classes_are_called_as_they_say_and_errors_of_their_own_lines_are_theirs():
    arguments = {cardan.Material: "friction", cardan.joints.Revolute: "axis"}
    for kind, first in (arguments | {cardan.solvers.XPBD: "world", cardan.description.Box: "size"}).items():
        assert next(iter(inspect.signature(kind).parameters)) == first
    with pytest.raises(TypeError) as caught:
        Broken(value=1)
    assert str(caught.value) == "no number"


class Broken(Explained):
    def __init__(self, value):
        raise TypeError("no number")


def test_a_class_that_takes_any_keyword_or_none_says_what_python_says():
    """It was said to take 'args, kwargs'."""
    for kind in (Explained, cardan.joints.Joint):
        with pytest.raises(TypeError) as caught:
            kind(axis=1)
        assert str(caught.value) == f"{kind.__name__}() takes no arguments"


@pytest.mark.full
def test_probing_for_a_name_imports_nothing():
    subprocess.run([sys.executable, "-c", PROBED], check=True)


PAGES = sorted((Path(__file__).parents[2] / "docs" / "coming-from").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_pages_for_those_who_come_name_exists(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`(cardan\.[A-Za-z_][\w.]*)", text):
        assert resolved(path), path
    for holder, name in re.findall(r"`-?(model|mechanism|world|view|state|control|solver)\.([a-z_]\w*)", text):
        kinds = {"model": cardan.Model, "mechanism": cardan.Mechanism, "world": cardan.World, "state": cardan.State}
        kinds |= {"view": cardan.simulation.View, "control": cardan.Control, "solver": cardan.solvers.Solver}
        assert hasattr(kinds[holder], name), (holder, name)


def resolved(path):
    """Return whether a dotted path names something."""
    found = cardan
    for part in path.rstrip(".").split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize(("page", "module"), [("pinocchio", "pinocchio"), ("mujoco", "mujoco")])
def test_what_the_pages_say_of_others_is_theirs(page, module):
    theirs = pytest.importorskip(module)
    table = (Path(__file__).parents[2] / "docs" / "coming-from" / f"{page}.md").read_text(encoding="utf-8")
    left = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    words = {word for cell in left for word in re.findall(r"`(\w+)[`(]", cell)}
    holders = [theirs, getattr(theirs, "Model", None), getattr(theirs, "MjModel", None)]
    assert len(words) > 10
    rooms = {room.name for room in pkgutil.iter_modules(theirs.__path__)}
    assert [w for w in words - rooms if not any(hasattr(holder, w) for holder in holders)] == []


@pytest.mark.parametrize(("library", "module"), [("Pinocchio", "pinocchio"), ("MuJoCo", "mujoco")])
def test_words_of_others_are_theirs(library, module):
    theirs = pytest.importorskip(module)
    guides = WORDS_OF_GUIDES["package"]  # of C++, which the Python package lacks in part
    table = suggestions.tables()["package"][library]
    assert [word for word in table if not hasattr(theirs, word) and word not in guides] == []


def test_names_of_arguments_are_arguments():
    public = [thing for _, thing in suggestions._public() if isinstance(thing, (cardan.Function, type))]
    made = [f.parameters if isinstance(f, cardan.Function) else inspect.signature(f.__init__) for f in public]
    arguments = {name for signature in made for name in signature.parameters}
    said = suggestions.tables()["keywords"]["elsewhere"].values()
    assert {name for names in said for name in names.split(" or ")} <= arguments


@pytest.mark.parametrize(
    ("method", "word", "end"),
    [
        ("world", {"clusters": True}, "got an unexpected keyword argument 'clusters'; it is loops=\"clusters\", or"),
        ("world", {"independent": ["crank_joint"]}, "argument 'independent'; it is the joints that have a drive"),
        ("model", {"clusters": True}, 'argument \'clusters\'; it is loops="clusters", or "constraints"'),
        ("model", {"independent": ["a"]}, "argument 'independent'; it is an argument of cardan.clustered(mechanism."),
        ("model", {"gravty": None}, "argument 'gravty'; did you mean 'gravity'?"),
        ("add_body", {"mass": 1.0}, "argument 'mass'; it is a part of the inertia: cardan.Inertia(mass, com, inertia)"),
        ("add_joint", {"origin": None}, "argument 'origin'; it is parent_pose: cardan.SE3("),
        ("add_joint", {"axis": (0, 0, 1)}, "argument 'axis'; it is an argument of the joint: cardan.joints.Revolute("),
    ],
)
def test_methods_say_what_was_meant_by_a_keyword(method, word, end):
    with pytest.raises(TypeError, match=re.escape(end)):
        getattr(cardan.robots.four_bar(), method)(**word)


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("cardan.inverse_kinematics(arm, frame='tool', near=q)", "argument 'near'; it is q0, where to begin"),
        ("cardan.inverse_kinematics(arm, frame='tool', targt=q)", "argument 'targt'; did you mean 'target'"),
        ("cardan.evaluate_joint(arm.joint('joint1'), 'transform', manifold=1)", "argument 'manifold'; it is "),
        ("arm.random_configuration(rng=1)", "argument 'rng'; it is seed, which takes a generator of NumPy, too"),
        ("builder.add_body('a', mass=1.0)", "argument 'mass'; it is a part of the inertia: cardan.Inertia("),
        ("builder.add_shape('a', None, friction=0.5)", "argument 'friction'; it is a part of the material"),
        ("arm7.world(floating=True)", 'it is base="floating" of mechanism.world'),
        ("cardan.integrate(arm, q, q, dt=0.1)", "argument 'dt'; it is v * dt in the place of v"),
        ("solver.rollout(None, duration=1.0)", "argument 'duration'; it is steps, of solver.dt each"),
    ],
)
def test_functions_say_what_was_meant_by_a_keyword(written, end, names):
    made = {"solver": cardan.solvers.XPBD(names["arm7"].world(), 0.01), "builder": cardan.WorldBuilder()}
    with pytest.raises(TypeError, match=re.escape(end)):
        eval(written, {**names, **made})


def test_a_place_where_a_pose_is_asked_for_is_told_how_to_be_one(names):
    for target in ((0.3, 0.0, 0.5), (0.3, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0)):
        with pytest.raises(cardan.errors.ShapeError, match=r"expected \(..., 4, 4\). Of a place alone: cardan.SE3"):
            cardan.inverse_kinematics(names["arm"], frame="tool", target=target)


def test_arguments_in_another_order_are_named(names, tmp_path):
    """A model as a path was an error of Python's pathlib."""
    with pytest.raises(cardan.errors.DTypeError, match="generate: argument 'model' is a"):
        cardan.generate(cardan.mass_matrix, tmp_path / "out.c", names["arm"])


def test_a_word_that_is_no_text_is_named(names):
    """It was said that a list cannot be hashed."""
    with pytest.raises(cardan.errors.UnknownNameError, match=r"no quantity of a joint named \[0.1\]"):
        cardan.evaluate_joint(names["arm"].joint("joint1"), [0.1], [0.2])


@pytest.mark.parametrize("name", ["_repr_html_", "__wrapped__", "program", "content"])
def test_probing_for_a_name_costs_and_says_nothing(name):
    suggestions.answers.cache_clear()
    assert not hasattr(cardan, name + "_of_it")
    assert not hasattr(cardan.Model, name + "_of_it")
    assert suggestions.answers.cache_info().currsize == 0


def test_the_command_line_knows_other_words_too(names, capsys, tmp_path):
    from cardan.cli import main

    assert main(["generate", str(names["path"]), "--function", "rnea", "-o", str(tmp_path / "f.c")]) != 0
    assert "Pinocchio's rnea is cardan.inverse_dynamics" in capsys.readouterr().err


def test_a_property_that_fails_says_its_own():
    class Broken(Explained):
        @property
        def size(self):
            return self.no_such_thing

    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = Broken().size
    assert not hasattr(Broken(), "sise")


def test_what_is_explained_is_copied_and_sent_as_before(names):
    for thing in (names["arm"], names["arm7"], names["arm7"].world(), names["arm7"].world().state()):
        assert type(pickle.loads(pickle.dumps(thing))) is type(copy.deepcopy(thing)) is type(copy.copy(thing))


@pytest.mark.parametrize(
    ("module", "written", "meant"),
    [(cardan, "Se3", "SE3"), (cardan.solvers, "Mujoco", "MuJoCo"), (cardan.joints, "freeflyer", "FreeFlyer")],
)
def test_small_and_capital_letters_are_alike(module, written, meant):
    with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
        getattr(module, written)
