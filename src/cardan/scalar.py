"""Elementary functions of a scalar of any type.

Throughout:
    x, y, a, b: a scalar of any type, or an array of them.
    condition: a comparison of scalars.
    lower: the smallest value there may be.
    upper: the largest.
    p: the exponent [-].

Examples:
    >>> s = cardan.scalar
    >>> s.sin(0.0), s.cos(0.0), s.tan(0.0), s.asin(0.0), s.acos(1.0), s.atan2(0.0, 1.0)
    (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    >>> s.sinh(0.0), s.cosh(0.0), s.tanh(0.0), s.exp(0.0), s.expm1(0.0), s.log(1.0), s.log1p(0.0)
    (0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    >>> s.sqrt(9.0), s.power(2.0, 3), s.divide(1.0, 0.0), s.absolute(-2.0), s.sign(-0.5), s.floor(-0.5)
    (3.0, 8.0, inf, 2.0, -1.0, -1.0)
    >>> s.minimum(1.0, 2.0), s.maximum(1.0, 2.0), s.clip(2.0, -1.0, 1.0), s.where(True, 1.0, 2.0)
    (1.0, 2.0, 1.0, 1.0)
    >>> s.logical_and(True, False), s.logical_or(True, False), s.logical_not(False)
    (False, True, True)
    >>> s.is_finite(1.0), s.is_symbol(1.0), s.is_zero(0.0)
    (True, False, True)
"""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.scalar import *
