"""Configuration spaces: how nv velocities move nq coordinates."""

from cardan._algebra.lazy import imported_later
from cardan._algebra.manifolds.euclidean import Euclidean
from cardan._algebra.manifolds.manifold import Manifold
from cardan._algebra.manifolds.product import Product

with imported_later(globals()):
    from cardan._algebra.manifolds.rigid_motions import SE3
    from cardan._algebra.manifolds.rotation import MRP, Orientation, UnitQuaternion
    from cardan._algebra.manifolds.se2 import SE2
    from cardan._algebra.manifolds.unit_complex import UnitComplex

__all__ = ["MRP", "SE2", "SE3", "Euclidean", "Manifold", "Orientation", "Product", "UnitComplex", "UnitQuaternion"]

__dir__ = __all__.copy
