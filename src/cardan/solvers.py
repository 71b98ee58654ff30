"""The solvers, under the name they are called by: `from cardan.solvers import Featherstone` (`simulation/solvers`)."""

from typing import TYPE_CHECKING, Any

from cardan.simulation import solvers as _home

if TYPE_CHECKING:
    from cardan.simulation.solvers import (
        XPBD,
        Featherstone,
        MuJoCo,
        SemiImplicit,
        Solver,
        Trajectory,
        Variational,
    )

__all__ = ["XPBD", "Featherstone", "MuJoCo", "SemiImplicit", "Solver", "Trajectory", "Variational"]


def __getattr__(name: str) -> Any:
    return getattr(_home, name)


__dir__ = __all__.copy
