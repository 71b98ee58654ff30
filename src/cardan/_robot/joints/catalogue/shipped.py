"""The registry: every joint type that ships, with an example that is typical and not symmetric."""

from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import matrix_from_zyx
from cardan._robot import joints

_TILTED = SE3(matrix_from_zyx((0.3, -0.5, 0.8)), (0.1, -0.2, 0.3))
_LAST = _TILTED @ SE3(matrix_from_zyx((-0.7, 1.1, 0.4)), (0.3, 0.2, -0.4))

CATALOGUE: tuple[joints.Joint, ...] = (
    joints.Fixed(),
    joints.Revolute(axis=(0.36, 0.48, 0.8)),
    joints.Prismatic(axis=(0.36, -0.48, 0.8)),
    joints.Helical(axis=(0.48, 0.64, 0.6), pitch=0.2),
    joints.UnboundedRevolute(axis=(0.6, 0.0, 0.8)),
    joints.UnboundedRevolute(axis=(0.0, 0.6, 0.8), order="sin_cos"),
    joints.Universal(),
    joints.Spherical(),
    joints.SphericalZYX(),
    joints.Translation(),
    joints.Planar(),
    joints.PlanarAngle(x_axis=(0.6, 0.8, 0.0), y_axis=(-0.8, 0.6, 0.0)),
    joints.FreeFlyer(),
    joints.FloatingMRP(),
    joints.Ellipsoid(radii=(0.5, 0.7, 1.1)),
    joints.D6(linear=[(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)], angular=[(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]),
    joints.Composite(
        [joints.Revolute(axis=(1.0, 0.0, 0.0)), joints.Spherical(), joints.Prismatic(axis=(0.0, 0.6, 0.8))],
        [SE3(), _TILTED, _TILTED],
    ),
    joints.Reversed(joints.Ellipsoid(radii=(0.5, 0.7, 1.1))),
    joints.Cylindrical(axis=(0.48, -0.6, 0.64)),
    joints.VariableScrew(axis=(0.0, 0.6, 0.8), pitch=(0.2, -0.1, 0.03)),
    joints.ConstantVelocity(axis1=(0.6, 0.0, 0.8), axis2=(0.0, 1.0, 0.0), length=0.2),
    joints.Spline(frames=(SE3(), _TILTED, _TILTED @ SE3(translation=(0.2, 0.4, 0.1)), _LAST), span=(-1.0, 1.5)),
    joints.OpenSimCustom(
        coordinates=("flexion", "sweep"),
        rotations=(
            joints.Linear([1.0]),
            joints.NaturalSpline([-1.0, 0.1, 0.5, 2.0], [0.2, 0.1, 0.3, -0.1]),
            joints.Polynomial([0.0, 0.7, 0.2], 1),
        ),
        translations=(
            joints.Polynomial([0.0, -0.1, 0.3]),
            joints.Linear([0.2, -0.3], 0.1),
            joints.NaturalSpline([-0.7, 0.1, 0.9], [0.1, -0.2, 0.3], 1),
        ),
        rotation_axes=[(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 0.6, 0.8)],
    ),
    joints.Cable(
        axis=(0.36, 0.8, 0.48), stretch_stiffness=500.0, bend_stiffness=0.3, stretch_damping=2.0, bend_damping=0.01
    ),
    joints.Distance(minimum=0.1, maximum=0.8),
    joints.Mimic(joints.Revolute(axis=(0.0, 1.0, 0.0)), primary="primary", multiplier=-0.5, offset=0.2),
    joints.Coupled(
        joints.Helical(axis=(0.0, 1.0, 0.0), pitch=0.1), "primary", joints.Polynomial([0.2, -0.9, 0.1, 0.05])
    ),
)
"""One instance of every joint type, for tables and tests; a new joint adds a line here."""
