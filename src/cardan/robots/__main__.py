"""`python -m cardan.robots` writes the shipped URDF files anew."""

from pathlib import Path

from cardan._reach.formats import to_urdf
from cardan._robot.shipped import ROBOTS, urdf_path

for name, build in ROBOTS.items():
    Path(urdf_path(name)).write_text(to_urdf(build()), encoding="utf-8")
