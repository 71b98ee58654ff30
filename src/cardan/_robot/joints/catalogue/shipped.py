"""The registry: every joint type that ships, with an example that is typical and not symmetric."""

from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import matrix_from_zyx
from cardan._robot.joints.catalogue.biomechanical import Ellipsoid, OpenSimCustom
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
from cardan._robot.joints.catalogue.of_another import Mimic, Reversed
from cardan._robot.joints.catalogue.one_axis import (
    Cylindrical,
    Helical,
    Prismatic,
    Revolute,
    UnboundedRevolute,
    VariableScrew,
)
from cardan._robot.joints.catalogue.spline import Spline
from cardan._robot.joints.coordinate_functions import Linear, NaturalSpline, Polynomial
from cardan._robot.joints.joint import Joint

_TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))
_LAST = _TILTED @ SE3(matrix_from_zyx((-0.7, 1.1, 0.4)), (0.3, 0.2, -0.4))

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
    Cylindrical(axis=(0.48, -0.6, 0.64)),
    VariableScrew(axis=(0.0, 0.6, 0.8), pitch=(0.2, -0.1, 0.03)),
    ConstantVelocity(axis1=(0.6, 0.0, 0.8), axis2=(0.0, 1.0, 0.0), length=0.2),
    Spline(frames=(SE3(), _TILTED, _TILTED @ SE3(translation=(0.2, 0.4, 0.1)), _LAST), span=(-1.0, 1.5)),
    OpenSimCustom(
        coordinates=("flexion", "sweep"),
        rotations=(
            Linear([1.0]),
            NaturalSpline([-1.0, 0.1, 0.5, 2.0], [0.2, 0.1, 0.3, -0.1]),
            Polynomial([0.0, 0.7, 0.2], 1),
        ),
        translations=(
            Polynomial([0.0, -0.1, 0.3]),
            Linear([0.2, -0.3], 0.1),
            NaturalSpline([-0.7, 0.1, 0.9], [0.1, -0.2, 0.3], 1),
        ),
        rotation_axes=[(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 0.6, 0.8)],
    ),
    Cable(axis=(0.36, 0.8, 0.48), stretch_stiffness=500.0, bend_stiffness=0.3, stretch_damping=2.0, bend_damping=0.01),
    Distance(minimum=0.1, maximum=0.8),
    Mimic(Revolute(axis=(0.0, 1.0, 0.0)), primary="primary", multiplier=-0.5, offset=0.2),
)
"""One instance of every joint type, for tables and tests; a new joint adds a line here."""
