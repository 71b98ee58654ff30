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
# By module of today, its other names of then: of its own folder or, with a dot, from the top.
_JOINED = {
    "_algebra.arrays.functions": "tables linear",
    "_algebra.arrays.symbolic": "elsewhere entrywise",
    "_algebra.errors": "words",
    "_algebra.manifolds.plane": "se2 unit_complex",
    "_algebra.manifolds.product": "euclidean scalar_coordinates",
    "_algebra.manifolds.rotation": "rigid_motions",
    "_algebra.spatial.motion": "subspace",
    "_compiler.runtime.staging": ".staging",
    "_dynamics.coordinates.chart": "forms",
    "_dynamics.coordinates.convention": "recognised",
    "_dynamics.coordinates.conventions": "peers",
    "_motion.collision": "algorithms.collision",
    "_motion.contact": "algorithms.contact",
    "_motion.identification.least_squares": "stribeck",
    "_motion.maximal_steps": "algorithms.maximal_steps",
    "_motion.simulation.arrays": "constants",
    "_motion.simulation.solvers.maximal": "semi_implicit variational xpbd",
    "_motion.simulation.state": "clock",
    "_motion.tasks.inverse_kinematics": "result search",
    "_motion.tasks.shipped": "frames whole_body",
    "_motion.tasks.solve_ik": "steps",
    "_motion.trajectories.curves": "spline fourier",
    "_motion.trajectories.time_laws": "point_to_point timed",
    "_reach.comparison.causes": "result",
    "_reach.formats.json.values": "types",
    "_reach.formats.mjcf.context": "actuators",
    "_reach.formats.reading": "registry resources",
    "_reach.formats.sdf.scopes": "documents",
    "_reach.formats.srdf.reader": "contacts",
    "_reach.formats.written": "tree_at_rest",
    "_reach.generation.library": "solver_step user_file",
    "_reach.gym.tasks": "task arm_reach cart_pole_swing_up quadruped_walk",
    "_reach.gym.vectorised": "random_numbers single_world",
    "_reach.interop.mujoco_collision": "mujoco_shapes",
    "_reach.interop.mujoco_solver": "simulation.solvers.mujoco",
    "_reach.interop.torch_wrapped": "torch_module",
    "_reach.pictures.robot_plot": "axes",
    "_reach.verification.check": "finding samples",
    "_reach.verification.dynamics": "numerics speed",
    "_reach.verification.laws": "rank",
    "_reach.verification.motion": "causes",
    "_reach.verification.verify": "certificate",
    "_reach.viewer.served_scene": "placement",
    "_robot.geometry.touching": "contacts",
    "_robot.joints.catalogue.biomechanical": "condylar_knee ellipsoid opensim_custom",
    "_robot.joints.catalogue.chains": "composite constant_velocity d6 universal joints.serial",
    "_robot.joints.catalogue.elastic": "cable distance",
    "_robot.joints.catalogue.free_directions": "fixed floating floating_mrp free_flyer planar planar_angle spherical "
    "spherical_zyx translation",
    "_robot.joints.catalogue.of_another": "mimic reversed",
    "_robot.joints.catalogue.one_axis": "cylindrical helical prismatic revolute spline unbounded_revolute "
    "variable_screw",
    "_robot.joints.derivation.programs": "parameters",
    "_robot.joints.quantities": "periodic",
    "_robot.model.layout": "node",
    "_robot.shipped": "robots robots.registry",
    "_robot.shipped.linkages": "robots.five_bar robots.four_bar robots.stewart_platform",
    "_robot.shipped.robots": "robots.arm7 robots.cart_pole robots.chain robots.double_pendulum robots.humanoid "
    "robots.pendulums robots.quadruped",
}
for _home, _names in _JOINED.items():
    _room = _home.partition(".")[2].rpartition(".")[0]
    _paths = (name if "." in name else f"{_room}.{name}" for name in _names.split())
    MOVED |= {f"cardan.{path.strip('.')}": f"cardan.{_home}" for path in _paths}
for _name in ("drake", "idyntree", "isaac", "mujoco", "newton", "pinocchio", "rigidbodydynamics"):
    # in place of its function `convention`
    MOVED[f"cardan.coordinates.peers.{_name}"] = f"cardan._dynamics.coordinates.conventions:{_name}"
_CALL = "arguments compiled conversion function plain repeated results signature sites store traced"
MOVED |= {f"cardan.functions.{name}": f"cardan._dynamics.call.{name}" for name in _CALL.split()}
_GROUPS = "all_joints configuration dynamics inertias kinematics loops maximal momentum regressors"
MOVED |= {f"cardan.functions.{name}": "cardan" for name in _GROUPS.split()}  # each function now stands in its own page


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
