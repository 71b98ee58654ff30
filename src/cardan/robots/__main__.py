"""`python -m cardan.robots` writes the shipped URDF files anew."""

from pathlib import Path

from cardan._reach.formats import to_urdf
from cardan._robot.shipped import ROBOTS, urdf_path

for _name, _build in ROBOTS.items():
    Path(urdf_path(_name)).write_text(to_urdf(_build()), encoding="utf-8")
