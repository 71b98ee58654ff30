"""What happens under load and in bad places: threads, memory, processes, full disks, damaged caches, forks, interrupts.

`python tests/stress.py` runs all and prints a line each; `python tests/stress.py threads memory ...` runs some;
`--list` names them. `test_stress.py` runs them small. What may crash or hang runs in a process of its own.
"""

import argparse
import ctypes
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import cardan
from cardan.program import cache

PREAMBLE = """
import gc, os, random, signal, sys, threading, time
import numpy as np, cardan

def pendulum(k):
    m = cardan.Mechanism("pendulum")
    m.add_body("bob", cardan.Inertia(1.0 + k * 1e-5, (0.1, 0.0, 0.2), np.eye(3) * 0.1))
    m.add_joint("pivot", cardan.joints.Revolute((0.0, 1.0, 0.0)), "world", "bob")
    return m.model()
"""
EVALUATE = """
arm = cardan.robots.arm7().model()
q = arm.random_configuration((9,), seed=0)
print(cardan.inverse_dynamics(arm, q, q, q).tobytes().hex())
"""
NO_CACHE = "/dev/null/cache"  # every program is compiled


def run_process(place, code=EVALUATE, **options):
    """Start Python on a piece of code, with its cache in a place."""
    env = {**os.environ, "CARDAN_CACHE_DIR": str(place)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-X", "faulthandler", "-c", PREAMBLE + code], env=env, **pipes, **options)


def outcome(place, code, timeout=60.0):
    """Run a piece of code; return "right" if it ends by printing that, else what happened instead."""
    process = run_process(place, code)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs"
    if process.returncode == 0 and out.strip().endswith("right") and not err:
        return "right"
    last = err.strip().splitlines()[0 if process.returncode < 0 else -1] if err.strip() else ""
    return f"status {process.returncode}: {out.strip()[-200:]} {last[:200]}"


def expected_output(place):
    out, err = run_process(place).communicate()
    assert not err, err
    return out


@contextmanager
def folder():
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


# --- (a) threads -----------------------------------------------------------------------------------------------


def threads(evaluations=1_000_000, count=8):
    """Evaluate from several threads, with shared and with own functions and models; return how many results differ."""
    shared = cardan.robots.arm7().model()
    states = [shared.random_configuration(seed=k) for k in range(16)]
    expected = [cardan.inverse_dynamics.on("llvm", threads=1)(shared, q, q, q) for q in states]
    wrong, start = [], threading.Barrier(count)
    fresh = cardan.function(lambda model, q, v, a: cardan.inverse_dynamics(model, q, v, a))
    shared_fast = cardan.inverse_dynamics.bind(shared)

    def work(number):
        own = cardan.robots.arm7().model()
        own_fast, out = cardan.inverse_dynamics.bind(own), np.empty(7)
        calls = (
            own_fast,
            shared_fast,
            lambda *x: shared_fast(*x, out=out),
            lambda *x: cardan.inverse_dynamics(own, *x),
            lambda *x: cardan.inverse_dynamics(shared, *x),
            lambda *x: fresh(shared, *x),
        )
        start.wait()
        for k in range(evaluations // count):
            q = states[(k + number) % 16]
            if calls[k % 6](q, q, q).tobytes() != expected[(k + number) % 16].tobytes():
                wrong.append((number, k))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(wrong)


RACES = """
sys.setswitchinterval(1e-6)
from collections import Counter
failures, function = Counter(), cardan.function(lambda model, q: cardan.center_of_mass(model, q))
for number in range({rounds}):
    model, start = pendulum(number), threading.Barrier(8)
    exact = {{k: function.on("numpy")(model, np.full(1, k)) for k in (0.5, 1.0)}}
    def work(number):
        start.wait()
        try:
            for k in range(20):
                q = np.full(1, (0.5, 1.0)[k % 2], np.float32 if (number + k) % 3 == 0 else np.float64)
                for call in (function.bind(model), lambda q: function(model, q),
                             lambda q: function.on("llvm")(model, q)):
                    if np.abs(call(q) - exact[q[0]]).max() > 1e-6:
                        failures["wrong"] += 1
        except Exception as error:
            failures[repr(error)] += 1
    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [w.start() for w in workers], [w.join() for w in workers]
print(dict(failures) or "right")
"""


def races(rounds=60):
    """Compile for the first time from eight threads at once, both dtypes, bound and not; return what happened."""
    with folder() as place:
        return outcome(place / "cache", RACES.format(rounds=rounds), timeout=300)


# --- (b) memory ------------------------------------------------------------------------------------------------


def resident():
    """Return the memory of this process [MB], without what is free but not given back."""
    gc.collect()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_of_calls(calls=1_000_000):
    """Return the memory [MB] at eleven times during many single calls."""
    arm = cardan.robots.arm7().model()
    q, out, fast = arm.random_configuration(seed=0), np.empty(7), cardan.inverse_dynamics.bind(arm)
    both = cardan.function(
        lambda model, q: {"x": cardan.center_of_mass(model, q), "e": cardan.potential_energy(model, q)}
    )
    strided, curve = np.repeat(q, 2)[::2], []
    kinds = (
        lambda: fast(q, q, q),
        lambda: fast(q, q, q, out=out),
        lambda: cardan.mass_matrix(arm, q),
        lambda: cardan.potential_energy(arm, q),
        lambda: both(arm, q),
        lambda: fast(strided, q, q.tolist()),
        lambda: fast(out, q, q, out=out),
        lambda: refused(fast, q, q, q[1:]),
        lambda: cardan.frame_transform(arm, q, frame="tool"),
    )
    for call in kinds:
        call()
    for k in range(calls + 1):
        if k % (calls // 10) == 0:
            curve.append(round(resident(), 1))
        kinds[k % len(kinds)]()
    return curve


def refused(function, *arrays):
    """Make a call that is an error."""
    try:
        function(*arrays)
    except cardan.CardanError:
        return
    raise AssertionError("was not refused")


MODELS = """
sys.path.insert(0, {here!r})
from stress import resident
curve = []
for k in range({models} + 1):
    if k % ({models} // 10) == 0:
        curve.append(round(resident(), 1))
    model = pendulum(k)
    cardan.inverse_dynamics.bind(model)(np.ones(1), np.ones(1), np.ones(1))
    cardan.mass_matrix(model, np.ones((2, 1)))
    model, kept = None, sum(len(f._doors) for f in (cardan.inverse_dynamics, cardan.mass_matrix))
print(curve, "doors", kept)
"""


def memory_of_models(models=1000, compiled=True):
    """Return the memory [MB] at eleven times while models are built, compiled (or loaded), used and dropped."""
    with folder() as place:
        code = MODELS.format(models=models, here=str(Path(__file__).parent))
        for _ in range(1 if compiled else 2):  # the second time all is in the cache
            out, err = run_process(NO_CACHE if compiled else place / "cache", code).communicate()
        assert not err, err
        return [float(x) for x in out[1 : out.index("]")].split(",")]


def growth(curve):
    """Return the growth [MB] after the first tenth."""
    return round(curve[-1] - curve[1], 1)


# --- (c), (d) processes -----------------------------------------------------------------------------------------


def empty_cache(count=10):
    """Start processes at once on an empty cache; return what went wrong, and the files left."""
    with folder() as place:
        running = [run_process(place / "cache") for _ in range(count)]
        results = [p.communicate() for p in running]
        wrong = len({out for out, _ in results}) - 1 + sum(p.returncode != 0 for p in running)
        wrong += sum(bool(err) for _, err in results)
        return wrong, sorted(f.suffix or f.name[:8] for f in (place / "cache").iterdir())


COMPILE_MANY = """
cardan.gravity_forces(pendulum(0), np.ones(1))
print("ready", flush=True)
for k in range(1000):
    cardan.gravity_forces(pendulum(k), np.ones(1))
"""
WRITE_MANY = """
from cardan.program import cache
print("ready", flush=True)
for k in range(1000):
    cache.save(f"key{k % 20}", os.urandom(1 << 22))
"""
READ_WRITTEN = """
import logging
from cardan.program import cache
cache.LOG.setLevel(logging.CRITICAL)
entries = [f.stem for f in cache.directory().glob("*.obj")]
print("right" if entries and all(len(cache.load(key) or "") == 1 << 22 for key in entries) else "wrong")
"""
READ_MANY = """
for k in range(8):
    model = pendulum(k)
    got, right = (cardan.gravity_forces.on(t)(model, np.ones(1)) for t in ("llvm", "numpy"))
    assert np.allclose(got, right, rtol=1e-12)
print("right")
"""


def killed(times=40):
    """Kill processes while they compile, and while they write; return whether all is right after it, and what is left."""
    return {
        "compiling": _killed(times, COMPILE_MANY, READ_MANY, 0.4),
        "writing": _killed(times, WRITE_MANY, READ_WRITTEN, 0.1),
    }


def _killed(times, code, after, longest):
    with folder() as place:
        for _ in range(times):
            process = run_process(place / "cache", code)
            process.stdout.readline()
            time.sleep(random.uniform(0.0, longest))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        names = [f.name for f in (place / "cache").iterdir()]
        staged = sum(name.startswith(".staged-") for name in names)
        return outcome(place / "cache", after), f"{len(names) - staged} entries, {staged} staged files left"


# --- (e), (f), (g) disks ----------------------------------------------------------------------------------------


@contextmanager
def mounted(spot, options):
    """Mount a small file system in memory for a while; yield whether that is allowed."""
    spot.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(spot)]
    try:
        done = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "-l", str(spot)], check=False)


