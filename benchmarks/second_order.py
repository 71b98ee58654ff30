"""`python -m benchmarks second_order`: Hessians of the dynamics, beside CasADi's and JAX's, compiling and running.

Processor time of a state, in microseconds, the least of many; cardan in batches of 256 on one thread, the subjects in
turns. `first` is the first call [s]: tracing, differentiating and compiling. All are second derivatives of weights .
accelerations, or of weights . efforts, along tangents:

- recursion: `forward_dynamics_hessian` and its kin; in brackets packed.
- expansion: accelerations, first and second derivatives in one program.
- program: `cardan.hessian` of w . FD, which differentiates the program twice.
- casadi: `casadi.hessian` of cardan's equations on its symbols, in its own virtual machine, and as C by gcc -O2.
- jax: `jax.hessian` of cardan's equations on its tracers, in batches of 256 by `vmap` and `jit`.

`fill` is what writing the dense results takes by itself.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.robots import NAMES, robot

SHIPPED = {"arm7": "fixed", "quadruped": "floating", "humanoid": "floating"}
STATES, ROUNDS, SECONDS = 256, 5, 0.05
LONGEST = 200_000
"""Operations of a program that is differentiated twice, beyond which it is only counted."""
PEERS = {"casadi": ("arm7", "quadruped", "humanoid"), "casadi C": ("arm7",), "jax": ("arm7",)}
"""Robots that a peer is asked for by default: beyond, it compiles for minutes."""


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks second_order", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--robots", nargs="+", default=[*SHIPPED], choices=[*SHIPPED, *NAMES], metavar="NAME")
    parser.add_argument("--peers", nargs="*", default=[*PEERS], choices=PEERS, metavar="NAME")
    args = parser.parse_args(given)
    cardan.set_num_threads(1)
    print("| robot (nv) | what | us a state | first [s] | operations |\n|---|---|---|---|---|")
    for name in args.robots:
        model = model_of(name)
        subjects = [*ours(model), *(s for p in args.peers if name in PEERS[p] for s in theirs(p, model))]
        firsts = [first(call) for _, call, _, _ in subjects]
        times = measured([call for _, call, _, _ in subjects])
        for (what, _, states, operations), seconds, compiled in zip(subjects, times, firsts, strict=True):
            figures = f"{1e6 * seconds / states:.3g} | {compiled:.2f} | {operations() if operations else ''}"
            print(f"| {name} ({model.nv}) | {what} | {figures} |", flush=True)


def model_of(name: str) -> Any:
    """Return a robot of this library, or of example-robot-data."""
    if name in SHIPPED:
        return getattr(cardan.robots, name)().model(base=SHIPPED[name])
    found = robot(name)
    return cardan.load(found.urdf, base=found.base)


Subject = tuple[str, Callable[[], Any], int, Callable[[], int] | None]


def ours(model: Any) -> list[Subject]:
    """Return cardan's subjects: what they are, the call, its states, its operations."""
    q, v, a, w = states(model)
    dense, packed = {"packed": False}, {"packed": True}
    table = (
        ("first derivatives of FD", cardan.forward_dynamics_derivatives, (q, v, a), dense),
        ("ID recursion", cardan.inverse_dynamics_hessian, (q, v, a, w), dense),
        ("ID recursion, packed", cardan.inverse_dynamics_hessian, (q, v, a, w), packed),
        ("FD recursion", cardan.forward_dynamics_hessian, (q, v, a, w), dense),
        ("FD recursion, packed", cardan.forward_dynamics_hessian, (q, v, a, w), packed),
        ("FD expansion", cardan.forward_dynamics_expansion, (q, v, a, w), dense),
    )
    found: list[Subject] = [
        (what, lambda f=f, x=x, o=o: f(model, *x, **o), STATES, lambda f=f, o=o: f.program(model, **o).operations)
        for what, f, x, o in table
    ]
    twice = cardan.hessian(weighed, ("q", "v", "tau"))
    by_program: Subject = ("FD program", lambda: twice(model, q, v, a, w), STATES, lambda: operations)
    operations, room = twice.program(model).operations, np.empty((STATES, 4 * model.nv**2))
    if operations > LONGEST:
        print(f"FD program: {operations} operations, not run")
    also = [by_program] if operations <= LONGEST else []
    return [*found, *also, ("fill", lambda: room.fill(1.0), STATES, None)]


