"""Finds what an arm's links weigh from measured torques, by linear least squares.

python examples/parameter_identification.py [PICTURE.png]

Source: Atkeson, An and Hollerbach, Estimation of inertial parameters of loads and links (1986).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan

NOISE = 0.05  # N m


def motion(arm, samples, seed):
    """Return sums of sines along every joint: q, v, a, each (samples, nv)."""
    rng, t = np.random.default_rng(seed), np.linspace(0.0, 10.0, samples)[:, None]
    w = 2.0 * np.pi / 10.0 * np.arange(1, 6)  # rad/s
    A, B = rng.normal(size=(2, arm.nv, 5)) / np.arange(1, 6)
    s, c = np.sin(w * t), np.cos(w * t)
    return s @ A.T + c @ B.T, (c * w) @ A.T - (s * w) @ B.T, -(s * w**2) @ A.T - (c * w**2) @ B.T


def main(picture: str) -> None:
    """Draw by how much data sheet and fit mispredict the torques of another motion."""
    arm, rng = cardan.robots.arm7().model(), np.random.default_rng(0)
    state = motion(arm, 1000, seed=1)
    measured = cardan.inverse_dynamics(arm, *state) + NOISE * rng.normal(size=state[1].shape)

    # tau = Y p, with ten parameters p a body. The data sheet is off by up to 40 %: what the data
    # say is corrected, and what no torque shows stays as the data sheet has it.
    true = arm.inertial_parameters()
    sheet = true * rng.uniform(0.6, 1.4, size=true.size)
    Y = cardan.torque_regressor(arm, *state).reshape(-1, true.size)
    change, _, rank, _ = np.linalg.lstsq(Y, measured.ravel() - Y @ sheet, rcond=1e-9)
    fitted = sheet + change
    print(f"{rank} combinations of the {true.size} parameters show in the torques")

    test = motion(arm, 300, seed=2)
    exact = cardan.inverse_dynamics(arm, *test)
    figure, panels = plt.subplots(2, sharex=True, figsize=(7.5, 5.0), layout="constrained")
    for ax, (name, p) in zip(panels, {"data sheet": sheet, "fit": fitted}.items(), strict=True):
        miss = cardan.inverse_dynamics(arm.with_values(inertial_parameters=p), *test) - exact
        print(f"{name}: predicts another motion to {np.sqrt(np.mean(miss**2)):.4f} N m")
        ax.plot(np.linspace(0.0, 10.0, 300), miss, lw=1.0)
        ax.set(ylabel="error [N m]", title=f"torques of another motion, by the {name}")
        ax.grid(alpha=0.3)
    panels[1].set_xlabel("time [s]")
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "parameter_identification.png")
