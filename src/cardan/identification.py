"""Parameters found from measurements: what can be seen, friction, least squares, physically consistent inertias."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._motion.identification import *
