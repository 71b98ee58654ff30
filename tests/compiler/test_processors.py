"""Steps and solutions have the same bits on processors with vectors of other widths."""

import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, sys
import numpy as np
import cardan
from cardan._compiler.targets.llvm import compiler, machine, store

name, features = machine.host_features()
if sys.argv[1] == "narrow":
    wide = ("avx512", "avx10", "evex512", "amx")
    features = ",".join("-" + f[1:] if f[1:].startswith(wide) else f for f in features.split(","))
    machine.host_features = compiler.host_features = lambda: ("haswell", features)
    store._machine = lambda: ("narrow",)
assert (machine.host_lanes(np.dtype(float)).bytes < 64) == (sys.argv[1] == "narrow")

found = []
for dtype in ("float64", "float32"):
    world = cardan.robots.quadruped().world(base="floating", ground=True)
    for contact in ("convex", "compliant"):
        solver = cardan.solvers.Featherstone(world, dt=0.002, contact=contact)
        after = solver.step(world.state(worlds=5, dtype=dtype), world.control(5, dtype), steps=300)
        found += [after.q, after.v]
arm = cardan.robots.arm7().model()
q = arm.random_configuration((20,), seed=1)
found.append(cardan.inverse_kinematics(arm, frame="tool", target=cardan.frame_transform(arm, q, "tool")).q)
found += cardan.forward_dynamics_derivatives(arm, q, q, q)
print(hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in found)).hexdigest())
"""


@pytest.mark.full
def test_what_is_computed_does_not_depend_on_the_width_of_vectors(tmp_path, monkeypatch):
    from cardan._compiler.targets.llvm.machine import host_features

    if "+avx512dq" not in host_features()[1].split(","):
        pytest.skip("this processor has no vectors of 64 bytes")
    digests = set()
    for kind in ("wide", "narrow"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / kind))
        command = [sys.executable, "-c", PROGRAM, kind]
        digests.add(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert len(digests) == 1
