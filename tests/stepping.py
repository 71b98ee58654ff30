"""Steps of one model as compiled functions, for tests."""

from __future__ import annotations

import cardan
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.drives import DriveCommand, JointForces
from cardan._dynamics.algorithms.implicit import Snapshot, implicit_dynamics
from cardan._motion.contact.convex import convex

SHAPES = dict.fromkeys(("effort", "position", "velocity"), ("nv",))


def implicit_step(dt, stiffness=0.0, damping=0.0, passes=2, limits=True):
    """Return one implicit step with gains, the same for all joints or nv of each."""

    @cardan.function(shapes=SHAPES, simplified=True)
    def step(model, q, v, effort, position, velocity):
        gains = [[float(g)] * model.nv if isinstance(g, float) else list(g) for g in (stiffness, damping)]
        elements = JointForces(model, q, v, DriveCommand(effort, position, velocity, *gains), dt, limits=limits)
        solved = convex(Snapshot(model, q, v), elements, [], dt, passes)
        moved = stepping.implicit(model, q, v, solved.found.a, dt)
        return {"q": moved.q, "v": moved.v, "a": solved.found.a, "residual": solved.residual}

    return step


def explicit_step(integrator, dt):
    """Return one step of an explicit integrator without forces but gravity."""

    @cardan.function
    def step(model, q, v):
        def rate(q, v):
            return implicit_dynamics(Snapshot(model, q, v), [0.0] * model.nv, dt=dt).a

        return getattr(stepping, integrator)(model, q, v, rate, dt)._asdict()

    return step
