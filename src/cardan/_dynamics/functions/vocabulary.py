"""The types in which the public functions say what they take and give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cardan._dynamics import algorithms as _algorithms

Reals = NDArray[np.floating[Any]]
"""What comes back: float64, or float32 where all that came in is; a number of one state as NumPy's scalar."""

Frames = str | int | Sequence[str] | Sequence[int] | NDArray[np.integer[Any]]
"""A body or frame by name (`Model.frame_names`) or index there, or several: then a leading axis counts them."""

Reference = Literal["frame", "world"] | str
"""Where a motion is taken, or along whose axes: the frame asked for, the world, or a body or frame by name."""

algorithms: Any = _algorithms
"""The algorithms as kernels see them: they take and give symbols where the public functions' types promise arrays."""
