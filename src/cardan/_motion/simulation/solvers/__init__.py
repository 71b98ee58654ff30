"""Solvers: what moves the worlds of a state on in time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cardan._algebra.lazy import fetcher

if TYPE_CHECKING:
    from cardan._motion.simulation.solvers.featherstone import Featherstone
    from cardan._motion.simulation.solvers.maximal import XPBD, SemiImplicit, Variational
    from cardan._motion.simulation.solvers.solver import Solver, Stepper, Trajectory

__all__ = ["XPBD", "Featherstone", "SemiImplicit", "Solver", "Stepper", "Trajectory", "Variational"]

_HOMES = {
    ".featherstone": "Featherstone",
    ".maximal": "SemiImplicit Variational XPBD",
    ".solver": "Solver Stepper Trajectory",
}
_fetch = fetcher(__name__, _HOMES)
_registered: dict[str, str] = {}


def register_solver(path: str) -> None:
    """Show a solver of an upper wing or another package among these: `"package.module:Class"`."""
    module, _, name = path.partition(":")
    _registered[name] = module
    if name not in __all__:
        __all__.append(name)


def __getattr__(name: str) -> Any:
    if name in _registered:
        return getattr(import_module(_registered[name]), name)
    return _fetch(name)


def __dir__() -> list[str]:
    return __all__
