"""The joints: the protocol, its implementations, one a file, and limits."""

import re
from typing import TYPE_CHECKING

from cardan.joints.joint import Joint
from cardan.joints.limits import Limits
from cardan.lazy import fetcher

if TYPE_CHECKING:
    from cardan.joints.catalogue.cable import Cable
    from cardan.joints.catalogue.composite import Composite
    from cardan.joints.catalogue.condylar_knee import condylar_knee
    from cardan.joints.catalogue.constant_velocity import ConstantVelocity
    from cardan.joints.catalogue.cylindrical import Cylindrical
    from cardan.joints.catalogue.d6 import D6
    from cardan.joints.catalogue.distance import Distance
    from cardan.joints.catalogue.ellipsoid import Ellipsoid
    from cardan.joints.catalogue.fixed import Fixed
    from cardan.joints.catalogue.floating_mrp import FloatingMRP
    from cardan.joints.catalogue.free_flyer import FreeFlyer
    from cardan.joints.catalogue.helical import Helical
    from cardan.joints.catalogue.mimic import Mimic
    from cardan.joints.catalogue.opensim_custom import OpenSimCustom
    from cardan.joints.catalogue.planar import Planar
    from cardan.joints.catalogue.planar_angle import PlanarAngle
    from cardan.joints.catalogue.prismatic import Prismatic
    from cardan.joints.catalogue.reversed import Reversed, reverse
    from cardan.joints.catalogue.revolute import Revolute
    from cardan.joints.catalogue.shipped import CATALOGUE
    from cardan.joints.catalogue.spherical import Spherical
    from cardan.joints.catalogue.spherical_zyx import SphericalZYX
    from cardan.joints.catalogue.spline import Spline
    from cardan.joints.catalogue.translation import Translation
    from cardan.joints.catalogue.unbounded_revolute import UnboundedRevolute
    from cardan.joints.catalogue.universal import Universal
    from cardan.joints.catalogue.variable_screw import VariableScrew
    from cardan.joints.coordinate_functions import Constant, CoordinateFunction, Linear, NaturalSpline, Polynomial

__all__ = [
    "CATALOGUE",
    "D6",
    "Cable",
    "Composite",
    "Constant",
    "ConstantVelocity",
    "CoordinateFunction",
    "Cylindrical",
    "Distance",
    "Ellipsoid",
    "Fixed",
    "FloatingMRP",
    "FreeFlyer",
    "Helical",
    "Joint",
    "Limits",
    "Linear",
    "Mimic",
    "NaturalSpline",
    "OpenSimCustom",
    "Planar",
    "PlanarAngle",
    "Polynomial",
    "Prismatic",
    "Reversed",
    "Revolute",
    "Spherical",
    "SphericalZYX",
    "Spline",
    "Translation",
    "UnboundedRevolute",
    "Universal",
    "VariableScrew",
    "condylar_knee",
    "reverse",
]

_HOMES = {
    ".catalogue.shipped": "CATALOGUE",
    ".catalogue.reversed": "Reversed reverse",
    ".catalogue.opensim_custom": "OpenSimCustom",
    ".coordinate_functions": "Constant CoordinateFunction Linear NaturalSpline Polynomial",
}
_joints = set(__all__).difference({"Joint", "Limits"}, *(names.split() for names in _HOMES.values()))
_HOMES |= {f".catalogue.{re.sub(r'(?<=[a-z])(?=[A-Z])', '_', name).lower()}": name for name in _joints}
"""What comes from where; a joint from the file that has its name."""

__getattr__ = fetcher(__name__, _HOMES, modules="coordinate_functions serial")
__dir__ = __all__.copy
