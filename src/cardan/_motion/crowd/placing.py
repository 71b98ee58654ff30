"""Where a shape is in a step, by the row of its node, and how far about it contact is looked for."""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, REAL, fma, kernel, sqrt
from cardan._motion.contact.touching import AHEAD, SKIN
from cardan._motion.crowd.batches import length_from
from cardan._motion.crowd.tables import Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(node=F64[16], local=F64[12], found=F64[12])
def place_shape(node, local, found):
    """Find the pose of a shape in the world from that of its node and its own in it."""
    for i in range(3):
        for j in range(3):
            total = fma(node[3 * i + 1], local[3 + j], node[3 * i] * local[j])
            found[3 * i + j] = fma(node[3 * i + 2], local[6 + j], total)
        moved = fma(node[3 * i], local[9], node[9 + i])
        moved = fma(node[3 * i + 1], local[10], moved)
        found[9 + i] = fma(node[3 * i + 2], local[11], moved)


@kernel(V=F64[16], centre=F64[3], extent=REAL, returns=REAL)
def speed_of(V, centre, extent):
    """Return how far a point of a shape moves in a second, at most, by a motion that begins with a twist [m/s]."""
    x = V[0] + V[4] * centre[2] - V[5] * centre[1]
    y = V[1] + V[5] * centre[0] - V[3] * centre[2]
    z = V[2] + V[3] * centre[1] - V[4] * centre[0]
    return sqrt(x * x + y * y + z * z) + extent * length_from(V, 3)


@kernel(c=Crowd, s=INT)
def locate(c, s):
    """Find where a shape is, and the middle of the ball about it."""
    node = c.node[c.shape_node[s]]
    centre = c.shape_centre[s]
    place_shape(node, c.shape_local[s], c.shape_pose[s])
    for i in range(3):
        total = fma(node[3 * i], centre[0], node[9 + i])
        total = fma(node[3 * i + 1], centre[1], total)
        c.ball[s, i] = fma(node[3 * i + 2], centre[2], total)


@kernel(c=Crowd, s=INT)
def place(c, s):
    """Find where a shape is, and the ball about what it may touch in this step."""
    locate(c, s)
    extent = c.shape_extent[s]
    c.pace[s] = c.dt * speed_of(c.motion[c.shape_node[s]], c.shape_centre[s], extent)
    c.further[s] = c.shape_room[s] + SKIN * extent + AHEAD * c.pace[s]
    radius = c.shape_half[s, 0] if c.shape_round[s] == 1 else extent
    c.reach[s] = radius + c.further[s] if c.shape_endless[s] == 0 else -1.0
