"""The registry: every joint type that ships, with an example that is typical and not symmetric."""

from cardan.joints.base import Joint
from cardan.joints.composite import Composite
from cardan.joints.d6 import D6
from cardan.joints.ellipsoid import Ellipsoid
from cardan.joints.fixed import Fixed
from cardan.joints.floating_mrp import FloatingMRP
from cardan.joints.free_flyer import FreeFlyer
from cardan.joints.helical import Helical
from cardan.joints.mimic import Mimic
from cardan.joints.planar import Planar
from cardan.joints.planar_angle import PlanarAngle
from cardan.joints.prismatic import Prismatic
from cardan.joints.reversed import Reversed
from cardan.joints.revolute import Revolute
from cardan.joints.spherical import Spherical
from cardan.joints.spherical_zyx import SphericalZYX
from cardan.joints.translation import Translation
from cardan.joints.unbounded_revolute import UnboundedRevolute
from cardan.joints.universal import Universal
from cardan.spatial import SE3
from cardan.spatial.rotations import matrix_from_zyx

_TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))

CATALOGUE: tuple[Joint, ...] = (
    Fixed(),
    Revolute(axis=(0.36, 0.48, 0.8)),
    Prismatic(axis=(0.36, -0.48, 0.8)),
    Helical(axis=(0.48, 0.64, 0.6), pitch=0.2),
    UnboundedRevolute(axis=(0.6, 0.0, 0.8)),
    UnboundedRevolute(axis=(0.0, 0.6, 0.8), order="sin_cos"),
    Universal(),
    Spherical(),
    SphericalZYX(),
    Translation(),
    Planar(),
    PlanarAngle(x_axis=(0.6, 0.8, 0.0), y_axis=(-0.8, 0.6, 0.0)),
    FreeFlyer(),
    FloatingMRP(),
    Ellipsoid(radii=(0.5, 0.7, 1.1)),
    D6(linear=[(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)], angular=[(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]),
    Composite(
        [Revolute(axis=(1.0, 0.0, 0.0)), Spherical(), Prismatic(axis=(0.0, 0.6, 0.8))], [SE3(), _TILTED, _TILTED]
    ),
    Reversed(Ellipsoid(radii=(0.5, 0.7, 1.1))),
    Mimic(Revolute(axis=(0.0, 1.0, 0.0)), primary="primary", multiplier=-0.5, offset=0.2),
)
"""One instance of every joint type, for tables and tests; a new joint adds a line here."""
