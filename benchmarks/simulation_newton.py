"""Newton's steps of a scene on the CPU, and its eval_fk and eval_ik.

Newton reads the same URDF text; gains, limits, targets, feet and ground are ours, all else is as Newton has it by
default. Contacts come from its collision pipeline in every step. It computes in float32.

Bodies that are fixed to one another are one (`collapse_fixed_joints`), with the inertias that they have together: those
of newton 1.8.0 are set anew here, as it adds moments about different points and G1's mass matrix is then wrong by
0.06 kg m^2. With them the mass matrices agree to 3e-6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import newton
import numpy as np
import warp as wp
from newton import solvers

import cardan
from benchmarks.robots import robot
from benchmarks.scenes import Scene
from cardan import conventions

WORLDS, WORLDS_SLOW, WORLDS_KINEMATICS = 1024, 64, 4096
SECONDS = 0.2
"""For how long a robot must stay finite [s]."""
SETTLED = 20
"""Steps before those that are measured, so that feet press on the ground."""


def mujoco_warp(model: newton.Model) -> Any:
    """Return the solver that runs MuJoCo's own algorithms, on Newton's contacts where there are shapes."""
    return solvers.SolverMuJoCo(model, use_mujoco_contacts=not model.shape_count, njmax=100, nconmax=16)


def tiled_featherstone(model: newton.Model) -> Any:
    """Return Featherstone's algorithm, whose mass matrix is factorised in tiles."""
    return solvers.SolverFeatherstone(model, use_tile_gemm=True)


SOLVERS: dict[str, tuple[Callable[[newton.Model], Any], int]] = {
    "Featherstone": (solvers.SolverFeatherstone, WORLDS_SLOW),
    "Featherstone, tiles": (tiled_featherstone, WORLDS),
    "SemiImplicit": (solvers.SolverSemiImplicit, WORLDS),
    "XPBD": (solvers.SolverXPBD, WORLDS),
    "MuJoCo": (mujoco_warp, WORLDS),
    "Steel": (solvers.SolverSteel, WORLDS),
}
"""By name: what makes a solver of a model, and of how many worlds (so that a step takes about a second at most)."""


def steppers(scene: Scene, dt: float) -> Iterator[tuple[str, Callable[[], Any], int, int]]:
    """Yield what takes steps, each as (label, callable, worlds, steps a call); "diverges" is said in the label.

    Args:
        scene: the robot.
        dt: the step [s].
    """
    wp.config.log_level = wp.LOG_WARNING
    for name, (make, worlds) in SOLVERS.items():
        try:
            diverges = not is_finite_after(scene, make, dt, SECONDS)
            run = Run.of(replicated(scene, worlds), make, dt)
            run.settle(0 if diverges else SETTLED)
        except ImportError as error:
            print(f"newton {name}: {error}")
            continue
        yield f"{name}, {worlds}" + ", diverges" * diverges, run.take, worlds, 1


def is_finite_after(scene: Scene, make: Callable[[newton.Model], Any], dt: float, seconds: float) -> bool:
    """Return whether a robot's poses and twists are finite numbers after it has been simulated for so long."""
    run = Run.of(replicated(scene, 1), make, dt)
    state = run.take(round(seconds / dt))
    return all(np.isfinite(x.numpy()).all() for x in (state.body_q, state.body_qd, state.joint_q))


class Run(NamedTuple):
    """A solver and what it needs, beginning with the standing robot.

    Attributes:
        solver: takes the steps.
        dt: the step [s].
        pipeline: finds the contacts; None without feet.
        contacts: what it finds.
        control: with the targets of the drives.
        start: what every run begins with.
        states: two to step to and fro between.
    """

    solver: Any
    dt: float
    pipeline: Any
    contacts: Any
    control: newton.Control
    start: newton.State
    states: tuple[newton.State, newton.State]

    @classmethod
    def of(cls, model: Any, make: Callable[[newton.Model], Any], dt: float) -> Run:
        """Return what steps a model with a solver; without shapes no contacts are looked for."""
        solver = make(model)  # before the states, to which some solvers add what they keep
        pipeline = newton.CollisionPipeline(model) if model.shape_count else None
        contacts = pipeline.contacts() if pipeline else None
        start = model.state()
        newton.eval_fk(model, model.joint_q, model.joint_qd, start)
        return cls(solver, dt, pipeline, contacts, model.control(), start, (model.state(), model.state()))

    def settle(self, steps: int) -> None:
        """Let every run begin so many steps later."""
        self.start.assign(self.take(steps))

    def take(self, steps: int = 1) -> Any:
        """Return the state so many steps after the start."""
        now, then = self.states
        now.assign(self.start)
        for _ in range(steps):
            now.clear_forces()
            if self.pipeline:
                self.pipeline.collide(now, self.contacts)
            self.solver.step(now, then, self.control, self.contacts, self.dt)
            now, then = then, now
        return now


