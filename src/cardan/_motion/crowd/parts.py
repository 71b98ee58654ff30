"""Parts of a step that are compiled when a step first needs them: few worlds need all."""

from __future__ import annotations

from cardan._compiler.kernels import INT, call, kernel
from cardan._motion.crowd.tables import PART, Crowd

# pyright: analyzeUnannotatedFunctions=false

ROBOTS, HEAPS, FACTORS, TIES, LEAVING, BOUNCES, MEETING, HINGES, SLEEPERS, TOUCHED, RESTING = range(11)


@kernel(c=Crowd, part=INT)
def call_part(c, part):
    """Call a part; the step lacks it if it is not compiled yet."""
    if c.parts[part] == 0:
        c.lacking = PART
        c.wanted = part
    else:
        call(c.parts[part])
