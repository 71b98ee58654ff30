"""Solvers: what moves the worlds of a state on in time."""

from typing import TYPE_CHECKING

from cardan.lazy import fetcher

if TYPE_CHECKING:
    from cardan.simulation.solvers.featherstone import Featherstone
    from cardan.simulation.solvers.solver import Solver, Trajectory

__all__ = ["Featherstone", "Solver", "Trajectory"]

_HOMES = {
    ".featherstone": "Featherstone",
    ".solver": "Solver Trajectory",
}
__getattr__ = fetcher(__name__, _HOMES)
