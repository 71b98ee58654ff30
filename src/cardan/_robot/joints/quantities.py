"""The quantities of one joint, by the names of `Joint`'s methods: what each is a function of, and its shape.

Whoever writes a joint writes the mathematics alone. `complete_methods` makes its methods take one state in any form,
and return what callers expect.

Angles are the coordinates by which a joint's pose has the period 2 pi. Coordinate i is one if q_i enters the transform
through sines and cosines of n q_i + (what does not depend on q_i) alone, n a whole number. The traced transform shows
it, instruction by instruction: each is a slope times q_i plus something of period 2 pi, or neither. Nothing is sampled,
and the class plays no part: the angle of a screw, which is also a length, does not count as one; that of a hinge, a
heading or a user's joint does.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from cardan._algebra.arrays import as_argument
from cardan._algebra.errors import CardanError, ShapeError
from cardan._algebra.scalar import floor
from cardan._algebra.spatial import SE3, MotionSubspace, Scalar
from cardan._compiler.program import Op, Program
from cardan._robot.joints.derivation.programs import count_slots, joint_program, keep_by_joint, open_slots, pose_entries

TURN = 2.0 * math.pi
NEITHER = math.nan  # the slope of what is neither linear in a coordinate nor periodic


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
            given = [program.instructions[a] for a in args]
            constants = [float(i.value) if i.op is Op.CONST else None for i in given]
            slopes.append(_slope(op, [slopes[a] for a in args], constants))
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


Size = str  # of a vector, a name of the joint's own numbers (`"nq"`, `"nv"`); or `"wrench"` or `"pose"`
# The size of each argument of a method that is a function of the state, and the shape of each result.
Quantity = tuple[tuple[Size, ...], tuple[tuple[Size, ...], ...]]

MARK = "takes_one_state"  # of functions that are wrapped already


def _of(*arguments: Size, gives: str) -> Quantity:
    return arguments, tuple(tuple(shape.split()) for shape in gives.split(","))


QUANTITIES: dict[str, Quantity] = {
    "transform": _of("nq", gives="4 4"),
    "motion_subspace": _of("nq", gives="6 nv"),
    "subspace": _of("nq", gives="6 nv"),
    "motion_subspace_rate": _of("nq", "nv", gives="6 nv"),
    "bias": _of("nq", "nv", gives="6"),
    "twist": _of("nq", "nv", gives="6"),
    "spatial_acceleration": _of("nq", "nv", "nv", gives="6"),
    "torque": _of("nq", "wrench", gives="nv"),
    "efforts": _of("nq", "nv", gives="nv"),
    "constraint_wrench_subspace": _of("nq", gives="6 num_constraints"),
    "nearest_configuration": _of("pose", gives="nq"),
    "configuration_from_transform": _of("pose", gives="nq"),
    "velocity_to_configuration_derivative": _of("nq", "nv", gives="nq"),
    "velocity_to_configuration_derivative_jacobian": _of("nq", gives="nq nv"),
    "configuration_derivative_to_velocity": _of("nq", "nq", gives="nv"),
    "configuration_derivative_to_velocity_jacobian": _of("nq", gives="nv nq"),
    "configuration_derivative_to_velocity_adjoint": _of("nq", "nv", gives="nq"),
    "integrate": _of("nq", "nv", gives="nq"),
    "difference": _of("nq", "nq", gives="nv"),
    "local_coordinates": _of("nq", "nq", "nv", gives="nv, nv"),
    "global_coordinates": _of("nq", "nv", gives="nq"),
    "normalize": _of("nq", gives="nq"),
    "principal_value": _of("nq", gives="nq"),
}


def complete_methods(kind: type) -> None:
    """Complete the methods that a class of joints defines itself."""
    is_shipped = kind.__module__.startswith("cardan.")
    for name, completed in _COMPLETED.items():
        own = kind.__dict__.get(name)
        # Transforms that ship use cardan's own functions, which take q in any form: they are called most, and bare.
        bare = is_shipped and name == "transform"
        if inspect.isfunction(own) and not hasattr(own, "__wrapped__") and not bare:
            type.__setattr__(kind, name, completed(own))
    refuse_batches(kind)


def _with_array(transform: Callable[..., SE3]) -> Callable[..., SE3]:
    """Return a transform that is given its q as an array, which NumPy's functions know."""

    @functools.wraps(transform)
    def of_array(self: Any, q: Any) -> SE3:
        return transform(self, as_argument(q))

    return of_array