def full_disk():
    """Run with a cache on tiny file systems, without space or files left, and with files limited to 1 kB."""
    found = {}
    with folder() as place:
        for options in ("size=4k,mode=700", "size=64k,mode=700", "size=1m,nr_inodes=3,mode=700"):
            with mounted(place / "tiny", options) as done:
                if done:
                    found[options] = outcome(place / "tiny" / "cache", READ_MANY)
                    staged = [f.name for f in (place / "tiny").rglob(".staged-*")]
                    found[options] += f", but {staged} left" if staged else ""
        limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n" + READ_MANY
        found["files of 1 kB"] = outcome(place / "cache", limited)
        found["/dev/full"] = outcome("/dev/full/cache", READ_MANY)
    return found


DAMAGE = """
import logging, pathlib
from cardan.program import cache
said = []
cache.LOG.addHandler(type("Note", (logging.Handler,), {{"emit": lambda self, r: said.append(r.getMessage())}})())
arm, q = cardan.robots.arm7().model(), np.linspace(-1.0, 1.0, 7)
fresh = lambda: cardan.function(lambda model, q: cardan.gravity_forces(model, q))
right = fresh()(arm, q)
(entry,) = [f for f in cache.directory().glob("*.obj") if b"evaluate" in f.read_bytes()]
whole, rng = entry.read_bytes(), random.Random(0)
places = [0, 1, 31, 32, 33, 39, 40, 41, 103, 104, len(whole) // 2, len(whole) - 1]
places += [rng.randrange(len(whole)) for _ in range({flips})]
spoiled = [whole[:k] + bytes([whole[k] ^ 1 << rng.randrange(8)]) + whole[k + 1 :] for k in places]
spoiled += [whole[:k] for k in (0, 1, 20, 31, 32, 33, 39, 40, len(whole) // 2, len(whole) - 1)]
spoiled += [whole + b"x", bytes(len(whole)), b"\\xff" * len(whole)]
for k, data in enumerate(spoiled):
    said.clear()
    entry.write_bytes(data)
    assert np.array_equal(fresh()(arm, q), right), k
    assert entry.read_bytes() == whole, (k, "not mended")
    assert any("damaged" in line for line in said), (k, "not said")
print(len(spoiled), "right")
"""


