"""Why a traced value was asked for its number or its truth, and what to write instead, from the user's own code."""

from __future__ import annotations

import dis
import sys
from types import FrameType

from cardan._algebra.errors import LIBRARIES, TraceError, room, users_frame, users_line

_PEERS = (
    "scipy works on numbers alone: for a curve through points use cardan.joints.NaturalSpline or cardan.interp, "
    "for rotations cardan.spatial.rotations, for linear systems cardan.solve"
)


def no_number() -> TraceError:
    what = "a traced value has no number yet"
    if _through_scipy():
        return TraceError(f"{what}{users_line()}: {_PEERS}.")
    if _instruction(users_frame()).startswith("STORE_S"):
        hint = "an array of numbers cannot hold it; begin with np.zeros_like(q), or np.zeros_like(q, shape=(3, 3))"
    else:
        hint = "use cardan.sin, cardan.sqrt, ... or numpy's functions, not math's, and no float(), int() or round()"
    return TraceError(f"{what}{users_line()}: {hint}.")


def no_branch() -> TraceError:
    frame = users_frame()
    if _instruction(frame).startswith(("COMPARE", "CALL", "BINARY")):
        hint = (
            "min, max and sorted look at values, and so do numpy's functions on a plain np.array([...]) of symbols; "
            "use cardan.where(condition, a, b), cardan.minimum, cardan.maximum, and np.stack([...]) for the array"
        )
    else:
        hint = "use cardan.where(condition, a, b), cardan.minimum, cardan.maximum"
    what = "a traced function cannot branch on a computed value (if, while, and, or, min, max)"
    return TraceError(f"{what}{users_line()}; {hint}.")


def of_libraries(error: Exception) -> TraceError | None:
    """Return the error that explains what NumPy or SciPy raised when they met symbols unawares; None for any other."""
    import traceback  # only where there is something to say: importing it takes a millisecond

    steps = [(room(frame), frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [k for k, (package, *_) in enumerate(steps) if package not in LIBRARIES]
    if not own:
        return None
    place = "a traced value has no number yet ({1}:{2})".format(*steps[own[-1]])
    if "scipy" in (package for package, *_ in steps[own[-1] :]):
        return TraceError(f"{place}: {_PEERS}.")
    if str(error).startswith("loop of ufunc does not support"):
        return TraceError(f"{place}: np.array([...]) of symbols and numbers is a plain array; use np.stack([...]).")
    return None


def _instruction(frame: FrameType | None) -> str:
    code = () if frame is None else dis.get_instructions(frame.f_code)
    return next((i.opname for i in code if frame is not None and i.offset == frame.f_lasti), "")


def _through_scipy() -> bool:
    frame, user = sys._getframe(1), users_frame()
    while frame is not None and frame is not user and room(frame) != "scipy":
        frame = frame.f_back
    return frame is not user
