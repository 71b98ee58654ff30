"""Rigid-body and articulated-body inertia.

`Inertia` maps the twist of a rigid body to its momentum, [f; n] = I [v; w], in one frame at its origin. It is held as
mass m, first moment h = m c and rotational inertia J about the *origin*, in which inertias simply add:
    f = m v - h x w
    n = J w + h x v

Source: Featherstone (2008), sections 2.13 and 7.1; Wensing, Kim and Slotine, Linear matrix inequalities for physically
consistent inertial parameter identification (2018) for the pseudo-inertia.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from numbers import Real
from typing import Any, overload

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import is_finite, is_zero
from cardan._algebra.spatial.motion import AppliedByMatmul, Force, ForceSubspace, Motion, MotionSubspace, applied
from cardan._algebra.spatial.vector import Matrix3, Scalar, Symmetric3, Vector3, scalar_of

NO_INERTIA = 1e-15
"""Inertias below are taken for zero: rounding of one that was meant to be zero [kg m^2]."""


class Inertia(AppliedByMatmul, tuple[Any, Any, Any]):
    """Inertia of a rigid body.

    Args:
        mass: [kg].
        com: centre of mass in the body frame [m], three scalars.
        inertia: rotational inertia about the centre of mass, in body axes [kg m^2], 3x3.

    Raises:
        ParameterError: if plain numbers are given that are not finite, the mass is negative, or `inertia` is not
            symmetric. (Whether the inertia is physically possible is asked by `faults`.)

    Examples:
        >>> rod = cardan.Inertia(mass=2.0, com=(0.0, 0.0, -0.3), inertia=np.diag([0.06, 0.06, 0.001]))
        >>> rod.faults(), len(rod.parameters())
        ([], 10)
        >>> turned = rod.transformed(cardan.SE3().rotation, cardan.SE3().translation)
        >>> cardan.Inertia.from_parameters(rod.parameters()).mass, cardan.Inertia.zero().mass
        (2.0, 0.0)
        >>> type(rod.articulated()).__name__, rod.matrix().shape, len(rod.rows())
        ('ArticulatedInertia', (6, 6), 6)
    """

    __slots__ = ()

    def __new__(cls, mass: Scalar, com: Any = (0.0, 0.0, 0.0), inertia: Any = None) -> Inertia:
        mass, c = scalar_of("mass of a body", mass), Vector3.of(com, "com")
        full = Matrix3.zero() if inertia is None else _full(inertia)
        # Every entry that is a number of any kind, NumPy's among them; a batch or a symbol may be anything.
        entries = full.entries()
        if not all(is_finite(e) for e in (mass, *c, *entries) if isinstance(e, Real)):
            raise ParameterError("inertia", got=(mass, tuple(c), tuple(full)), expected="finite numbers")
        if isinstance(mass, Real) and not (mass == 0.0 or float(mass) >= sys.float_info.min):
            expected = "a mass >= 0 [kg], and none too small to divide by"
            raise ParameterError("mass of a body", got=mass, expected=expected)
        if all(isinstance(e, Real) for e in entries):
            difference = max(abs(a - b) for a, b in zip(entries, full.T.entries(), strict=True))
            if difference > 1e-9 * max(map(abs, entries)):
                raise ParameterError("inertia", got=[tuple(r) for r in full.rows()], expected="a symmetric matrix")
        return Inertia.from_origin(mass, c * mass, Symmetric3.of(full) + Symmetric3.point(c) * mass)

    def __reduce__(self) -> Any:
        return Inertia.from_origin, tuple(self)

    @staticmethod
    def from_origin(mass: Scalar, first_moment: Vector3, inertia: Symmetric3) -> Inertia:
        """Return the inertia of mass [kg], first moment m c [kg m] and inertia about the *origin* [kg m^2].

        Args:
            mass: [kg].
            first_moment: mass times centre of mass [kg m].
            inertia: about the origin, in the same axes [kg m^2].

        Examples:
            >>> cardan.Inertia.from_origin(rod.mass, rod.first_moment, rod.inertia_at_origin).mass
            2.0
        """
        J = inertia if type(inertia) is Symmetric3 else Symmetric3.of(_full(inertia))
        return tuple.__new__(Inertia, (scalar_of("mass", mass), Vector3.of(first_moment, "first_moment"), J))

    @staticmethod
    def zero() -> Inertia:
        """Return the inertia of nothing."""
        return Inertia.from_origin(0.0, Vector3.zero(), Symmetric3.isotropic(0.0))

    @staticmethod
    def from_parameters(p: Sequence[Scalar]) -> Inertia:
        """Return the inertia with the ten parameters of `parameters`.

        Args:
            p: ten numbers [kg, kg m, kg m^2].
        """
        return Inertia.from_origin(p[0], Vector3(*p[1:4]), Symmetric3(p[4:10]))

    @property
    def mass(self) -> Scalar:
        """The mass [kg]."""
        return self[0]

    @property
    def first_moment(self) -> Vector3:
        """Mass times centre of mass [kg m]."""
        return self[1]

    @property
    def inertia_at_origin(self) -> Symmetric3:
        """Rotational inertia about the origin [kg m^2]."""
        return self[2]

    @property
    def com(self) -> Vector3:
        """The centre of mass [m]; the origin for a massless body."""
        mass, h, _ = self
        return Vector3.zero() if is_zero(mass) else h * (1.0 / mass)

    @property
    def inertia_at_com(self) -> Symmetric3:
        """Rotational inertia about the centre of mass [kg m^2]."""
        return self[2] - Symmetric3.point(self.com) * self[0]

    def parameters(self) -> tuple[Scalar, ...]:
        """Return (m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz), about the origin [kg, kg m, kg m^2]."""
        return (self[0], *self[1], *self[2])

    def faults(self, tolerance: float = 1e-9) -> list[str]:
        """Return why this cannot be the inertia of a body with non-negative density; empty if it can.

        Of symbols and batches nothing is known: they have none.

        Args:
            tolerance: relative to the largest principal moment [-]. What rounding leaves of moments about the centre of
                mass is no fault, nor is what is below `NO_INERTIA`.
        """
        if not all(isinstance(e, Real) for e in self.parameters()):
            return []
        if not math.isfinite(sum(self.inertia_at_com)):
            return ["the centre of mass is so far away that the inertia about it is too large for a number"]
        found = [] if self.mass >= 0.0 else [f"the mass {self.mass} kg is negative"]
        moments = np.linalg.eigvalsh(np.array([list(r) for r in self.inertia_at_com.matrix().rows()])).tolist()
        slack = max(tolerance * abs(moments[2]), 1e-13 * max(map(abs, self.inertia_at_origin)), NO_INERTIA)
        shown = ", ".join(f"{m:.6g}" for m in moments)
        if moments[0] < -slack:
            found.append(f"the inertia is not positive definite (principal moments {shown} kg m^2)")
        elif moments[0] + moments[1] < moments[2] - slack:
            found.append(f"the principal moments {shown} kg m^2 break the triangle inequality a + b >= c")
        return found

    @overload
    def __matmul__(self, v: Motion) -> Force: ...
    @overload
    def __matmul__(self, v: MotionSubspace) -> ForceSubspace: ...
    def __matmul__(self, v: Any) -> Any:
        if isinstance(v, MotionSubspace):
            return applied(self, v)
        m, h, J = self
        return Force(v.linear * m - h.cross(v.angular), J @ v.angular + h.cross(v.linear))

    def __add__(self, other: Any) -> Inertia:
        return Inertia.from_origin(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    def transformed(self, R: Matrix3, p: Vector3) -> Inertia:
        """Return the inertia in a frame a, given in b, for X_ab = (R, p).

        J_a = R J R^T + ([p]^T [p] m + cross terms of p and R h), the parallel-axis theorem about origins.

        Args:
            R: rotation from b to a.
            p: origin of b in a [m].
        """
        m, h, J = self
        turned = R @ h
        about = Symmetric3.outer_sum(p, turned)  # p h^T + h p^T
        shift = Symmetric3.isotropic(about[0] + about[3] + about[5]) - about
        return Inertia.from_origin(m, turned + p * m, J.rotated(R) + shift + Symmetric3.point(p) * m)

    def rows(self) -> list[list[Scalar]]:
        """Return the rows of the 6x6 matrix that maps a twist to a momentum."""
        return self.articulated().rows()

    def matrix(self) -> np.ndarray:
        """Return the 6x6 matrix [kg, kg m, kg m^2], shape (..., 6, 6); dtype object if the entries are symbols."""
        return stack(self.rows())

    def articulated(self) -> ArticulatedInertia:
        """Return the same as an articulated inertia."""
        m, h, J = self
        return ArticulatedInertia(Symmetric3.isotropic(m), -h.skew(), J)

    def __repr__(self) -> str:
        inertia = [tuple(row) for row in self.inertia_at_com.matrix().rows()]
        return f"Inertia(mass={self.mass}, com={tuple(self.com)}, inertia={inertia})"


class ArticulatedInertia(AppliedByMatmul, tuple[Any, Any, Any]):
    """A symmetric 6x6 inertia [[M, H], [H^T, J]]: what a body feels like when others hang on it.

    [f; n] = [[M, H], [H^T, J]] [v; w].

    Args:
        linear: M [kg].
        coupling: H [kg m].
        angular: J [kg m^2].

    Throughout:
        R: rotation from b to a.
        p: origin of b in a [m].
        scaled: I S D^-1.
        k: which of the six coordinates, linear first.
        column: the force that a unit acceleration along it takes.
        force: I S, a column for each of these.

    Examples:
        >>> rod = cardan.Inertia(mass=2.0, com=(0.0, 0.0, -0.3)).articulated()
        >>> turned = rod.transformed(cardan.SE3().rotation, cardan.SE3().translation)
        >>> S = cardan.Motion((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
        >>> left = rod.minus_outer(rod @ S, rod @ S)
        >>> (rod.with_column(3, left @ S) @ S).angular == (left @ S).angular
        True
        >>> rod.matrix().shape, len(rod.rows())
        ((6, 6), 6)
    """

    __slots__ = ()

    def __new__(cls, linear: Symmetric3, coupling: Matrix3, angular: Symmetric3) -> ArticulatedInertia:
        return tuple.__new__(cls, (linear, coupling, angular))

    def __getnewargs__(self) -> tuple[Any, Any, Any]:
        return self[0], self[1], self[2]

    @overload
    def __matmul__(self, v: Motion) -> Force: ...
    @overload
    def __matmul__(self, v: MotionSubspace) -> ForceSubspace: ...
    def __matmul__(self, v: Any) -> Any:
        if isinstance(v, MotionSubspace):
            return applied(self, v)
        M, H, J = self
        return Force(M @ v.linear + H @ v.angular, H.transpose_apply(v.linear) + J @ v.angular)

    def __add__(self, other: Any) -> ArticulatedInertia:
        return ArticulatedInertia(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    def articulated(self) -> ArticulatedInertia:
        """Return it as it is: what a rigid inertia is made into."""
        return self

    def rows(self) -> list[list[Scalar]]:
        """Return the rows of the 6x6 matrix [[M, H], [H^T, J]]."""
        M, H, J = self
        upper = [[*m, *h] for m, h in zip(M.matrix().rows(), H.rows(), strict=True)]
        return upper + [[*h, *j] for h, j in zip(H.T.rows(), J.matrix().rows(), strict=True)]

    def matrix(self) -> np.ndarray:
        """Return the 6x6 matrix [kg, kg m, kg m^2], shape (..., 6, 6); dtype object if the entries are symbols."""
        return stack(self.rows())

    def minus_outer(self, scaled: Force, force: Force) -> ArticulatedInertia:
        """Return self - scaled force^T for `scaled` a multiple of `force`: the rank-one update of the recursion."""
        M, H, J = self
        a, b = scaled
        f, n = force
        return ArticulatedInertia(M - _outer_upper(a, f), H - a.outer(n), J - _outer_upper(b, n))

    def with_column(self, k: int, column: Force) -> ArticulatedInertia:
        """Return the inertia with another k-th column and row."""
        M, H, J = self
        f, n = column
        rows = [list(row) for row in H.rows()]
        if k < 3:
            rows[k] = list(n)
            return ArticulatedInertia(M.with_column(k, f), Matrix3(rows), J)
        for row, e in zip(rows, f, strict=True):
            row[k - 3] = e
        return ArticulatedInertia(M, Matrix3(rows), J.with_column(k - 3, n))

    def transformed(self, R: Matrix3, p: Vector3) -> ArticulatedInertia:
        """Return the inertia in a frame a, given in b, for X_ab = (R, p).

        With M, H, J turned by R:  M' = M,  H' = H - M [p],  J' = J + [p] H - H^T [p] - [p] M [p].
        """
        M, H, J = self
        turned = M.rotated(R)
        G = H.rotated(R)
        P = p.skew()
        K = G - turned.matrix() @ P
        pK, Gp = P @ K, G.T @ P
        return ArticulatedInertia(turned, K, J.rotated(R) + Symmetric3.of(pK - Gp))


def _outer_upper(a: Vector3, b: Vector3) -> Symmetric3:
    return Symmetric3(a[i] * b[j] for i in range(3) for j in range(i, 3))


def _full(value: Any) -> Matrix3:
    hint = "Principal moments are np.diag((a, b, c)); six numbers, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]."
    return value.matrix() if isinstance(value, Symmetric3) else Matrix3.of(value, "inertia", hint)