def damaged(flips=200):
    """Flip a bit at every kind of place in an entry, cut it short, empty it; return whether all was seen and mended."""
    with folder() as place:
        return outcome(place / "cache", DAMAGE.format(flips=flips), timeout=120)


WHERE_FROM = """
arm = cardan.robots.arm7().model()
q = arm.random_configuration((9,), seed=0)
got, right = (cardan.inverse_dynamics.on(t)(arm, q, q, q) for t in ("llvm", "numpy"))
found = "found in the disk cache" in cardan.inverse_dynamics.on("llvm").explain(arm)
print("right" if np.allclose(got, right) else "wrong", "found" if found else "compiled")
"""


def used(place):
    """Run with a cache in a place; return whether it was right, found or compiled, and what was said."""
    out, err = run_process(place, WHERE_FROM).communicate()
    return out.strip(), err.strip()


def unsafe_places():
    """Use cache directories that are not ours alone; return, for each, (what was done, what was said)."""
    found = {}
    with folder() as place:
        good = place / "good"
        used(good)
        found["ours"] = used(good)
        (place / "link").symlink_to(good)
        found["a link to ours"] = used(place / "link")
        (place / "parent").symlink_to(place)
        found["a link above ours"] = used(place / "parent" / "good")
        good.chmod(0o777)
        found["world-writable"] = used(good)
        good.chmod(0o700)
        for entry in good.iterdir():
            entry.chmod(0o666)
        found["world-writable entries"] = used(good)
        for entry in good.iterdir():
            entry.chmod(0o600)
        if os.getuid() == 0:
            os.chown(good, 12345, 12345)
            found["another user's"] = used(good)
            os.chown(good, 0, 0)
        found["read-only"] = read_only(place, good)
        (place / "file").write_text("")
        found["a file"] = used(place / "file")
    return found


