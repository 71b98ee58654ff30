"""`python -m benchmarks cuda`: what kernels cost and what a device makes of them.

Without a device: each kernel is compiled for sm_80, sm_90 and sm_100, and what it takes is printed; no speed is. With
one: evaluations a second, and what part they are of the device's limits, which are measured in the same run: bytes of a
copy within its memory, multiply-adds of a kernel that does nothing else. Times are of events on a stream of its own,
the shortest of rounds that take turns; arrays are larger than caches. frax on JAX is beside it where JAX sees the
device.

Robots are Panda, Talos and ANYmal of example-robot-data; without that package, those that ship with cardan.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.device_array import DeviceArray, Memory, to_device
from benchmarks.occupancy import LIMITS, occupancy
from cardan._compiler.targets import Outline
from cardan._compiler.targets.buffers import Buffer
from cardan._compiler.targets.cuda import compiler
from cardan._compiler.targets.cuda.compiler import CudaKernel, kernel_of
from cardan._compiler.targets.cuda.driver import Driver, driver
from cardan._compiler.targets.cuda.runner import CudaProgram
from cardan._compiler.targets.cuda.staging import THREADS
from cardan.errors import CardanError

GOALS = {  # 1e9 a second, float32, on an H200
    ("panda", "inverse dynamics"): 15.0,
    ("panda", "forward dynamics"): 8.0,
    ("talos", "inverse dynamics"): 1.5,
    ("anymal", "step, compliant contacts"): 1.0,
    ("anymal", "step, convex contacts"): 0.2,
}
STANDS_FOR = {"panda": "arm7", "talos": "humanoid", "anymal": "quadruped"}
DT, SEED = 2e-3, 0
CONTACTS: dict[str, dict[str, Any]] = {
    "compliant": {"contact": "compliant", "iterations": 1},
    "convex": {"contact": "convex", "iterations": 2},
}


@dataclass
class Case:
    """A function of a robot on states.

    Attributes:
        robot: its name.
        what: is computed.
        function: it.
        model: the robot.
        arrays: gives the arguments for so many states, by name.
        asked: of its optional arguments.
        steps: evaluations in one call.
        best: the shortest time of a state [s].
    """

    robot: str
    what: str
    function: cardan.Function
    model: cardan.Model
    arrays: Callable[[int], dict[str, np.ndarray]]
    asked: tuple[str, ...] = ()
    steps: int = 1
    best: float = field(default=np.inf)

    @cached_property
    def program(self) -> Any:
        """What is run."""
        return self.function.trace(self.model, *self.asked).program

    @property
    def bytes_moved(self) -> int:
        """Of float32, for a state: each argument is read once and each result written once."""
        return 4 * sum(a.size for a in (*self.program.inputs, *self.program.outputs))


def main(given: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cuda", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--states", type=int, default=2**20, help="of a call (default 2**20)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", metavar="ROBOT", choices=STANDS_FOR, default=list(STANDS_FOR))
    parser.add_argument("--no-table", action="store_true", help="leave out what kernels take")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args(given)
    cases = [case for name in args.only for case in cases_of(name)]
    found: dict[str, Any] = {}
    if not args.no_table:
        found["kernels"] = kernel_table(cases)
    try:
        device = driver()
    except CardanError as error:
        print(f"\nNo speed was measured: {error}")
    else:
        found["speed"] = speeds(device, cases, args.states, args.rounds)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1))
    return 0


# --- what is computed ---


def cases_of(name: str) -> Iterator[Case]:
    """Yield what has a goal for a robot, and forward dynamics of Talos."""
    if name == "anymal":
        yield from steps()
        return
    label, model = loaded(name)
    states = partial(states_of, model)
    yield Case(label, "inverse dynamics", cardan.inverse_dynamics, model, partial(states, names="qva"))
    yield Case(label, "forward dynamics", cardan.forward_dynamics, model, partial(states, names=["q", "v", "tau"]))


def steps() -> Iterator[Case]:
    """Yield steps of ANYmal on its feet."""
    label, world, standing = standing_world()
    for contact, options in CONTACTS.items():
        step = cardan.solvers.Featherstone(world, DT, **options).function
        for count in (1, 10):
            function = step if count == 1 else step.repeated(count)
            arrays = partial(worlds_of, world.model, standing)
            what = f"step, {contact} contacts" + (f", {count} in a launch" if count > 1 else "")
            yield Case(label, what, function, world.model, arrays, ("position",), count)


def loaded(name: str) -> tuple[str, cardan.Model]:
    """Return a robot, or the one that stands for it, and what it is called."""
    try:
        from benchmarks.robots import robot

        return name, robot(name).model
    except (FileNotFoundError, ImportError):
        other = STANDS_FOR[name]
        return f"{name} (not installed: {other})", getattr(cardan.robots, other)().model()


def standing_world() -> tuple[str, Any, np.ndarray]:
    """Return ANYmal on its feet, or the quadruped that ships, and the configuration in which it stands."""
    try:
        from benchmarks.scenes import SCENES

        scene = SCENES["anymal"]
        return "anymal", scene.world, scene.standing
    except (FileNotFoundError, ImportError):
        world = cardan.robots.quadruped().world(base="floating", ground=True)
        return "anymal (not installed: quadruped)", world, world.model.neutral()


def states_of(model: cardan.Model, count: int, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return random states; a few thousand, again and again, as random configurations take long to make."""
    few = min(count, 4096)
    rng = np.random.default_rng(SEED)
    made = {n: rng.normal(size=(few, model.nv)) for n in names} | {"q": model.random_configuration((few,), seed=SEED)}
    return {n: np.resize(made[n].astype(np.float32), (count, made[n].shape[1])) for n in names}


