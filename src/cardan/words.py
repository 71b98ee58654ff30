"""What a name that does not exist was meant for: other libraries' words, first guesses, slips of the pen.

Where one function, class or method here is the answer, its docstring says so in a line `Peers:`, and is found by it.
What takes more than a name to say stands in the tables here; `tests/test_first_guesses.py` holds that what they name
exists.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cardan.errors import close_names, did_you_mean

LINE = re.compile(r"^\s*Peers:(.*?)(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
WORDS = re.compile(r"([A-Za-z][\w.]*)((?: `[\w!]+`)+)")
CLOSE = 0.7
"""How alike a name is to one that was misspelt: all else would be offered names that have little in common."""
CLASSES = tuple(f"cardan.{name}" for name in ("Model", "Mechanism", "World", "WorldBuilder", "SE3"))
"""Classes whose methods may be what another library's function is."""
FURTHER = ("cardan.spatial.rotations", "cardan.description")
"""Modules that are not among the package's own names."""

ELSEWHERE = {
    "Pinocchio": {
        "Data": "not needed: functions return their results",
        "GeometryModel": "model.shapes",
        "RobotWrapper": "cardan.load(file), and the functions of a model",
        "ReferenceFrame": "at=... and expressed_in=..., see help(cardan.jacobian)",
        "LOCAL": "at='frame', expressed_in='frame'",
        "WORLD": "at='world', expressed_in='world'",
        "LOCAL_WORLD_ALIGNED": "at='frame', expressed_in='world' (the default)",
        "Quaternion": "an array (x, y, z, w); see cardan.spatial.rotations",
        "rpy": "in cardan.spatial.rotations: matrix_from_zyx and zyx_from_matrix",
        "computeAllTerms": "not needed: each function computes what it needs",
        "computeJointJacobians": "not needed: cardan.jacobian(model, q, frame) computes what it needs",
        "computeCollisions": "world.collide(state) of a cardan.World, made by mechanism.world()",
        "computeTotalMass": "model.mass",
        "computeMechanicalEnergy": "cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)",
        "computeForwardKinematicsDerivatives": 'cardan.derivative(cardan.body_velocities, "q"), and by "v"',
        "loadReferenceConfigurations": "cardan.load(file, srdf=...), then model.named_configurations",
        "squaredDistance": "the sum of squares of cardan.difference(model, q0, q1)",
        "isSameConfiguration": "whether cardan.difference(model, q0, q1) is 0",
        "JointModelFreeFlyer": 'cardan.joints.FreeFlyer, or cardan.load(file, base="floating")',
        "JointModelRX": "cardan.joints.Revolute(axis=(1, 0, 0))",
        "RigidConstraintModel": "a joint between two bodies of the tree: mechanism.add_joint closes the loop",
    },
    "MuJoCo": {
        "mj_step": "a solver's step, such as cardan.solvers.MuJoCo(world).step(state)",
        "MjData": "cardan.State for simulation; functions of a model take q and v",
        "mj_resetData": "world.state()",
        "mj_crb": "cardan.mass_matrix",
        "mju_quat2Mat": "cardan.spatial.rotations.matrix_from_quaternion_xyzw, of (x, y, z, w)",
    },
    "Newton": {
        "SolverFeatherstone": "cardan.solvers.Featherstone",
        "SolverMuJoCo": "cardan.solvers.MuJoCo",
        "SolverXPBD": "cardan.solvers.XPBD",
        "SolverSemiImplicit": "cardan.solvers.SemiImplicit",
        "Contacts": "what world.collide(state) returns",
    },
    "Drake": {
        "MultibodyPlant": "cardan.load(file), a cardan.Model; for a scene cardan.WorldBuilder",
        "DiagramBuilder": "cardan.WorldBuilder",
        "Meshcat": "cardan.show(model)",
        "Simulator": "a solver, such as cardan.solvers.Featherstone(world)",
        "Context": "not needed: functions take q and v",
        "RigidTransform": "cardan.SE3",
        "RotationMatrix": "cardan.spatial.Matrix3; see cardan.spatial.rotations",
        "SpatialInertia": "cardan.Inertia, about the centre of mass",
        "SpatialVelocity": "cardan.Motion, linear first",
        "SpatialForce": "cardan.Force, force first",
    },
    "RigidBodyDynamics.jl": {
        "MechanismState": "not needed: functions take q and v",
        "DynamicsResult": "not needed: functions return their results",
        "parse_urdf": "cardan.load",
        "set_configuration": "not needed: functions take q",
        "zero_configuration": "model.neutral()",
        "rand_configuration": "model.random_configuration()",
        "momentum_matrix": "cardan.centroidal_momentum_matrix, about the centre of mass",
        "SpatialInertia": "cardan.Inertia, about the centre of mass",
    },
    "iDynTree": {
        "KinDynComputations": "not needed: functions take a model, q and v",
        "ModelLoader": "cardan.load(file)",
        "setRobotState": "not needed: functions take q and v",
    },
    "roboticstoolbox": {
        "DHRobot": "a cardan.Mechanism, with add_body and add_joint for each link",
        "ERobot": "cardan.load(file)",
    },
    "": {
        "frame_jacobian": "cardan.jacobian(model, q, frame)",
        "frame_pose": "cardan.frame_transform(model, q, frame)",
        "step": "a method of a solver: cardan.solvers.Featherstone(world).step(state)",
        "simulate": "solver.rollout(...), see cardan.solvers.Featherstone; `cardan simulate FILE` in a shell",
        "rollout": "a method of a solver, such as cardan.solvers.Featherstone",
        "contact": "a cardan.WorldBuilder, whose shapes touch; world.collide(state) finds where",
        "keyframes": "model.named_configurations",
        "MeshcatVisualizer": "cardan.show(model)",
        "friction_regressor": 'cardan.identification.regressor(model, q, v, a, ("viscous", "coulomb"))',
        "energy_regressor": "cardan.kinetic_energy_regressor and cardan.potential_energy_regressor",
        "distance": "world.collide(state).gap of a cardan.World; of configurations, cardan.difference",
    },
}
"""Words that are asked of the package, by whose they are, and what to say of them: `it is ...`."""

