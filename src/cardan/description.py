"""The description a model is made from."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._robot.description import *

_show(__name__, "cardan._robot.description")
