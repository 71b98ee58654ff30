"""The joints: the protocol, its implementations, one a file, and limits."""

from cardan._algebra.lazy import imported_later
from cardan._robot.joints.joint import Joint
from cardan._robot.joints.limits import Limits

with imported_later(globals()):
    from cardan._robot.joints import coordinate_functions as coordinate_functions
    from cardan._robot.joints import serial as serial
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

__dir__ = __all__.copy