_LIMITS = "model.lower and model.upper, along v; also velocity_lower, velocity_upper, effort_lower, effort_upper"
_FRAMES = "model.frame_names; frames are called by their names"
OF_CLASSES = {
    "Model": {
        "joint_limits": _LIMITS,
        "limits": _LIMITS,
        "q_lower": "model.lower",
        "q_upper": "model.upper",
        "lowerPositionLimit": "model.lower",
        "upperPositionLimit": "model.upper",
        "velocityLimit": "model.velocity_upper",
        "effortLimit": "model.effort_upper",
        "jnt_range": _LIMITS,
        "getFrameId": _FRAMES,
        "existFrame": "name in model.frame_names",
        "getJointId": "model.q_slice(joint) and model.v_slice(joint), where a joint is in q and v",
        "idx_qs": "model.q_slice(joint)",
        "idx_vs": "model.v_slice(joint)",
        "names": "model.joint_names",
        "njoints": "len(model.joint_names)",
        "njnt": "len(model.joint_names)",
        "num_joints": "len(model.joint_names)",
        "n_joints": "len(model.joint_names)",
        "nbody": "model.nbodies, without the world",
        "nframes": "len(model.frame_names)",
        "qpos0": "model.start_configuration()",
        "key_qpos": "model.named_configurations",
        "keyframes": "model.named_configurations",
        "referenceConfigurations": "model.named_configurations",
        "inertias": "[body.inertia for body in model.bodies]",
        "createData": "not needed: functions return their results",
        "state": "a state of a world: cardan.load_mechanism(file).world().state()",
        "add_frame": "cardan.Mechanism.add_frame: a model is finished, edit the mechanism it is made from",
        "add_joint": "cardan.Mechanism.add_joint: a model is finished, edit the mechanism it is made from",
    },
    "Mechanism": {
        "nq": "mechanism.model().nq: coordinates belong to a model, which has a root",
        "nv": "mechanism.model().nv: coordinates belong to a model, which has a root",
        "neutral": "mechanism.model().neutral()",
        "random_configuration": "mechanism.model().random_configuration()",
        "build": "mechanism.model()",
        "finalize": "mechanism.model()",
        "state": "mechanism.world().state()",
    },
    "World": {"step": "a solver's: cardan.solvers.Featherstone(world).step(state)"},
    "WorldBuilder": {
        "build": "builder.finalize()",
        "add_builder": "builder.add(...)",
        "add_urdf": "builder.add(cardan.load_mechanism(file))",
    },
    "State": {
        "qpos": "state.q",
        "qvel": "state.v",
        "joint_q": "state.q",
        "joint_qd": "state.v",
        "body_q": "state.poses",
        "body_qd": "state.twists",
        "step": "a solver's: solver.step(state)",
    },
}
"""Attributes that are asked of instances, by class, and what to say of them."""

