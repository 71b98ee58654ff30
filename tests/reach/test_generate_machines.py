"""Generated controllers and steps run where they are meant to: on a Cortex-M4F, a Cortex-M7 and an aarch64."""

from pathlib import Path

import numpy as np
import pytest

import cardan
from cross import SUPPORT, compiled, lines_of, needed, numbers
from representatives import represented

EXAMPLES = Path(__file__).parents[2] / "examples" / "controllers"
CYCLES, EVERY, DT = 1000, 100, 0.001
TARGET = np.array([0.4, -0.3, 0.5, 1.2, -0.2, 0.6, 0.1])

LOOP = """
#include "arm.h"
#include "target.h"

int main(void)
{
    const REAL q_d[7] = {TARGET}, none[7] = {0}, kp[1] = {(REAL)100}, kd[1] = {(REAL)20};
    REAL q[7] = {0}, v[7] = {0}, tau[7], good[1], residual[1];
    int k;
    for (k = 0; k < CYCLES; ++k) {
        arm_computed_torque(q, v, q_d, none, none, kp, kd, tau);
        arm_step(q, v, tau, q, v, good, residual);
        if (k % EVERY == EVERY - 1) {
            write_bytes(q, sizeof q);
            write_bytes(v, sizeof v);
        }
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def in_python():
    """The states of the loop in Python: the controller compiled, the plant moved by its solver."""
    world = cardan.robots.arm7().world()
    solver, control = cardan.solvers.Featherstone(world, dt=DT), world.control()
    state, found = world.state(q=np.zeros(7)), []
    law = computed_torque().bind(world.model)
    for k in range(CYCLES):
        control.effort[0] = law(state.q[0], state.v[0], TARGET, np.zeros(7), np.zeros(7), 100.0, 20.0)
        state = solver.step(state, control)
        if k % EVERY == EVERY - 1:
            found += [state.q[0].copy(), state.v[0].copy()]
    return solver, np.array(found)


def computed_torque():
    return cardan.generation.function_in(EXAMPLES / "computed_torque.py", "computed_torque")


MACHINES = [("host", False), ("host", True), ("aarch64", False), ("aarch64", True)]
MACHINES += [(m, single) for m in ("cortex-m4f", "cortex-m7") for single in (False, True)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "single"), represented(MACHINES, by=lambda case: case == ("host", False)))
def test_a_closed_loop_of_a_thousand_cycles_is_that_of_python(tmp_path, in_python, name, single):
    machine = needed(name)
    solver, expected = in_python
    functions = {"computed_torque": computed_torque(), "step": solver}
    cardan.generate(functions, solver.world.model, tmp_path / "arm", single=single)
    words = {"REAL": "float" if single else "double", "CYCLES": str(CYCLES), "EVERY": str(EVERY)}
    words["TARGET"] = ", ".join(f"(REAL){x!r}" for x in TARGET.tolist())
    text = LOOP.replace("TARGET", words.pop("TARGET"))
    for word, value in words.items():
        text = text.replace(word, value)
    (tmp_path / "loop.c").write_text(text)
    sources = [*sorted((tmp_path / "arm" / "src").iterdir()), tmp_path / "loop.c", SUPPORT / machine.support]
    program = compiled(machine, tmp_path, sources, includes=[tmp_path / "arm" / "include"])
    dtype = np.dtype("<f4" if single else "<f8")
    found = np.array([numbers(line, dtype) for line in lines_of(machine, program)])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=50 * np.finfo(dtype).eps)
