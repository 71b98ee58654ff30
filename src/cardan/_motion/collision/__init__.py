"""Where two shapes touch, or nearly: one page a pair, over scalars of any type."""

from cardan._motion.collision.candidate import FAR, Candidate
from cardan._motion.collision.table import PAIRS, Two, check_page, count_of, has_page, points, points_of

__all__ = ["FAR", "PAIRS", "Candidate", "Two", "check_page", "count_of", "has_page", "points", "points_of"]
