"""A simulation step as a function of state and control, as it is called outside of Python."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from cardan._algebra.arrays import repeat
from cardan._dynamics.functions import Function, function
from cardan._motion.simulation.solvers.solver import ARRAYS, CompiledSolver, Solver, checked_steps
from cardan._robot.model import Model


def step_of(solver: Solver, steps: int = 1) -> Function[..., Any]:
    """Return some steps of a solver as one function, to be generated: `step(model, q, v, effort)`.

    A world with drives, or with joints that move as they are told, takes what these are asked for, too:
    `step(model, q, v, effort, position, velocity)`; one with properties of contacts as inputs (`World.with_inputs`)
    these.

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
    inner, count = solver.function, checked_steps(steps)
    count *= solver.substeps if isinstance(solver, CompiledSolver) else 1
    shapes = _asked(solver)

    def step(model: Model, q: Any, v: Any, *by_position: Any, **by_name: Any) -> dict[str, Any]:
        asked = dict(zip(shapes, by_position, strict=False)) | by_name

        def once(q: Any, v: Any, good: Any, _: Any) -> tuple[Any, ...]:
            found = inner(model, q, v, good, **asked)
            return found["q"], found["v"], found["count"], found["residual"]

        q, v, good, residual = repeat(count, once, q, v, 0.0, 0.0)
        return {"q_next": q, "v_next": v, "good": good, "residual": residual}

    by_name = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("model", "q", "v", *shapes)]
    step.__signature__ = Signature(by_name)  # pyright: ignore[reportFunctionMemberAccess]
    return function(shapes=shapes)(step)


def _asked(solver: Solver) -> dict[str, Any]:
    model, world = solver.world.model, solver.world
    gains = (*model.passive("drive_stiffness"), *model.passive("drive_damping"))
    names = ("effort", "position", "velocity") if any(gains) or world.kinematic else ("effort",)
    known = solver.function.interface.shapes
    return {name: ARRAYS[name] for name in names} | {
        n: known[n] for n in world.contact_inputs if known.get(n, (0,)) != (0,)
    }
