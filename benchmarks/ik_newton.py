"""Inverse kinematics by newton.ik on the CPU: a batch of problems a call, in float32.

Its solver has no tolerance and no restarts of what failed: every problem gets some seeds and a number of iterations.
Float32 does not reach 1e-6, so a line says what share is within 1e-4; limits are an objective there, and what is
outside by up to 1e-4 counts.
"""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from newton import ik

import cardan
from benchmarks.ik import Line, Problems, shortest

wp.config.quiet = True
PROBLEMS, SEEDS, ITERATIONS, WITHIN = 256, 8, 50, 1e-4


def newton_model(problems: Problems) -> newton.Model:
    """Return the robot in newton."""
    builder = newton.ModelBuilder()
    builder.add_urdf(problems.robot.urdf, floating=False)
    return builder.finalize(device="cpu")


def measured(problems: Problems, seeds: int, runs: int) -> Line:
    """Return the line of so many seeds a problem."""
    model = newton_model(problems)
    targets = problems.targets[:PROBLEMS]
    quaternions = np.array([_quaternion(X[:3, :3]) for X in targets], np.float32)
    link = next(k for k, label in enumerate(model.body_label) if label.split("/")[-1] == problems.frame)
    place = ik.IKObjectivePosition(link, wp.vec3(), wp.array(targets[:, :3, 3].astype(np.float32), dtype=wp.vec3))
    turn = ik.IKObjectiveRotation(link, wp.quat_identity(), wp.array(quaternions, dtype=wp.vec4))
    limits = ik.IKObjectiveJointLimit(model.joint_limit_lower, model.joint_limit_upper, weight=10.0)
    sampler = ik.IKSampler.UNIFORM if seeds > 1 else ik.IKSampler.NONE
    solver = ik.IKSolver(
        model,
        len(targets),
        [place, turn, limits],
        jacobian_mode=ik.IKJacobianType.ANALYTIC,
        sampler=sampler,
        n_seeds=seeds,
    )
    first = np.repeat(problems.starts[:1], len(targets), axis=0).astype(np.float32)
    q_in, q_out = wp.array(first, dtype=wp.float32), wp.zeros(first.shape, dtype=wp.float32)

    def solve() -> np.ndarray:
        solver.step(q_in, q_out, iterations=ITERATIONS)
        return q_out.numpy().astype(float)

    solve()
    seconds, q = shortest(solve, runs)
    model_ = problems.robot.model
    inside = ((q >= model_.lower - WITHIN) & (q <= model_.upper + WITHIN)).all(axis=-1)
    stack = cardan.tasks.Stack(model_, cardan.tasks.FramePose(problems.frame, targets))
    near = inside & (np.abs(stack.linearized(q).error).max(axis=-1) <= WITHIN)
    label = f"newton.ik, {seeds} seeds, {ITERATIONS} iterations"
    return Line(label, len(targets), seconds, problems.solved(q).mean(), None, f"{near.mean():.1%} within {WITHIN}")


def _quaternion(R: np.ndarray) -> tuple[float, ...]:
    return tuple(map(float, cardan.spatial.rotations.quaternion_xyzw_from_matrix(cardan.spatial.Matrix3.of(R))))


def newton_ik(problems: Problems, seconds: float, runs: int) -> list[Line]:
    """Return newton's lines."""
    return [measured(problems, seeds, min(runs, 3)) for seeds in (1, SEEDS)]
