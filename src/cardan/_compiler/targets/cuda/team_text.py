"""The kernel of a team of warps: 32 states a block, handed from step to step through shared memory.

All that is handed lies in places of shared memory, of 32 states and one more entry each: so neither a warp that reads
one value of its states, nor one that reads several values of one state, wants a bank twice. Inputs have the first
places. Results wait, a chunk of columns side by side, until all of the chunk are there; then all warps write it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cardan._compiler.program.liveness import heads_of, last_readers
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import Joined
from cardan._compiler.program.program import Program, Region, phases
from cardan._compiler.program.replay import whole
from cardan._compiler.targets.c_family import Dialect, operation_lines
from cardan._compiler.targets.cuda.staging import COLUMNS, PASSES, WARP, Chunk, chunks_of
from cardan._compiler.targets.cuda.teams import Team, handed, team_of

STRIDE = WARP + 1
BARRIER = "    __barrier_sync(0);"
SECTOR = 8  # columns of results that are written together: 32 bytes, what memory takes at once


class TeamText:
    """Writes the functions of a team, for a program whose regions pick and keep nothing."""

    def __init__(self, program: Program, joined: Joined, warps: int, dialect: Dialect, name: str) -> None:
        self.program, self.joined, self.warps, self.dialect, self.name = program, joined, warps, dialect, name
        self.numbers, self.is_repeated = program.instructions.values, whole(program) is not None
        self.team: Team = team_of(program, joined, warps)
        self.heads = heads_of(program, self.team.spans, [Op.INPUT, Op.CARRIED])
        self.phases = phases(program)
        self.chunks = chunks_of(program.outputs, SECTOR)
        self.last = len(self.team.steps) - 1
        self.ready = [self._ready(chunk) for chunk in self.chunks]
        self.slot: dict[int, int] = {}
        self.copies: dict[int, list[int]] = {}
        self.first_place: list[int] = []
        self.places = self._assigned()  # how many there are in shared memory

    def _ready(self, chunk: Chunk) -> int:
        """Return the step in which the last value of a chunk is computed; with loops, the last one."""
        home = self.team.home
        steps = [home[r][0] for r in chunk.results(self.program) if r in home]
        return self.last if self.program.regions else max(steps, default=0)

    def _assigned(self) -> int:
        """Give places to chunks of results and to what is handed on; return how many there are.

        A place is free again in the step after the one that reads it last.
        """
        home = {k: step for k, (step, _) in self.team.home.items()}
        busy = [self.last + 2] * sum(a.size for a in self.program.inputs)
        for chunk, ready in zip(self.chunks, self.ready, strict=True):
            results = chunk.results(self.program)
            start = 0 if self.program.regions else min((home[r] for r in results if r in home), default=0)
            self.first_place.append(first := _taken(busy, chunk.columns, start, ready + 1))
            for column, r in enumerate(results):
                if r in home:
                    self.copies.setdefault(r, []).append(first + column)
        last = last_readers(self.program, home, self.team.spans, self.heads, self.joined.args)
        starts = {k: home[k] for k in handed(self.program, self.joined, self.team)} | self.heads
        for k, start in sorted(starts.items(), key=lambda item: item[1]):
            is_result = k in self.heads and k in self.program.results  # something carried, which is read at the end
            self.slot[k] = _taken(busy, 1, start, max(last.get(k, start), self.last if is_result else start))
        return len(busy)

    def at(self, place: int) -> str:
        return f"w[{place * STRIDE} + lane]"

    def lines(self) -> Iterator[str]:
        for warp in range(self.warps):
            yield f"static __device__ __noinline__ void {self.name}_warp{warp}({self._taken()})\n{{"
            yield "    const int lane = threadIdx.x % 32;"
            yield from self._run(None, warp)
            yield from self._flushes(self.last + 1, warp)
            yield "}\n"

    def _run(self, within: Region | None, warp: int) -> Iterator[str]:
        for part in self.phases[within]:
            if isinstance(part, range):
                first, last = self.team.spans[part]
                for step in range(first, last + 1):
                    yield from self._flushes(step, warp)
                    yield from self._step(step, warp)
                    yield BARRIER
            else:
                yield from self._loop(part, warp)

    def _loop(self, region: Region, warp: int) -> Iterator[str]:
        """Return the lines of a region: what is carried is read by all warps before any writes it."""
        k = f"k{self.program.regions.index(region)}_"
        yield from (
            f"    {self.at(self.slot[head])} = {self._first(head)};" for head, _ in region.carried[warp :: self.warps]
        )
        yield BARRIER
        yield f"    for (long {k} = 0; {k} < {self.dialect.how_often(self.program, region)}; ++{k}) {{"
        yield f"    if ({k} > 0) {{"
        own = region.carried[warp :: self.warps]
        yield from (f"    const real t{head}_ = {self._placed(after)};" for head, after in own)
        yield BARRIER
        yield from (f"    {self.at(self.slot[head])} = t{head}_;" for head, _ in own)
        yield BARRIER
        yield "    }"
        yield from self._run(region, warp)
        yield "    }"

    def _first(self, head: int) -> str:
        if self.joined.ops[head] is Op.INPUT:
            return self.at(int(self.numbers[head]))
        return self._placed(self.joined.args[head][0])

    def _placed(self, k: int) -> str:
        if k in self.slot:
            return self.at(self.slot[k])
        op, value = self.joined.ops[k], self.numbers[k]
        return self.at(int(value)) if op is Op.INPUT else self.dialect.number(value)

    def _taken(self) -> str:
        outputs = [f"real *{a.name}, const long long {a.name}_stride" for a in self.program.outputs]
        return ", ".join(["real *w", "const int ahead", *outputs, *[f"const long long {PASSES}"] * self.is_repeated])

    def passed(self) -> str:
        outputs = [f"{a.name}_rows + first * {a.name}_stride, {a.name}_stride" for a in self.program.outputs]
        return ", ".join(["w", "ahead", *outputs, *[PASSES] * self.is_repeated])

    def _flushes(self, step: int, warp: int) -> list[str]:
        """Return the lines that write the chunks complete before a step: a share of each."""
        lines = []
        for chunk, ready, first in zip(self.chunks, self.ready, self.first_place, strict=True):
            if ready + 1 == step:
                target, stride = f"{chunk.array.name} + {chunk.first}", f"{chunk.array.name}_stride"
                share = f"{chunk.columns}, {self.warps}"
                lines.append(f"    store_share<{share}>({target}, {stride}, ahead, {warp}, w + {first * STRIDE});")
        return lines

    def _step(self, step: int, warp: int) -> list[str]:
        names: dict[int, str] = {}
        lines: list[str] = []
        pairs: set[int] = set()
        for k in self.team.steps[step][warp]:
            args = self.joined.args[k]
            operands = [self._value(a, step, warp, names, lines) for a in args]
            kept = [self.at(p) for p in (*self.copies.get(k, []), *([self.slot[k]] if k in self.slot else []))]
            op, scope = self.joined.ops[k], f"{step}_"
            lines += operation_lines(self.dialect, op, k, args, operands, kept, pairs, scope)
        return [*lines, *self._leaves(step, warp)]

    def _value(self, k: int, step: int, warp: int, names: dict[int, str], lines: list[str]) -> str:
        op = self.joined.ops[k]
        if op is Op.CONST:
            return self.dialect.number(self.numbers[k])
        if k in self.team.home and self.team.is_near(k, step, warp):
            return f"t{k}_"
        if k not in names:
            names[k] = f"t{k}_{step}_"
            lines.append(f"    const real {names[k]} = {self._placed(k)};")
        return names[k]

    def _leaves(self, step: int, warp: int) -> list[str]:
        """Return the lines that put results which are no operation's in their places: the first warp does."""
        lines: list[str] = []
        for chunk, ready, first in zip(self.chunks, self.ready, self.first_place, strict=True):
            for column, r in enumerate(chunk.results(self.program) if ready == step and not warp else ()):
                if r not in self.team.home:
                    lines.append(f"    {self.at(first + column)} = {self._placed(r)};")
        return lines

    def entry(self) -> Iterator[str]:
        yield "    extern __shared__ real w[];"
        yield f"    const int warp = threadIdx.x / {WARP}, lane = threadIdx.x % {WARP};"
        yield f"    const long long first = (long long)blockIdx.x * {WARP};"
        yield f"    const int ahead = count - first < {WARP} ? (int)(count - first) : {WARP};"
        place = 0
        for a in self.program.inputs:
            for column in range(0, a.size, COLUMNS):
                columns = min(COLUMNS, a.size - column)
                source = f"{a.name}_rows + first * {a.name}_stride + {column}"
                into = f"w + {(place + column) * STRIDE}"
                share = f"{columns}, {self.warps}"
                yield f"    load_share<{share}>({source}, {a.name}_stride, ahead, warp, lane, {into});"
            place += a.size
        yield BARRIER
        for warp in range(self.warps):
            yield f"    {'else ' if warp else ''}{f'if (warp == {warp})' if warp + 1 < self.warps else ''}"
            yield f"        {self.name}_warp{warp}({self.passed()});"


