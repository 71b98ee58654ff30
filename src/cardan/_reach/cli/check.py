"""`cardan check FILE`: every fault of a robot description, with file and line."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from cardan._algebra.errors import MechanismError
from cardan._dynamics.algorithms.cluster import ClosedSet, ClusterMember
from cardan._dynamics.algorithms.dependent import closed_places
from cardan._dynamics.functions.clusters import clustered
from cardan._dynamics.functions.inner_freedoms import told_of_inner
from cardan._dynamics.functions.modes import cluster_range
from cardan._dynamics.functions.singular_poses import singular_poses
from cardan._reach.cli.info import closed
from cardan._reach.cli.options import READING, add, reading, tell
from cardan._reach.formats import check, load
from cardan._robot.model import Model


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, "file", *READING, "--json")


def run(args: argparse.Namespace) -> int:
    faults = check(args.file, **reading(args))
    errors = sum(f.severity == "error" for f in faults)
    counted = f"{args.file}: {errors} errors, {len(faults) - errors} warnings"
    lines = [*faults, counted] if errors else [*faults, *loops_of(args), counted]
    tell(args, [asdict(fault) for fault in faults], "\n".join(map(str, lines)))
    return int(errors > 0)


def loops_of(args: argparse.Namespace) -> Iterator[str]:
    """Yield how the loops of a robot move, if it has some, what they are as clusters, and where they are singular."""
    with warnings.catch_warnings():  # these are among the faults
        warnings.simplefilter("ignore")
        model = load(args.file, **reading(args))
    if found := closed(model):
        yield f"{args.file}: {found['text']}"
        yield from (f"{args.file}: {line}" for line in clusters_of(model))


def clusters_of(model: Model) -> Iterator[str]:
    """Yield what each cluster of loops is, or why there are none."""
    try:
        found = clustered(model)
    except MechanismError as error:
        yield str(error)
        return
    for c in found.connections:
        if isinstance(c.joint, ClusterMember) and not c.joint.by:
            yield from _cluster(c.joint.closed)


def _cluster(own: ClosedSet) -> Iterator[str]:
    """Yield what a cluster is, where it ends if it moves by one coordinate, and where it is singular."""
    loops = ", ".join(map(repr, own.part.closure_names))
    yield f"cluster closed by {loops}: it moves by {own.nv} of {own.part.nv} velocities, of {own.leading}"
    if told := told_of_inner(own.part, next(closed_places(own.part, own.start))):
        yield f" {told}"
    known = None
    if own.nv == 1:
        ends = cluster_range(own.alone, own.neutral(), [1.0])
        (at,) = own.limit_coordinates(own.neutral())
        if np.isfinite([ends.lower, ends.upper]).any():
            yield f"  it closes with {own.leading} from {at + ends.lower:.6g} to {at + ends.upper:.6g} [rad, m]"
        known = [ends.q_lower, ends.q_upper]  # no curve is followed twice
    poses = singular_poses(own, known)
    for pose in poses:
        at = ", ".join(f"{name} {' '.join(f'{e:.4g}' for e in x)}" for name, x in pose.coordinates.items())
        yield f"  singular, since {pose.what}, at {at}"
    if not poses:
        yield "  no singular pose was found within its limits"
