"""Writes inverse dynamics of a robot as C, compiles it, calls it, and compares: for a controller.

python examples/generate_c.py [PICTURE.png]

Needs a C compiler (`cc`). The same from a shell: `cardan generate arm.urdf --function ... -o f.c`.
"""

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan.cli import main as cardan_command


def main(picture: str) -> None:
    """Draw the differences between the library of C and cardan's own native code."""
    urdf, arm = cardan.robots.urdf_path("arm7"), cardan.robots.arm7().model()
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "arm7_torques.c", Path(folder) / "arm7_torques.so"
        cardan_command(["generate", urdf, "--function", "inverse_dynamics", "-o", str(source)])
        lines = source.read_text(encoding="utf-8").splitlines()
        command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run([*command, "-lm"], check=True)
        torques = ctypes.CDLL(str(library)).arm7_torques_batch

        n = 2000
        q, rng = arm.random_configuration(n, seed=0), np.random.default_rng(0)
        v, a = rng.normal(size=(2, n, arm.nv))
        tau = np.empty((n, arm.nv))
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (q, v, a, tau)]
        torques(ctypes.c_size_t(n), *pointers)

    difference = np.abs(tau - cardan.inverse_dynamics(arm, q, v, a))
    print(
        f"{len(lines)} lines of C without a branch; largest difference {difference.max():.1e} N m"
    )

    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.2), layout="constrained")
    left.text(0.0, 1.0, "\n".join(line[:88] for line in lines[:34]), family="monospace", va="top",
              fontsize=6, parse_math=False)  # fmt: skip
    left.set_axis_off()
    right.hist(np.log10(np.maximum(difference, 1e-17)).ravel(), bins=40)
    right.set(xlabel="log10 of the difference [N m]", ylabel="torques", title=f"{n} states")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "generate_c.png")
