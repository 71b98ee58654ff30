"""Kernels of ten robots, ours and real ones, compiled for three architectures; no device is needed."""

import pytest
from benchmarks.occupancy import LIMITS, occupancy
from nvrtc import needs_nvrtc

import cardan
from cardan._compiler.program.passes import joined_products, without_tangents
from cardan._compiler.targets.cuda import compiler
from cardan._compiler.targets.cuda.staging import THREADS
from cardan._compiler.targets.cuda.text import WAITING, cuda_code, most_alive
from robots_data import robots_folder

OURS = ("cart_pole", "arm7", "quadruped", "humanoid")
REAL = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "g1": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
FIXED = ("cart_pole", "arm7", "panda", "ur5")
SPILLED = 100  # bytes of a thread's spills that are taken as none
ROOM = 390  # registers' worth of values that wait at a time, up to which a thread has room for them


def loaded(name):
    base = "fixed" if name in FIXED else "floating"
    if name in OURS:
        return getattr(cardan.robots, name)().model(base=base)
    folder = robots_folder()
    if folder is None:
        pytest.skip("needs example-robot-data")
    return cardan.load(folder / REAL[name], base=base)


@needs_nvrtc
@pytest.mark.full
@pytest.mark.parametrize("name", [*OURS, *REAL])
def test_kernels_fit_every_architecture_and_hardly_spill(name):
    """All but those in one function, with more values than a thread has room for: parts would need more memory."""
    model = loaded(name)
    for function in (cardan.inverse_dynamics, cardan.forward_dynamics):
        program = function.program(model)
        for single in (True, False):
            code = cuda_code(program, single=single)
            waiting = most_alive(joined_products(without_tangents(program))) * (1 if single else 2)
            for architecture in LIMITS if single and function is cardan.inverse_dynamics else ("sm_90",):
                found = compiler.compiled(code.source, code.name, architecture).resources
                where = name, function.name, single, architecture, found
                assert 0 < found.registers <= 255, where
                assert found.spill_stores + found.spill_loads <= SPILLED or ROOM < waiting <= WAITING, where
                assert occupancy(found, THREADS, architecture) > 0, where
