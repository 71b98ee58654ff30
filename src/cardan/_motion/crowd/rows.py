"""Rows of tables as spatial objects, and programs that run over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.spatial import SE3, ArticulatedInertia, Matrix3, Motion, Symmetric3, Vector3
from cardan._compiler.program import Array, Program, trace
from cardan._compiler.program.expr import ColumnArray
from cardan._compiler.runtime.memory import collection_paused
from cardan._dynamics.algorithms.spin import BodyMotion, Spin

LANES, BLOCK = 8, 6  # entries of a column of a block, and how many of them count
NODE = 16  # numbers of a row of a pose, and of a motion; the last ones do not count

Columns = Mapping[str, int | tuple[int, ...]]


def row_program(
    name: str,
    columns: Columns,
    of: Callable[..., Mapping[str, Any]],
    *,
    in_lanes: Sequence[str] = (),
    by: Mapping[str, str] | str = "",
) -> Program:
    """Return the program of a function of columns, which it takes by name.

    `in_lanes` and `by` are as `Array` has them; a name is that of all.
    """
    inputs = [Array(key, (size,) if isinstance(size, int) else size) for key, size in columns.items()]

    def run(*arrays: np.ndarray) -> dict[str, Any]:
        given = {a.name: array for a, array in zip(inputs, arrays, strict=True)}
        found = of(**given).items()
        return {key: own if isinstance(own, ColumnArray) else np.array(own, dtype=object) for key, own in found}

    with collection_paused():
        program = trace(name, run, inputs, regions=True)
    placed = lambda a: a._replace(in_lanes=a.name in in_lanes, by=by if isinstance(by, str) else by.get(a.name, ""))  # noqa: E731
    return replace(program, inputs=tuple(map(placed, program.inputs)), outputs=tuple(map(placed, program.outputs)))


def pose_of(row: Sequence[Any]) -> SE3:
    """Return the pose of twelve numbers: a rotation, row by row, and a translation."""
    return SE3(Matrix3([row[3 * k : 3 * k + 3] for k in range(3)]), Vector3(*row[9:12]))


def numbers_of(X: SE3) -> list[Any]:
    return [*X.rotation.entries(), *X.translation]


class NodeRow(NamedTuple):
    """Where the frame of a node is, and how it moves at zero joint acceleration, gravity subtracted."""

    X: SE3  # its pose in the world: R, p
    V: Motion  # its twist, in its own axes
    motion: BodyMotion  # the acceleration of its origin, and how it turns: of chains as `whips` has it

    @staticmethod
    def of(pose: Sequence[Any], row: Sequence[Any]) -> NodeRow:
        motion = BodyMotion(Vector3(*row[6:9]), Spin(Vector3(*row[9:12]), Vector3(*row[12:15])))
        return NodeRow(pose_of(pose), Motion(tuple(row[:3]), tuple(row[3:6])), motion)


def pose_row(X: SE3) -> list[Any]:
    return [*numbers_of(X), *[0.0] * 4]


def motion_row(V: Motion, motion: BodyMotion) -> list[Any]:
    return [*V.scalars(), *motion.origin, *motion.spin.w, *motion.spin.rate, 0.0]


def impedance_of(upper: Sequence[Any]) -> ArticulatedInertia:
    """Return the impedance whose upper half is given, row by row."""
    rest = iter(upper)
    M, H = [], []
    for i in range(3):
        M += [next(rest) for _ in range(3 - i)]
        H.append([next(rest) for _ in range(3)])
    return ArticulatedInertia(Symmetric3(M), Matrix3(H), Symmetric3(rest))


def block_of(A: Sequence[Sequence[Any]], r: int, c: int) -> list[list[Any]]:
    """Return a block of a matrix, column by column; beyond its ends those of the identity."""

    def entry(i: int, j: int) -> Any:
        if i < min(BLOCK * (r + 1), len(A)) and j < len(A[0]):
            return A[i][j]
        return 1.0 if i == j and i < BLOCK * (r + 1) else 0.0

    return [[entry(BLOCK * r + i, BLOCK * c + j) for i in range(LANES)] for j in range(BLOCK)]
