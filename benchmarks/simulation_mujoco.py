"""MuJoCo's steps of a scene: the same tree, drives, feet and ground, by `to_mjspec`; `mj_step`, and `mujoco.batch`.

Every callable begins from one and the same state, standing, with the warm start that belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import mujoco as mj
import numpy as np
from mujoco import batch

import cardan
from benchmarks.scenes import Scene
from cardan import conventions
from cardan.interop import to_mjspec

SETTLED = 150
STEPS = 40
WORLDS = 1024
VARIANTS: dict[str, dict[str, Any]] = {
    "Newton, pyramidal": {},
    "Newton, elliptic": {"cone": mj.mjtCone.mjCONE_ELLIPTIC},
    "CG": {"solver": mj.mjtSolver.mjSOL_CG},
    "PGS": {"solver": mj.mjtSolver.mjSOL_PGS},
}
"""Options of a model with contacts."""


class Standing(NamedTuple):
    """A state to begin with.

    Attributes:
        qpos: configuration.
        qvel: velocity.
        ctrl: targets of the servos.
        qacc_warmstart: the last accelerations.
    """

    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    qacc_warmstart: np.ndarray


def steppers(scene: Scene, dt: float) -> Iterator[tuple[str, Callable[[], Any], int, int]]:
    """Yield what takes steps, each as (label, callable, worlds, steps a call).

    Args:
        scene: the robot.
        dt: the step [s].
    """
    yield from _of_model("no contact" if scene.feet else "", scene, dt, contacts=False)
    for label, options in VARIANTS.items() if scene.feet else ():
        yield from _of_model(label, scene, dt, **options)
    yield from _of_solver(scene, dt)


def compiled(scene: Scene, dt: float, *, contacts: bool = True, **options: Any) -> Any:
    """Return MuJoCo's model of a scene."""
    spec = to_mjspec(scene.world)
    spec.option.timestep, spec.option.integrator = dt, mj.mjtIntegrator.mjINT_IMPLICITFAST
    if not contacts:
        spec.option.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT
    for name, value in options.items():
        setattr(spec.option, name, value)
    return spec.compile()


def standing(scene: Scene, model: Any) -> tuple[Any, Standing]:
    """Return the data and state of a robot that has settled on its feet; without contacts, of one that falls."""
    ours, data = scene.world.model, mj.MjData(model)
    data.qpos[:] = conventions.to("mujoco", ours).configuration(scene.standing)
    data.ctrl[:] = [scene.targets[ours.v_slice(model.actuator(k).name)][0] for k in range(model.nu)]
    mj.mj_step(model, data, SETTLED)
    return data, Standing(*(getattr(data, name).copy() for name in Standing._fields))


def _of_model(label: str, scene: Scene, dt: float, **options: Any) -> Iterator[tuple[str, Callable[[], Any], int, int]]:
    model = compiled(scene, dt, **options)
    data, state = standing(scene, model)
    yield f"mj_step, {label}".rstrip(", "), _one(model, data, state), 1, STEPS
    yield f"mj_step, {label}".rstrip(", ") + ", called", _one(model, data, state, called=True), 1, STEPS
    yield f"batch of {WORLDS}, {label}".rstrip(", "), _many(model, state), WORLDS, 1


def _one(model: Any, data: Any, state: Standing, called: bool = False) -> Callable[[], None]:
    """Return what steps a single world, in MuJoCo's own loop, or called from Python for every step."""

    def run() -> None:
        for name, value in zip(Standing._fields, state, strict=True):
            getattr(data, name)[:] = value
        for _ in range(STEPS if called else 1):
            mj.mj_step(model, data, 1 if called else STEPS)

    return run


def _many(model: Any, state: Standing) -> Callable[[], None]:
    """Return what steps many worlds once, on one thread."""
    worlds = batch.Batch(model, nsim=WORLDS, nthread=1)
    arrays = [worlds.bind(name) for name in Standing._fields]

    def run() -> None:
        for array, value in zip(arrays, state, strict=True):
            array[:] = value
        worlds.step()

    return run


def _of_solver(scene: Scene, dt: float) -> Iterator[tuple[str, Callable[[], Any], int, int]]:
    """Yield the solver of ours that calls MuJoCo, conversions and all."""
    solver = cardan.solvers.MuJoCo(scene.world, dt)
    state, control = scene.world.state(WORLDS, q=scene.standing), scene.world.control(WORLDS)
    control.position = scene.targets
    state = solver.step(state, control, steps=SETTLED)
    spare = state.copy()
    yield f"cardan.solvers.MuJoCo of {WORLDS}", lambda: solver.step(state, control, out=spare), WORLDS, 1
