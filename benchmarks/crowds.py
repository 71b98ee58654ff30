"""Many bodies beside MuJoCo: `python -m benchmarks crowds [SCENE ...]`.

Each scene is laid down by cardan's own steps, and at last put to sleep, if it comes to rest. From there both take the
same number of steps, in turns, on one thread; what is printed is processor time. MuJoCo gets the scene as it lies,
without its margins, with each of its solvers.
`first` is a process with an empty cache: seconds from nothing to the first step, and its memory.
`--growth` measures piles and heaps of more and more bodies as they fall, and `--plot FILE` draws that.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import cardan
from cardan.description import Box, Plane, Sphere

DT, FRICTION, STIFFNESS, ROUNDS = 0.002, 0.5, 1e5, 15
SLEEP, PATIENCE = 0.05, 3000  # m/s, steps
MOST = 0.3  # seconds of a round
SOLVERS = ("Newton", "CG", "PGS")

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Thing:
    """A loose body: a ball, or a box with half sides."""

    half: Triple
    place: Triple
    mass: float
    velocity: Triple = (0.0, 0.0, 0.0)
    ball: bool = False


@dataclass(frozen=True)
class Scene:
    """Loose bodies among planes.

    Attributes:
        things: the bodies.
        walls: planes beside the ground: normal, and how far along it from the origin.
        phases: how many steps lay the scene down, by the name of what it then does.
        goals: what a step may take [ms], by phase.
        dissipation: of each surface [s/m].
    """

    things: tuple[Thing, ...]
    walls: tuple[tuple[Triple, float], ...] = ()
    phases: dict[str, int] = field(default_factory=lambda: {"rest": 500})
    goals: dict[str, float] = field(default_factory=dict)
    dissipation: float = 1.0

    @property
    def world(self) -> cardan.World:
        """The scene in cardan."""
        surface = cardan.Material(friction=FRICTION, stiffness=STIFFNESS, dissipation=self.dissipation)
        b = cardan.WorldBuilder()
        b.add_ground(material=surface)
        for k, (normal, at) in enumerate(self.walls):
            n = np.array(normal)
            pose = cardan.SE3(rotation=_towards(n), translation=at * n)
            b.add_shape("world", Plane(), pose, name=f"wall{k}", material=surface)
        for k, thing in enumerate(self.things):
            b.add_body(f"thing{k}", pose=cardan.SE3(translation=thing.place))
            shape = Sphere(thing.half[0]) if thing.ball else Box(tuple(2.0 * h for h in thing.half))
            b.add_shape(f"thing{k}", shape, material=surface, density=thing.mass / shape.volume)
        return b.finalize()

    def start(self, world: cardan.World) -> cardan.State:
        """Return the state that it begins in."""
        state = world.state()
        state.v.reshape(-1, 6)[:, :3] = [thing.velocity for thing in self.things]
        return state

    def mujoco(self, world: cardan.World, solver: str) -> Any:
        """Return MuJoCo's model."""
        import mujoco as mj

        return mj.MjModel.from_xml_string(self.mjcf(solver))

    def mjcf(self, solver: str) -> str:
        """Return the scene for MuJoCo."""
        option = f'<option timestep="{DT}" cone="elliptic" solver="{solver}"/><size memory="2G"/>'
        planes = [((0.0, 0.0, 1.0), 0.0), *self.walls]
        plane = f'<geom type="plane" size="0 0 1" friction="{FRICTION} 0 0" '
        lines = [plane + f'pos="{_text(at * np.array(n))}" zaxis="{_text(n)}"/>' for n, at in planes]
        for thing in self.things:
            shape = f'"sphere" size="{thing.half[0]}"' if thing.ball else f'"box" size="{_text(thing.half)}"'
            geom = f'<geom type={shape} mass="{thing.mass}" friction="{FRICTION} 0 0"/>'
            lines.append(f'<body pos="{_text(thing.place)}"><freejoint/>{geom}</body>')
        return f"<mujoco>{option}<worldbody>{''.join(lines)}</worldbody></mujoco>"


def _text(numbers: Any) -> str:
    return " ".join(f"{x:.17g}" for x in numbers)


def _towards(n: np.ndarray) -> np.ndarray:
    """Return a rotation whose third column is n."""
    x = np.cross(n, [0.0, 0.0, 1.0]) if abs(n[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(n, x), n], axis=1)


def _box_of_walls(low: float, high: float) -> tuple[tuple[Triple, float], ...]:
    return (((1, 0, 0), low), ((0, 1, 0), low), ((-1, 0, 0), -high), ((0, -1, 0), -high))


