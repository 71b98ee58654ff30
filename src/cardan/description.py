"""The description a model is made from."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._robot.description import *

__getattr__, __dir__ = shown(__name__, "cardan._robot.description")
