"""Modules of earlier versions under the names of today, so that pickles written by those versions can be read.

Until version 0.2 the modules of the six wings lay beside the public ones (`cardan.joints.catalogue.revolute`). A path
of that kind is found here if nothing else finds it. New code imports public names from public modules.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

WINGS = {
    "_algebra": "arrays by_fields by_identity checked_numbers content documentation elementary errors lazy manifolds "
    "scalar spatial",
    "_compiler": "program runtime targets",
    "_robot": "description geometry joints model records",
    "_dynamics": "algorithms coordinates functions",
    "_motion": "identification simulation tasks trajectories",
    "_reach": "cli comparison distributed formats generation gym interop pictures verification viewer",
}
MOVED = {f"cardan.{name}": f"cardan.{wing}.{name}" for wing, names in WINGS.items() for name in names.split()}
_MAXIMAL = ("semi_implicit", "variational", "xpbd")
MOVED |= {
    "cardan.algorithms.collision": "cardan._motion.collision",
    "cardan.algorithms.contact": "cardan._motion.contact",
    "cardan.algorithms.maximal_steps": "cardan._motion.maximal_steps",
    "cardan.robots": "cardan._robot.shipped",
    "cardan.interop.torch_module": "cardan._reach.interop.torch_wrapped",
    "cardan.simulation.solvers.mujoco": "cardan._reach.interop.mujoco_solver",
    "cardan.words": "cardan._algebra.errors",
    "cardan.formats.srdf.contacts": "cardan._reach.formats.srdf.reader",
    "cardan.generation.solver_step": "cardan._reach.generation.library",
    "cardan.generation.user_file": "cardan._reach.generation.library",
    **{
        f"cardan.gym.{name}": "cardan._reach.gym.tasks"
        for name in ("arm_reach", "cart_pole_swing_up", "quadruped_walk")
    },
    "cardan.gym.random_numbers": "cardan._reach.gym.vectorised",
    "cardan.gym.single_world": "cardan._reach.gym.vectorised",
    "cardan.verification.certificate": "cardan._reach.verification.verify",
    "cardan.verification.finding": "cardan._reach.verification.check",
    "cardan.verification.speed": "cardan._reach.verification.dynamics",
    **{f"cardan.tasks.{name}": "cardan._motion.tasks.inverse_kinematics" for name in ("result", "search")},
    "cardan.tasks.steps": "cardan._motion.tasks.solve_ik",
    **{f"cardan.trajectories.{name}": "cardan._motion.trajectories.time_laws" for name in ("point_to_point", "timed")},
    "cardan.simulation.clock": "cardan._motion.simulation.state",
    "cardan.simulation.constants": "cardan._motion.simulation.arrays",
    **{f"cardan.simulation.solvers.{name}": "cardan._motion.simulation.solvers.maximal" for name in _MAXIMAL},
    "cardan.staging": "cardan._compiler.runtime.staging",
}
_JOINED = {
    "_algebra.manifolds.plane": "se2 unit_complex",
    "_algebra.manifolds.product": "euclidean scalar_coordinates",
    "_algebra.manifolds.rotation": "rigid_motions",
    "_algebra.arrays.functions": "tables linear",
    "_algebra.arrays.symbolic": "elsewhere entrywise",
    "_algebra.spatial.motion": "subspace",
    "_dynamics.coordinates.convention": "recognised",
    "_dynamics.coordinates.chart": "forms",
    "_robot.model.layout": "node",
    "_motion.identification.least_squares": "stribeck",
    "_motion.tasks.shipped": "frames whole_body",
    "_motion.trajectories.curves": "spline fourier",
    "_robot.geometry.touching": "contacts",
    "_robot.joints.quantities": "periodic",
    "_reach.comparison.causes": "result",
    "_reach.formats.reading": "registry resources",
    "_reach.formats.json.values": "types",
    "_reach.formats.mjcf.context": "actuators",
    "_reach.formats.sdf.scopes": "documents",
    "_reach.formats.written": "tree_at_rest",
    "_reach.gym.tasks": "task",
    "_reach.interop.mujoco_collision": "mujoco_shapes",
    "_reach.pictures.robot_plot": "axes",
    "_reach.verification.check": "samples",
    "_reach.verification.dynamics": "numerics",
    "_reach.verification.laws": "rank",
    "_reach.verification.motion": "causes",
    "_reach.viewer.served_scene": "placement",
}
for _home, _names in _JOINED.items():
    _room = _home.partition(".")[2].rpartition(".")[0]
    MOVED |= {f"cardan.{_room}.{name}": f"cardan.{_home}" for name in _names.split()}
CONVENTIONS = "cardan._dynamics.coordinates.conventions"
MOVED["cardan.coordinates.peers"] = CONVENTIONS
for _name in ("drake", "idyntree", "isaac", "mujoco", "newton", "pinocchio", "rigidbodydynamics"):
    MOVED[f"cardan.coordinates.peers.{_name}"] = f"{CONVENTIONS}:{_name}"  # in place of its function `convention`
_CALL = "arguments compiled conversion function plain repeated results signature sites store traced"
MOVED |= {f"cardan.functions.{name}": f"cardan._dynamics.call.{name}" for name in _CALL.split()}
_GROUPS = "all_joints configuration dynamics inertias kinematics loops maximal momentum regressors"
MOVED |= {f"cardan.functions.{name}": "cardan" for name in _GROUPS.split()}  # each function now stands in its own page
_CATALOGUE = {
    "one_axis": "cylindrical helical prismatic revolute spline unbounded_revolute variable_screw",
    "free_directions": "fixed floating floating_mrp free_flyer planar planar_angle spherical spherical_zyx translation",
    "chains": "composite constant_velocity d6 universal",
    "biomechanical": "condylar_knee ellipsoid opensim_custom",
    "elastic": "cable distance",
    "of_another": "mimic reversed",
}
for _home, _names in _CATALOGUE.items():
    _home = f"cardan._robot.joints.catalogue.{_home}"
    MOVED |= {f"cardan.joints.catalogue.{name}": _home for name in _names.split()}
MOVED |= {
    "cardan.joints.derivation.parameters": "cardan._robot.joints.derivation.programs",
    "cardan.joints.serial": "cardan._robot.joints.catalogue.chains",
    "cardan.robots.registry": "cardan._robot.shipped",
}
_SHIPPED = {
    "linkages": "five_bar four_bar stewart_platform",
    "robots": "arm7 cart_pole chain double_pendulum humanoid pendulums quadruped",
}
for _home, _names in _SHIPPED.items():
    MOVED |= {f"cardan.robots.{name}": f"cardan._robot.shipped.{_home}" for name in _names.split()}


def todays(name: str) -> str | None:
    """Return the name of today of a module; None if it has not moved."""
    start, end = name, ""
    while start:
        if start in MOVED:
            return MOVED[start] + end
        start, dot, last = start.rpartition(".")
        end = f"{dot}{last}{end}"
    return None


def _is_there(home: str) -> bool:
    """Return whether a module of today exists, so that an unknown name is an error that names what the user wrote."""
    try:
        return importlib.util.find_spec(home.partition(":")[0]) is not None
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("cardan."):
            raise  # a package that the module needs
        return False


class _Finder(MetaPathFinder, Loader):
    """Finds modules under their earlier names: each shows the names of the module of today."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        home = todays(fullname)
        return ModuleSpec(fullname, self, is_package=True) if home and _is_there(home) else None

    def exec_module(self, module: ModuleType) -> None:
        home, _, one = (todays(module.__name__) or "").partition(":")
        found = importlib.import_module(home)
        public = importlib.import_module("cardan")  # what has left a module for its page is there

        def fetch(name: str) -> object:
            if name.startswith("__"):  # what a module of today says of itself, such as its file, is not said of this
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            return getattr(found if hasattr(found, one or name) else public, one or name)

        module.__dict__["__getattr__"] = fetch


sys.meta_path.append(_Finder())
