"""Two arrays compared, with words for where they differ: which joint or body, which row and column, which equation."""

import numpy as np


def close(found, expected, tolerance=1e-11, *, model=None, equation="", floor=1.0):
    """Assert that two arrays differ by at most `tolerance` times the largest number expected, or times `floor`.

    Args:
        found: what was computed.
        expected: what it should be; of a shape that broadcasts with that of `found`.
        tolerance: relative to the largest number of `expected`.
        model: where a dimension counts its velocities, coordinates or bodies, a failure names the joint or body.
        equation: what is tested, such as `"(3)"` of a page or `"dID/dv"`; a failure begins with it.
        floor: the smallest scale; 1e-300 where small numbers count as much as large ones.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    scale = max(float(np.abs(expected).max(initial=0.0)), floor)
    error = np.abs(found - expected)
    wrong = ~(error <= tolerance * scale)  # a NaN is wrong
    if not wrong.any():
        return
    worst = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    found, expected = np.broadcast_arrays(found, expected)
    places = ", ".join(place(model, k, size) for k, size in zip(worst, error.shape, strict=True))
    begin = f"{equation}: " if equation else ""
    raise AssertionError(
        f"{begin}{wrong.sum()} of {wrong.size} numbers differ by more than {tolerance:g} of {scale:.3g}; most at "
        f"[{places}]: found {found[worst]!r}, expected {expected[worst]!r}, error {error[worst]:.3g}"
    )


def place(model, index, size):
    """Return an index in words: of a model's velocities, coordinates or bodies if there are as many of these."""
    if model is None:
        return str(index)
    for count, slice_of in ((model.nv, model.v_slice), (model.nq, model.q_slice)):
        if size == count:
            joint = next((j for j in model.joint_names if slice_of(j).start <= index < slice_of(j).stop), "?")
            return f"{index} (joint {joint!r}, {index - slice_of(joint).start})"
    return f"{index} (body {model.body_names[index]!r})" if size == model.nbodies else str(index)
