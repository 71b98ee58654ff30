"""A joint's own quantities on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.errors import ShapeError, check_known
from cardan.functions.arguments import broadcast, common_dtype, numeric_array
from cardan.functions.results import packed
from cardan.joints import Joint
from cardan.spatial import Force, MotionSubspace

Sizes = tuple[str, ...]

QUANTITIES: dict[str, tuple[Sizes, Sizes]] = {
    "transform": (("nq",), ("4", "4")),
    "motion_subspace": (("nq",), ("6", "nv")),
    "motion_subspace_rate": (("nq", "nv"), ("6", "nv")),
    "bias": (("nq", "nv"), ("6",)),
    "twist": (("nq", "nv"), ("6",)),
    "spatial_acceleration": (("nq", "nv", "nv"), ("6",)),
    "torque": (("nq", "wrench"), ("nv",)),
    "constraint_wrench_subspace": (("nq",), ("6", "num_constraints")),
    "velocity_to_configuration_derivative": (("nq", "nv"), ("nq",)),
    "velocity_to_configuration_derivative_jacobian": (("nq",), ("nq", "nv")),
    "configuration_derivative_to_velocity": (("nq", "nq"), ("nv",)),
    "configuration_derivative_to_velocity_jacobian": (("nq",), ("nv", "nq")),
    "configuration_derivative_to_velocity_adjoint": (("nq", "nv"), ("nq",)),
    "integrate": (("nq", "nv"), ("nq",)),
    "global_coordinates": (("nq", "nv"), ("nq",)),
    "difference": (("nq", "nq"), ("nv",)),
    "normalize": (("nq",), ("nq",)),
    "principal_value": (("nq",), ("nq",)),
}
"""For each quantity, the sizes of its arguments and the shape of its result."""


def evaluate_joint(joint: Joint, quantity: str, *arrays: Any) -> np.ndarray:
    """Return a quantity of a joint for a batch of configurations.

    Args:
        joint: the joint.
        quantity: name of a method of `Joint`, such as `"transform"`, `"motion_subspace"`, `"bias"`, `"twist"`.
        arrays: the method's arguments, shapes (..., nq), (..., nv), (..., 6) as it takes them.

    Returns:
        Array with the batch first [m, rad, and these by the second]: (..., 4, 4) for the transform, (..., 6) for
        motions, (..., 6, columns) for subspaces, (..., nq) or (..., nv) for vectors.

    Raises:
        UnknownNameError, ShapeError, DTypeError: for an unknown quantity or arrays that do not fit.

    Examples:
        >>> hinge = cardan.joints.Revolute(axis=(0.0, 0.0, 1.0))
        >>> cardan.evaluate_joint(hinge, "transform", np.zeros((100, 1))).shape
        (100, 4, 4)
    """
    check_known("quantity of a joint", quantity, QUANTITIES)
    where, (sizes, shape) = f"{type(joint).__name__}.{quantity}", QUANTITIES[quantity]
    if len(arrays) != len(sizes):
        raise ShapeError(where, "arguments", got=(len(arrays),), expected=f"{len(sizes)} arrays: {', '.join(sizes)}")
    checked = [_checked(where, joint, size, array) for size, array in zip(sizes, arrays, strict=True)]
    named = enumerate(zip(sizes, checked, strict=True))
    batch = broadcast(where, {f"argument {k} ({size})": array.shape[:-1] for k, (size, array) in named})
    dtype = common_dtype(checked)
    parts = [_scalars(size, array.astype(dtype)) for size, array in zip(sizes, checked, strict=True)]
    with np.errstate(all="ignore"):
        result = getattr(joint, quantity)(*parts)
    if len(shape) == 2 and shape[0] == "6":  # columns
        result = MotionSubspace(result).rows()
    entries = packed(result, batched=True).reshape([_count(joint, size) for size in shape])
    out = np.empty((*batch, *entries.shape), dtype=dtype)
    for index in np.ndindex(entries.shape):
        out[(..., *index)] = entries[index]
    return out


def _count(joint: Joint, size: str) -> int:
    if size == "wrench":
        return 6
    return int(size) if size.isdigit() else getattr(joint, size)


def _checked(where: str, joint: Joint, size: str, value: Any) -> np.ndarray:
    array = numeric_array(where, size, value)
    count = _count(joint, size)
    if array.ndim < 1 or array.shape[-1] != count:
        raise ShapeError(where, size, got=array.shape, expected=f"(..., {count})")
    return array


def _scalars(size: str, array: np.ndarray) -> Any:
    scalars = tuple(np.moveaxis(array, -1, 0))
    return Force.of(scalars) if size == "wrench" else scalars
