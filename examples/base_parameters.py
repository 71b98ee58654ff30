"""Identifies an arm from a motion made for it: base parameters, then inertias that can be built.

python examples/base_parameters.py [PICTURE.png]

Source: Gautier and Khalil (1992); Lee, Wensing and Park (2019).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import cardan
from cardan import identification
from cardan.trajectories import FourierSeries

NOISE = 0.05  # N m


def main(picture: str) -> None:
    """Draw by how many standard deviations the base parameters found are off."""
    arm, rng = cardan.robots.arm7().model(), np.random.default_rng(0)
    base = identification.base_parameters(arm)
    print(f"{len(base)} combinations of {len(base.names)} parameters show in torques; the first:")
    print(base.expressions[0])

    motion = min(
        (wave(arm, 10.0, seed) for seed in range(50)), key=lambda motion: condition(motion, base)
    )
    q, v, a = motion.at(motion.times(0.02))
    tau = cardan.inverse_dynamics(arm, q, v, a) + NOISE * rng.normal(size=v.shape)
    found = identification.identify(arm, q, v, a, tau, terms=(), base=base)
    true = base.matrix @ arm.inertial_parameters()
    off = np.abs(found.values - true) / found.sigma
    print(f"condition {found.condition:.0f}; off by {off.max():.1f} standard deviations at worst")

    # The data sheet is off by up to 40 %; masses stay positive, inertias those of real bodies.
    sheet = arm.with_values(mass=[m * rng.uniform(0.6, 1.4) for m in masses(arm)])
    fitted = identification.identify_consistent(sheet, q, v, a, tau, terms=()).model
    test = wave(arm, 5.0, seed=100)
    state = test.at(test.times(0.02))
    exact = cardan.inverse_dynamics(arm, *state)
    for name, model in {"data sheet": sheet, "fit": fitted}.items():
        miss = cardan.inverse_dynamics(model, *state) - exact
        least = min(masses(model))
        print(f"{name}: misses torques by {np.std(miss):.3f} N m, least mass {least:.2f} kg")

    figure, ax = plt.subplots(figsize=(9.0, 4.2), layout="constrained")
    shown = ax.bar(np.arange(len(base)), (found.values - true) / found.sigma)
    ax.bar_label(shown, [base.names[k] for k in base.columns], rotation=90, fontsize=6, padding=3)
    ax.set(xlabel="base parameter, by its leader", ylabel="error [standard deviations]")
    ax.set_ylim(-4.0, 4.0)
    figure.savefig(picture, dpi=80)


def wave(model, period, seed):
    """Return a random motion of five harmonics about the neutral configuration."""
    sines, cosines = 0.3 * np.random.default_rng(seed).normal(size=(2, 5, model.nv))
    return FourierSeries(model, period, sines, cosines)


def condition(motion, base):
    """Return the condition number of the base parameters' regressor along a motion."""
    W = identification.regressor(motion.model, *motion.at(motion.times(0.1)))[..., base.columns]
    return np.linalg.cond(W.reshape(-1, len(base)))


def masses(model):
    """Return the masses of all bodies [kg]."""
    return [body.inertia.mass for body in model.bodies]


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "base_parameters.png")
