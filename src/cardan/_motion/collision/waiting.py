"""What waits, so that states in the lanes of a vector take further looks together.

A search finds what it looks for after other numbers of steps in each lane. If it went on with each find at once, all
lanes would wait for each of them. So finds wait until there are several in most lanes, and are then gone through.
The last one that came is the first that goes. No lane depends on others: what waits is each state's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import logical_and, maximum
from cardan._algebra.spatial import Scalar
from cardan._motion.collision.candidate import chosen

NOBODY = -1.0


class Waiting(NamedTuple):
    """What waits: a number from 0 on, or `NOBODY`, and what is known of it."""

    number: Scalar
    known: Any = ()


class Pending(NamedTuple):
    """What waits, the last one that came first; behind it rows of `NOBODY`."""

    rows: tuple[Waiting, ...]

    @staticmethod
    def none(places: int, zero: Scalar, known: Any = ()) -> Pending:
        return Pending((Waiting(zero + NOBODY, known),) * places)

    @property
    def is_any(self) -> Any:
        return self.rows[0].number >= 0.0

    def has_room(self, count: int) -> Any:
        return self.rows[-count].number < 0.0

    def with_one(self, condition: Any, number: Scalar, known: Any = ()) -> Pending:
        """Return these and one more, if a condition holds. There must be room for it."""
        moved = zip((Waiting(number, known), *self.rows[:-1]), self.rows, strict=True)
        return Pending(tuple(chosen(condition, *both) for both in moved))

    def gone_through(self, page: Callable[..., Any], state: Any, going: Callable[[Any], Any] | None = None) -> Any:
        """Return those that are left, and what `page(row, state)` leaves: of all, or while a condition holds."""

        def further(waiting: Pending, state: Any) -> tuple[Pending, Any]:
            first, *others = waiting.rows
            # Where nobody waits, row 0 is read, and nothing is made of it.
            found = page(first._replace(number=maximum(first.number, 0.0)), state)
            return Pending((*others, first._replace(number=NOBODY))), found

        def goes_on(waiting: Pending, state: Any) -> Any:
            return logical_and(waiting.is_any, going(state)) if going else waiting.is_any

        return repeat_while(len(self.rows), goes_on, further, self, state)

    def those(self, is_wanted: Callable[[Scalar], Any]) -> Pending:
        """Return the numbers of those that are asked for."""

        def further(row: Waiting, found: Pending) -> Pending:
            return found.with_one(is_wanted(row.number), row.number)

        return self.gone_through(further, Pending.none(len(self.rows), 0.0 * self.rows[0].number))[1]
