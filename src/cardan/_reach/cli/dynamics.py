"""`cardan dynamics FILE TRAJECTORY -o OUT`: torques, energies and an end-effector's poses along a motion."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._reach.cli.options import ROBOT, add, check_output, load_robot, say
from cardan._reach.cli.trajectory import SampledMotion, read_trajectory, write_results
from cardan._robot.model import Model

CHUNK = 4096
LONG = 20_000  # rows from which progress is shown


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT, "--overwrite")
    help = (
        "a .csv whose rows are q, or q v, or q v a, a number a column, no time, with or without a line of names; "
        "or an .npz of arrays q (n, nq) and, if wanted, v and a (n, nv); v and a that are missing are 0"
    )
    parser.add_argument("trajectory", metavar="TRAJECTORY", help=help)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".csv or .npz to write")
    parser.add_argument("--frame", help="body or frame whose pose is reported; by default the last body")


def run(args: argparse.Namespace) -> int:
    model = load_robot(args)
    frame = args.frame or model.body_names[-1]
    model.attachment(frame)  # raises for an unknown frame, before anything takes time
    trajectory = read_trajectory(args.trajectory, model)
    check_output(args, args.file, args.trajectory)  # before the work, not after it
    rows, parts = len(trajectory.q), []
    for start in range(0, rows, CHUNK):
        parts.append(columns(model, SampledMotion(*(array[start : start + CHUNK] for array in trajectory)), frame))
        if rows >= LONG:
            done = min(start + CHUNK, rows)
            print(f"\r{done} of {rows} rows", end="\n" if done == rows else "", file=sys.stderr, flush=True)
    write_results(args.output, {name: np.concatenate([p[name] for p in parts]) for name in parts[0]})
    say(f"{args.output}: {rows} rows, {len(parts[0])} columns; poses are those of {frame!r}")
    return 0


def columns(model: Model, trajectory: SampledMotion, frame: str) -> dict[str, np.ndarray]:
    """Return the results by column name: `tau:<joint>`, energies [J], position [m] and quaternion (xyzw)."""
    q, v, a = trajectory
    tau = inverse_dynamics(model, q, v, a)
    pose = SE3.of(frame_transform(model, q, frame))
    names = []
    for c in model.connections:
        iv = model.v_slice(c.name)
        count = iv.stop - iv.start
        names += [f"tau:{c.name}"] if count == 1 else [f"tau:{c.name}:{n}" for n in c.joint.velocity_names[:count]]
    results = {name: tau[:, k] for k, name in enumerate(names)}
    results["kinetic_energy"], results["potential_energy"] = kinetic_energy(model, q, v), potential_energy(model, q)
    numbers = (*pose.translation, *quaternion_xyzw_from_matrix(pose.rotation))
    for name, values in zip(("x", "y", "z", "qx", "qy", "qz", "qw"), numbers, strict=True):
        results[f"{frame}:{name}"] = np.broadcast_to(values, len(q))
    return results
