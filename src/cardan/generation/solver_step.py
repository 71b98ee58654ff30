"""A simulation step as a function of state and control, as it is called outside of Python."""

from __future__ import annotations

from typing import Any

from cardan.arrays import repeat
from cardan.functions import Function, function
from cardan.model import Model
from cardan.simulation.solvers.solver import ARRAYS, CompiledSolver, Solver, checked_steps

ASKED = {name: ARRAYS[name] for name in ("effort", "position", "velocity")}


def step_of(solver: Solver, steps: int = 1) -> Function[..., Any]:
    """Return some steps of a solver as one function, to be generated: `step(model, q, v, effort)`.

    A world with drives takes what they are asked for, too: `step(model, q, v, effort, position, velocity)`.

    Args:
        solver: what moves the world; its world's model is the one to generate for.
        steps: how many, one after the other, under one control; a loop in the code.

    Returns:
        A function with the results `q_next` and `v_next`, `good`, how many of the steps had a result that is a state
        (where one has none, the state stays as it is), and `residual`, of the last solve.

    Raises:
        ParameterError: for a number of steps below 1.
        UnsupportedError: for a solver whose step is not cardan's own, such as MuJoCo.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> step = cardan.generation.step_of(cardan.solvers.Featherstone(world, dt=0.001), steps=10)
        >>> sorted(step(world.model, world.initial, np.zeros(2), np.zeros(2)))
        ['good', 'q_next', 'residual', 'v_next']
    """
    inner, model = solver.function, solver.world.model
    substeps = solver.substeps if isinstance(solver, CompiledSolver) else 1
    count = checked_steps(steps) * substeps

    def moved(model: Model, q: Any, v: Any, **asked: Any) -> dict[str, Any]:
        def once(q: Any, v: Any, good: Any, _: Any) -> tuple[Any, ...]:
            found = inner(model, q, v, good, **asked)
            return found["q"], found["v"], found["count"], found["residual"]

        q, v, good, residual = repeat(count, once, q, v, 0.0, 0.0)
        return {"q_next": q, "v_next": v, "good": good, "residual": residual}

    @function(shapes=ASKED)
    def driven_step(model: Model, q: Any, v: Any, effort: Any, position: Any, velocity: Any) -> dict[str, Any]:
        return moved(model, q, v, effort=effort, position=position, velocity=velocity)

    @function(shapes={"effort": ARRAYS["effort"]})
    def step(model: Model, q: Any, v: Any, effort: Any) -> dict[str, Any]:
        return moved(model, q, v, effort=effort)

    gains = (*model.passive("drive_stiffness"), *model.passive("drive_damping"))
    return driven_step if any(gains) else step
