"""What a joint must be before anything can be computed with it: seen in milliseconds, when it enters a mechanism.

`verify_joint` begins with the same checks, at more places, and goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import CardanError, JointError
from cardan._algebra.manifolds import Manifold
from cardan._algebra.scalar import is_symbol
from cardan._algebra.spatial import SE3, Motion
from cardan._robot.joints.derivation.programs import pose_entries
from cardan._robot.joints.joint import Joint
from cardan._robot.joints.state import parts_of

MEMORY = "the joint stores what depends on q; compute it from q in each method, and make the class frozen"
PLACES = 3  # random configurations looked at, beside the neutral one
RIGID = 1e-9  # how far R^T R may be from 1: parameters given to fewer digits are found, rounding is not

# How velocities move coordinates: one answer, the manifold's, to all who ask.
OF_THE_MANIFOLD = (
    "integrate", "difference", "local_coordinates", "global_coordinates", "velocity_to_configuration_derivative",
    "velocity_to_configuration_derivative_jacobian", "configuration_derivative_to_velocity",
    "configuration_derivative_to_velocity_jacobian", "configuration_derivative_to_velocity_adjoint",
)  # fmt: skip


class JointFault(NamedTuple):
    """What is wrong with a joint, and how to mend it."""

    what: str
    cure: str


def check_joint(joint: Any) -> None:
    """Raise `JointError` if a joint, or one within it, cannot serve; those that ship are known to.

    Where its parameters are symbols, or a configuration is outside its domain, there is nothing to compare.
    """
    parts = {id(part): part for part in parts_of(joint).met if isinstance(part, Joint)}.values()
    for own in [part for part in parts if not type(part).__module__.startswith("cardan._")]:
        for what, check in _CHECKS.items():
            # NaN and overflow are looked for in the results; a warning besides would come from inside of cardan.
            with np.errstate(all="ignore"):
                try:
                    fault = check(own)
                except Exception as error:  # the joint's code, or its manifold's, may raise anything
                    fault = _raised(what, error)
            if fault:
                raise JointError(f"{type(own).__name__}: {fault.what}; {fault.cure}.")


def manifold_fault(joint: Joint) -> JointFault | None:
    """Return what is wrong with the joint's manifold, or that the joint does not move as its manifold says."""
    manifold = getattr(joint, "manifold", None)
    if not isinstance(manifold, Manifold):
        line = "manifold = cardan.manifolds.Euclidean(1)"
        cure = f"give the class a manifold, such as  {line}  for one coordinate"
        return JointFault(f"manifold is {manifold!r}", cure)
    own = [name for name in OF_THE_MANIFOLD if joint._has_own(name)]
    if not own:
        return None
    cure = f"write a manifold whose {own[0]} it is"
    return JointFault(f"{own[0]} is a method of its own, which nothing would call", cure)


def size_faults(joint: Joint, q: Sequence[float], v: Sequence[float]) -> list[JointFault]:
    """Return which lengths are not nq and nv; q is a configuration of the joint's own, v has nv entries."""
    nq, nv = joint.nq, joint.nv
    lengths = {
        "random_configuration()": (len(q), nq),
        "neutral()": (len(joint.neutral()), nq),
        "integrate(q, v)": (len(joint.integrate(q, v)), nq),
        "difference(q, q)": (len(joint.difference(q, q)), nv),
        "velocity_to_configuration_derivative(q, v)": (len(joint.velocity_to_configuration_derivative(q, v)), nq),
        "coordinate_names": (len(set(joint.coordinate_names)), nq),
        "velocity_names": (len(set(joint.velocity_names)), nv),
    }
    wrong = [(name, got, n) for name, (got, n) in lengths.items() if got != n]
    faults = [JointFault(f"{name} has {got} different entries, expected {n}", SIZES) for name, got, n in wrong]
    return [*faults, JointFault(f"nv is {nv}, expected at most 6", SIZES)] if nv > 6 else faults


SIZES = "nq and nv are those of the manifold"


def type_fault(X: Any) -> JointFault | None:
    """Return what is wrong with the type of a transform's result."""
    if isinstance(X, SE3):
        return None
    return JointFault(f"transform returns a {type(X).__name__}", "return cardan.SE3(rotation, translation)")


def rotation_fault(rotations: Sequence[np.ndarray], tolerance: float = RIGID) -> JointFault | None:
    """Return why matrices are no rotations, shape (3, 3) each."""
    squares = [R.T @ R for R in rotations]
    if all(np.abs(S - np.eye(3)).max() <= tolerance for S in squares):
        if all(np.linalg.det(R) > 0.0 for R in rotations):
            return None
        return JointFault("R is a reflection", "one of its columns has the wrong sign")
    if all(np.allclose(S, S[0, 0] * np.eye(3)) for S in squares):
        cure = "a quaternion is not of unit length, or the manifold keeps no norm"
        return JointFault("R is a rotation times a factor", cure)
    lengths = np.array([np.sqrt(np.diag(S)) for S in squares])
    if np.allclose(lengths, 1.0):
        return JointFault("the columns of R have unit length but are not orthogonal", "see its off-diagonal entries")
    worst = lengths[np.abs(lengths - 1.0).max(axis=1).argmax()]
    return JointFault(f"the columns of R have lengths {worst.round(6).tolist()}", "an axis may not be of unit length")


