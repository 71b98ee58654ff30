"""Drake's MultibodyPlant through its Python bindings: one state a call.

Its context keeps what it computed, until positions or velocities are set: they are, before every call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.robots import Robot
from benchmarks.timing import CALLS, Calls


def peer() -> Peer:
    """Return the peer."""
    return Drake()


class Drake:
    """Drake's MultibodyPlant, in continuous time."""

    name = "drake"
    version = version("drake")
    how = "MultibodyPlant, one state a call from Python; positions and velocities are set before each"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        plant = _plant(robot)
        states, functions = in_their_order(robot, plant), _functions(plant, robot.frame)
        return {name: partial(_ready, function, states) for name, function in functions.items()}


def _plant(robot: Robot) -> Any:
    plant = MultibodyPlant(time_step=0.0)
    (instance,) = Parser(plant).AddModelsFromString(re.sub(r"<safety_controller\b[^>]*/>", "", robot.urdf), "urdf")
    if robot.base == "fixed":
        links = [plant.get_body(k) for k in plant.GetBodyIndices(instance)]
        below = {plant.get_joint(k).child_body().index() for k in plant.GetJointIndices(instance)}
        (root,) = (link for link in links if link.index() not in below)
        plant.WeldFrames(plant.world_frame(), root.body_frame())
    plant.Finalize()
    return plant


def _functions(plant: Any, frame: str) -> dict[str, Callable[..., Any]]:
    """Return by quantity a function of q, v, a and tau."""
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    last, world = plant.GetBodyByName(frame).body_frame(), plant.world_frame()
    applied = plant.get_applied_generalized_force_input_port().FixValue(context, np.zeros(plant.num_velocities()))
    motors = plant.get_actuation_input_port()
    motors.FixValue(context, np.zeros(motors.size()))
    accelerations = plant.get_generalized_acceleration_output_port()

    def inverse(q: Any, v: Any, a: Any, _: Any) -> np.ndarray:
        plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
        forces.SetZero()
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def forward(q: Any, v: Any, _: Any, tau: Any) -> np.ndarray:
        plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
        applied.GetMutableData().set_value(tau)
        return accelerations.Eval(context)

    def mass(q: Any, *_: Any) -> np.ndarray:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def poses(q: Any, *_: Any) -> np.ndarray:
        plant.SetPositions(context, q)
        return plant.EvalBodyPoseInWorld(context, last.body()).translation()  # those of all are computed together

    def jacobian(q: Any, *_: Any) -> np.ndarray:
        plant.SetPositions(context, q)
        velocities = JacobianWrtVariable.kV
        return plant.CalcJacobianSpatialVelocity(context, velocities, last, np.zeros(3), world, world)

    return {
        quantity.INVERSE: inverse,
        quantity.FORWARD: forward,
        quantity.MASS: mass,
        quantity.POSES: poses,
        quantity.JACOBIAN: jacobian,
    }


def _ready(function: Callable[..., Any], states: list[np.ndarray]) -> Calls:
    rows = [tuple(c[k] for c in states) for k in range(CALLS)]

    def call() -> None:
        for row in rows:
            function(*row)

    return Calls(lambda: np.array(function(*rows[0])), call)


def in_their_order(robot: Robot, plant: Any) -> list[np.ndarray]:
    """Return the states q, v, a, tau in Drake's order; a floating base has [quaternion, scalar first; position]."""
    ours, q, v = robot.model, *list(robot.states.values())[:2]
    if (plant.num_positions(), plant.num_velocities()) != (ours.nq, ours.nv):
        raise ValueError(f"(nq, nv) are {(plant.num_positions(), plant.num_velocities())}, ours {(ours.nq, ours.nv)}")
    iq, iv = np.empty(ours.nq, dtype=int), np.empty(ours.nv, dtype=int)
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities():
            name = joint.name() if joint.num_velocities() == 1 else "root"
            theirs, mine = joint.position_start(), np.r_[ours.q_slice(name)]
            iq[theirs : theirs + len(mine)] = mine if len(mine) == 1 else mine[[6, 3, 4, 5, 0, 1, 2]]
            theirs, mine = joint.velocity_start(), np.r_[ours.v_slice(name)]
            iv[theirs : theirs + len(mine)] = mine if len(mine) == 1 else mine[[3, 4, 5, 0, 1, 2]]
    a, tau = list(robot.states.values())[2:]
    return [q[:, iq].copy(), *(x[:, iv].copy() for x in (v, a, tau))]