ARGUMENTS = {
    **dict.fromkeys(("qpos", "configuration", "theta"), "q"),
    **dict.fromkeys(("dq", "qd", "qdot", "qvel", "velocity"), "v"),
    **dict.fromkeys(("ddq", "qdd", "qddot", "qacc", "vd", "vdot", "acceleration"), "a"),
    **dict.fromkeys(("u", "torque", "torques", "effort", "qfrc"), "tau"),
    **dict.fromkeys(("fext", "f_ext", "external_wrenches", "externalwrenches", "xfrc_applied"), "external_forces"),
    **dict.fromkeys(("frame_id", "frame_name", "frameId", "body", "link", "site"), "frame"),
    **dict.fromkeys(("reference_frame", "rf", "reference"), "at"),
}
"""Names of arguments elsewhere, and what they are called here."""


def words_of(thing: Any) -> dict[str, str]:
    """Return the libraries by their words for a function: `{"rnea": "Pinocchio"}`."""
    said = LINE.search(getattr(thing, "__doc__", None) or "")
    found = WORDS.findall(" ".join(said[1].split())) if said else []
    return {word: library for library, words in found for word in re.findall(r"`([\w!]+)`", words)}


@functools.cache
def answers() -> dict[str, str]:
    """Return what is to be said of each word of another library, from the docstrings and the table."""
    found = {}
    for library, words in ELSEWHERE.items():
        whose = f"{library}'s {{}} is " if library else "it is "
        found |= {word: whose.format(word) + said for word, said in words.items()}
    for name, thing in _public():
        found.setdefault(name.rpartition(".")[2], f"it is {name}")  # of a module, such as cardan.joints.Revolute
        for word, library in words_of(thing).items():
            found.setdefault(word, f"{library}'s {word} is {name}")
    return found


def _public() -> Iterator[tuple[str, Any]]:
    """Yield what the package offers: its own names, those of its modules, the methods of its main classes."""
    cardan = importlib.import_module("cardan")
    for path in (*(f"cardan.{name}" for name in cardan.__all__), *FURTHER):
        with contextlib.suppress(ImportError):  # what needs an extra
            thing = importlib.import_module(path) if path in FURTHER else getattr(cardan, path.partition(".")[2])
            yield path, thing
            for own in getattr(thing, "__all__", ()):
                yield f"{path}.{own}", getattr(thing, own)
            for own, member in vars(thing).items() if path in CLASSES else ():
                yield f"{path}.{own}", getattr(member, "__func__", member)


def of_package(word: str) -> str:
    """Return the end of a message about a name the package has not: what to write instead, or nothing."""
    if word.startswith("_"):
        return ""
    if importlib.util.find_spec(f"cardan.{word}") is not None:  # `from cardan import program` asks here first
        return ""
    if word in answers():
        return f": {answers()[word]}"
    return did_you_mean(close_names(word, importlib.import_module("cardan").__all__, CLOSE))


def of_instance(kind: type, word: str) -> str:
    """Return the end of a message about an attribute that instances of a class have not."""
    if word.startswith("_"):
        return ""
    said = OF_CLASSES.get(kind.__name__, {}).get(word)
    if said is not None:
        return f"; it is {said}"
    cardan = importlib.import_module("cardan")
    if kind.__name__ == "Model" and word in cardan.__all__:
        return f"; it is a function: cardan.{word}(model, ...)"
    if word in answers():
        return f"; {answers()[word]}"
    return did_you_mean(close_names(word, [name for name in dir(kind) if not name.startswith("_")], CLOSE))


def of_argument(word: str, names: Any) -> str:
    """Return the end of a message about an argument that a function has not."""
    if ARGUMENTS.get(word) == "at" and "at" in names:
        return "; where and along what is said by at= and expressed_in="
    meant = [ARGUMENTS[word]] if ARGUMENTS.get(word) in names else close_names(word, names)
    return did_you_mean(meant)


class Explained:
    """A class that says what was meant by an attribute it has not."""

    __slots__ = ()

    if not TYPE_CHECKING:  # to which there is no such attribute

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property, which failed: its own error is what counts
                return object.__getattribute__(self, name)
            hint = of_instance(type(self), name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")
