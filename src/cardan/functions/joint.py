"""A joint's own quantities on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.errors import ShapeError, UnknownNameError
from cardan.functions.arguments import numeric_array
from cardan.functions.results import packed
from cardan.joints import Joint
from cardan.spatial import Force, stack

SIZES: dict[str, tuple[str, ...]] = {
    "transform": ("nq",),
    "motion_subspace": ("nq",),
    "motion_subspace_rate": ("nq", "nv"),
    "bias": ("nq", "nv"),
    "twist": ("nq", "nv"),
    "spatial_acceleration": ("nq", "nv", "nv"),
    "torque": ("nq", "wrench"),
    "constraint_wrench_subspace": ("nq",),
    "velocity_to_configuration_derivative": ("nq", "nv"),
    "velocity_to_configuration_derivative_jacobian": ("nq",),
    "configuration_derivative_to_velocity": ("nq", "nq"),
    "configuration_derivative_to_velocity_jacobian": ("nq",),
    "configuration_derivative_to_velocity_adjoint": ("nq", "nv"),
    "integrate": ("nq", "nv"),
    "global_coordinates": ("nq", "nv"),
    "difference": ("nq", "nq"),
    "normalize": ("nq",),
    "principal_value": ("nq",),
}
_COLUMNS = {"motion_subspace", "motion_subspace_rate", "constraint_wrench_subspace"}


def evaluate_joint(joint: Joint, quantity: str, *arrays: Any) -> np.ndarray:
    """Return a quantity of a joint for a batch of configurations.

    Args:
        joint: the joint.
        quantity: name of a method of `Joint`, such as `"transform"`, `"motion_subspace"`, `"bias"`, `"twist"`.
        arrays: the method's arguments, shapes (..., nq), (..., nv), (..., 6) as it takes them.

    Returns:
        Array with the batch first: (..., 4, 4) for the transform, (..., 6) for motions, (..., 6, columns) for
        subspaces, (..., nq) or (..., nv) for vectors.

    Raises:
        UnknownNameError, ShapeError, DTypeError: for an unknown quantity or arrays that do not fit.
    """
    if quantity not in SIZES:
        raise UnknownNameError("quantity of a joint", quantity, SIZES)
    where, sizes = f"{type(joint).__name__}.{quantity}", SIZES[quantity]
    if len(arrays) != len(sizes):
        raise ShapeError(where, "arguments", got=(len(arrays),), expected=f"{len(sizes)} arrays: {', '.join(sizes)}")
    parts = [_scalars(where, joint, size, array) for size, array in zip(sizes, arrays, strict=True)]
    with np.errstate(all="ignore"):
        result = getattr(joint, quantity)(*parts)
    batch = np.broadcast_shapes(*(np.shape(e) for part in parts for e in _entries(part)))
    stacked = _stacked(packed(result, batched=True), batch)
    return np.swapaxes(stacked, -1, -2) if quantity in _COLUMNS else stacked


def _scalars(where: str, joint: Joint, size: str, value: Any) -> Any:
    array = numeric_array(where, size, value)
    count = 6 if size == "wrench" else getattr(joint, size)
    if array.ndim < 1 or array.shape[-1] != count:
        raise ShapeError(where, size, got=array.shape, expected=f"(..., {count})")
    scalars = tuple(np.moveaxis(array if array.dtype.kind == "f" else array.astype(float), -1, 0))
    return Force.of(scalars) if size == "wrench" else scalars


def _entries(part: Any) -> tuple[Any, ...]:
    return part.scalars() if isinstance(part, Force) else part


def _stacked(entries: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    if entries.size == 0:
        return np.zeros((*batch, *(entries.shape if entries.ndim > 1 else (0, 6)[: entries.ndim])))
    flat = stack([np.broadcast_to(e, batch) for e in entries.ravel().tolist()])
    return flat.reshape(*batch, *entries.shape)


__all__ = ["evaluate_joint"]
