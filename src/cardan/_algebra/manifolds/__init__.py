"""Configuration spaces: how nv velocities move nq coordinates."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import fetcher
from cardan._algebra.manifolds.euclidean import Euclidean
from cardan._algebra.manifolds.manifold import Manifold
from cardan._algebra.manifolds.product import Product

if TYPE_CHECKING:
    from cardan._algebra.manifolds.rigid_motions import SE3
    from cardan._algebra.manifolds.rotation import MRP, Orientation, UnitQuaternion
    from cardan._algebra.manifolds.se2 import SE2
    from cardan._algebra.manifolds.unit_complex import UnitComplex

__all__ = ["MRP", "SE2", "SE3", "Euclidean", "Manifold", "Orientation", "Product", "UnitComplex", "UnitQuaternion"]

_HOMES = {
    ".rigid_motions": "SE3",
    ".rotation": "MRP Orientation UnitQuaternion",
    ".se2": "SE2",
    ".unit_complex": "UnitComplex",
}

__getattr__ = fetcher(__name__, _HOMES)
__dir__ = __all__.copy
