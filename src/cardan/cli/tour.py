"""`cardan tour`: the main job, on the 7-axis arm that ships with the package."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from cardan.cli import plots
from cardan.cli.options import table
from cardan.errors import MissingExtraError
from cardan.formats import load
from cardan.functions import forward_dynamics, inverse_dynamics, kinetic_energy, mass_matrix, potential_energy
from cardan.model import Model
from cardan.robots import urdf_path

DURATION, SAMPLES = 4.0, 401


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("tour", help="torques of a shipped 7-axis arm along a motion, checked and drawn")
    parser.add_argument("--output", default="cardan-tour", metavar="DIR", help="folder for the pictures")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load the arm, move it, print what it takes, draw it."""
    file = urdf_path("arm7")
    arm = load(file)
    print(f"The robot, read from {file}:\n\n{arm}\n")
    t, q, v, a = motion(arm)
    tau = inverse_dynamics(arm, q, v, a)
    print(f"Torques along a motion of {DURATION:g} s, {len(t)} states in one call of inverse_dynamics:\n")
    print(torque_table(arm, tau))
    print(f"\nChecks:\n{checks(arm, t, q, v, a, tau)}\n")
    try:
        for picture in plots.draw_tour(arm, t, q, tau, args.output):
            print(f"picture: {picture}")
    except MissingExtraError as error:
        print(f"No pictures: {error}")
    return 0


def motion(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return t, q, v, a of a smooth motion, each joint a sine of its own frequency inside its limits."""
    t = np.linspace(0.0, DURATION, SAMPLES)
    middle, half = 0.5 * (model.lower + model.upper), 0.5 * (model.upper - model.lower)
    amplitude, w = 0.35 * half, 2.0 * np.pi * (0.25 + 0.05 * np.arange(model.nv))
    phase = w * t[:, None] + 0.7 * np.arange(model.nv)
    q, v, a = np.sin(phase), w * np.cos(phase), -(w**2) * np.sin(phase)
    return t, middle + amplitude * q, amplitude * v, amplitude * a


def torque_table(model: Model, tau: np.ndarray) -> str:
    """Return smallest and largest torque of each joint, with its limit."""
    rows = []
    for name in model.joint_names:
        for k in range(model.nv)[model.v_slice(name)]:
            low, high = tau[:, k].min(), tau[:, k].max()
            rows.append((name, f"{low:9.3f}", f"{high:9.3f}", f"{model.effort_upper[k]:9.3f}"))
    return table(("joint", "min [N m]", "max [N m]", "limit [N m]"), rows)


def checks(model: Model, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> str:
    """Return three laws of physics with the largest deviation found."""
    back = np.abs(forward_dynamics(model, q, v, tau) - a).max()
    kinetic = kinetic_energy(model, q, v)
    quadratic = np.abs(0.5 * np.einsum("ti,tij,tj->t", v, mass_matrix(model, q), v) - kinetic).max()
    energy, power = kinetic + potential_energy(model, q), np.einsum("ti,ti->t", tau, v)
    work = np.concatenate([[0.0], np.cumsum(_simpson(power, t[1] - t[0]))])
    balance = np.abs(energy[::2] - energy[0] - work).max()
    return (
        f"  forward_dynamics returns the accelerations     worst difference {back:.1e} rad/s^2\n"
        f"  kinetic energy = v' M v / 2                    worst difference {quadratic:.1e} J\n"
        f"  energy gained = work of the torques            worst difference {balance:.1e} J of {np.ptp(energy):.1f} J"
    )


def _simpson(values: np.ndarray, step: float) -> np.ndarray:
    """Return the integrals over pairs of steps, by Simpson's rule."""
    return step / 3.0 * (values[:-2:2] + 4.0 * values[1:-1:2] + values[2::2])
