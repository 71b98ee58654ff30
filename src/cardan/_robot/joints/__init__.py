"""The joints: the protocol, its implementations, one a file, and limits."""

import re
from typing import TYPE_CHECKING

from cardan._algebra.lazy import fetcher
from cardan._robot.joints.joint import Joint
from cardan._robot.joints.limits import Limits

if TYPE_CHECKING:
    from cardan._robot.joints.catalogue.cable import Cable
    from cardan._robot.joints.catalogue.composite import Composite
    from cardan._robot.joints.catalogue.condylar_knee import condylar_knee
    from cardan._robot.joints.catalogue.constant_velocity import ConstantVelocity
    from cardan._robot.joints.catalogue.cylindrical import Cylindrical
    from cardan._robot.joints.catalogue.d6 import D6
    from cardan._robot.joints.catalogue.distance import Distance
    from cardan._robot.joints.catalogue.ellipsoid import Ellipsoid
    from cardan._robot.joints.catalogue.fixed import Fixed
    from cardan._robot.joints.catalogue.floating_mrp import FloatingMRP
    from cardan._robot.joints.catalogue.free_flyer import FreeFlyer
    from cardan._robot.joints.catalogue.helical import Helical
    from cardan._robot.joints.catalogue.mimic import Mimic
    from cardan._robot.joints.catalogue.opensim_custom import OpenSimCustom
    from cardan._robot.joints.catalogue.planar import Planar
    from cardan._robot.joints.catalogue.planar_angle import PlanarAngle
    from cardan._robot.joints.catalogue.prismatic import Prismatic
    from cardan._robot.joints.catalogue.reversed import Reversed, reverse
    from cardan._robot.joints.catalogue.revolute import Revolute
    from cardan._robot.joints.catalogue.shipped import CATALOGUE
    from cardan._robot.joints.catalogue.spherical import Spherical
    from cardan._robot.joints.catalogue.spherical_zyx import SphericalZYX
    from cardan._robot.joints.catalogue.spline import Spline
    from cardan._robot.joints.catalogue.translation import Translation
    from cardan._robot.joints.catalogue.unbounded_revolute import UnboundedRevolute
    from cardan._robot.joints.catalogue.universal import Universal
    from cardan._robot.joints.catalogue.variable_screw import VariableScrew
    from cardan._robot.joints.coordinate_functions import (
        Constant,
        CoordinateFunction,
        Linear,
        NaturalSpline,
        Polynomial,
    )

__all__ = [
    "CATALOGUE", "D6", "Cable", "Composite", "Constant", "ConstantVelocity", "CoordinateFunction", "Cylindrical",
    "Distance", "Ellipsoid", "Fixed", "FloatingMRP", "FreeFlyer", "Helical", "Joint", "Limits", "Linear", "Mimic",
    "NaturalSpline", "OpenSimCustom", "Planar", "PlanarAngle", "Polynomial", "Prismatic", "Reversed", "Revolute",
    "Spherical", "SphericalZYX", "Spline", "Translation", "UnboundedRevolute", "Universal", "VariableScrew",
    "condylar_knee", "reverse",
]  # fmt: skip

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
