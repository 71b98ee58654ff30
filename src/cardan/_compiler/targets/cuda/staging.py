"""Rows in memory to threads, and back: a warp reads and writes 32 rows together, through shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._compiler.program.program import Array, Program

WARP = 32
THREADS = 128  # of a block; each has a state of its own
PASSES = "passes"  # what the parameter is called that says how often a program is run as a whole
COLUMNS = 32  # that are staged at a time: 128 bytes of a row, what one access of a warp brings


class Chunk(NamedTuple):
    array: Array  # the output
    first: int  # the first column
    columns: int  # how many
    position: int  # of the first one among the results of the program

    def results(self, program: Program) -> tuple[int, ...]:
        return program.results[self.position : self.position + self.columns]


def chunks_of(outputs: Sequence[Array]) -> list[Chunk]:
    found: list[Chunk] = []
    position = 0
    for array in outputs:
        for first in range(0, array.size, COLUMNS):
            found.append(Chunk(array, first, min(COLUMNS, array.size - first), position + first))
        position += array.size
    return found


def width_of(program: Program) -> int:
    """Return how many entries a row of the stage has: an odd number, as many as the widest chunk has columns."""
    return max((min(a.size, COLUMNS) for a in (*program.inputs, *program.outputs)), default=1) | 1


def loads(array: Array, width: int) -> list[str]:
    lines = [f"    real {array.name}[{max(array.size, 1)}];"]
    for first in range(0, array.size, COLUMNS):
        columns = min(COLUMNS, array.size - first)
        source = f"{array.name}_rows + first * {array.name}_stride + {first}"
        into = f"{array.name} + {first}"
        lines.append(f"    load<{columns}, {width}>({source}, {array.name}_stride, ahead, lane, stage, {into});")
    return lines


def stores(chunk: Chunk, values: Sequence[str], width: int) -> list[str]:
    lines = [f"    stage[lane * {width} + {n}] = {value};" for n, value in enumerate(values)]
    target = f"{chunk.array.name} + {chunk.first}"
    return [*lines, f"    store<{chunk.columns}, {width}>({target}, {chunk.array.name}_stride, ahead, lane, stage);"]


STAGING = """// Columns of the rows of a warp, from memory to each thread; threads beyond the end repeat the last row.
template <int columns, int width>
static __device__ __forceinline__ void load(
    const real *rows, const long long stride, const int ahead, const int lane, real *stage, real *own)
{
#pragma unroll 4
    for (int k = 0; k < columns; ++k) {
        const int entry = k * 32 + lane, row = entry / columns, column = entry % columns;
        stage[row * width + column] = rows[(row < ahead ? row : ahead - 1) * stride + column];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < columns; ++k)
        own[k] = stage[lane * width + k];
    __syncwarp();
}

// The same back, from the stage.
template <int columns, int width>
static __device__ __forceinline__ void store(
    real *rows, const long long stride, const int ahead, const int lane, const real *stage)
{
    __syncwarp();
#pragma unroll 4
    for (int k = 0; k < columns; ++k) {
        const int entry = k * 32 + lane, row = entry / columns, column = entry % columns;
        if (row < ahead)
            rows[row * stride + column] = stage[row * width + column];
    }
    __syncwarp();
}
"""
