"""`python -m benchmarks.cortex_m`: what generated functions take on microcontrollers, in an emulator.

Instructions are counted by qemu (`-icount shift=0`: an instruction is a nanosecond of its SysTick), those of newlib's
libm among them; they are no cycles. Flash is that of the function's own object file, and of the whole program with what
it takes of libm. Stack is what a call really wrote to, libm's too, beside the bound.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.robots import robot  # and the folder of tests, where the machines are
from cardan.generation import function_in
from cross import MACHINES, SUPPORT, Machine, compiled, lines_of

CALLS, INSTRUCTIONS = 100, 40  # of a tick
LAWS = Path(__file__).parents[1] / "examples" / "controllers"
MEASURED = """
#include "lib.h"
#include "target.h"

static const REAL x[COUNT] = {NUMBERS};
static REAL y[COUNT];

int main(void)
{
    unsigned long found[2];
    int k;
    paint_stack();
    lib_f(ARGUMENTS);
    found[1] = painted_off();
    start_ticks();
    for (k = 0; k < CALLS; ++k)
        lib_f(ARGUMENTS);
    found[0] = ticks();
    write_bytes(found, sizeof found);
    return 0;
}
"""


def measured(function: Any, model: cardan.Model, machine: Machine, *, single: bool) -> dict[str, Any]:
    """Return instructions of a call, bytes of flash and stack, and what was promised of them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = cardan.generate({"f": function}, model, folder / "lib", single=single).functions[0]
        (folder / "main.c").write_text(_main(made, model))
        sources = [folder / "lib" / "src" / "lib_f.c", folder / "main.c", SUPPORT / machine.support]
        program = compiled(machine, folder, sources, includes=[folder / "lib" / "include"])
        ticks, stack = np.frombuffer(bytes.fromhex(lines_of(machine, program)[0]), "<u4")
        return {
            "operations": int(made.work.split()[0]),
            "instructions": int(ticks) * INSTRUCTIONS // CALLS,
            "flash": _size(folder / "0.o"),
            "flash, all": _size(program),
            "stack": int(stack),
            "stack, at most": made.stack,
        }


def _main(made: Any, model: cardan.Model) -> str:
    """Return a program that calls a function on numbers that are states, and tells what it took."""
    rng, arrays, places, at = np.random.default_rng(0), [], [], 0
    for array in made.program.inputs:
        state = model.random_configuration(seed=0) if array.name == "q" else rng.normal(size=array.size)
        arrays.append(state)
        places.append(f"x + {at}")
        at += array.size
    results = [0, *np.cumsum([a.size for a in made.program.outputs])]
    words = {
        "ARGUMENTS": ", ".join([*places, *(f"y + {n}" for n in results[:-1])]),
        "NUMBERS": ", ".join(f"(REAL){e!r}" for a in arrays for e in a.tolist()),
        "COUNT": str(max(at, results[-1])),
        "CALLS": str(CALLS),
        "REAL": made.real,
    }
    text = MEASURED
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _size(file: Path) -> int:
    """Return the bytes of code and constants in an object file."""
    rows = subprocess.run(["arm-none-eabi-size", str(file)], check=True, capture_output=True, text=True).stdout
    return int(rows.splitlines()[1].split()[0])


def cases() -> dict[str, tuple[Any, cardan.Model]]:
    """Return what is measured: functions, each with its robot."""
    arm, panda = cardan.robots.arm7().model(), robot("panda").model
    named = {name: function_in(LAWS / f"{name}.py", name) for name in ("gravity_compensation", "computed_torque")}
    laws = {f"arm7 {name}": (function, arm) for name, function in named.items()}
    laws["arm7 operational_space"] = function_in(LAWS / "operational_space.py", "operational_space"), arm
    world = cardan.robots.arm7().world()
    return {
        "arm7 inverse_dynamics": (cardan.inverse_dynamics, arm),
        "panda inverse_dynamics": (cardan.inverse_dynamics, panda),
        "panda forward_dynamics": (cardan.forward_dynamics, panda),
        "arm7 jacobian": (partial(cardan.jacobian, frame="tool"), arm),
        **laws,
        "arm7 step": (cardan.solvers.Featherstone(world, dt=0.001), world.model),
    }


def main() -> None:
    """Print a table."""
    for machine in ("cortex-m4f", "cortex-m7"):
        for single in (True, False):
            print(f"\n{machine}, {'float' if single else 'double'}")
            for name, (function, model) in cases().items():
                row = measured(function, model, MACHINES[machine], single=single)
                print(f"{name:30}" + ", ".join(f"{value} {what}" for what, value in row.items()))


if __name__ == "__main__":
    main()