@cardan.function(shapes={"weights": ("nv",)}, returns=())
def weighed(model: Any, q: Any, v: Any, tau: Any, weights: Any) -> Any:
    """Return weights . accelerations."""
    return weights @ cardan.forward_dynamics(model, q, v, tau)


def states(model: Any) -> tuple[np.ndarray, ...]:
    """Return q, v, a (or tau) and weights of a batch."""
    return model.random_configuration((STATES,), seed=0), *np.random.default_rng(0).normal(size=(3, STATES, model.nv))


def theirs(peer: str, model: Any) -> list[Subject]:
    """Return a peer's subject; none if it is not installed."""
    make, batch = {"casadi": (casadi_machine, 1), "casadi C": (casadi_compiled, 1), "jax": (by_jax, STATES)}[peer]
    try:
        __import__(peer.split()[0])
    except ImportError as missing:
        print(f"{peer}: {missing}")
        return []
    return [(f"FD {peer}", made_first(lambda: make(model)), batch, None)]


def made_first(make: Callable[[], Callable[[], Any]]) -> Callable[[], Any]:
    """Return a call that is made when it is first called, so that the first call's time has all of it."""
    made: list[Callable[[], Any]] = []

    def call() -> Any:
        if not made:
            made.append(make())
        return made[0]()

    return call


def casadi_graph(model: Any) -> Any:
    """Return casadi's function of the Hessian of w . FD by a tangent, v and tau."""
    import casadi

    q = [casadi.SX.sym(f"q{k}") for k in range(model.nq)]
    names = {name: [casadi.SX.sym(f"{name}{k}") for k in range(model.nv)] for name in ("e", "v", "tau", "w")}
    moved = cardan.integrate(model, q, names["e"])
    a = cardan.forward_dynamics(model, [*moved], names["v"], names["tau"])
    power = sum(x * y for x, y in zip(names["w"], a, strict=True))
    by = casadi.vertcat(*names["e"], *names["v"], *names["tau"])
    H = casadi.triu(casadi.hessian(power, by)[0])
    H = casadi.substitute(H, casadi.vertcat(*names["e"]), casadi.SX.zeros(model.nv))
    return casadi.Function("H", [casadi.vertcat(*x) for x in (q, names["v"], names["tau"], names["w"])], [H])


def evaluated(graph: Any, model: Any) -> Callable[[], Any]:
    """Return a call of casadi's function for one state, without conversions from NumPy."""
    buffer, run = graph.buffer()
    kept = [np.array(x[0]) for x in states(model)], np.zeros(graph.nnz_out(0))
    for k, x in enumerate(kept[0]):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(kept[1]))
    return lambda: (run(), buffer, kept)


def casadi_machine(model: Any) -> Callable[[], Any]:
    """Return a call in CasADi's virtual machine."""
    return evaluated(casadi_graph(model), model)


def casadi_compiled(model: Any) -> Callable[[], Any]:
    """Return a call of CasADi's C."""
    import casadi

    folder = Path(tempfile.mkdtemp())
    text, library = folder / "hessian.c", folder / "hessian.so"
    Path(casadi_graph(model).generate(text.name)).rename(text)
    subprocess.run(["gcc", "-O2", "-march=native", "-shared", "-fPIC", "-o", library, text], check=True)
    return evaluated(casadi.external("H", str(library)), model)


def by_jax(model: Any) -> Callable[[], Any]:
    """Return a call of JAX's program for a batch."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def power(q: Any, e: Any, v: Any, tau: Any, w: Any) -> Any:
        moved = cardan.integrate(model, list(q), list(e))
        a = cardan.forward_dynamics(model, list(moved), list(v), list(tau))
        return sum(x * y for x, y in zip(w, a, strict=True))

    second = jax.jit(jax.vmap(jax.hessian(power, argnums=(1, 2, 3))))
    q, v, a, w = (jnp.asarray(x) for x in states(model))
    return lambda: jax.block_until_ready(second(q, jnp.zeros_like(v), v, a, w))


def first(call: Callable[[], Any]) -> float:
    """Return the time of the first call [s]."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def measured(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Return the least processor time of each call [s], in rounds that alternate between them."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        best = [min(found, least(call)) for found, call in zip(best, calls, strict=True)]
    return best


def least(call: Callable[[], Any]) -> float:
    """Return the least processor time of a call, all threads of the process counted [s]."""
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        started = time.process_time()
        call()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
