"""Solvers: what moves the worlds of a state on in time.

A solver of another package is found by its name, if that package has an entry point `Name = package.module:Class` of
the group `cardan.solvers`.
"""

from importlib import import_module
from typing import Any

from cardan._algebra.lazy import imported_later, plugin

with imported_later(globals()):
    from cardan._motion.simulation.solvers.featherstone import Featherstone
    from cardan._motion.simulation.solvers.maximal import XPBD, SemiImplicit, Variational
    from cardan._motion.simulation.solvers.solver import Solver, Stepper, Trajectory

__all__ = ["XPBD", "Featherstone", "SemiImplicit", "Solver", "Stepper", "Trajectory", "Variational"]
_fetch = globals()["__getattr__"]  # of the names above; that below asks it last
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
    of_others = None if name in __all__ or name.startswith("_") else plugin("cardan.solvers", name)
    return _fetch(name) if of_others is None else of_others