def worlds_of(model: cardan.Model, standing: np.ndarray, count: int) -> dict[str, np.ndarray]:
    """Return robots that stand, each moving a little."""
    v = np.random.default_rng(SEED).normal(scale=0.1, size=(count, model.nv)).astype(np.float32)
    held = np.array(cardan.limit_coordinates(model, standing), np.float32)
    q = np.broadcast_to(standing.astype(np.float32), (count, model.nq))
    return {"q": np.ascontiguousarray(q), "v": v, "count": np.zeros((), np.float32), "position": held}


# --- what kernels take ---


def kernel_table(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Print and return what each kernel takes on each architecture, and how long it takes to make and to find."""
    titles = ("robot", "function", "dtype", "architecture", "registers", "spills", "stack", "shared", "occupancy")
    print(
        f"NVRTC {'.'.join(map(str, compiler.version()))}; spills are bytes stored + loaded, cold and kept are seconds"
    )
    print("| " + " | ".join((*titles, "cold", "kept")) + " |\n|" + "---|" * (len(titles) + 2))
    rows = []
    for case in cases:
        for architecture in LIMITS:
            for single in (True, False):
                row = kernel_row(case, single, architecture)
                rows.append(row)
                print("| " + " | ".join(map(str, row.values())) + " |", flush=True)
    return rows


def kernel_row(case: Case, single: bool, architecture: str) -> dict[str, Any]:
    """Return what a kernel takes."""
    make = partial(kernel_of, Outline.of(case.program), lambda: case.program, single, architecture)
    with own_cache():
        kernel, cold = timed(make)
        _, kept = timed(make)
    r = kernel.cubin.resources
    return {
        "robot": case.robot,
        "function": case.what,
        "dtype": "float32" if single else "float64",
        "architecture": architecture,
        "registers": r.registers,
        "spills": f"{r.spill_stores} + {r.spill_loads}",
        "stack": r.stack,
        "shared": r.shared,
        "occupancy": f"{100 * occupancy(r, THREADS, architecture):.0f} %",
        "cold": f"{cold:.2f}",
        "kept": f"{kept:.4f}",
    }


@contextmanager
def own_cache() -> Iterator[None]:
    """Keep kernels in an empty place for a while."""
    before = os.environ.get("CARDAN_CACHE_DIR")
    with tempfile.TemporaryDirectory() as place:
        os.environ["CARDAN_CACHE_DIR"] = place
        try:
            yield
        finally:
            os.environ.pop("CARDAN_CACHE_DIR") if before is None else os.environ.update(CARDAN_CACHE_DIR=before)


def timed(call: Callable[[], CudaKernel]) -> tuple[CudaKernel, float]:
    """Return what a call returns, and how long it took [s]."""
    started = time.perf_counter()
    return call(), time.perf_counter() - started


# --- how fast a device is ---


def speeds(device: Driver, cases: Sequence[Case], states: int, rounds: int) -> list[dict[str, Any]]:
    """Print and return evaluations a second, and what part of the device's limits they are."""
    about, clock = device.device(0), Clock(device)
    copied, added = clock.bytes_a_second(), clock.multiply_adds_a_second(about.architecture)
    print(f"\n{about.name} ({about.architecture}, {about.processors} multiprocessors), float32, {states} states")
    print(f"limits measured now: {copied / 1e12:.2f} TB/s of memory, {2 * added / 1e12:.1f} Tflop/s of multiply-adds")
    calls = [(case, clock.launcher(case, states)) for case in cases]
    for _ in range(rounds):
        for case, call in calls:
            case.best = min(case.best, clock.seconds(call) / states)
    print("| robot | function | 1e9/s | goal | % of memory | % of arithmetic | frax |\n|---|---|---|---|---|---|---|")
    theirs = frax_speeds(cases, states)
    rows = []
    for case in cases:
        rate = case.steps / case.best
        row = {
            "robot": case.robot,
            "function": case.what,
            "rate": rate,
            "goal": GOALS.get((case.robot, case.what)),
            "memory": case.bytes_moved / case.best / copied,
            "arithmetic": case.program.work / case.best / (2 * added),
            "frax": theirs.get((case.robot, case.what)),
        }
        rows.append(row)
        goal, other = row["goal"] or "", f"{row['frax'] / 1e9:.3g}" if row["frax"] else ""
        parts = f"{100 * row['memory']:.0f} | {100 * row['arithmetic']:.0f}"
        print(f"| {case.robot} | {case.what} | {rate / 1e9:.3g} | {goal} | {parts} | {other} |", flush=True)
    return rows


_MULTIPLY_ADDS = """
extern "C" __global__ void multiply_adds(long long count, float *out) {
    float a[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) a[k] = threadIdx.x + k;
    for (int n = 0; n < 4096; n++) {
        #pragma unroll
        for (int k = 0; k < 8; k++) a[k] = fmaf(a[k], 0.999f, 1.0f);
    }
    float all = 0;
    #pragma unroll
    for (int k = 0; k < 8; k++) all += a[k];
    if (all == 1234.5f) out[0] = all;
}
"""


class Clock:
    """Times of work on a stream of its own.

    Args:
        device: the driver.
    """

    def __init__(self, device: Driver) -> None:
        self.driver, self.api = device, device.api
        with device.on(0):
            _, stream = self.api.cuStreamCreate(1)  # waits for no other
            _, self.begun = self.api.cuEventCreate(0)
            _, self.ended = self.api.cuEventCreate(0)
        self.stream = int(stream)

    def seconds(self, work: Callable[[], Any], least: float = 0.02) -> float:
        """Return how long work takes on the device, of as many in a row as last long enough [s]."""
        work()
        count = 1
        while (taken := self._span(work, count)) < least and count < 2**12:
            count *= 2
        return taken / count

    def _span(self, work: Callable[[], Any], count: int) -> float:
        with self.driver.on(0):
            self.api.cuEventRecord(self.begun, self.stream)
            for _ in range(count):
                work()
            self.api.cuEventRecord(self.ended, self.stream)
            self.api.cuEventSynchronize(self.ended)
            _, milliseconds = self.api.cuEventElapsedTime(self.begun, self.ended)
        return 1e-3 * milliseconds

    def bytes_a_second(self, size: int = 2**30) -> float:
        """Return bytes read and written by a copy within the memory."""
        a, b = (Memory(size, 0, self.stream) for _ in range(2))
        return 2 * size / self.seconds(lambda: self.api.cuMemcpyDtoDAsync(a.address, b.address, size, self.stream))

    def multiply_adds_a_second(self, architecture: str) -> float:
        """Return multiply-adds of float32, by a kernel that does nothing else."""
        cubin = compiler.compiled(_MULTIPLY_ADDS, "multiply_adds", architecture)
        loaded = self.driver.loaded("multiply_adds", CudaKernel("multiply_adds", cubin), 0)
        out, threads = to_device(np.zeros(1, np.float32), 0, self.stream), 2**22
        call = partial(self.driver.launch, loaded, threads, (out.layout.address,), self.stream)
        return threads * 8 * 4096 / self.seconds(call)

    def launcher(self, case: Case, states: int) -> Callable[[], None]:
        """Return a call that launches a case, after the first on arrays that are there."""
        run = CudaProgram(Outline.of(case.program), lambda: case.program)
        given = case.arrays(states)
        arrays = [to_device(given[a.name], 0, self.stream) for a in case.program.inputs]
        outputs = case.program.outputs
        results = [to_device(np.zeros((states, a.size), np.float32), 0, self.stream) for a in outputs]
        pairs = zip((*arrays, *results), (*case.program.inputs, *outputs), strict=True)
        buffers = [_rows(x, a.size, states) for x, a in pairs]
        return partial(run.launch, buffers[: len(arrays)], buffers[len(arrays) :], states, self.stream)


def _rows(x: DeviceArray, entries: int, states: int) -> Buffer:
    stride = entries if x.size == states * entries else 0
    return Buffer(x.layout.address, states, entries, stride, x.dtype, 0, x)


def frax_speeds(cases: Sequence[Case], states: int) -> dict[tuple[str, str], float]:
    """Return evaluations a second by frax, where JAX sees a device."""
    try:
        import jax

        from benchmarks.peers import frax
        from benchmarks.robots import robot

        if jax.default_backend() != "gpu":
            raise ImportError(f"jax computes on {jax.default_backend()!r}")
    except ImportError as error:
        print(f"frax: not measured ({error})")
        return {}
    found = {}
    for case in cases:
        functions = frax.functions_of(robot(case.robot)) if "(" not in case.robot and case.steps == 1 else {}
        if case.what in functions:
            names, function = functions[case.what]
            given = case.arrays(states)
            arrays = [jax.device_put(given[n]) for n in names]
            call = jax.jit(jax.vmap(function))
            call(*arrays).block_until_ready()
            found[case.robot, case.what] = states / min(_wall(lambda: call(*arrays)) for _ in range(5))  # noqa: B023
    return found


def _wall(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    for _ in range(10):
        result = call()
    result.block_until_ready()
    return (time.perf_counter() - started) / 10
