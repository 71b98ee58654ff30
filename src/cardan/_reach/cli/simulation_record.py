"""What a simulation found, and its picture: energies, and the forces that hold the robot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._dynamics.algorithms.centroidal import center_of_mass_velocity
from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
from cardan._motion.simulation import World
from cardan._motion.simulation.solvers import Trajectory
from cardan._reach.pictures.axes import pyplot_module


class Recorded(NamedTuple):
    """What a simulation found: T records of W worlds."""

    time: np.ndarray  # [s], (T, W)
    q: np.ndarray  # configurations, (T, W, nq)
    v: np.ndarray  # velocities, (T, W, nv)
    kinetic_energy: np.ndarray  # [J], (T, W)
    potential_energy: np.ndarray  # of weight [J], (T, W)
    # the force of the world on all bodies but for weight, through base and contacts, the mean from each record to the
    # next in world axes [N], (T - 1, W, 3); NaN once a world has diverged
    support: np.ndarray
    residual: np.ndarray  # of the solves of the steps, (T, W)
    diverged: np.ndarray  # (W,)


def recorded(world: World, found: Trajectory) -> Recorded:
    model = world.model
    energies = kinetic_energy(model, found.q, found.v), potential_energy(model, found.q)
    momentum = model.mass * center_of_mass_velocity(model, found.q, found.v)
    passed = np.diff(found.time, axis=0)[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):  # a diverged world's time stands still
        support = np.where(passed > 0.0, np.diff(momentum, axis=0) / passed, np.nan) - weight(world)
    return Recorded(found.time, found.q, found.v, *energies, support, found.residual, found.state.diverged)


def weight(world: World) -> np.ndarray:
    """Return the weight of all bodies [N], (3,)."""
    return world.model.mass * np.array(tuple(world.model.gravity), dtype=float)


def simulation_figure(title: str, record: Recorded, weight: np.ndarray) -> Any:
    """Return a figure: energies above, the force of the world on the robot below; of many worlds middle and range.

    The negative of the weight [N], (3,), is the force that holds the robot still.
    """
    figure, (above, below) = pyplot_module().subplots(2, sharex=True, figsize=(8.0, 6.4), layout="constrained")
    time = np.nanmax(record.time, axis=1)
    potential = record.potential_energy - record.potential_energy[0]
    energies = {"kinetic": record.kinetic_energy, "potential": potential}
    for name, energy in {**energies, "total": record.kinetic_energy + potential}.items():
        _draw(above, time, energy, name)
    for k, axis in enumerate("xyz"):
        _draw(below, 0.5 * (time[1:] + time[:-1]), record.support[..., k], axis)
    below.axhline(-weight[2], color="black", linestyle="--", linewidth=1, label="force that holds it still")
    figure.suptitle(title)
    above.set(ylabel="energy [J], potential from the start")
    below.set(xlabel="time [s]", ylabel="force by base and contacts [N]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.legend(ncols=4, fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)
    return figure


def _draw(axes: Any, time: np.ndarray, values: np.ndarray, name: str) -> None:
    """Draw the middle one of some worlds, (T, W), and the range of nine tenths of them."""
    sound = np.where(np.isfinite(values), values, np.nan)
    seen = np.isfinite(sound).any(axis=1)
    low, middle, high = np.nanquantile(sound[seen], (0.05, 0.5, 0.95), axis=1)
    (line,) = axes.plot(time[seen], middle, label=name, linewidth=1)
    if values.shape[1] > 1:
        axes.fill_between(time[seen], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