def _taken(busy: list[int], count: int, start: int, end: int) -> int:
    """Take so many places side by side, free before a step, to the end of another; return the first."""
    run = 0
    for place, until in enumerate(busy):
        run = run + 1 if until < start else 0
        if run == count:
            first = place - count + 1
            break
    else:
        first = len(busy) - run
        busy += [-1] * (count - run)
    busy[first : first + count] = [end] * count
    return first


SHARES = """// A warp's share of columns of rows, from memory to places of shared memory.
template <int columns, int warps>
static __device__ __forceinline__ void load_share(
    const real *rows, const long long stride, const int ahead, const int warp, const int lane, real *w)
{
#pragma unroll
    for (int k = warp; k < columns; k += warps) {
        const int entry = k * 32 + lane, row = entry / columns, column = entry % columns;
        w[column * 33 + row] = rows[(row < ahead ? row : ahead - 1) * stride + column];
    }
}

// The same back.
template <int columns, int warps>
static __device__ __forceinline__ void store_share(
    real *rows, const long long stride, const int ahead, const int warp, const real *w)
{
#pragma unroll
    for (int k = warp; k < columns; k += warps) {
        const int entry = k * 32 + threadIdx.x % 32, row = entry / columns, column = entry % columns;
        if (row < ahead)
            rows[row * stride + column] = w[column * 33 + row];
    }
}
"""
