"""How the efforts that a joint exerts change with its configuration and velocity, by differentiating its own code.

    stiffness_i = -d efforts_i / d x_i + sum_j |d efforts_i / d x_j|        damping_i likewise by v,  j not i

What an implicit step takes along each degree of freedom by itself may not be less than what the whole matrix of slopes
is, or the step is unstable where it is stiff: a diagonal of such sums is never less (Gershgorin's circles).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cardan._algebra.errors import JointError, TraceError
from cardan._algebra.scalar import absolute
from cardan._algebra.spatial import Scalar
from cardan._compiler.program import Array, Graph, Program
from cardan._compiler.program.autodiff import assemble, pushforward
from cardan._compiler.program.replay import replay
from cardan._robot.joints.derivation.derived import directions
from cardan._robot.joints.derivation.programs import joint_program, keep_by_joint, open_slots, split_inputs


class LinearisedEfforts(NamedTuple):
    """What a joint exerts at a state, and by how much less with its coordinates and velocities; nv numbers each."""

    efforts: list[Scalar]
    stiffness: list[Scalar]
    damping: list[Scalar]


def linearised_efforts(joint: Any, q: Sequence[Scalar], v: Sequence[Scalar]) -> LinearisedEfforts:
    """Return the efforts of a joint at a state, and their slopes."""
    template, parameters = open_slots(joint)
    program = _linearised(template)
    values = replay(program, [*parameters, *q, *v])
    found, nv = [values[r] for r in program.results], joint.nv
    return LinearisedEfforts(found[:nv], found[nv : 2 * nv], found[2 * nv :])


@keep_by_joint("efforts")
def _linearised(template: Any) -> Program:
    efforts = _efforts(template)
    graph = Graph()
    symbols = graph.symbols(efforts.inputs)
    nq, nv = template.nq, template.nv
    joint, first, (q,) = split_inputs(template, symbols, nq)
    seeds = directions(joint, q, first) | {first + nq + j: {nv + j: 1.0} for j in range(nv)}
    values = replay(efforts, symbols)
    slopes = pushforward(efforts, values, seeds)
    own = [values[r] for r in efforts.results]
    falls = [_fall(slopes[r], range(k, k + nv), k + i) for k in (0, nv) for i, r in enumerate(efforts.results)]
    outputs = [Array(name, (nv,)) for name in LinearisedEfforts._fields]
    return assemble("efforts", graph, efforts.inputs, outputs, [*own, *falls])


def _fall(slopes: Mapping[int, Any], along: Iterable[int], own: int) -> Any:
    across = (absolute(slopes[j]) for j in along if j != own and j in slopes)
    return sum(across, -slopes.get(own, 0.0))


def _efforts(template: Any) -> Program:
    def entries(joint: Any, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        return {"efforts": list(joint.efforts(q, v))}

    try:
        return joint_program("efforts", template, entries, q=template.nq, v=template.nv)
    except TraceError as error:
        raise JointError(f"{type(template).__name__}: its efforts cannot be differentiated: {error}") from error