def stack(n: int, goal: float) -> Scene:
    """Boxes on one another."""
    h = 0.05
    return Scene(tuple(Thing((h, h, h), (0.0, 0.0, h + 2.0 * h * k), 1.0) for k in range(n)), goals={"rest": goal})


def pile(n: int, steps: tuple[int, int], goals: tuple[float, float]) -> Scene:
    """Balls that fall into a box without a lid."""
    r, side, rng = 0.05, math.ceil(n ** (1 / 3)), np.random.default_rng(0)
    mass = 1000.0 * 4.0 / 3.0 * math.pi * r**3
    places = [(0.12 * (k % side), 0.12 * (k // side % side), 0.06 + 0.12 * (k // side**2)) for k in range(n)]
    shaken = [(x + 0.01 * rng.random(), y + 0.01 * rng.random(), z) for x, y, z in places]
    walls = _box_of_walls(-0.07, 0.12 * (side - 1) + 0.08)
    things = tuple(Thing((r, r, r), place, mass, ball=True) for place in shaken)
    phases = ("impact", "rest")
    return Scene(things, walls, dict(zip(phases, steps, strict=True)), dict(zip(phases, goals, strict=True)))


def wall(columns: int, rows: int, goals: dict[str, float]) -> Scene:
    """Bricks in courses, each half a brick along from that below."""
    things: list[Thing] = []
    for k in range(rows):
        z, odd = 0.05 + 0.1 * k, k % 2
        places = [0.2 * c + 0.1 * odd for c in range(columns - odd)]
        things += [Thing((0.0995, 0.05, 0.05), (x, 0.0, z), 2.0) for x in places]
        ends = (-0.05, 0.2 * (columns - 1) + 0.05) if odd else ()
        things += [Thing((0.0495, 0.05, 0.05), (x, 0.0, z), 1.0) for x in ends]
    return Scene(tuple(things), phases={"rest": 300}, goals=goals)


def hit(scene: Scene) -> Scene:
    """Return the wall with a ball of 20 kg that comes at 10 m/s."""
    ball = Thing((0.15, 0.15, 0.15), (1.9, -0.6, 0.8), 20.0, (0.0, 10.0, 0.0), ball=True)
    return replace(scene, things=(*scene.things, ball), phases={"hit": 60}, goals={"hit": 6.0})


def heap(n: int, goal: float) -> Scene:
    """Boxes of many sizes, thrown into a box."""
    side, rng = math.ceil(n ** (1 / 3)), np.random.default_rng(3)
    things: list[Thing] = []
    for k in range(n):
        half = 0.03 + 0.03 * rng.random(3)
        x, y = (0.15 * i + 0.02 * rng.random() for i in (k % side, k // side % side))
        place, velocity = (x, y, 0.08 + 0.15 * (k // side**2)), 1.5 * rng.standard_normal(3)
        things.append(Thing(tuple(half), place, 8000.0 * half.prod(), tuple(velocity)))
    goals = {"impact": goal, "rest": goal}
    walls = _box_of_walls(-0.09, 0.15 * (side - 1) + 0.1)
    return Scene(tuple(things), walls, {"impact": 150, "rest": 850}, goals, dissipation=10.0)


@dataclass(frozen=True)
class Robots:
    """Robots of one kind that fall over on the ground, without drives: as `Scene`."""

    kind: str
    count: int
    goals: dict[str, float] = field(default_factory=dict)
    phases: dict[str, int] = field(default_factory=lambda: {"fall": 50, "lie": 1000})

    @property
    def world(self) -> cardan.World:
        """The robots in cardan."""
        b = cardan.WorldBuilder()
        b.add_ground()
        b.replicate(getattr(cardan.robots, self.kind)(), self.count, base="floating")
        return b.finalize().with_contacts("*_foot")

    def start(self, world: cardan.World) -> cardan.State:
        """Return the state that it begins in."""
        return world.state()

    def mujoco(self, world: cardan.World, solver: str) -> Any:
        """Return MuJoCo's model."""
        import mujoco as mj

        spec = cardan.interop.to_mjspec(world)
        spec.option.timestep, spec.option.cone = DT, mj.mjtCone.mjCONE_ELLIPTIC
        spec.option.solver = getattr(mj.mjtSolver, f"mjSOL_{solver.upper()}")
        spec.memory = 2 << 30
        return spec.compile()


SCENES: dict[str, Callable[[], Scene | Robots]] = {
    "stack of 10": lambda: stack(10, 0.010),
    "stack of 20": lambda: stack(20, 0.018),
    "pile of 10": lambda: pile(10, (100, 2000), (0.005, 0.005)),
    "pile of 30": lambda: pile(30, (150, 2000), (0.018, 0.018)),
    "pile of 100": lambda: pile(100, (150, 2000), (0.06, 0.03)),
    "pile of 300": lambda: pile(300, (200, 2000), (0.2, 0.1)),
    "pile of 1000": lambda: pile(1000, (250, 1500), (0.9, 0.3)),
    "pile of 10000": lambda: pile(10000, (300, 1500), (10.0, 10.0)),
    "wall of 510": lambda: wall(25, 20, {"rest": 1.3}),
    "wall of 307, hit": lambda: hit(wall(20, 15, {})),
    "heap of 100 boxes": lambda: heap(100, 0.6),
    "heap of 300 boxes": lambda: heap(300, 2.0),
    "100 quadrupeds": lambda: Robots("quadruped", 100),
    "100 humanoids": lambda: Robots("humanoid", 100),
}


GROWTH = (10, 30, 100, 300, 1000)


def scene_of(name: str) -> Scene | Robots:
    """Return the scene of a name; piles of any number of balls, and heaps of any number of boxes."""
    if name in SCENES:
        return SCENES[name]()
    kind, _, count, *_ = name.split()
    return pile(int(count), (250, 1500), (math.nan, math.nan)) if kind == "pile" else heap(int(count), math.nan)


@dataclass
class Found:
    """What was measured of a scene in a phase: seconds of a step by subject, contacts, the last residual."""

    times: dict[str, list[float]]
    contacts: int
    residual: float


@dataclass(frozen=True)
class Subject:
    """What goes on from a state: `begin` puts it there, `steps` takes so many steps."""

    begin: Callable[[], Any]
    steps: Callable[[int], Any]

    def timed(self, steps: int) -> float:
        """Return the seconds of a step."""
        self.begin()
        begun = time.thread_time()
        self.steps(steps)
        return (time.thread_time() - begun) / steps


def measure(scene: Scene | Robots, peers: list[str]) -> Iterator[tuple[str, Found]]:
    """Yield what each phase takes."""
    world = scene.world
    solver = cardan.solvers.Featherstone(world, DT)
    state, done = scene.start(world), 0
    for phase, steps in scene.phases.items():
        state, done = solver.step(state, steps=steps - done), steps
        yield phase, compare(scene, solver, state, peers)
    if isinstance(scene, Scene) and len(scene.things) < 2000:
        sleeper = cardan.solvers.Featherstone(world, DT, sleep=SLEEP)
        while state.v.any() and done < PATIENCE:
            state, done = sleeper.step(state, steps=100), done + 100
        if not state.v.any():
            yield "asleep", compare(scene, sleeper, state, [])


def compare(scene: Scene | Robots, solver: Any, state: cardan.State, peers: list[str]) -> Found:
    """Let all go on from a state, in turns."""
    subjects = {"cardan": Subject(lambda: None, lambda k: solver.step(state, steps=k))}
    subjects |= {name: mujoco(scene, name, state) for name in peers}
    once = {name: subject.timed(1) for name, subject in subjects.items()}
    often = {name: max(1, min(20, int(MOST / t))) for name, t in once.items()}
    times = {name: [t] for name, t in once.items()}
    for _ in range(ROUNDS):
        for name, subject in subjects.items():
            if once[name] < MOST:
                times[name].append(subject.timed(often[name]))
    after = solver.step(state, steps=often["cardan"])
    return Found(times, len(solver.contact_forces(state).pair), float(after.residual[0]))


def mujoco(scene: Scene | Robots, solver: str, state: cardan.State) -> Subject:
    """Return MuJoCo's steps from a state."""
    import mujoco as mj

    model, theirs = scene.mujoco(state.world, solver), cardan.conventions.to("mujoco", state.world.model)
    data, qpos, qvel = mj.MjData(model), theirs.configuration(state.q[0]), theirs.velocity(state.q[0], state.v[0])

    def begin() -> None:
        mj.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mj.mj_step(model, data, 3)  # it begins each step with the forces of the last one

    return Subject(begin, lambda k: mj.mj_step(model, data, k))


def first(name: str, subject: str = "cardan") -> dict[str, float]:
    """Return the seconds that the first step of a scene takes in a process with an empty cache, and its memory [MB]."""
    with tempfile.TemporaryDirectory(prefix="cardan-benchmark-") as cache:
        command = [sys.executable, "-m", "benchmarks.crowds", "--first", name, subject]
        environment = os.environ | {"CARDAN_CACHE_DIR": cache}
        out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def take_first(name: str, subject: str) -> None:
    """Print what `first` returns, of this process."""
    scene, begun = scene_of(name), time.process_time()
    if subject == "cardan":
        world = scene.world
        made = time.process_time()
        cardan.solvers.Featherstone(world, DT).step(scene.start(world))
    else:
        import mujoco as mj

        model = mj.MjModel.from_xml_string(scene.mjcf(subject))
        made = time.process_time()
        mj.mj_step(model, mj.MjData(model))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"world": made - begun, "step": time.process_time() - made, "memory": memory}))


def grow() -> Iterator[dict[str, Any]]:
    """Yield what scenes of more and more bodies take: milliseconds of a step as they fall, first step [s], memory."""
    for kind in ("pile of {}", "heap of {} boxes"):
        for n in GROWTH:
            name = kind.format(n)
            starts = {subject: first(name, subject) for subject in ("cardan", "CG")}
            _, found = next(measure(scene_of(name), ["Newton", "CG"]))
            took = {subject: 1e3 * min(times) for subject, times in found.times.items()}
            yield {"scene": name, "n": n, "cardan": took["cardan"], "MuJoCo": min(took["Newton"], took["CG"])} | {
                f"{part} {subject}": start["world"] + start["step"] if part == "first" else start["memory"]
                for subject, start in zip(("cardan", "MuJoCo"), starts.values(), strict=True)
                for part in ("first", "memory")
            }


def draw(rows: list[dict[str, Any]], file: str) -> None:
    """Draw growth: a panel for each of what is measured."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), layout="constrained")
    panels = ("", "a step [ms]"), ("first ", "first step [s]"), ("memory ", "memory [MB]")
    for ax, (key, label) in zip(axes, panels, strict=True):
        for kind, colour in (("pile", "tab:blue"), ("heap", "tab:orange")):
            own = [row for row in rows if row["scene"].startswith(kind)]
            for subject, style in (("cardan", "o-"), ("MuJoCo", "s--")):
                values = [row[f"{key}{subject}"] for row in own]
                what = f"{'balls' if kind == 'pile' else 'boxes'}, {subject}"
                ax.loglog([row["n"] for row in own], values, style, color=colour, label=what, markersize=4.0)
        ax.set(xlabel="bodies", title=label)
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.savefig(file, dpi=110)


def print_growth(file: str | None) -> None:
    """Print what `grow` finds, and draw it into a file if there is one."""
    rows, heads = [], ("scene", "cardan", "MuJoCo", "first cardan", "first MuJoCo", "memory cardan", "memory MuJoCo")
    print("ms a step, falling; seconds and MB of the first\n")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
    for row in grow():
        rows.append(row)
        cells = [row["scene"], *(f"{row[head]:.3g}" for head in heads[1:])]
        print("| " + " | ".join(cells) + " |", flush=True)
    if file:
        draw(rows, file)


def main(words: Sequence[str] | None = None) -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks crowds", description=__doc__)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=", ".join(SCENES) + ", or other numbers")
    parser.add_argument("--peers", nargs="*", choices=SOLVERS, default=None, help="solvers of MuJoCo")
    parser.add_argument("--growth", action="store_true", help="piles and heaps of more and more bodies")
    parser.add_argument("--plot", metavar="FILE", help="draw growth (needs matplotlib)")
    parser.add_argument("--first", nargs=2, metavar=("SCENE", "SUBJECT"), help=argparse.SUPPRESS)
    args = parser.parse_args(words)
    warnings.simplefilter("ignore")
    if args.first:
        return take_first(*args.first)
    if args.growth:
        return print_growth(args.plot)
    peers = args.peers if args.peers is not None else [*SOLVERS] if importlib.util.find_spec("mujoco") else []
    heads = [
        "scene",
        "goal",
        "cardan",
        *(f"MuJoCo {p}" for p in peers),
        "ratio",
        "contacts",
        "residual",
        "first",
        "memory",
    ]
    print("ms a step; seconds and MB of the first\n")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
    for name in args.scenes or SCENES:
        scene, start = scene_of(name), first(name)
        for phase, found in measure(scene, peers):
            took = {subject: 1e3 * min(times) for subject, times in found.times.items()}
            own = took.pop("cardan")
            row = [f"{name}, {phase}", f"{scene.goals.get(phase, math.nan):g}", f"{own:.4g}"]
            row += [f"{took[p]:.4g}" if p in took else "" for p in peers]
            row += [f"{min(took.values()) / own:.1f}" if took else ""]
            row += [str(found.contacts), f"{found.residual:.0e}"]
            row += [f"{start['world'] + start['step']:.2f}", f"{start['memory']:.0f}"]
            print("| " + " | ".join(row) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
