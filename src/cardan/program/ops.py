"""The operations of the intermediate representation: all there are, with their types and meaning.

A value is a real number or a truth value. Every operation is total: outside its domain a real operation gives NaN or
an infinity as IEEE 754 says, never an error. The NumPy target is the executable definition.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """The type of a value."""

    REAL = "real"
    BOOL = "bool"


class Spec(NamedTuple):
    """The types of the operands and of the result."""

    operands: tuple[Kind, ...]
    result: Kind


_R, _B = Kind.REAL, Kind.BOOL


class Op(Enum):
    """An operation; the comment says what it computes."""

    __hash__ = object.__hash__  # Enum's own is Python code, called for each operation traced

    INPUT = "input"  # an entry of an argument
    CONST = "const"  # a number
    ADD = "add"  # a + b
    SUB = "sub"  # a - b
    MUL = "mul"  # a b
    DIV = "div"  # a / b
    NEG = "neg"  # -a
    SQRT = "sqrt"  # the square root; NaN below 0
    SIN = "sin"  # sine of an angle [rad]; NaN at +-inf
    COS = "cos"  # cosine
    TAN = "tan"  # tangent
    ASIN = "asin"  # in [-pi/2, pi/2]; NaN outside [-1, 1]
    ACOS = "acos"  # in [0, pi]; NaN outside [-1, 1]
    ATAN2 = "atan2"  # angle of (x = b, y = a) in [-pi, pi]
    EXP = "exp"  # e^a
    LOG = "log"  # natural logarithm; -inf at 0, NaN below
    ABS = "abs"  # |a|
    SIGN = "sign"  # -1, 0 or 1
    FLOOR = "floor"  # largest integer not above a
    MIN = "min"  # the smaller; NaN if either is
    MAX = "max"  # the larger; NaN if either is
    LT = "lt"  # a < b
    LE = "le"  # a <= b
    EQ = "eq"  # a = b
    AND = "and"  # both
    OR = "or"  # at least one
    NOT = "not"  # the opposite
    SELECT = "select"  # b if a else c


_UNARY = (Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.TAN, Op.ASIN, Op.ACOS, Op.EXP, Op.LOG, Op.ABS, Op.SIGN, Op.FLOOR)
_BINARY = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.ATAN2, Op.MIN, Op.MAX)

SPEC: dict[Op, Spec] = {
    Op.INPUT: Spec((), _R),
    Op.CONST: Spec((), _R),
    **{op: Spec((_R,), _R) for op in _UNARY},
    **{op: Spec((_R, _R), _R) for op in _BINARY},
    **{op: Spec((_R, _R), _B) for op in (Op.LT, Op.LE, Op.EQ)},
    **{op: Spec((_B, _B), _B) for op in (Op.AND, Op.OR)},
    Op.NOT: Spec((_B,), _B),
    Op.SELECT: Spec((_B, _R, _R), _R),
}

COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.AND, Op.OR})