def motion_fault(thing: Any) -> JointFault | None:
    """Return what is wrong with the type of a column of S, or of a bias."""
    if isinstance(thing, Motion):
        return None
    return JointFault(f"there is a {type(thing).__name__} for a Motion", "return cardan.Motion(linear, angular)")


def columns_fault(joint: Joint, S: Sequence[Any]) -> JointFault | None:
    """Return whether S has another number of columns than nv."""
    if len(S) == joint.nv:
        return None
    cure = "the manifold has another nv than the joint"
    if len(S) == joint.nq:
        cure = "there is a column for each of the nq coordinates; velocities are nv"
    return JointFault(f"S has {len(S)} columns, expected nv = {joint.nv}", cure)


def efforts_fault(joint: Joint, efforts: Any) -> JointFault | None:
    """Return what is wrong with the efforts a joint exerts."""
    cure = "return one for each of the nv velocities, in a tuple"
    try:
        count = len(efforts)
    except TypeError:
        return JointFault(f"efforts is a {type(efforts).__name__}, expected {joint.nv} numbers", cure)
    return None if count == joint.nv else JointFault(f"efforts has {count} entries, expected nv = {joint.nv}", cure)


def _places(joint: Joint) -> list[tuple[float, ...]]:
    random = joint.random_configuration((PLACES,), seed=0)
    return [tuple(float(e) for e in q) for q in (joint.neutral(), *random)]


def _pose_fault(joint: Joint) -> JointFault | None:
    """Evaluate the transform, as a user's code has it."""
    poses = [joint.transform(q) for q in _places(joint)]
    fault = next(filter(None, map(type_fault, poses)), None)
    numbers = [pose_entries(X) for X in poses if not fault]
    if fault or any(map(is_symbol, chain.from_iterable(numbers))):
        return fault
    # Outside of its domain a joint may be NaN; what is finite must be a pose.
    finite = [row for row in np.array(numbers, dtype=float) if np.isfinite(row).all()]
    if not finite:
        guard = "a division by zero or a root of a negative number; guard it with cardan.where on both sides"
        return JointFault("transform is nowhere a pose of finite numbers", guard)
    return rotation_fault([row[:9].reshape(3, 3) for row in finite])


def _shape_fault(joint: Joint) -> JointFault | None:
    """Look at S and bias if S is the joint's own; what is derived has the right shapes."""
    if not joint._has_own("motion_subspace"):
        return None
    q, v = _places(joint)[-1], (0.5,) * joint.nv
    S = list(joint.motion_subspace(q))
    if fault := columns_fault(joint, S):
        return fault
    bias = [joint.bias(q, v)] if joint._has_own("bias") else []
    return next(filter(None, map(motion_fault, (*S, *bias))), None)


# In this order: what a later check asks for, an earlier one has seen to be there.
_CHECKS = {
    "manifold": manifold_fault,
    "the manifold": lambda joint: next(iter(size_faults(joint, _places(joint)[-1], (0.5,) * joint.nv)), None),
    "transform": _pose_fault,
    "motion_subspace": _shape_fault,
    "efforts": lambda joint: efforts_fault(joint, joint.efforts(_places(joint)[-1], (0.5,) * joint.nv)),
}


def _raised(what: str, error: Exception) -> JointFault:
    """Return what an error raised on plain numbers says, and the line where."""
    import traceback  # only where there is something to say: importing it takes a millisecond

    line = traceback.extract_tb(error.__traceback__)[-1]
    at = f"at {line.filename}:{line.lineno}"
    for frame in traceback.extract_tb(error.__traceback__):
        at = f"at {frame.filename}:{frame.lineno}" if frame.name == what else at
    cure = cause_of(error) if isinstance(error, (IndexError, ZeroDivisionError)) else "mend it"
    return JointFault(f"{what} raises {type(error).__name__}: {first_line(error)}", f"{cure}, {at}")


def first_line(error: BaseException) -> str:
    """Return the message of an error, its first line, at most 300 characters."""
    return (str(error).strip().split("\n") or [""])[0][:300].rstrip(".")


def cause_of(error: Exception) -> str:
    """Return the likely cause of an error a joint's own code raises; empty if the error says it itself."""
    text = str(error)
    if "kept from one function call" in text:
        return MEMORY
    if "no number yet" in text:
        return "it needs floats, as functions of math and scipy do; use cardan.sin, cardan.sqrt, ... instead"
    if isinstance(error, IndexError) and "Matrix3" in text:
        return "the matrix was indexed as nine numbers in a row"
    if isinstance(error, IndexError):
        return "more entries of q or v are used than the manifold has (nq, nv)"
    if isinstance(error, ZeroDivisionError):
        return "a division by zero; guard it with cardan.where on both sides"
    if "branch" in text or "truth value" in text or "ambiguous" in text:
        return "it branches on the value of a coordinate; use cardan.where(condition, a, b)"
    if isinstance(error, (TypeError, ValueError)) and not isinstance(error, CardanError):
        return "perhaps functions that take floats alone, as those of math; use cardan.sin, cardan.sqrt, ... instead"
    return ""
