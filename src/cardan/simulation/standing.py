"""Putting robots on the ground, before they move."""

from __future__ import annotations

import numpy as np

from cardan.description import Plane
from cardan.model import WORLD
from cardan.simulation.state import State


def stand(state: State) -> None:
    """Move each articulation that floats up or down in z, until the lowest of its shapes touches level ground.

    What has no shape that may touch a plane of the world stays where it is.
    """
    world, touching = state.world, state.world.collide(state)
    for name, articulation in world.articulations.items():
        own = [
            k
            for k, pair in enumerate(world.pairs)
            if pair.a in articulation.bodies and pair.b == WORLD and isinstance(pair.shape_b, Plane)
        ]
        if articulation.is_floating and own:
            view = world.view([name])
            poses = view.root_poses(state)
            poses[:, 0, 2] -= touching.gap[:, np.isin(touching.pair, own)].min(axis=1)
            view.set_root_poses(state, poses)
