"""Modules of earlier versions under the names of today, so that pickles written by those versions can be read.

Until version 0.2 the modules of the six wings lay beside the public ones (`cardan.joints.catalogue.revolute`). A path
of that kind is found here if nothing else finds it. New code imports public names from public modules.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

WINGS = {
    "_algebra": "arrays by_fields by_identity checked_numbers content documentation elementary errors lazy manifolds "
    "scalar spatial words",
    "_compiler": "program runtime targets",
    "_robot": "description geometry joints model records",
    "_dynamics": "algorithms coordinates functions",
    "_motion": "identification simulation tasks trajectories",
    "_reach": "cli comparison distributed formats generation gym interop pictures verification viewer",
}
MOVED = {f"cardan.{name}": f"cardan.{wing}.{name}" for wing, names in WINGS.items() for name in names.split()}
MOVED |= {
    "cardan.algorithms.collision": "cardan._motion.collision",
    "cardan.algorithms.contact": "cardan._motion.contact",
    "cardan.algorithms.maximal_steps": "cardan._motion.maximal_steps",
    "cardan.robots": "cardan._robot.shipped",
    "cardan.simulation.solvers.mujoco": "cardan._reach.interop.mujoco_solver",
    "cardan.staging": "cardan._compiler.runtime.staging",
}
_CALL = "arguments compiled conversion environment explain function kinds plain references repeated results signature "
_CALL += "sites store traced"
MOVED |= {f"cardan.functions.{name}": f"cardan._dynamics.call.{name}" for name in _CALL.split()}
MOVED |= {
    "cardan.joints.catalogue.floating": "cardan._robot.joints.catalogue.free_flyer",
    "cardan.joints.derivation.parameters": "cardan._robot.joints.derivation.programs",
    **{f"cardan.robots.{name}": "cardan._robot.shipped.linkages" for name in ("five_bar", "four_bar")},
    **{
        f"cardan.robots.{name}": "cardan._robot.shipped.pendulums" for name in ("cart_pole", "chain", "double_pendulum")
    },
}


def todays(name: str) -> str | None:
    """Return the name of today of a module; None if it has not moved."""
    start, end = name, ""
    while start:
        if start in MOVED:
            return MOVED[start] + end
        start, dot, last = start.rpartition(".")
        end = f"{dot}{last}{end}"
    return None


class _Finder(MetaPathFinder, Loader):
    """Finds modules under their earlier names: each shows the names of the module of today."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if todays(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        found = importlib.import_module(todays(module.__name__) or "")
        module.__dict__["__getattr__"] = lambda name: getattr(found, name)


sys.meta_path.append(_Finder())
