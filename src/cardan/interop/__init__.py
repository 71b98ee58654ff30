"""Robots as other programs have them, whole: bodies, joints, drives, loops and shapes."""

from cardan.interop.mujoco_spec import to_mjspec

__all__ = ["to_mjspec"]
