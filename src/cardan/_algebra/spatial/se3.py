"""Rigid transformations: the pose of one frame in another.

`X_ab` maps coordinates in b to coordinates in a: x_a = R x_b + p. Adjacent letters cancel: X_ac = X_ab @ X_bc.

Source: Featherstone (2008), section 2.8; Sola et al., A micro Lie theory (2018); Barfoot, State Estimation for
Robotics (2017), section 7.1 for the Jacobians of the exponential.

What users give (quaternions, angles, matrices) is checked where it is numbers. Symbols have no values to look at: what
they stand for is taken at its word.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import DTypeError, NotFiniteError, ParameterError, ShapeError, check_one_of
from cardan._algebra.scalar import is_symbol
from cardan._algebra.spatial import rotations
from cardan._algebra.spatial.composition import noted
from cardan._algebra.spatial.inertia import ArticulatedInertia, Inertia
from cardan._algebra.spatial.motion import AppliedByMatmul, Columns, Force, Motion
from cardan._algebra.spatial.stumpff import stumpff
from cardan._algebra.spatial.vector import Matrix3, Scalar, Vector3, components

HAS_SYMBOLS = np.dtype(object)


def given_array(where: str, name: str, value: Any, *cores: tuple[int, ...]) -> np.ndarray:
    """Return an argument as an array of shape (..., *core), of finite real numbers or of symbols, or raise.

    Cores are the shapes one state may have; where and name are those of the function and its argument, for messages.
    """
    expected = " or ".join(f"(..., {', '.join(map(str, core))})" for core in cores)
    try:
        array = np.asarray(stack(list(value)) if _are_components(value, cores[0]) else value)
    except ValueError as error:  # rows of different lengths, or rows that may be components
        raise ShapeError(where, name, got="(ragged)", expected=expected, hint=str(error)) from None
    if not any(array.ndim >= len(core) and array.shape[array.ndim - len(core) :] == core for core in cores):
        raise ShapeError(where, name, got=array.shape, expected=expected)
    if array.dtype == object and any(map(is_symbol, array.flat)):
        return array
    if array.dtype.kind not in "fiu":
        raise DTypeError(where, name, got=f"of dtype {array.dtype}", expected="real numbers")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        index = tuple(map(int, wrong[0]))
        raise NotFiniteError(where, name, index, float(array[index]))
    return array if array.dtype.kind == "f" else array.astype(float)


def _are_components(value: Any, core: tuple[int, ...]) -> bool:
    """Return whether a vector is given by its components: a joint's q in many states, or (0.0, q[1], 0.0) of it.

    Arrays of the vector's own size may be rows as well, as of three states of three coordinates. That is an error.
    """
    if isinstance(value, (Vector3, np.ndarray)):
        return isinstance(value, Vector3) or (value.dtype == object and value.ndim == 1)
    parts = value if isinstance(value, (tuple, list)) and (len(value),) == core else ()
    batches = [e.shape for e in parts if isinstance(e, np.ndarray)]
    if len(batches) == max(core) and all(shape[-1:] == core for shape in batches):
        raise ValueError("np.stack(..., axis=-1) makes one array of components, np.array(...) of rows.")
    return len(batches) > 0 and not any(isinstance(e, (tuple, list)) for e in parts)  # or they are rows


def given_vector(where: str, name: str, value: Any) -> Vector3:
    """Return three numbers, batches of them, or symbols; `None` is zero."""
    return Vector3.zero() if value is None else Vector3.of(given_array(where, name, value, (3,)))


def given_rotation(where: str, name: str, array: np.ndarray, tolerance: float) -> Matrix3:
    """Return rotation matrices, shape (..., 3, 3); raise `ParameterError` for what is not orthonormal, or reflects."""
    if array.dtype != HAS_SYMBOLS:
        off = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(axis=(-1, -2))
        got = f"columns that are not orthonormal (by {np.max(off, initial=0.0):.3g})"
        hint = "The nearest rotation, of one that is close: U, s, V = np.linalg.svd(R); U @ V."
        _refuse(where, name, off > tolerance, got, f"a rotation: R^T R = 1 to {tolerance:g}", hint)
        got, hint = "a reflection, of determinant -1", "An axis points the other way, or two are exchanged."
        _refuse(where, name, np.linalg.det(array) < 0.0, got, "a rotation: of determinant +1", hint)
    return Matrix3.of(array)


def _refuse(where: str, name: str, wrong: Any, got: str, expected: str, hint: str = "") -> None:
    rows = np.argwhere(wrong).tolist() if np.ndim(wrong) else []
    if np.any(wrong):
        first = f" at index {tuple(rows[0]) if len(rows[0]) > 1 else rows[0][0]} of the batch" if rows else ""
        raise ParameterError(f"{where}: {name}", got=got + first, expected=expected, hint=hint)


Rows = list[list[Scalar]]


class SE3(AppliedByMatmul, tuple[Any, Any]):
    """A rotation matrix and a translation: the pose of a frame.

    Args:
        rotation: rotation matrix, 3x3 nested sequences or an array of shape (..., 3, 3); identity by default.
        translation: origin of the inner frame in the outer [m], three scalars or shape (..., 3); zero by default.
            Scalars may be batches: (a, b, c) are x, y and z, arrays too. A batch of points is np.array((a, b, c)).

    Nothing is looked at but shapes. `from_matrix` refuses what is no rotation.

    Examples:
        >>> X = cardan.SE3(np.eye(3), (0.3, 0.0, 0.5))
        >>> (X @ X.inverse()).translation, X @ (0.0, 0.0, 0.1)
        ((0.0, 0.0, 0.0), (0.3, 0.0, 0.6))
        >>> cardan.SE3.identity().translation, cardan.SE3.of(np.eye(4)).translation
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        >>> X.matrix().shape, len(X.homogeneous()), X.adjoint().shape, X.dual_adjoint().shape
        ((4, 4), 4, (6, 6), (6, 6))
        >>> X.inverse_act(cardan.spatial.Vector3(0.3, 0.0, 0.5))
        (0.0, 0.0, 0.0)
        >>> cardan.SE3(translation=(0.0, 0.0, 0.1)) == cardan.SE3.from_matrix(np.eye(3), (0.0, 0.0, 0.1))
        True
        >>> half_turn = cardan.SE3.from_quaternion((0.0, 0.0, 1.0, 0.0), (0.3, 0.0, 0.5))
        >>> np.allclose(half_turn, cardan.SE3.from_rpy((0.0, 0.0, np.pi), (0.3, 0.0, 0.5)))
        True
        >>> np.array(cardan.SE3.exp([0.1, 0.0, 0.0, 0.0, 0.0, 0.5]).log()).round(12).tolist()
        [0.1, 0.0, 0.0, 0.0, 0.0, 0.5]
    """

    __slots__ = ()

    def __new__(cls, rotation: Any = None, translation: Any = None) -> SE3:
        hint = "SE3.of takes 4x4 matrices, SE3(translation=p) a place; others: SE3.from_rpy, SE3.from_quaternion."
        R = Matrix3.identity() if rotation is None else Matrix3.of(rotation, "rotation", hint)
        p = Vector3.zero() if translation is None else Vector3.of(translation, "translation")
        return tuple.__new__(cls, (R, p))

    def __getnewargs__(self) -> tuple[Matrix3, Vector3]:
        return self[0], self[1]

    @staticmethod
    def identity() -> SE3:
        """Return the identity."""
        return SE3()

    @staticmethod
    def of(value: Any, name: str = "pose") -> SE3:
        """Return `value` (an SE3, or a homogeneous matrix of shape (..., 4, 4)) as a pose.

        Args:
            value: an SE3, or an array of shape (..., 4, 4).
            name: what to call it in an error.

        Raises:
            ShapeError: for another shape.
        """
        if isinstance(value, SE3):
            return value
        m = np.asarray(value)
        if m.ndim < 2 or m.shape[-2:] != (4, 4):
            raise ShapeError("cardan.spatial", name, got=m.shape, expected="(..., 4, 4)")
        return SE3(m[..., :3, :3], m[..., :3, 3])

    # Poses from what others have; numbers are checked, symbols cannot be. Leading axes are a batch.

    @staticmethod
    def from_quaternion(xyzw: Any, translation: Any = None) -> SE3:
        """Return the pose with the orientation of a quaternion.

        Args:
            xyzw: quaternions in the order (x, y, z, w), shape (..., 4), of any norm but 0: what counts is the
                direction. From (w, x, y, z), MuJoCo's order: `np.roll(wxyz, -1, axis=-1)`.
            translation: origin of the inner frame in the outer [m], shape (..., 3); zero by default.

        Raises:
            ParameterError: for a quaternion of norm 0.
            ShapeError, DTypeError, NotFiniteError: for what is no quaternion or translation.

        Peers: Pinocchio `XYZQUATToSE3`.
        """
        where = "SE3.from_quaternion"
        q = given_array(where, "xyzw", xyzw, (4,))
        if q.dtype != HAS_SYMBOLS:
            largest = np.abs(q).max(axis=-1, keepdims=True)
            expected = "one that has a direction, of norm 1"
            _refuse(where, "xyzw", largest[..., 0] == 0.0, "a quaternion of norm 0", expected)
            q = np.ldexp(q, -np.frexp(largest)[1])  # by a power of two: no square is then too large or too small
        R = rotations.matrix_from_quaternion_xyzw(components(q, (4,), "xyzw"))
        return SE3(R, given_vector(where, "translation", translation))

    @staticmethod
    def from_rpy(rpy: Any, translation: Any = None) -> SE3:
        """Return the pose turned by roll, pitch and yaw about the fixed axes x, y, z: Rz(yaw) Ry(pitch) Rx(roll).

        Args:
            rpy: (roll, pitch, yaw) [rad], shape (..., 3), as URDF, SDF and USD have them.
            translation: origin of the inner frame in the outer [m], shape (..., 3); zero by default.

        Raises:
            ShapeError, DTypeError, NotFiniteError: for what is no angles or translation.
        """
        roll, pitch, yaw = given_vector("SE3.from_rpy", "rpy", rpy)
        R = rotations.matrix_from_zyx((yaw, pitch, roll))
        return SE3(R, given_vector("SE3.from_rpy", "translation", translation))

    @staticmethod
    def from_matrix(matrix: Any, translation: Any = None, *, tolerance: float = 1e-6) -> SE3:
        """Return the pose of a homogeneous matrix, or of a rotation matrix and a translation.

        Args:
            matrix: shape (..., 4, 4), or (..., 3, 3).
            translation: beside a rotation matrix, as of `from_rpy` [m], shape (..., 3).
            tolerance: largest accepted entry [-] of R^T R - 1, and of the last row's difference to 0 0 0 1. What is
                within it is taken as it is.

        Raises:
            ParameterError: for a matrix that is not orthonormal, or a reflection; for a second translation.
            ShapeError, DTypeError, NotFiniteError: for what is no matrix or translation.
        """
        where = "SE3.from_matrix"
        m = given_array(where, "matrix", matrix, (4, 4), (3, 3))
        R = given_rotation(where, "matrix", m[..., :3, :3], tolerance)
        if m.shape[-1] == 3:
            return SE3(R, given_vector(where, "translation", translation))
        if m.dtype != HAS_SYMBOLS:
            off = np.abs(m[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1)
            expected, hint = (
                "a homogeneous matrix: last row 0 0 0 1",
                "Transpose it, if its translation is in the last row.",
            )
            _refuse(where, "matrix", off > tolerance, "another last row", expected, hint)
        if translation is not None:
            raise ParameterError(f"{where}: translation", got=translation, expected="none beside a 4x4 matrix")
        return SE3(R, m[..., :3, 3])

    @staticmethod
    def exp(twist: Any) -> SE3:
        """Return the pose reached by moving with a constant body twist for unit time.

        Args:
            twist: a Motion, or [linear; angular] [m, rad], shape (..., 6).

        Raises:
            ShapeError: if it is neither.

        Peers: Pinocchio `exp6`.
        """
        return exp_se3(Motion.of(twist))

    def log(self) -> Motion:
        """Return the body twist that leads here in unit time, its angle at most pi: `SE3.exp(X.log())` is X.

        Of an array, `cardan.SE3.log(array)`. The twist between two poses is `cardan.pose_error`.

        Peers: Pinocchio `log6`.
        """
        return log_se3(SE3.of(self))

    @property
    def rotation(self) -> Matrix3:
        """The rotation matrix."""
        return self[0]

    @property
    def translation(self) -> Vector3:
        """The origin of the inner frame in the outer [m]."""
        return self[1]

    def __matmul__(self, other: Any) -> Any:
        """Compose with a pose, or map a motion, force, inertia or point from the inner frame to the outer.

        Of a subspace of motions or forces every column is mapped.
        """
        R, p = self
        if isinstance(other, SE3):
            return noted(SE3(R @ other[0], R @ other[1] + p), "product", self, other)
        if isinstance(other, Motion):
            w = R @ other.angular
            return Motion(R @ other.linear + p.cross(w), w)
        if isinstance(other, Force):
            f = R @ other.linear
            return Force(f, R @ other.angular + p.cross(f))
        if isinstance(other, (Inertia, ArticulatedInertia)):
            return other.transformed(R, p)
        if isinstance(other, Columns):
            return other.each(self.__matmul__)
        if isinstance(other, np.ndarray) and other.shape[-2:] == (4, 4):
            return self @ SE3.of(other)
        return R @ Vector3.of(other) + p

    def __rmatmul__(self, other: Any) -> SE3:
        return SE3.of(other) @ self

    def inverse(self) -> SE3:
        """Return the pose of the outer frame in the inner."""
        R = self[0].T
        return noted(SE3(R, -(R @ self[1])), "inverse", self)

    def inverse_act(self, other: Any) -> Any:
        """Return `self.inverse() @ other`, of a motion, a force or a point with fewer operations.

        Args:
            other: what `@` takes; of a subspace, every column is mapped.
        """
        if isinstance(other, Columns):
            return other.each(self.inverse_act)
        if isinstance(other, (SE3, Inertia, ArticulatedInertia)):
            return self.inverse() @ other
        R, p = self
        if isinstance(other, Motion):
            v, w = other
            return Motion(R.transpose_apply(v - p.cross(w)), R.transpose_apply(w))
        if isinstance(other, Force):
            f, n = other
            return Force(R.transpose_apply(f), R.transpose_apply(n - p.cross(f)))
        return R.transpose_apply(Vector3.of(other) - p)

    def homogeneous(self) -> Rows:
        """Return the rows of the 4x4 homogeneous matrix."""
        rows = [[*row, t] for row, t in zip(self[0].rows(), self[1], strict=True)]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]

    def matrix(self) -> np.ndarray:
        """Return the homogeneous matrix, shape (..., 4, 4) [m]; dtype object if the entries are symbols."""
        return stack(self.homogeneous())

    def adjoint(self) -> np.ndarray:
        """Return the 6x6 matrix that maps motions, [R, [p] R; 0, R].

        Its shape is (..., 6, 6); dtype object if the entries are symbols.

        Peers: Pinocchio `toActionMatrix`, iDynTree `asAdjointTransform`.
        """
        R, p = self
        return stack(_upper_triangular(R, p.skew() @ R))

    def dual_adjoint(self) -> np.ndarray:
        """Return the 6x6 matrix that maps forces, [R, 0; [p] R, R]: the inverse of the adjoint's transpose.

        Its shape is (..., 6, 6); dtype object if the entries are symbols.

        Peers: Pinocchio `toDualActionMatrix`, iDynTree `asAdjointTransformWrench`.
        """
        R, p = self
        upper = [[*row, 0.0, 0.0, 0.0] for row in R.rows()]
        return stack(upper + [[*a, *b] for a, b in zip((p.skew() @ R).rows(), R.rows(), strict=True)])

    def __repr__(self) -> str:
        rows = [tuple(row) for row in self[0].rows()]
        return f"SE3(rotation={rows}, translation={tuple(self[1])})"


def exp_se3(v: Motion) -> SE3:
    """Return the pose reached by moving with the body twist v for unit time.

    Args:
        v: the twist [m, rad].

    Examples:
        >>> X = cardan.spatial.exp_se3(cardan.Motion((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        >>> X.translation
        (1.0, 0.0, 0.0)
    """
    rho, phi = v
    c0, c1, half2, half3, *_ = stumpff((phi * 0.5).norm_squared())  # of half of the angle, as a quaternion has it
    c2, c3 = 0.5 * (c1 * c1), 0.25 * (half2 + c0 * half3)  # of the whole
    across = phi.cross(rho)
    translation = rho + across * c2 + phi.cross(across) * c3
    return SE3(rotations.matrix_from_rotation_vector(phi), translation)


def log_se3(X: SE3) -> Motion:
    """Return the twist v with exp(v) = X and rotation angle at most pi.

    Args:
        X: a pose.

    Examples:
        >>> cardan.spatial.log_se3(cardan.SE3(translation=(1.0, 0.0, 0.0))).linear
        (1.0, 0.0, 0.0)
    """
    return log_from_rotation_vector(rotations.rotation_vector_from_matrix(X.rotation), X.translation)


def pose_error(
    X: Any, X_target: Any, *, at: Literal["frame", "world"] = "frame", expressed_in: Literal["frame", "world"] = "frame"
) -> np.ndarray:
    """Return the twist that takes one pose to another in unit time: log(X^-1 X_target).

    It is the error of a pose as controllers and inverse kinematics have it, 0 where the poses agree, and goes with the
    Jacobian of the same `at` and `expressed_in`: J v = pose_error(...) to first order.

    Args:
        X: where the frame is, an SE3 or homogeneous matrices [m], shape (..., 4, 4).
        X_target: where it shall be, the same; both broadcast.
        at: the point whose velocity the linear part is: the frame's origin (at X), or the world's.
        expressed_in: whose axes the components are along: those of the frame (at X), or the world's.

            at, expressed_in      it is                         Pinocchio
            "frame", "frame"      log(X^-1 X_target)            log6(X.actInv(X_target)), LOCAL
            "frame", "world"      the same along other axes     LOCAL_WORLD_ALIGNED
            "world", "world"      log(X_target X^-1)            WORLD

    Returns:
        Twists [linear; angular] [m, rad], shape (..., 6), the angle at most pi; at pi, where the way round is one of
        two, it jumps. The linear part is that of the screw motion, not the difference of the origins, unless the
        orientations agree.

    Raises:
        ShapeError: for what is no pose.
        ParameterError: for another reference.

    Examples:
        >>> X = cardan.frame_transform(arm, q, "tool")
        >>> target = cardan.frame_transform(arm, cardan.integrate(arm, q, 1e-4 * v), "tool")
        >>> J = cardan.jacobian(arm, q, "tool", at="frame", expressed_in="frame")
        >>> bool(np.allclose(J @ (1e-4 * v), cardan.pose_error(X, target), atol=1e-6))
        True

    Source: Sola, Deray and Atchuthan (2018), the right minus; Park, Bobrow and Ploen (1995).
    """
    for name, given in (("at", at), ("expressed_in", expressed_in)):
        check_one_of(f"pose_error: {name}", given, ("frame", "world"))
    X = SE3.of(X, "X")
    twist = log_se3(X.inverse() @ SE3.of(X_target, "X_target"))
    if at == "world":
        twist = SE3(None, X.inverse_act(Vector3.zero())).inverse_act(twist)
    if expressed_in == "world":
        twist = SE3(X.rotation) @ twist
    return stack(twist.scalars())


def log_from_rotation_vector(phi: Vector3, p: Vector3) -> Motion:
    """Return the logarithm of the pose with rotation vector phi and translation p.

    Args:
        phi: rotation vector [rad].
        p: translation [m].

    Examples:
        >>> zero, p = cardan.spatial.Vector3.zero(), cardan.spatial.Vector3(1.0, 0.0, 0.0)
        >>> cardan.spatial.log_from_rotation_vector(zero, p).linear
        (1.0, 0.0, 0.0)
    """
    _, _, c2, c3, c4, _ = stumpff(phi.norm_squared())
    rho = p - phi.cross(p) * 0.5 + phi.cross(phi.cross(p)) * (0.5 * (c3 - 2.0 * c4) / c2)
    return Motion(rho, phi)


def _coupling(v: Motion) -> Matrix3:
    """Return Barfoot's Q(rho, phi), the coupling block of the left Jacobian."""
    rho, phi = v
    _, _, _, c3, c4, c5 = stumpff(phi.norm_squared())
    # c_4 and c_4 - 3 c_5 are Barfoot's (t^2 - 2 + 2 cos t) / (2 t^4) and (2 t - 3 sin t + t cos t) / t^5, safe at 0.
    r, f = rho.skew(), phi.skew()
    fr, rf = f @ r, r @ f
    frf = fr @ f
    first = r * 0.5 + (fr + rf + frf) * c3
    second = (f @ fr + rf @ f - frf * 3.0) * c4
    third = (frf @ f + f @ frf) * (0.5 * (c4 - 3.0 * c5))
    return first + second + third


def right_jacobian_inverse_se3(v: Motion) -> Rows:
    """Return the rows of K (6x6) with: d(v)/dt = K body twist, for X = exp(v); singular at angles 2 pi k, k >= 1.

    Args:
        v: the logarithm of a pose.

    Examples:
        >>> K = cardan.spatial.right_jacobian_inverse_se3(cardan.Motion((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        >>> bool(np.allclose(K, np.eye(6)))
        True
    """
    K = rotations.right_jacobian_inverse(v.angular)
    return _upper_triangular(K, -(K @ _coupling(-v) @ K))


def _upper_triangular(diagonal: Matrix3, corner: Matrix3) -> Rows:
    upper = [[*a, *b] for a, b in zip(diagonal.rows(), corner.rows(), strict=True)]
    return upper + [[0.0, 0.0, 0.0, *row] for row in diagonal.rows()]


def is_proper_rotation(R: Matrix3, tolerance: float = 1e-9) -> bool:
    """Return whether nine floats form a rotation matrix: R^T R = 1 and det R = 1, to `tolerance`.

    Args:
        R: nine floats.
        tolerance: largest accepted entry of R^T R - 1 [-].

    Examples:
        >>> cardan.spatial.is_proper_rotation(cardan.SE3().rotation)
        True
    """
    m = np.array([list(row) for row in R.rows()], dtype=float)
    if not np.abs(m).max() < 2.0:  # NaN, too; products of larger numbers may be beyond every float
        return False
    return bool(np.abs(m.T @ m - np.eye(3)).max() <= tolerance and np.linalg.det(m) > 0.0)


def snapped(X: SE3, tolerance: float = 1e-15) -> SE3:
    """Return a constant pose with the rounding residues of right angles removed.

    Entries of the rotation within `tolerance` of 0, 1 or -1 become exact, and entries of the translation of at most
    `tolerance` times its largest become 0, so that the traced program loses them. Symbols stay as they are.

    Args:
        X: a pose.
        tolerance: of the rotation's entries [-], and of the translation relative to its largest.

    Examples:
        >>> cardan.spatial.snapped(cardan.SE3(translation=(1.0, 1e-17, 0.0))).translation
        (1.0, 0.0, 0.0)
    """
    lengths = [abs(float(e)) for e in X.translation if _is_number(e)]
    smallest = tolerance * max(lengths, default=0.0)

    def snap(e: Scalar) -> Scalar:
        if not _is_number(e):
            return e
        nearest = float(round(float(e)))
        return nearest + 0.0 if abs(float(e) - nearest) <= tolerance else e

    def shorten(e: Scalar) -> Scalar:
        if not _is_number(e):
            return e
        return float(e) + 0.0 if abs(float(e)) > smallest else 0.0

    return SE3(Matrix3(snap(e) for e in X.rotation.entries()), Vector3(*(shorten(e) for e in X.translation)))


def checked_pose(what: str, pose: Any) -> SE3:
    """Return a constant pose, checked and with the residues of right angles removed.

    Args:
        what: what to call it in an error.
        pose: an `SE3`, or a homogeneous matrix.

    Raises:
        ParameterError: if it is not a proper rotation and a finite translation.

    Examples:
        >>> cardan.spatial.checked_pose("pose of the tool", np.eye(4)).translation
        (0.0, 0.0, 0.0)
    """
    if isinstance(pose, SE3) and pose == SE3.identity():
        return pose
    try:
        X = SE3.of(pose)
        numbers = SE3([[float(e) for e in row] for row in X.rotation], tuple(float(e) for e in X.translation))
    except (TypeError, ValueError, IndexError, OverflowError):
        raise ParameterError(what, got=pose, expected="a cardan.SE3 or a 4x4 homogeneous matrix of numbers") from None
    if not is_proper_rotation(numbers.rotation):
        rows = [tuple(row) for row in numbers.rotation.rows()]
        raise ParameterError(what, got=rows, expected="a rotation matrix (orthonormal, determinant +1)")
    if not all(math.isfinite(e) for e in numbers.translation):
        raise ParameterError(what, got=tuple(numbers.translation), expected="a finite translation [m]")
    return snapped(numbers)


def _is_number(e: Scalar) -> bool:
    return type(e) is float or isinstance(e, Real)  # floats first: an abstract class takes six times as long to ask
