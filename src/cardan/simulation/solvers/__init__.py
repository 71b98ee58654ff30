"""Solvers: what moves the worlds of a state on in time."""

from typing import TYPE_CHECKING

from cardan.lazy import fetcher

if TYPE_CHECKING:
    from cardan.simulation.solvers.featherstone import Featherstone
    from cardan.simulation.solvers.mujoco import MuJoCo
    from cardan.simulation.solvers.semi_implicit import SemiImplicit
    from cardan.simulation.solvers.solver import Solver, Trajectory
    from cardan.simulation.solvers.stepper import Stepper
    from cardan.simulation.solvers.variational import Variational
    from cardan.simulation.solvers.xpbd import XPBD

__all__ = ["XPBD", "Featherstone", "MuJoCo", "SemiImplicit", "Solver", "Stepper", "Trajectory", "Variational"]

_HOMES = {
    ".featherstone": "Featherstone",
    ".mujoco": "MuJoCo",
    ".semi_implicit": "SemiImplicit",
    ".solver": "Solver Trajectory",
    ".stepper": "Stepper",
    ".variational": "Variational",
    ".xpbd": "XPBD",
}
__getattr__ = fetcher(__name__, _HOMES)
__dir__ = __all__.copy
