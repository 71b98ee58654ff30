"""Robot descriptions: each format reads to a `Mechanism`; JSON and URDF are written, too."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.formats import *
    from cardan.formats import sdf as sdf

_show(__name__, "cardan._reach.formats", "sdf")