def replicated(scene: Scene, worlds: int) -> Any:
    """Return many worlds of a robot, standing on one ground if it has feet."""
    builder = newton.ModelBuilder()
    builder.replicate(standing(scene), worlds)
    if scene.feet:
        builder.add_ground_plane(cfg=_surface(scene))
    return builder.finalize(device="cpu", skip_validation_inertia=True)  # which would change inertias


def standing(scene: Scene) -> newton.ModelBuilder:
    """Return one robot with its drives and feet."""
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder.add_urdf(robot(scene.name).urdf, floating=scene.base == "floating")
    _add_feet(builder, scene)
    builder.collapse_fixed_joints()
    set_inertias(builder, scene.world.model)
    q = conventions.to("newton", scene.world.model, merged_bodies=True).configuration(scene.standing)
    builder.joint_q[:] = builder.joint_target_q[:] = q.tolist()
    _set_drives(builder, scene)
    return builder


def set_inertias(builder: newton.ModelBuilder, model: cardan.Model) -> None:
    """Give every body the inertia of all that is fixed to it."""
    for k, label in enumerate(builder.body_label):
        at = model.attachment(label.split("/")[-1])
        merged = at.pose.inverse() @ model.nodes[at.node].inertia
        builder.body_mass[k] = merged.mass
        builder.body_com[k] = wp.vec3(*merged.com)
        builder.body_inertia[k] = wp.mat33(np.array(merged.inertia_at_com.matrix().rows()))


def _surface(scene: Scene, **options: Any) -> newton.ModelBuilder.ShapeConfig:
    surface = scene.surface
    return newton.ModelBuilder.ShapeConfig(density=0.0, mu=surface.friction, ke=surface.stiffness, **options)


def _add_feet(builder: newton.ModelBuilder, scene: Scene) -> None:
    """Add the spheres that touch the ground, and (by their negative group) not one another."""
    bodies = [label.split("/")[-1] for label in builder.body_label]
    for body, centre, radius in scene.feet:
        pose, surface = wp.transform(centre, wp.quat_identity()), _surface(scene, collision_group=-1)
        builder.add_shape_sphere(bodies.index(body), xform=pose, radius=radius, cfg=surface)


def _set_drives(builder: newton.ModelBuilder, scene: Scene) -> None:
    """Set the gains of the joints that have drives; Newton's and our joints have the same names."""
    model = scene.world.model
    kp, kd = model.passive("drive_stiffness"), model.passive("drive_damping")
    for label, start in zip(builder.joint_label, builder.joint_qd_start, strict=True):
        name = label.split("/")[-1]
        if name in model.joint_names:  # all but the floating base
            k = model.v_slice(name).start  # a hinge or slide
            builder.joint_target_ke[start], builder.joint_target_kd[start] = kp[k], kd[k]
            builder.joint_target_mode[start] = int(newton.JointTargetMode.POSITION_VELOCITY)


def kinematics(scene: Scene) -> Iterator[tuple[str, Callable[[], Any], int, int]]:
    """Yield Newton's poses from coordinates and back, each as (label, callable, worlds, 1)."""
    model = replicated(scene, WORLDS_KINEMATICS)
    state = model.state()
    q, v = wp.clone(model.joint_q), wp.clone(model.joint_qd)
    newton.eval_fk(model, q, v, state)
    yield "eval_fk", lambda: newton.eval_fk(model, q, v, state), WORLDS_KINEMATICS, 1
    yield "eval_ik", lambda: newton.eval_ik(model, state, q, v), WORLDS_KINEMATICS, 1
