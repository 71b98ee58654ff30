"""Robot descriptions: each format reads to a `Mechanism`; JSON and URDF are written, too."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.formats import *
    from cardan.formats import sdf as sdf
