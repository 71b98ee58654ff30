"""The operations of the intermediate representation: all there are, with their types and meaning, in one table.

A value is a real number or a truth value. Every operation is total: outside its domain a real operation gives NaN or
an infinity as IEEE 754 says, never an error. What it is on arrays of numbers is the definition.

A new operation is a line in `Op` and one in `SPEC`, its derivative in `partials.PARTIALS`, and its code for LLVM in
`targets/llvm/math.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan._algebra import scalar
from cardan._algebra.arrays.cell import Table, cell


class ValueType(Enum):
    REAL = "real"
    BOOL = "bool"
    ROW = "row"  # the number of a row: a whole number, the same for all states
    NOTHING = "nothing"


class Op(Enum):
    """An operation; the comment says what it computes."""

    if not TYPE_CHECKING:  # checkers know Enum's own, which is Python code, called for each operation traced
        __hash__ = object.__hash__

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
    EXPM1 = "expm1"  # e^a - 1, accurate near 0
    LOG1P = "log1p"  # ln(1 + a), accurate near 0; -inf at -1, NaN below
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
    CARRIED = "carried"  # a in the first pass of a region; then what the region says
    PASS = "pass"  # the number of the pass that runs, of the innermost region around
    AT = "at"  # the number of a row that is known
    LINK = "link"  # the row that a table of row numbers names at row a
    BEHIND = "behind"  # the row that is as many rows behind row a as b says
    ENTRY = "entry"  # what is in a column at row a
    PUT = "put"  # puts b in a column at row a, where nothing was before
    ADDED = (
        "added"  # adds b to what is in a column at row a, in the order of evaluation; at first, to 0 or what was put
    )
    CELL = "cell"  # the number of a table at floor(a), clipped to its ends; the first for NaN
    HELD = "held"  # a, with the derivative of b
    CALLED = "called"  # a, a result of a call whose arguments are the further operands: it knows their derivatives


class Spec(NamedTuple):
    operands: tuple[ValueType, ...]  # their types; a CALLED has any number of the same type behind it
    result: ValueType  # its type
    # the operation on scalars of any type; that of a CELL or LINK is given its table first, of a CALLED its call
    evaluate: Callable[..., Any]
    numpy: Callable[..., Any]  # the operation on arrays of numbers: its definition
    # the operation in C, with {0}, {1}, {2} for the operands and {f} for the suffix of functions of floats; of a CELL
    # {1} is the table and {2} its last index
    c: str


_R, _B, _I, _NOTHING = ValueType


def _unary(name: str, in_numpy: str = "", in_c: str = "") -> Spec:
    """Return the operation that is a function of one real number, where NumPy or C call it otherwise."""
    return Spec((_R,), _R, getattr(scalar, name), getattr(np, in_numpy or name), f"{in_c or name}{{f}}({{0}})")


def _binary(evaluate: Callable[..., Any], numpy: Callable[..., Any], c: str, result: ValueType = _R) -> Spec:
    return Spec((_R, _R), result, evaluate, numpy, c)


def _quotient(a: Any, b: Any) -> Any:
    """Return a / b; of Python's numbers, too, what IEEE 754 says where b is 0."""
    if type(a) is type(b) is float and b == 0.0:
        with np.errstate(all="ignore"):
            return float(np.divide(a, b))
    return a / b


def _called(call: Any, a: Any, *x: Any) -> Any:
    """Return a result of a call: of symbols, with its derivatives if they will be asked for."""
    return a.__called__(call, x) if hasattr(type(a), "__called__") else a


