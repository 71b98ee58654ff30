"""The joints: the protocol, its implementations, and limits."""

from cardan._algebra.lazy import imported_later
from cardan._robot.joints.joint import Joint
from cardan._robot.joints.limits import Limits

with imported_later(globals()):
    from cardan._robot.joints import coordinate_functions as coordinate_functions
    from cardan._robot.joints.catalogue.biomechanical import Ellipsoid, OpenSimCustom, condylar_knee
    from cardan._robot.joints.catalogue.chains import D6, Composite, ConstantVelocity, Universal
    from cardan._robot.joints.catalogue.elastic import Cable, Distance
    from cardan._robot.joints.catalogue.free_directions import (
        Fixed,
        FloatingMRP,
        FreeFlyer,
        Planar,
        PlanarAngle,
        Spherical,
        SphericalZYX,
        Translation,
    )
    from cardan._robot.joints.catalogue.of_another import Coupled, Mimic, Reversed, reverse
    from cardan._robot.joints.catalogue.one_axis import (
        Cylindrical,
        Helical,
        Prismatic,
        Revolute,
        Spline,
        UnboundedRevolute,
        VariableScrew,
    )
    from cardan._robot.joints.catalogue.shipped import CATALOGUE
    from cardan._robot.joints.coordinate_functions import (
        Constant,
        CoordinateFunction,
        Linear,
        NaturalSpline,
        Polynomial,
    )

__all__ = [
    "CATALOGUE", "D6", "Cable", "Composite", "Constant", "ConstantVelocity", "CoordinateFunction", "Coupled",
    "Cylindrical", "Distance", "Ellipsoid", "Fixed", "FloatingMRP", "FreeFlyer", "Helical", "Joint", "Limits", "Linear",
    "Mimic", "NaturalSpline", "OpenSimCustom", "Planar", "PlanarAngle", "Polynomial", "Prismatic", "Reversed",
    "Revolute", "Spherical", "SphericalZYX", "Spline", "Translation", "UnboundedRevolute", "Universal", "VariableScrew",
    "condylar_knee", "reverse",
]  # fmt: skip
