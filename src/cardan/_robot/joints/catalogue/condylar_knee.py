"""The condylar knee: flexion that rolls, glides and turns the shank along, as an example of OpenSim's custom joint."""

from __future__ import annotations

import math

from cardan._algebra.errors import ParameterError
from cardan._robot.joints.catalogue.opensim_custom import OpenSimCustom
from cardan._robot.joints.coordinate_functions import Constant, Linear, Polynomial

# Polynomials in the flexion F [deg], from F^1 on: adduction (varus) and internal rotation of the tibia [deg], and the
# displacement of the femur relative to the tibia, upward and forward [mm].
ADDUCTION = (0.0791, -5.733e-4, -7.682e-6, 5.759e-8)
INTERNAL_ROTATION = (0.3695, -2.958e-3, 7.666e-6)
FEMUR_UP = (-0.0683, 8.804e-4, -3.750e-6)
FEMUR_FORWARD = (-0.1283, 4.796e-4)


def condylar_knee(side: str = "right") -> OpenSimCustom:
    """Return a knee of one degree of freedom: the femur is the parent, the tibia the child.

    Axes of both: x forward, y up, z to the right. q: flexion [rad], 0 when straight, positive as the heel goes back;
    measured for 0 to 120 degrees, and only there. R = Rz(-flexion) Rx(adduction) Ry(internal rotation); the translation
    of the tibia is the opposite of the femur's, as in Rajagopal et al. (who scale it by 0.8).

    Source: the coefficients are published: Walker, Rovick and Robertson, The effects of knee brace hinge design and
    placement on joint mechanics (1988). Axes and signs: Rajagopal et al., Full-body musculoskeletal model (2016).

    Args:
        side: `"right"` or `"left"`, its mirror image.

    Raises:
        ParameterError: if it is neither.

    Examples:
        >>> cardan.joints.condylar_knee().nv
        1
    """
    if side not in ("right", "left"):
        raise ParameterError("side of a knee", got=side, expected="'right' or 'left'")
    mirror = 1.0 if side == "right" else -1.0
    degree, millimetre = math.radians(1.0), 1e-3
    return OpenSimCustom(
        coordinates=("flexion",),
        rotation_axes=((0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        rotations=(Linear([1.0]), _of(ADDUCTION, mirror * degree), _of(INTERNAL_ROTATION, mirror * degree)),
        translations=(_of(FEMUR_FORWARD, -millimetre), _of(FEMUR_UP, -millimetre), Constant()),
    )


def _of(coefficients: tuple[float, ...], scale: float) -> Polynomial:
    """Return the polynomial of the flexion in radians."""
    return Polynomial([0.0, *(scale * c * math.degrees(1.0) ** k for k, c in enumerate(coefficients, start=1))])