def read_only(place, good):
    """Use a cache that cannot be written; root may write anything that is not mounted read-only."""
    if os.getuid() != 0:
        good.chmod(0o500)
        try:
            return used(good)
        finally:
            good.chmod(0o700)
    with mounted(place / "disk", "size=1m,mode=700") as done:
        if not done:
            return ("right found", "")
        used(place / "disk")
        subprocess.run(["mount", "-o", "remount,ro", str(place / "disk")], check=True)
        return used(place / "disk")


# --- (h) forks --------------------------------------------------------------------------------------------------

POOLS = """
import multiprocessing
def work(_):
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration((60000,), seed=0)
    return float(cardan.inverse_dynamics(arm, q, q, q).sum())
"""
FORK_POOL = """
cardan.set_num_threads(2)
here = work(0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map(work, range(4))
print("right" if all(x == here for x in there) else there)
"""
SPAWN_POOL = """
import sys
sys.path.insert(0, {here!r})
import stress
cardan.set_num_threads(2)
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        there = pool.map(stress.large_sum, range(4))
    print("right" if all(x == stress.large_sum(0) for x in there) else there)
"""
FORK_BUSY = """
cardan.set_num_threads(2)
arm = cardan.robots.arm7().model()
q = arm.random_configuration((60000,), seed=0)
right, stop = cardan.inverse_dynamics(arm, q, q, q), []
def busy():
    while not stop:
        cardan.inverse_dynamics(arm, q, q, q)
workers = [threading.Thread(target=busy) for _ in range(2)]
[w.start() for w in workers]
bad = 0
for _ in range({forks}):
    time.sleep(random.uniform(0.0, 0.02))
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(0 if np.array_equal(cardan.inverse_dynamics(arm, q, q, q), right) else 3)
    bad += os.waitpid(child, 0)[1] != 0
stop.append(True)
[w.join() for w in workers]
print(f"{{bad}} children hung or were wrong" if bad else "right")
"""
FORK_COMPILING = """
cardan.gravity_forces(pendulum(0), np.ones(1))
stop = []
def busy():
    k = 0
    while not stop:
        k += 1
        cardan.gravity_forces(pendulum(k), np.ones(1))
worker = threading.Thread(target=busy)
worker.start()
bad = 0
for k in range({forks}):
    time.sleep(random.uniform(0.0, 0.05))
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        cardan.gravity_forces(pendulum(10**6 + k), np.ones(1))
        os._exit(0)
    bad += os.waitpid(child, 0)[1] != 0
stop.append(True)
worker.join()
print(f"{{bad}} of {forks} children hung" if bad else "right")
"""


def large_sum(_):
    """Return the sum of a large batch's results."""
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration((60000,), seed=0)
    return float(cardan.inverse_dynamics(arm, q, q, q).sum())


def forked(forks=20):
    """Fork and spawn after use, while threads compute; return what became of the children."""
    with folder() as place:
        spawn = place / "spawned.py"
        spawn.write_text(PREAMBLE + POOLS + SPAWN_POOL.format(here=str(Path(__file__).parent)))
        return {
            "pool by fork": outcome(place / "cache", POOLS + FORK_POOL),
            "pool by spawn": outcome(
                place / "cache", f"import runpy; runpy.run_path({str(spawn)!r}, run_name='__main__')"
            ),
            "fork while threads compute": outcome(place / "cache", FORK_BUSY.format(forks=forks), timeout=300),
        }


