"""Contact laws on a box, and how many iterations the convex one takes on robots. `python -m benchmarks.contact`.

A box of 1 kg on its four corners, friction 0.8: the way it slides from 2 m/s, the speed at which it creeps on a slope
of 0.4, its depth at rest, and the residual at worst; beside MuJoCo where that is installed. Then operations of a step,
and the share of steps of a recorded motion whose velocities are right to 1e-6 m/s, by iterations; and operations of a
G1's step by how many points its soles have.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.scenes import SCENES
from cardan import Drive, Material
from cardan._motion.simulation.solvers import Featherstone
from cardan.description import Sphere

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from contact_worlds import EARTH, SLOPE, box_world

STEPS = (1e-3, 5e-3, 1e-2)
LAWS: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("compliant, 1 pass, k = 3e4", {"contact": "compliant"}, 3e4),
    ("compliant, 3 passes, k = 3e4", {"contact": "compliant", "iterations": 3}, 3e4),
    ("convex, 2 iterations, k = 3e4", {"iterations": 2}, 3e4),
    ("convex, 3 iterations, k = 3e4", {"iterations": 3}, 3e4),
    ("convex, 4 iterations, k = 3e4", {}, 3e4),
    ("convex, 4 iterations, k = 1e9", {}, 1e9),
)


def box(slope: float, stiffness: float) -> cardan.World:
    """Return the box; of two equal surfaces in series each has twice the stiffness."""
    return box_world(Material(friction=0.8, stiffness=2.0 * stiffness), slope=slope)


def run(world: cardan.World, speed: float, seconds: float, dt: float, options: dict[str, Any]) -> tuple[Any, float]:
    """Return positions of the box after each step, and the largest residual."""
    solver, state = Featherstone(world, dt, **options), world.state()
    state.v[:, 0] = speed
    path, worst = [], 0.0
    for _ in range(round(seconds / dt)):
        state = solver.step(state)
        path.append(state.q[0, :3].copy())
        worst = max(worst, float(state.residual[0]))
    return np.array(path), worst


def print_box() -> None:
    """Print the first table."""
    print("| law | dt | way - exact [mm] | creep [mm/s] | depth [mm] | residual [m/s] |\n|" + "---|" * 6)
    for label, options, stiffness in LAWS:
        for dt in STEPS:
            slid, one = run(box(0.0, stiffness), 2.0, 0.6, dt, options)
            crept, other = run(box(SLOPE, stiffness), 0.0, 1.0, dt, options)
            way = slid[-1, 0] - (2.0 / (0.8 * EARTH) - dt)
            creep = (crept[-1, 0] - crept[len(crept) // 2, 0]) / 0.5
            row = f"{1e3 * way:.2f} | {1e3 * creep:.4f} | {1e3 * (0.05 - slid[-1, 2]):.3f} | {max(one, other):.0e}"
            print(f"| {label} | {dt:g} | {row} |", flush=True)
    if importlib.util.find_spec("mujoco"):
        print_mujoco()


def print_mujoco() -> None:
    """Print MuJoCo's rows, its cone elliptic."""
    import mujoco

    for dt in STEPS:
        ends = []
        for slope, speed, seconds in ((0.0, 2.0, 0.6), (SLOPE, 0.0, 1.0)):
            g = f"{EARTH * math.sin(slope)} 0 {-EARTH * math.cos(slope)}"
            m = mujoco.MjModel.from_xml_string(
                f"<mujoco><option gravity='{g}' timestep='{dt}' cone='elliptic'/><worldbody>"
                "<geom type='plane' size='9 9 1' friction='0.8'/><body pos='0 0 0.05'><freejoint/>"
                "<geom type='box' size='0.1 0.1 0.05' mass='1' friction='0.8'/></body></worldbody></mujoco>"
            )
            d = mujoco.MjData(m)
            d.qvel[0], path = speed, []
            for _ in range(round(seconds / dt)):
                mujoco.mj_step(m, d)
                path.append(d.qpos[:3].copy())
            ends.append(np.array(path))
        slid, crept = ends
        way, creep = slid[-1, 0] - (2.0 / (0.8 * EARTH) - dt), (crept[-1, 0] - crept[len(crept) // 2, 0]) / 0.5
        print(f"| mujoco | {dt:g} | {1e3 * way:.2f} | {1e3 * creep:.4f} | {1e3 * (0.05 - slid[-1, 2]):.3f} | |")


def quadruped() -> cardan.World:
    """Return a quadruped on its four feet, with drives that keep its knees bent."""
    m = cardan.robots.quadruped().with_drives({"*": Drive(stiffness=150.0, damping=3.0)}).mechanism
    b = cardan.WorldBuilder("quadruped")
    b.add(m, pose=cardan.SE3(translation=[0.0, 0.0, 0.36]), base="floating")
    for body in m.bodies:
        if body.name.endswith("foot"):
            b.add_shape(body.name, Sphere(0.02), density=1e-9, group=2, mask=1)  # feet do not meet
    b.add_ground()
    return b.finalize().with_contacts("*_foot")


def bent(world: cardan.World) -> np.ndarray:
    """Return the targets of the drives."""
    targets = world.targets.copy()
    for name in world.model.joint_names:
        angle = 0.7 if "thigh" in name else -1.4 if "shank" in name or "knee" in name else 0.0
        targets[world.model.v_slice(name)] += angle
    return targets


Recorded = tuple[cardan.State, cardan.Control]


def recorded(world: cardan.World, kind: str, dt: float, worlds: int = 64, seconds: float = 1.0) -> Recorded:
    """Return states of a motion, and what drives were asked: robots that stand, swing their legs, or are thrown."""
    rng, solver = np.random.default_rng(0), Featherstone(world, dt, iterations=8)
    nv, targets = world.model.nv, bent(world)
    state, control, phases = world.state(worlds), world.control(worlds), rng.uniform(0.0, 6.0, (worlds, nv))
    state.v[:] = {"thrown": 1.0}.get(kind, 0.01) * rng.normal(size=(worlds, nv))
    control.position[:] = targets
    parts: list[tuple[np.ndarray, ...]] = []
    for k in range(round(seconds / dt)):
        if kind == "walking":
            control.position[:, 6:] = (targets + 0.3 * np.sin(4.0 * np.pi * k * dt + phases))[:, 6:]
        if k % 10 == 0:
            parts.append((state.q.copy(), state.v.copy(), control.position.copy()))
        state = solver.step(state, control)
    q, v, position = (np.concatenate(part) for part in zip(*parts, strict=True))
    asked = world.control(len(q))
    asked.position[:] = position
    return world.state(len(q), q=q, v=v), asked


def print_iterations(world: cardan.World, dt: float = 2e-3) -> None:
    """Print the second table."""
    kinds = ("standing", "walking", "thrown")
    print("\n| iterations | operations | " + " | ".join(kinds) + " |\n|" + "---|" * 5)
    motions = [recorded(world, kind, dt) for kind in kinds]
    for iterations in range(1, 7):
        solver = Featherstone(world, dt, iterations=iterations)
        cells = []
        for state, control in motions:
            residual = solver.step(state, control).residual
            cells.append(f"{100.0 * np.mean(residual < 1e-6):.1f} %, at most {residual.max():.0e}")
        operations = solver.function.program(world.model).operations
        print(f"| {iterations} | {operations} | " + " | ".join(cells) + " |", flush=True)


def print_points(counts: tuple[int, ...] = (8, 16, 32, 64)) -> None:
    """Print the third table."""
    laws: dict[str, dict[str, Any]] = {
        "compliant, 1 pass": {"contact": "compliant", "iterations": 1},
        "convex, 4 iterations": {"iterations": 4},
    }
    print("\n| points | " + " | ".join(laws) + " |\n|" + "---|" * (len(laws) + 1))
    for count in counts:
        world = replace(SCENES["g1"], feet=soles(count)).world
        made = (Featherstone(world, 2e-3, **options) for options in laws.values())
        print(
            f"| {count} | " + " | ".join(str(s.function.program(world.model).operations) for s in made) + " |",
            flush=True,
        )


def soles(count: int) -> tuple[tuple[str, tuple[float, float, float], float], ...]:
    """Return spheres in two columns on each sole of a G1, between the four of its URDF."""
    columns = [(x, y, -0.03) for x in np.linspace(-0.05, 0.12, count // 4).tolist() for y in (0.03, -0.03)]
    return tuple((f"{side}_ankle_roll_link", point, 0.005) for side in ("left", "right") for point in columns)


if __name__ == "__main__":
    cardan.set_num_threads(1)
    print_box()
    print_iterations(quadruped())
    print_points()
