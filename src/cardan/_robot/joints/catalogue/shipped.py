"""The registry: every joint type that ships, with an example that is typical and not symmetric."""

import cardan._robot.joints as J
from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import matrix_from_zyx

_TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))
_LAST = _TILTED @ SE3(matrix_from_zyx((-0.7, 1.1, 0.4)), (0.3, 0.2, -0.4))

CATALOGUE: tuple[J.Joint, ...] = (
    J.Fixed(),
    J.Revolute(axis=(0.36, 0.48, 0.8)),
    J.Prismatic(axis=(0.36, -0.48, 0.8)),
    J.Helical(axis=(0.48, 0.64, 0.6), pitch=0.2),
    J.UnboundedRevolute(axis=(0.6, 0.0, 0.8)),
    J.UnboundedRevolute(axis=(0.0, 0.6, 0.8), order="sin_cos"),
    J.Universal(),
    J.Spherical(),
    J.SphericalZYX(),
    J.Translation(),
    J.Planar(),
    J.PlanarAngle(x_axis=(0.6, 0.8, 0.0), y_axis=(-0.8, 0.6, 0.0)),
    J.FreeFlyer(),
    J.FloatingMRP(),
    J.Ellipsoid(radii=(0.5, 0.7, 1.1)),
    J.D6(linear=[(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)], angular=[(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]),
    J.Composite(
        [J.Revolute(axis=(1.0, 0.0, 0.0)), J.Spherical(), J.Prismatic(axis=(0.0, 0.6, 0.8))], [SE3(), _TILTED, _TILTED]
    ),
    J.Reversed(J.Ellipsoid(radii=(0.5, 0.7, 1.1))),
    J.Cylindrical(axis=(0.48, -0.6, 0.64)),
    J.VariableScrew(axis=(0.0, 0.6, 0.8), pitch=(0.2, -0.1, 0.03)),
    J.ConstantVelocity(axis1=(0.6, 0.0, 0.8), axis2=(0.0, 1.0, 0.0), length=0.2),
    J.Spline(frames=(SE3(), _TILTED, _TILTED @ SE3(translation=(0.2, 0.4, 0.1)), _LAST), span=(-1.0, 1.5)),
    J.OpenSimCustom(
        coordinates=("flexion", "sweep"),
        rotations=(
            J.Linear([1.0]),
            J.NaturalSpline([-1.0, 0.1, 0.5, 2.0], [0.2, 0.1, 0.3, -0.1]),
            J.Polynomial([0.0, 0.7, 0.2], 1),
        ),
        translations=(
            J.Polynomial([0.0, -0.1, 0.3]),
            J.Linear([0.2, -0.3], 0.1),
            J.NaturalSpline([-0.7, 0.1, 0.9], [0.1, -0.2, 0.3], 1),
        ),
        rotation_axes=[(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 0.6, 0.8)],
    ),
    J.Cable(
        axis=(0.36, 0.8, 0.48), stretch_stiffness=500.0, bend_stiffness=0.3, stretch_damping=2.0, bend_damping=0.01
    ),
    J.Distance(minimum=0.1, maximum=0.8),
    J.Mimic(J.Revolute(axis=(0.0, 1.0, 0.0)), primary="primary", multiplier=-0.5, offset=0.2),
)
"""One instance of every joint type, for tables and tests; a new joint adds a line here."""
