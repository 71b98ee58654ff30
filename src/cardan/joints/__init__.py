"""The joints: the protocol, its implementations, one a file, and limits."""

from cardan.joints.base import Joint
from cardan.joints.cable import Cable
from cardan.joints.catalogue import CATALOGUE
from cardan.joints.composite import Composite
from cardan.joints.condylar_knee import condylar_knee
from cardan.joints.constant_velocity import ConstantVelocity
from cardan.joints.coordinate_functions import Constant, CoordinateFunction, Linear, NaturalSpline, Polynomial
from cardan.joints.cylindrical import Cylindrical
from cardan.joints.d6 import D6
from cardan.joints.distance import Distance
from cardan.joints.ellipsoid import Ellipsoid
from cardan.joints.fixed import Fixed
from cardan.joints.floating_mrp import FloatingMRP
from cardan.joints.free_flyer import FreeFlyer
from cardan.joints.helical import Helical
from cardan.joints.limits import Limits
from cardan.joints.mimic import Mimic
from cardan.joints.opensim_custom import OpenSimCustom
from cardan.joints.planar import Planar
from cardan.joints.planar_angle import PlanarAngle
from cardan.joints.prismatic import Prismatic
from cardan.joints.reversed import Reversed, reverse
from cardan.joints.revolute import Revolute
from cardan.joints.spherical import Spherical
from cardan.joints.spherical_zyx import SphericalZYX
from cardan.joints.spline import Spline
from cardan.joints.translation import Translation
from cardan.joints.unbounded_revolute import UnboundedRevolute
from cardan.joints.universal import Universal
from cardan.joints.variable_screw import VariableScrew

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