def _with_columns(motion_subspace: Callable[..., Any]) -> Callable[..., Any]:
    """Return a motion subspace whose columns, which a joint may give in a list, are those of a matrix."""

    @functools.wraps(motion_subspace)
    def of_columns(self: Any, q: Any) -> Any:
        columns = motion_subspace(self, q)
        return MotionSubspace(columns) if isinstance(columns, (list, tuple)) else columns

    return of_columns


def _with_images(closed_form: Callable[..., Any]) -> Callable[..., Any]:
    """Return a closed form of the inverse that, of all coordinates of a pose, gives the nearest to given ones."""
    takes_near = "near" in inspect.signature(closed_form).parameters

    @functools.wraps(closed_form)
    def nearest_configuration(self: Any, X_pc: SE3, near: Any = None) -> tuple[Scalar, ...]:
        q = closed_form(self, X_pc, near) if takes_near else closed_form(self, X_pc)
        return q if near is None else nearest_image(self, q, near)

    return nearest_configuration


def nearest_image(joint: Any, q: Sequence[Scalar], near: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return, of all coordinates of the pose that q has, those nearest to others."""
    image, angles = joint.manifold.nearest_image(q, near), angle_coordinates(joint)
    return tuple(unwrap_angle(e, near[i]) if i in angles else e for i, e in enumerate(image))


_COMPLETED = {"transform": _with_array, "nearest_configuration": _with_images, "motion_subspace": _with_columns}


def refuse_batches(kind: type) -> None:
    """Let every quantity that a class of joints defines take one state, as a tuple, list or array, and no batch."""
    for name, (sizes, _) in QUANTITIES.items():
        own = kind.__dict__.get(name)
        # Once for every method: a class that inherits a wrapped one would check the same state twice.
        if inspect.isfunction(own) and sizes[0] in ("nq", "nv") and not hasattr(own, MARK):
            type.__setattr__(kind, name, _of_one_state(own, name, sizes))


def _of_one_state(method: Callable[..., Any], quantity: str, sizes: tuple[Size, ...]) -> Callable[..., Any]:
    parameters = tuple(inspect.signature(method).parameters)[1:]
    named = dict(zip(parameters, sizes, strict=False))

    def of_one_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        where = f"{type(self).__name__}.{quantity}"
        given = zip(args, named.items(), strict=False)
        checked = [_one_state(self, where, name, value, size) for value, (name, size) in given]
        for name in kwargs.keys() & named:
            kwargs[name] = _one_state(self, where, name, kwargs[name], named[name])
        return method(self, *checked, *args[len(checked) :], **kwargs)

    setattr(of_one_state, MARK, True)
    return functools.update_wrapper(of_one_state, method)


def _one_state(joint: Any, where: str, name: str, value: Any, size: Size) -> Any:
    """Return a vector of one state, scalars of any type (each may be a batch); an array of numbers as their tuple."""
    if size not in ("nq", "nv") or not isinstance(value, (np.ndarray, list, tuple, Real)):
        return value
    shape = _shape(value)
    count = getattr(joint, size)
    if shape != (count,):
        method = where.partition(".")[2]
        hint = f"Of a batch, shape (..., {count}): cardan.evaluate_joint(joint, {method!r}, ...)."
        raise ShapeError(where, name, got=shape, expected=f"({count},), one state", hint=hint if len(shape) > 1 else "")
    if isinstance(value, np.ndarray) and value.dtype.kind in "iubf":
        return tuple(value if value.dtype.kind == "f" and value.itemsize < 8 else value.astype(float).tolist())
    return value


def _shape(value: Any) -> tuple[int, ...]:
    """Return a shape: of a sequence (n,), whatever scalars it holds, more where these are lists."""
    if not isinstance(value, (list, tuple)):
        return np.shape(value)
    # A scalar may itself be a batch, an array in the list: only lists within the list are a second dimension.
    nested = next((e for e in value if type(e) in (list, tuple)), None)
    return (len(value),) if nested is None else (len(value), len(nested))
