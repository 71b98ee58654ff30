"""Environments of Gymnasium, with many worlds in one step; importing this registers them (extra `gym`)."""

from cardan._reach.gym import *
