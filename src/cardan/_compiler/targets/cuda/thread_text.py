"""The kernel of which each thread has a state of its own.

Rows of arrays lie in memory one after the other, so the entries that neighbouring threads want at once are far apart.
The 32 threads of a warp therefore read 32 rows together, in the order of memory, into shared memory, where each then
finds its own, and write results in the same way, up to 32 columns at a time. A row of shared memory has an odd number
of entries: so no two threads of a warp want the same bank.

A long program is cut into parts, functions that are called; what one leaves to others waits in the thread's local
memory, which the device lays out so that a warp's accesses are together. Results are written as soon as all of a chunk
of columns are there.
"""

from __future__ import annotations

from collections.abc import Iterator

from cardan._compiler.program.passes import Joined
from cardan._compiler.program.program import Program
from cardan._compiler.targets.c_family import Dialect, ProgramParts
from cardan._compiler.targets.cuda.staging import THREADS, WARP, chunks_of, loads, stores, width_of

APART, INLINE = "static __device__ __noinline__", "static __device__ __forceinline__"


class ThreadText:
    def __init__(self, program: Program, joined: Joined, dialect: Dialect, name: str) -> None:
        self.program, self.name = program, name
        self.parts = ProgramParts(program, dialect, joined)
        self.words = INLINE if dialect.part >= program.operations else APART
        self.chunks = chunks_of(program.outputs)
        self.width = width_of(program)
        self.after = self._after()
        needed: dict[int, int] = {}
        for chunk, part in zip(self.chunks, self.after, strict=True):
            for r in chunk.results(program):
                needed[r] = max(needed.get(r, 0), part)
        self.parts.wait(needed)

    def _after(self) -> list[int]:
        """Return for each chunk the part after which it is written: the one that computes its last value.

        With regions it is the last: within a loop, a value may be that of a pass which is not the last.
        """
        last = len(self.parts.parts) - 1
        if self.program.regions:
            return [last + 1] * len(self.chunks)
        return [max((self.parts.home.get(r, 0) for r in c.results(self.program)), default=0) for c in self.chunks]

    def lines(self) -> Iterator[str]:
        arrays = [f"const real *{a.name}" for a in self.program.inputs]
        outputs = [f"real *{a.name}, const long long {a.name}_stride" for a in self.program.outputs]
        stage = "real *stage, const int ahead, const int lane"
        taken = ", ".join([stage, *arrays, *outputs, "real *w", "real *rows"])
        for p in range(len(self.parts.parts)):
            passing = "".join(f", const long {k}" for k in self.parts.passing(p))
            yield f"{self.words} void {self.name}_part{p}({taken}{passing})\n{{"
            yield from self.parts.operations(p)
            yield from self._stores(p)
            yield "}\n"

    def _stores(self, p: int) -> list[str]:
        lines = []
        for chunk, after in zip(self.chunks, self.after, strict=True):
            if after == p:
                lines += stores(chunk, [self.parts.value(r, p) for r in chunk.results(self.program)], self.width)
        return lines

    def entry(self) -> Iterator[str]:
        yield f"    __shared__ real staged[{THREADS * self.width}];"
        yield f"    real *stage = staged + threadIdx.x / {WARP} * {WARP * self.width};"
        yield f"    const int lane = threadIdx.x % {WARP};"
        yield f"    const long long first = (long long)blockIdx.x * {THREADS} + threadIdx.x / {WARP} * {WARP};"
        yield "    if (first >= count)\n        return;"
        yield f"    const int ahead = count - first < {WARP} ? (int)(count - first) : {WARP};"
        for a in self.program.inputs:
            yield from loads(a, self.width)
        for a in self.program.outputs:
            yield f"    real *{a.name} = {a.name}_rows + first * {a.name}_stride;"
        yield f"    real w[{max(self.parts.places, 1)}], rows[{max(self.parts.rows, 1)}];"
        outputs = [f"{a.name}, {a.name}_stride" for a in self.program.outputs]
        passed = ", ".join(["stage, ahead, lane", *(a.name for a in self.program.inputs), *outputs, "w", "rows"])
        numbers = ["".join(f", {k}" for k in self.parts.passing(p)) for p in range(len(self.parts.parts))]
        calls = [f"{self.name}_part{p}({passed}{more});" for p, more in enumerate(numbers)]
        yield from (f"    {line}" for line in self.parts.run(calls))
        yield from self._stores(len(self.parts.parts))
