"""The description a model is made from."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._robot.description import *
