"""Configuration spaces: how nv velocities move nq coordinates."""

from cardan._algebra.lazy import imported_later
from cardan._algebra.manifolds.manifold import Manifold
from cardan._algebra.manifolds.product import Euclidean, Product

with imported_later(globals()):
    from cardan._algebra.manifolds.plane import SE2, UnitComplex
    from cardan._algebra.manifolds.rotation import MRP, SE3, Orientation, UnitQuaternion

__all__ = ["MRP", "SE2", "SE3", "Euclidean", "Manifold", "Orientation", "Product", "UnitComplex", "UnitQuaternion"]