SPEC: dict[Op, Spec] = {
    Op.INPUT: Spec((), _R, float, np.asarray, ""),
    Op.CONST: Spec((), _R, float, np.asarray, ""),
    Op.ADD: _binary(operator.add, np.add, "{0} + {1}"),
    Op.SUB: _binary(operator.sub, np.subtract, "{0} - {1}"),
    Op.MUL: _binary(operator.mul, np.multiply, "{0} * {1}"),
    Op.DIV: _binary(_quotient, np.divide, "{0} / {1}"),
    Op.NEG: Spec((_R,), _R, operator.neg, np.negative, "-{0}"),
    Op.SQRT: _unary("sqrt"),
    Op.SIN: _unary("sin"),
    Op.COS: _unary("cos"),
    Op.TAN: _unary("tan"),
    Op.ASIN: _unary("asin", "arcsin"),
    Op.ACOS: _unary("acos", "arccos"),
    Op.ATAN2: _binary(scalar.atan2, np.arctan2, "atan2{f}({0}, {1})"),
    Op.EXP: _unary("exp"),
    Op.LOG: _unary("log"),
    Op.EXPM1: _unary("expm1"),
    Op.LOG1P: _unary("log1p"),
    Op.ABS: _unary("absolute", in_c="fabs"),
    Op.SIGN: Spec((_R,), _R, scalar.sign, np.sign, "{0} > 0 ? 1 : {0} < 0 ? -1 : {0}"),
    Op.FLOOR: _unary("floor"),
    Op.MIN: _binary(scalar.minimum, np.minimum, "({0} < {1} || {0} != {0}) ? {0} : {1}"),
    Op.MAX: _binary(scalar.maximum, np.maximum, "({0} > {1} || {0} != {0}) ? {0} : {1}"),
    Op.LT: _binary(operator.lt, np.less, "{0} < {1}", _B),
    Op.LE: _binary(operator.le, np.less_equal, "{0} <= {1}", _B),
    Op.EQ: _binary(operator.eq, np.equal, "{0} == {1}", _B),
    Op.AND: Spec((_B, _B), _B, scalar.logical_and, np.logical_and, "{0} && {1}"),
    Op.OR: Spec((_B, _B), _B, scalar.logical_or, np.logical_or, "{0} || {1}"),
    Op.NOT: Spec((_B,), _B, scalar.logical_not, np.logical_not, "!{0}"),
    Op.SELECT: Spec((_B, _R, _R), _R, scalar.where, np.where, "{0} ? {1} : {2}"),
    Op.CARRIED: Spec((_R,), _R, lambda a: a, lambda a: a, ""),
    Op.PASS: Spec((), _I, int, int, ""),
    Op.AT: Spec((), _I, int, int, ""),
    Op.LINK: Spec((_I,), _I, Table.row, Table.row, ""),
    Op.BEHIND: Spec((_I, _I), _I, operator.add, operator.add, ""),
    Op.ENTRY: Spec((_I,), _R, float, float, ""),
    Op.PUT: Spec((_I, _R), _NOTHING, float, float, ""),
    Op.ADDED: Spec((_I, _R), _NOTHING, float, float, ""),
    Op.CELL: Spec((_R,), _R, cell, Table.at, "{1}[{0} > 0 ? {0} < {2} ? (long){0} : {2} : 0]"),
    Op.HELD: Spec((_R, _R), _R, scalar.held, lambda a, b: a, "{0}"),
    Op.CALLED: Spec((_R,), _R, _called, lambda a, *x: a, "{0}"),
}

ROWS = frozenset(op for op, spec in SPEC.items() if spec.result is ValueType.ROW)  # what gives the number of a row
WRITES = frozenset({Op.PUT, Op.ADDED})
ENTRIES = WRITES | {Op.ENTRY}  # what names an entry of a column, at the row that is its first operand
ALWAYS_THERE = ROWS | {Op.INPUT, Op.CONST}  # what is the same where a region is skipped
LEAVES = ROWS | {Op.INPUT, Op.CONST, Op.CARRIED, Op.ENTRY}  # what is there without an operation
FREE = LEAVES | {Op.PUT}  # what computes nothing
TRUTHS = frozenset(op for op, spec in SPEC.items() if spec.result is ValueType.BOOL)  # what gives a truth value
STILL = TRUTHS | {Op.SIGN, Op.FLOOR, Op.CELL}  # what has no derivative, whatever its operands have
COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.AND, Op.OR, Op.BEHIND})
