"""A joint's own quantities on arrays."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from cardan._algebra.errors import ShapeError, check_known
from cardan._algebra.explained import explained_keywords
from cardan._algebra.spatial import SE3, Force
from cardan._dynamics.call.arguments import broadcast, check_core, common_dtype, numeric_array
from cardan._dynamics.call.results import packed
from cardan._robot.joints import Joint
from cardan._robot.joints.quantities import QUANTITIES


@overload
def evaluate_joint(  # pyright: ignore[reportOverlappingOverload] -- the one with two results
    joint: Joint, quantity: Literal["local_coordinates"], *arrays: Any
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def evaluate_joint(joint: Joint, quantity: str, *arrays: Any) -> np.ndarray: ...
@explained_keywords
def evaluate_joint(joint: Joint, quantity: str, *arrays: Any) -> Any:
    """Return a quantity of a joint for a batch of configurations.

    Args:
        joint: the joint.
        quantity: name of a method of `Joint` that is a function of its state, such as `"transform"`,
            `"motion_subspace"`, `"bias"`, `"twist"`, `"integrate"`.
        arrays: the method's arguments, shapes (..., nq) or (..., nv), (..., 6) for a wrench [force; moment] and
            (..., 4, 4) for a pose.

    Returns:
        Array with the batch first [m, rad, and these by the second]: (..., 4, 4) for the transform, (..., 6) for
        motions, (..., 6, columns) for subspaces, (..., nq) or (..., nv) for vectors. Of `"local_coordinates"` two.

    Raises:
        UnknownNameError, ShapeError, DTypeError: for an unknown quantity or arrays that do not fit.
        ReachError: of `"configuration_from_transform"`, for a pose that the joint cannot have.

    Examples:
        >>> hinge = cardan.joints.Revolute(axis=(0.0, 0.0, 1.0))
        >>> cardan.evaluate_joint(hinge, "transform", np.zeros((100, 1))).shape
        (100, 4, 4)
        >>> phi, rate = cardan.evaluate_joint(hinge, "local_coordinates", [0.0], np.ones((100, 1)), [2.0])
        >>> phi.shape, rate.shape
        ((100, 1), (100, 1))
    """
    check_known("quantity of a joint", quantity, QUANTITIES)
    where, (sizes, shapes) = f"{type(joint).__name__}.{quantity}", QUANTITIES[quantity]
    if len(arrays) != len(sizes):
        raise ShapeError(where, "arguments", got=(len(arrays),), expected=f"{len(sizes)} arrays: {', '.join(sizes)}")
    checked = [_checked(where, joint, size, array) for size, array in zip(sizes, arrays, strict=True)]
    named = enumerate(zip(sizes, checked, strict=True))
    leading = {f"argument {k} ({size})": a.shape[: -2 if size == "pose" else -1] for k, (size, a) in named}
    batch = broadcast(where, leading)
    dtype = common_dtype(array.dtype for array in checked)
    parts = [_scalars(size, array.astype(dtype)) for size, array in zip(sizes, checked, strict=True)]
    # arrays take both branches of a `where`, and the one that is not taken may divide by 0
    with np.errstate(all="ignore"):
        result = getattr(joint, quantity)(*parts)
    results = [result] if len(shapes) == 1 else result
    sized = [[_count(joint, size) for size in shape] for shape in shapes]
    found = tuple(_stacked(value, shape, batch, dtype) for value, shape in zip(results, sized, strict=True))
    return found[0] if len(found) == 1 else found


def _stacked(result: Any, shape: list[int], batch: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return one result of this shape, whose entries are numbers or batches, as an array with the batch first."""
    if isinstance(result, np.ndarray):
        return np.broadcast_to(result, (*batch, *shape)).astype(dtype)
    entries = packed(result, batched=True).reshape(shape)
    out = np.empty((*batch, *shape), dtype=dtype)
    for index in np.ndindex(entries.shape):
        out[(..., *index)] = entries[index]
    return out


def _count(joint: Joint, size: str) -> int:
    if size == "wrench":
        return 6
    return int(size) if size.isdigit() else getattr(joint, size)


def _checked(where: str, joint: Joint, size: str, value: Any) -> np.ndarray:
    core = (4, 4) if size == "pose" else (_count(joint, size),)
    array = numeric_array(where, size, value)  # of its own precision
    check_core(where, size, array.shape, core)
    return array


def _scalars(size: str, array: np.ndarray) -> Any:
    if size == "pose":
        return SE3.of(array)
    scalars = tuple(np.moveaxis(array, -1, 0))
    return Force.of(scalars) if size == "wrench" else scalars
