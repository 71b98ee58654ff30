"""Functions of analysis, written with the operations of processors; see `arithmetic`."""

from __future__ import annotations

from collections.abc import Callable

from cardan._compiler.program.ops import Op
from cardan._compiler.targets.libm.exp_log import exp, expm1, log, log1p
from cardan._compiler.targets.libm.inverse_trig import acos, asin, atan2

FUNCTIONS: dict[Op, Callable[..., str]] = {
    Op.ASIN: asin,
    Op.ACOS: acos,
    Op.ATAN2: atan2,
    Op.EXP: exp,
    Op.LOG: log,
    Op.EXPM1: expm1,
    Op.LOG1P: log1p,
}
"""Those that give one number, and call no other function for far angles."""
