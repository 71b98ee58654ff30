"""`python -m benchmarks [--json FILE] [--robots NAME ...]`: times of cardan and Pinocchio in one process, and ratios.

Needs the `oracles` extra. Every figure is the minimum of several runs; a number never fails it.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("CARDAN_CACHE_DIR", tempfile.mkdtemp(prefix="cardan-benchmark-"))  # compile times are first times

import llvmlite
import numpy as np

import cardan
from benchmarks.peak import peak_operations

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from robots_data import urdf_files

ROBOTS = {
    "panda": ("panda.urdf", "fixed"),
    "ur5": ("ur5_robot.urdf", "fixed"),
    "anymal": ("anymal.urdf", "floating"),
    "g1": ("g1_29dof_rev_1_0.urdf", "floating"),
    "icub": ("icub_reduced.urdf", "floating"),
    "talos": ("talos_reduced.urdf", "floating"),
}
BATCH = 4096
PEER_STATES = 64
CALLS = 200


def best(run, seconds=0.4, least=5):
    """Return the shortest time of a call."""
    times, started = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return min(times)


def jobs(pin, model, theirs, data, frame):
    """Return for each quantity: the cardan function, its options, which states it takes, and Pinocchio's call."""
    last = theirs.getFrameId(frame)

    def fk(q, v, a, tau):
        pin.forwardKinematics(theirs, data, q)
        pin.updateFramePlacements(theirs, data)

    return {
        "inverse dynamics": (cardan.inverse_dynamics, {}, "qva", lambda q, v, a, t: pin.rnea(theirs, data, q, v, a)),
        "forward dynamics": (cardan.forward_dynamics, {}, "qvt", lambda q, v, a, t: pin.aba(theirs, data, q, v, t)),
        "mass matrix": (cardan.mass_matrix, {}, "q", lambda q, v, a, t: pin.crba(theirs, data, q)),
        "inverse mass matrix": (
            cardan.mass_matrix_inverse,
            {},
            "q",
            lambda q, v, a, t: pin.computeMinverse(theirs, data, q),
        ),
        "kinematics, all bodies": (cardan.forward_kinematics, {}, "q", fk),
        "frame Jacobian": (
            cardan.jacobian,
            {"frame": frame},
            "q",
            lambda q, v, a, t: pin.computeFrameJacobian(theirs, data, q, last, pin.LOCAL_WORLD_ALIGNED),
        ),
    }


def in_pinocchio(file, base, nq, nv):
    """Return Pinocchio's model, with mimic joints as such only where its sizes would differ otherwise."""
    import pinocchio as pin

    arguments = (str(file), pin.JointModelFreeFlyer()) if base == "floating" else (str(file),)
    model = pin.buildModelFromUrdf(*arguments)
    return model if (model.nq, model.nv) == (nq, nv) else pin.buildModelFromUrdf(*arguments, mimic=True)


def pin_states(pin, model, rng):
    """Return a few random configurations and velocities."""
    v = rng.normal(size=(PEER_STATES, model.nv))
    return np.array([pin.integrate(model, pin.neutral(model), row) for row in v]), v


def time_peer(peer, q, v):
    """Return seconds a state; NaN where Pinocchio refuses the model (mimic joints)."""
    try:
        return best(lambda: [peer(q[k], v[k], v[k], v[k]) for k in range(PEER_STATES)], 0.3) / PEER_STATES
    except RuntimeError:
        return float("nan")


def time_cardan(function, model, options, arrays):
    """Return seconds: to compile, a state on one thread, a state on all threads, one call."""
    started = time.perf_counter()
    fast = function.on(threads=1).bind(model, **options)
    fast(*(x[:1] for x in arrays))
    compiled = time.perf_counter() - started
    out = np.empty_like(fast(*arrays))
    every = function.on(threads=cardan.num_threads()).bind(model, **options)
    single = [x[0].copy() for x in arrays]
    one = best(lambda: fast(*arrays, out=out)) / BATCH
    return compiled, one, best(lambda: every(*arrays, out=out)) / BATCH, best(lambda: calls(fast, single), 0.1) / CALLS


def calls(fast, single):
    """Call many times for one state."""
    for _ in range(CALLS):
        fast(*single)


def measure(name, file, base, peak):
    """Return the rows of one robot."""
    import pinocchio as pin

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cardan.load(file, base=base)
    theirs, rng = in_pinocchio(file, base, model.nq, model.nv), np.random.default_rng(0)
    v = rng.normal(size=(BATCH, model.nv))
    states = {"q": model.random_configuration((BATCH,), seed=0), "v": v, "a": v[::-1].copy(), "t": v[::-1].copy()}
    peer_q, peer_v = pin_states(pin, theirs, rng)
    rows = []
    table = jobs(pin, model, theirs, theirs.createData(), model.body_names[-1])
    for quantity, (function, options, letters, peer) in table.items():
        compiled, one, every, call = time_cardan(function, model, options, [states[k] for k in letters])
        other, operations = time_peer(peer, peer_q, peer_v), function.program(model, **options).operations
        row = {"robot": name, "nv": model.nv, "quantity": quantity, "operations": operations, "compile_s": compiled}
        row |= {"ns": one * 1e9, "ns_all_threads": every * 1e9, "fraction_of_peak": operations / one / peak}
        row |= {"call_us": call * 1e6, "pin_us": other * 1e6, "ratio": other / one, "call_ratio": other / call}
        rows.append(row)
        print(line(row), flush=True)
    return rows


HEADER = (
    "robot   nv  quantity                  operations  compile    one thread  all threads  of peak    pin (Python)"
    "    ratio   one call   ratio"
)


def line(r):
    """Return a row of the table."""
    return (
        f"{r['robot']:7s} {r['nv']:2d}  {r['quantity']:24s} {r['operations']:10d}  {r['compile_s']:5.2f} s"
        f"  {r['ns']:8.1f} ns  {r['ns_all_threads']:8.1f} ns  {100 * r['fraction_of_peak']:5.0f} %"
        f"  {r['pin_us']:9.2f} us  {r['ratio']:7.1f}x  {r['call_us']:6.1f} us  {r['call_ratio']:5.2f}x"
    )


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--robots", nargs="*", choices=ROBOTS, default=list(ROBOTS))
    args = parser.parse_args()
    import pinocchio

    files = {f.name: f for f in urdf_files()}
    peak = peak_operations()
    environment = {
        "machine": platform.machine(),
        "processor": llvmlite.binding.get_host_cpu_name(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "pin": pinocchio.__version__,
        "cardan": cardan.__version__,
        "threads": cardan.num_threads(),
        "peak_gflops": peak / 1e9,
        "batch": BATCH,
    }
    print(", ".join(f"{k} {v:.1f}" if isinstance(v, float) else f"{k} {v}" for k, v in environment.items()))
    print(HEADER)
    rows = []
    for name in args.robots:
        file, base = ROBOTS[name]
        if file not in files:
            print(f"{name}: {file} is not in this version of example-robot-data")
            continue
        rows += measure(name, files[file], base, peak)
    if args.json:
        Path(args.json).write_text(json.dumps({"environment": environment, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
