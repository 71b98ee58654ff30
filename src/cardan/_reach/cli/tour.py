"""`cardan tour`: the main job, on the 7-axis arm that ships with the package."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import MissingExtraError
from cardan._dynamics.algorithms.aba import forward_dynamics
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._reach.cli.options import table
from cardan._reach.formats import load
from cardan._reach.pictures import plot
from cardan._reach.pictures.robot_plot import pyplot_module, save_figure
from cardan._robot.model import Model
from cardan._robot.shipped import urdf_path

DURATION, SAMPLES, SHOWN = 4.0, 401, 9
Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def fill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", default="cardan-tour", metavar="DIR", help="folder for the pictures")


def run(args: argparse.Namespace) -> int:
    file = urdf_path("arm7")
    arm = load(file)
    print(f"The robot, read from {file}:\n\n{arm}\n")
    t, q, v, a = motion(arm)
    tau = inverse_dynamics(arm, q, v, a)
    print(f"Torques along a motion of {DURATION:g} s, {len(t)} states in one call of inverse_dynamics:\n")
    numbers = zip(moving(arm), tau.min(axis=0), tau.max(axis=0), arm.effort_upper, strict=True)
    rows = [(name, *(f"{e:9.3f}" for e in row)) for name, *row in numbers]
    print(table(("joint", "min [N m]", "max [N m]", "limit [N m]"), rows))
    print(f"\nChecks:\n{checks(arm, (t, q, v, a), tau)}\n")
    try:
        pyplot = pyplot_module()
        axes = plot(arm, q, t=t, shown=SHOWN, paths=arm.body_names[-1])
        axes.set_title(f"{arm.name} along its motion")
        for name, figure in {"arm": axes.figure, "torques": _torques(pyplot, arm, t, tau)}.items():
            print(f"picture: {save_figure(figure, Path(args.output) / f'{name}.png', 150)}")
    except MissingExtraError as error:
        print(f"No pictures: {error}")
    return 0


def motion(model: Model) -> Motion:
    """Return t, q, v, a of a smooth motion, each joint a sine of its own frequency inside its limits."""
    t = np.linspace(0.0, DURATION, SAMPLES)
    middle, half = 0.5 * (model.lower + model.upper), 0.5 * (model.upper - model.lower)
    # Inside the limits; frequencies that differ, so that joints do not move in step.
    amplitude, w = 0.35 * half, 2.0 * np.pi * (0.25 + 0.05 * np.arange(model.nv))
    phase = w * t[:, None] + 0.7 * np.arange(model.nv)
    q, v, a = np.sin(phase), w * np.cos(phase), -(w**2) * np.sin(phase)
    return t, middle + amplitude * q, amplitude * v, amplitude * a


def moving(model: Model) -> list[str]:
    return [name for name in model.joint_names if range(model.nv)[model.v_slice(name)]]


def checks(model: Model, moved: Motion, tau: np.ndarray) -> str:
    t, q, v, a = moved
    back = np.abs(forward_dynamics(model, q, v, tau) - a).max()
    kinetic = kinetic_energy(model, q, v)
    quadratic = np.abs(0.5 * np.einsum("ti,tij,tj->t", v, mass_matrix(model, q), v) - kinetic).max()
    energy, power = kinetic + potential_energy(model, q), np.einsum("ti,ti->t", tau, v)
    pairs = (t[1] - t[0]) / 3.0 * (power[:-2:2] + 4.0 * power[1:-1:2] + power[2::2])  # Simpson's rule
    balance = np.abs(energy[::2] - energy[0] - np.concatenate([[0.0], np.cumsum(pairs)])).max()
    return (
        f"  forward_dynamics returns the accelerations     worst difference {back:.1e} rad/s^2\n"
        f"  kinetic energy = v' M v / 2                    worst difference {quadratic:.1e} J\n"
        f"  energy gained = work of the torques            worst difference {balance:.1e} J of {np.ptp(energy):.1f} J"
    )


def _torques(pyplot: Any, model: Model, t: np.ndarray, tau: np.ndarray) -> Any:
    figure, axes = pyplot.subplots(figsize=(8.0, 4.5), layout="constrained")
    for name, efforts in zip(moving(model), tau.T, strict=True):
        axes.plot(t, efforts, label=name)
    axes.set(xlabel="time [s]", ylabel="torque [N m]", title="inverse dynamics")
    axes.grid(alpha=0.3)
    axes.legend(ncols=2, fontsize="small")
    return figure
