"""Kernels of ten robots, ours and real ones, compiled for three architectures; no device is needed."""

import pytest
from benchmarks.occupancy import LIMITS, occupancy
from nvrtc import needs_nvrtc

import cardan
from cardan._compiler.targets.cuda import compiler
from cardan._compiler.targets.cuda.text import SHARED, cuda_code
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
    model = loaded(name)
    for function in (cardan.inverse_dynamics, cardan.forward_dynamics):
        program = function.program(model)
        for single in (True, False):
            code = cuda_code(program, single=single)
            for architecture in LIMITS if single and function is cardan.inverse_dynamics else ("sm_90",):
                found = compiler.compiled(code.source, code.launch.name, architecture).resources
                where = name, function.name, single, architecture, found
                assert 0 < found.registers <= 255, where
                assert found.spill_stores + found.spill_loads <= SPILLED, where
                assert found.shared + code.launch.shared <= SHARED, where
                assert occupancy(found, code.launch.threads, code.launch.shared, architecture) > 0, where
