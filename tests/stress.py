"""What happens under load and in bad places: threads, memory, processes, full disks, damaged caches.

`python tests/stress.py` runs all and prints a line each; `test_stress.py` runs them small.
"""

import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import cardan
from cardan._compiler.runtime import disk_cache as cache

EVALUATE = """
import numpy as np, cardan
arm = cardan.robots.arm7().model()
q = arm.random_configuration((9,), seed=0)
print(repr(cardan.inverse_dynamics(arm, q, q, q).tobytes().hex()))
"""


def run_process(place, code=EVALUATE, **options):
    """Start Python on a piece of code, with its cache in a place."""
    env = {**os.environ, "CARDAN_CACHE_DIR": str(place)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=env, **pipes, **options)


def expected_output(place):
    out, err = run_process(place).communicate()
    assert not err, err
    return out


def threads(evaluations=1_000_000, count=8):
    """Evaluate from several threads, with shared and with own functions; return how many results differed."""
    arm = cardan.robots.arm7().model()
    states = [arm.random_configuration(seed=k) for k in range(16)]
    expected = [cardan.inverse_dynamics.on("llvm", threads=1)(arm, q, q, q) for q in states]
    wrong, start = [], threading.Barrier(count)
    fresh = cardan.function(lambda model, q, v, a: cardan.inverse_dynamics(model, q, v, a))

    def work(number):
        own = cardan.inverse_dynamics.bind(arm)
        start.wait()
        calls = (own, lambda *x: cardan.inverse_dynamics(arm, *x), lambda *x: fresh(arm, *x))
        for k in range(evaluations // count):
            q = states[(k + number) % 16]
            if not np.array_equal(calls[k % 3](q, q, q), expected[(k + number) % 16]):
                wrong.append((number, k))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(wrong)


def resident():
    """Return the memory of this process [MB]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_of_calls(calls=1_000_000):
    """Return the growth of memory [MB] over many single calls, after the first tenth."""
    arm = cardan.robots.arm7().model()
    q, out, fast = arm.random_configuration(seed=0), np.empty(7), cardan.inverse_dynamics.bind(arm)
    both = cardan.function(
        lambda model, q: {"x": cardan.center_of_mass(model, q), "e": cardan.potential_energy(model, q)}
    )
    begin = 0.0
    for k in range(calls):
        if k == calls // 10:
            gc.collect()
            begin = resident()
        if k % 4 == 0:
            fast(q, q, q)
        elif k % 4 == 1:
            fast(q, q, q, out=out)
        elif k % 4 == 2:
            cardan.mass_matrix(arm, q)
        else:
            both(arm, q)
    gc.collect()
    return resident() - begin


def memory_of_models(models=1000):
    """Return the growth of memory [MB] over models built, compiled, used and dropped, after the first tenth."""
    begin = 0.0
    for k in range(models):
        m = cardan.Mechanism("pendulum")
        m.add_body("bob", cardan.Inertia(1.0 + k / models, (0.1, 0.0, 0.2), np.eye(3) * 0.1))
        m.add_joint("pivot", cardan.joints.Revolute((0.0, 1.0, 0.0)), "world", "bob")
        model = m.model()
        cardan.inverse_dynamics.bind(model)(np.ones(1), np.ones(1), np.ones(1))
        cardan.mass_matrix(model, np.ones((2, 1)))
        if k == models // 10:
            gc.collect()
            begin = resident()
    gc.collect()
    return resident() - begin


def empty_cache(count=10):
    """Start processes at once on an empty cache; return whether all gave the same, silently, and the entries left."""
    with tempfile.TemporaryDirectory() as place:
        spot = Path(place) / "cache"
        running = [run_process(spot) for _ in range(count)]
        results = [p.communicate() for p in running]
        outputs, errors = {out for out, _ in results}, "".join(err for _, err in results)
        return len(outputs) == 1 and not errors and all(p.returncode == 0 for p in running), len(list(spot.iterdir()))


def killed(times=20):
    """Kill processes while they compile; return whether the next one worked, and the files left over."""
    with tempfile.TemporaryDirectory() as place:
        right = expected_output(Path(place) / "other")
        for _ in range(times):
            process = run_process(Path(place) / "cache")
            time.sleep(random.uniform(0.05, 0.6))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        good = expected_output(Path(place) / "cache") == right
        return good, [f.name[:8] for f in (Path(place) / "cache").iterdir() if not f.name.endswith(cache.ENDING)]


def full_disk():
    """Run with a cache on a tiny file system (or, where none can be mounted, with files limited to 1 kB)."""
    with tempfile.TemporaryDirectory() as place:
        right, spot = expected_output(Path(place) / "other"), Path(place) / "tiny"
        spot.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4k,mode=700", "tmpfs", str(spot)], capture_output=True, check=False
        ).returncode
        if mounted == 0:
            try:
                return expected_output(spot / "cache") == right, "tmpfs of 4 kB"
            finally:
                subprocess.run(["umount", str(spot)], check=False)
        limited = "import resource, signal, sys\nsys.dont_write_bytecode = True\n"
        limited += "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n" + EVALUATE
        out, err = run_process(spot / "cache", limited).communicate()
        return out == right and not err, "files limited to 1 kB"


def damaged(every=1):
    """Flip a byte at many places of an entry, cut it short, empty it; return whether all was seen, and how many."""
    with tempfile.TemporaryDirectory() as place:
        spot = Path(place) / "cache"
        right = expected_output(spot)
        entry = max(spot.glob("*" + cache.ENDING), key=lambda f: f.stat().st_size)
        whole, seen = entry.read_bytes(), []
        spoiled = [whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :] for k in (0, 31, 32, 39, 40, 200, len(whole) - 1)]
        for data in [*spoiled, whole[:32], whole[:20], whole[: len(whole) // 2], b""][::every]:
            entry.write_bytes(data)
            out, err = run_process(spot).communicate()
            seen.append(out == right and "damaged" in err and entry.read_bytes() == whole)
        return all(seen), len(seen)


def unsafe_places():
    """Use a world-writable cache directory, a link to one, and a read-only one; return what was said and done."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        right, spot = expected_output(Path(place) / "good"), Path(place) / "open"
        spot.mkdir()
        spot.chmod(0o777)
        out, err = run_process(spot).communicate()
        found["world-writable"] = out == right and "not used" in err and not list(spot.iterdir())
        link = Path(place) / "link"
        link.symlink_to(Path(place) / "good")
        out, err = run_process(link).communicate()
        found["a link"] = out == right
        good = Path(place) / "good"
        before = {f.name for f in good.iterdir()}
        good.chmod(0o500)
        out, err = run_process(good).communicate()
        found["read-only"] = out == right and not err and {f.name for f in good.iterdir()} == before
        good.chmod(0o700)
    return found


FORK = """
import multiprocessing, numpy as np, cardan
def work(_):
    q = arm.random_configuration((60000,), seed=0)
    return cardan.inverse_dynamics(arm, q, q, q).sum()
arm = cardan.robots.arm7().model()
cardan.set_num_threads(2)
if __name__ == "__main__":
    here = work(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        there = pool.map(work, range(4))
    print(all(x == here for x in there))
"""


def forked():
    """Use a thread pool, fork, and use it in the children; return whether they finished and agreed."""
    with tempfile.TemporaryDirectory() as place:
        process = run_process(Path(place) / "cache", FORK)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            return False, "hangs"
        return out.strip() == "True", err[-300:]


def interrupted(times=500):
    """Interrupt batches on two threads at random moments; return how many wrote to their output afterwards."""
    arm, wrong = cardan.robots.arm7().model(), 0
    q = arm.random_configuration((300_000,), seed=0)
    fast, out = cardan.inverse_dynamics.on(threads=2).bind(arm), np.empty_like(q)
    fast(q, q, q, out=out)
    start = time.perf_counter()
    fast(q, q, q, out=out)
    seconds = time.perf_counter() - start

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    for k in range(times):
        try:
            signal.setitimer(signal.ITIMER_REAL, max(1e-6, seconds * (k % 100) / 90))
            fast(q, q, q, out=out)
        except KeyboardInterrupt:
            out.fill(-1.0)
            time.sleep(1.2 * seconds)
            wrong += int((out != -1.0).any())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)
    return wrong


def main():
    print("eight threads, a million evaluations, different results:", threads())
    print(f"memory over a million calls: {memory_of_calls():+.1f} MB; over 1000 models: {memory_of_models():+.1f} MB")
    print("ten processes on an empty cache (all the same, entries):", empty_cache())
    print("killed twenty times (then right, left over):", killed())
    print("full disk:", full_disk())
    print("damaged entries (all seen and mended, how many):", damaged())
    print("unsafe places:", unsafe_places())
    print("fork:", forked())
    print("interrupted five hundred times (wrote afterwards):", interrupted())


if __name__ == "__main__":
    main()
