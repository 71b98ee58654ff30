"""Rotations and their charts: quaternion (x, y, z, w), rotation vector, modified Rodrigues parameters, Euler angles.

Throughout:
    axis: of unit length, three scalars [-].
    cosine, sine: of the angle [-].
    angle: [rad].
    R: a rotation matrix [-], 3x3, or an array of shape (..., 3, 3).
    q, a, b: x, y, z, w [-], or an array of shape (..., 4).
    phi, near: a rotation vector [rad], or an array of shape (..., 3).
    s: modified Rodrigues parameters [-], or an array of shape (..., 3).
    angles: three angles [rad], or an array of shape (..., 3).

Examples:
    >>> r, one = cardan.spatial.rotations, np.eye(3)
    >>> r.matrix_about_axis((0.0, 0.0, 1.0), 1.0, 0.0)
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.rotation_about_axis((0.0, 0.0, 1.0), 0.0)
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.angle_about_axis((0.0, 0.0, 1.0), one)
    0.0
    >>> r.quaternion_multiply_xyzw((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    (1.0, 0.0, 0.0, 0.0)
    >>> r.quaternion_conjugate_xyzw((1.0, 0.0, 0.0, 0.0))
    (-1.0, -0.0, -0.0, 0.0)
    >>> r.quaternion_normalize_xyzw((0.0, 0.0, 0.0, 2.0))
    (0.0, 0.0, 0.0, 1.0)
    >>> r.quaternion_canonical_xyzw((0.0, 0.0, 0.0, -1.0))
    (-0.0, -0.0, -0.0, 1.0)
    >>> r.matrix_from_quaternion_xyzw((0.0, 0.0, 0.0, 1.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.quaternion_xyzw_from_matrix(one)
    array([0., 0., 0., 1.])
    >>> r.quaternion_xyzw_from_rotation_vector((0.0, 0.0, 0.0))
    (0.0, 0.0, 0.0, 1.0)
    >>> r.rotation_vector_from_quaternion_xyzw((0.0, 0.0, 0.0, 1.0))
    (0.0, 0.0, 0.0)
    >>> r.matrix_from_rotation_vector((0.0, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.rotation_vector_from_matrix(one)
    array([0., 0., 0.])
    >>> r.rotation_vector_near((0.0, 0.0, 0.5), (0.0, 0.0, 6.0))
    (0.0, 0.0, 6.783185307179586)
    >>> r.right_jacobian((0.0, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.right_jacobian_inverse((0.0, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.quaternion_xyzw_from_mrp((0.0, 0.0, 0.0))
    (0.0, 0.0, 0.0, 1.0)
    >>> r.mrp_from_quaternion_xyzw((0.0, 0.0, 0.0, 1.0))
    (0.0, 0.0, 0.0)
    >>> r.matrix_from_mrp((0.0, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.mrp_principal((0.0, 0.0, 2.0))
    (-0.0, -0.0, -0.5)
    >>> r.matrix_from_zyx((0.0, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.zyx_from_matrix(one)
    array([ 0., -0.,  0.])
    >>> r.matrix_from_xyz((0.0, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> r.xyz_from_matrix(one)
    array([-0.,  0.,  0.])
"""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.spatial.rotations import *