def forked_while_compiling(forks=10):
    """Fork while another thread compiles; return what became of the children."""
    return outcome(NO_CACHE, FORK_COMPILING.format(forks=forks), timeout=120)


# --- (i) interrupts, and the end --------------------------------------------------------------------------------

INTERRUPT = """
cardan.set_num_threads({threads})
arm = cardan.robots.arm7().model()
q = arm.random_configuration(({states},), seed=0)
fast, out = cardan.inverse_dynamics.bind(arm), np.empty(({states}, 7))
right, times = fast(q, q, q), []
for k in range({times}):
    out[:] = np.nan
    timer = threading.Timer(random.uniform(0.0, 0.02), signal.raise_signal, [signal.SIGINT])
    started = time.perf_counter()
    try:
        timer.start()
        fast(q, q, q, out=out)
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        times.append(time.perf_counter() - started)
    timer.join()
    then = out.copy()
    time.sleep(0.03)
    assert np.array_equal(out, then, equal_nan=True), "written after the call was left"
    assert np.array_equal(fast(q[:100], q[:100], q[:100]), right[:100])
assert np.array_equal(fast(q, q, q), right)
print(f"at most {{max(times):.2f}} s; right")
"""


def interrupted(states=300_000, times=30):
    """Interrupt long batches; return what happened with one thread and with two."""
    codes = (INTERRUPT.format(threads=n, states=states, times=times) for n in (1, 2))
    with folder() as place:
        return {n: outcome(place / "cache", code) for n, code in zip((1, 2), codes, strict=True)}


AT_EXIT = """
import atexit
cardan.set_num_threads(2)
arm = cardan.robots.arm7().model()
q = arm.random_configuration((60000,), seed=0)
right = cardan.inverse_dynamics(arm, q, q, q)
def last():
    print("right" if np.array_equal(cardan.inverse_dynamics(arm, q, q, q), right) else "wrong")
atexit.register(last)
"""
NO_HOME = """
from pathlib import Path
def none():
    raise RuntimeError("Could not determine home directory.")
Path.home = none
for name in ("CARDAN_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
    os.environ.pop(name, None)
cardan.gravity_forces(pendulum(0), np.ones(1))
from cardan.program import cache
assert cache.size() == cache.clear() == 0
print("right")
"""


def odd_ends():
    """Evaluate a large batch while the interpreter shuts down; run as a user without a home."""
    with folder() as place:
        return {
            "at exit": outcome(place / "cache", AT_EXIT),
            "without a home": outcome(place / "cache", NO_HOME),
        }


def memory():
    calls = memory_of_calls()
    print(f"  a million calls {growth(calls):+.1f} MB {calls}", flush=True)
    for compiled in (False, True):
        curve = memory_of_models(compiled=compiled)
        print(f"  1000 models {'compiled' if compiled else 'loaded'} {growth(curve):+.1f} MB {curve}", flush=True)
    return "MB"


COMMANDS = {
    "threads": (threads, "eight threads, a million evaluations, different results"),
    "races": (races, "first compiled by eight threads at once"),
    "memory": (memory, "memory over a million calls and a thousand models"),
    "processes": (empty_cache, "ten processes on an empty cache (faults, files)"),
    "killed": (killed, "killed while compiling, forty times"),
    "full": (full_disk, "full disks"),
    "damaged": (damaged, "damaged entries"),
    "unsafe": (unsafe_places, "cache directories that are not ours alone"),
    "forked": (forked, "forked and spawned processes"),
    "compiling": (forked_while_compiling, "forked while another thread compiles"),
    "interrupted": (interrupted, "interrupted long batches, by number of threads"),
    "ends": (odd_ends, "at the interpreter's end, without a home"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*COMMANDS, []], help="what to run; all by default")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    for name in args.what or COMMANDS:
        function, title = COMMANDS[name]
        if args.list:
            print(f"{name:12} {title}")
            continue
        started = time.perf_counter()
        result = function()
        print(f"{name}: {title} [{time.perf_counter() - started:.0f} s]", flush=True)
        for key, value in result.items() if isinstance(result, dict) else [("", result)]:
            print(f"  {key}{': ' if key != '' else ''}{value}", flush=True)


if __name__ == "__main__":
    main()
