"""`python -m cardan.robots` writes the shipped URDF files anew."""

from pathlib import Path

from cardan.robots.registry import ROBOTS, urdf_path
from cardan.robots.urdf_text import urdf_text

for name, build in ROBOTS.items():
    Path(urdf_path(name)).write_text(urdf_text(build()), encoding="utf-8")
