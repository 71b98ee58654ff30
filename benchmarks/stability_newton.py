"""Newton's CPU solvers on the robots of `benchmarks.stability`, released from the same configurations.

Each robot is written as URDF, without shapes, and read by Newton, which has its limits (as springs of its default
stiffness) and damping; bodies that are fixed to one another are one, with the inertias they have together. float32.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import newton
import numpy as np
import warp as wp

import cardan
from benchmarks.simulation_newton import SOLVERS, Run, set_inertias
from cardan import conventions

NAMES = ("Featherstone", "SemiImplicit", "XPBD")
"""Without its MuJoCo, whose kernels are compiled for minutes for each size of robot; MuJoCo itself has a column."""
REPORTS = 10
"""How often a second numbers are looked at: Newton's states are copied for it."""


def solver(name: str) -> Callable[[cardan.World, float], Callable[[float, float], str]]:
    """Return what makes a solver of a world and a step, of which `released` says what comes of it."""

    def make(world: cardan.World, dt: float) -> Callable[[float, float], str]:
        run = Run.of(_model(world), SOLVERS[name][0], dt)
        return lambda seconds, scale: _released(run, dt, seconds, scale)

    return make


def _model(world: cardan.World) -> newton.Model:
    wp.config.log_level = wp.LOG_WARNING
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder.add_urdf(_text(world.mechanism), floating=False)
    builder.collapse_fixed_joints()
    set_inertias(builder, world.model)
    builder.joint_q[:] = (
        conventions.to("newton", world.model, merged_bodies=True).configuration(world.centre()).tolist()
    )
    return builder.finalize(device="cpu", skip_validation_inertia=True)  # which would change inertias


def _text(mechanism: cardan.Mechanism) -> str:
    root = ElementTree.fromstring(cardan.to_urdf(mechanism))
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    return ElementTree.tostring(root, encoding="unicode")


def _energy(model: newton.Model, state: Any) -> float:
    """Return kinetic and potential energy [J]; the z axis is up."""
    poses, twists = (x.numpy().astype(float) for x in (state.body_q, state.body_qd))
    mass, com, inertia = (x.numpy().astype(float) for x in (model.body_mass, model.body_com, model.body_inertia))
    turns = np.array([np.array(cardan.SE3.from_quaternion(pose[3:]).rotation) for pose in poses])
    centre = poses[:, :3] + np.einsum("bij,bj->bi", turns, com)
    spin = np.einsum("bji,bj->bi", turns, twists[:, 3:])
    kinetic = mass * (twists[:, :3] ** 2).sum(axis=1) + np.einsum("bi,bij,bj->b", spin, inertia, spin)
    return float(0.5 * kinetic.sum() + 9.81 * (mass * centre[:, 2]).sum())


def _released(run: Run, dt: float, seconds: float, scale: float) -> str:
    model = run.solver.model
    start, every = _energy(model, run.start), round(1.0 / REPORTS / dt)
    for k in range(round(seconds * REPORTS)):
        state = run.take(every)
        time = (k + 1) / REPORTS
        numbers = [x.numpy() for x in (state.body_q, state.body_qd, state.joint_q)]
        if not all(np.isfinite(x).all() for x in numbers) or not np.linalg.norm(numbers[0][:, 3:], axis=1).all():
            return f"nan {time:.2f}"
        if not _energy(model, state) <= start + scale:
            return f"E {time:.2f}"
        run.start.assign(state)
    return "ok"
