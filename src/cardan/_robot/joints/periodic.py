"""Which coordinates of a joint are angles: those by which its pose has the period 2 pi.

Coordinate i is one if q_i enters the transform through sines and cosines of n q_i + (what does not depend on q_i)
alone, n a whole number. The traced transform shows it, instruction by instruction: each is a slope times q_i plus
something of period 2 pi, or neither. Nothing is sampled, and the class plays no part: the angle of a screw, which
is also a length, does not count as one; that of a hinge, a heading or a user's joint does.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from cardan._algebra.errors import CardanError
from cardan._algebra.scalar import floor
from cardan._algebra.spatial import Scalar
from cardan._compiler.program import Op, Program
from cardan._robot.joints.derivation.programs import count_slots, joint_program, keep_by_joint, open_slots, pose_entries

TURN = 2.0 * math.pi
# The slope of what is neither linear in a coordinate nor periodic.
NEITHER = math.nan


def angle_coordinates(joint: Any) -> tuple[int, ...]:
    """Return the indices of the coordinates that are angles."""
    return _angles(open_slots(joint)[0])


def unwrap_angle(angle: Scalar, near: Scalar) -> Scalar:
    """Return the angle of the same direction that is nearest to another one."""
    return angle + TURN * floor((near - angle) / TURN + 0.5)


@keep_by_joint("transform")
def _angles(template: Any) -> tuple[int, ...]:
    def pose(joint: Any, q: Sequence[Scalar]) -> dict[str, list[Any]]:
        return {"pose": pose_entries(joint.transform(q))}

    try:
        program = joint_program("pose", template, pose, q=template.nq)
    except (CardanError, ArithmeticError, TypeError, ValueError):
        return ()  # whoever needs the transform will say what is wrong with it
    first = count_slots(template)
    return tuple(i for i in range(template.nq) if _has_period(program, first + i))


def _has_period(program: Program, index: int) -> bool:
    """Return whether a program's results have the period 2 pi in one of its inputs, which they depend on."""
    slopes: list[float] = []
    seen = False
    for op, args, number in program.instructions:
        if op is Op.INPUT:
            slopes.append(float(number == index))
        elif op is Op.CONST:
            slopes.append(0.0)
        else:
            seen = seen or any(slopes[a] != 0.0 for a in args)
            slopes.append(_slope(op, [slopes[a] for a in args], [_constant(program, a) for a in args]))
    # A coordinate that nothing depends on has every period, and is no angle.
    return seen and all(slopes[r] == 0.0 for r in program.results)


def _slope(op: Op, slopes: Sequence[float], constants: Sequence[float | None]) -> float:
    """Return the slope of an operation's result, given those of its arguments, and their values where known."""
    if all(s == 0.0 for s in slopes):
        return 0.0
    if op in LINEAR:
        return LINEAR[op](*slopes)
    if op in (Op.MUL, Op.DIV):
        factor = next((c for c in reversed(constants) if c is not None), NEITHER)
        known_divisor = op is Op.MUL or constants[1] is not None
        slope = next(s for s in slopes if s != 0.0)
        return (slope * factor if op is Op.MUL else slope / factor) if known_divisor and factor else NEITHER
    return 0.0 if op in (Op.SIN, Op.COS, Op.TAN) and slopes[0] % 1.0 == 0.0 else NEITHER


LINEAR: dict[Op, Callable[..., Any]] = {Op.ADD: operator.add, Op.SUB: operator.sub, Op.NEG: operator.neg}


def _constant(program: Program, index: int) -> float | None:
    instruction = program.instructions[index]
    return float(instruction.value) if instruction.op is Op.CONST else None
