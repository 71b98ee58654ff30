"""Random programs by both emitters: machine code from the tables, and LLVM's; the same bits, and NumPy's numbers.

`python tests/emitter_fuzz.py --programs 100000` runs many; a batch is a function of its seed alone. What a batch is:
some lines of random operations, each compiled for a random table, width and dtype by both emitters, all in one module,
and run on workspaces that end where memory that may not be touched begins.
"""

import argparse
import ctypes
import ctypes.util
import functools
import mmap
import random
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np

from cardan._compiler.program.instructions import Instruction
from cardan._compiler.program.ops import LEAVES, SPEC, Op, ValueType
from cardan._compiler.program.passes import Fused, joined_products, remove_dead_code
from cardan._compiler.program.program import Array, Program
from cardan._compiler.targets.llvm.direct.x86 import AVX, AVX512
from cardan._compiler.targets.llvm.machine import compile_image, host_features
from cardan._compiler.targets.llvm.math import math_definitions
from cardan._compiler.targets.llvm.plan import Lanes, Plan, plan_program
from cardan._compiler.targets.llvm.store import load
from cardan._compiler.targets.llvm.text import block_text
from cardan._compiler.targets.llvm.writer import attributes

PLAIN = [Op.ADD, Op.SUB, Op.MUL] * 6 + [Op.DIV, Op.NEG, Op.SQRT, Op.ABS, Op.SIGN, Op.FLOOR, Op.MIN, Op.MAX]
LOGIC = [Op.LT, Op.LE, Op.EQ, Op.AND, Op.OR, Op.NOT, Op.SELECT, Op.SELECT, Op.SELECT, Op.SELECT]
FUNCTIONS = [Op.SIN, Op.COS, Op.ATAN2, Op.EXP]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-310, 1e300, -1e30, float("inf"), float("-inf"), float("nan")]


def random_line(rng):
    """Return a program of random operations, of one stretch: few or many, with values that wait long or not."""
    inputs, size = rng.randint(1, 6), rng.choice((3, 10, 30, 30, 100, 300))
    found = [Instruction(Op.INPUT, (), float(k)) for k in range(inputs)]
    values = EDGES if rng.random() < 0.2 else [rng.uniform(-2.0, 2.0) for _ in range(5)]
    found += [Instruction(Op.CONST, (), c) for c in rng.sample(values, rng.randint(1, 5))]
    ops = PLAIN + LOGIC * rng.randint(0, 2) + (FUNCTIONS if rng.random() < 0.2 else [])
    reach = rng.choice((5, 40, 1000))
    for _ in range(size):
        op = rng.choice(ops)
        args = [choice(rng, found, kind, reach) for kind in SPEC[op].operands]
        new = Instruction(op, tuple(args))
        if None not in args and new not in found:
            found.append(new)
    reals = [k for k, i in enumerate(found) if SPEC[i.op].result is ValueType.REAL]
    results = rng.choices(reals[-reach:], k=rng.choice((1, 3, 20)))
    program = Program("f", (Array("x", (inputs,)),), tuple(found), (Array("y", (len(results),)),), tuple(results))
    return remove_dead_code(program)


def choice(rng, found, kind, reach):
    fitting = [k for k, i in enumerate(found[-reach:], max(len(found) - reach, 0)) if SPEC[i.op].result is kind]
    return rng.choice(fitting) if fitting else None


@functools.cache
def tables():
    """Return the tables this machine can run, with the bytes of their vectors."""
    features = set(host_features()[1].split(","))
    found = [(AVX, 16), (AVX, 32)] if {"+avx", "+fma"} <= features else []
    return found + [(AVX512, size) for size in (16, 32, 64) if "+avx512vl" in features]


class Side(NamedTuple):
    """A program as one emitter has it, and its workspace."""

    plan: Plan
    lanes: Lanes
    name: str

    def texts(self):
        blocks = range(len(self.plan.blocks))
        return [re.sub(r"block(?=\d)", f"{self.name}_block", block_text(self.plan, self.lanes, b)) for b in blocks]

    def calls(self, pointer):
        return [f"  call void @{self.name}_block{b}(ptr {pointer})" for b in range(len(self.plan.blocks))]

    @property
    def bytes(self):
        return self.plan.slots * self.lanes.bytes


class Guarded:
    """Memory in pieces between pages that may not be touched: each ends where one begins, or begins where one ends."""

    def __init__(self, sizes, at_start=False):
        page = mmap.PAGESIZE
        pages = [-(-size // page) for size in sizes]
        self.memory = mmap.mmap(-1, page * (sum(pages) + len(sizes) + 1))
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.addresses, here = [], start
        for size, count in zip(sizes, pages, strict=True):
            assert protect(here, page, 0) == 0
            first, here = here + page, here + page * (count + 1)
            self.addresses.append(first if at_start else here - size)
        assert protect(here, page, 0) == 0
        self.undo = lambda: protect(start, len(self.memory), mmap.PROT_READ | mmap.PROT_WRITE)

    def arrays(self, sizes, dtype):
        kinds = [dtype] * len(sizes) if isinstance(dtype, type) else dtype
        return [
            np.frombuffer((ctypes.c_char * size).from_address(address), dtype=kind)
            for size, address, kind in zip(sizes, self.addresses, kinds, strict=True)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.undo()


def run_batch(seed, count):
    """Compile and run programs by both emitters; raise AssertionError with what differs."""
    rng = random.Random(seed)
    machine, size = rng.choice(tables())
    dtype = rng.choice((np.float64, np.float32))
    lanes = Lanes(size // np.dtype(dtype).itemsize, "double" if dtype is np.float64 else "float")
    programs = [random_line(rng) for _ in range(count)]
    sides = [
        Side(plan_program(program, table), lanes, f"{name}{k}")
        for k, program in enumerate(programs)
        for name, table in (("llvm", None), ("direct", machine))
    ]
    text, sizes = module(programs, sides, lanes), [side.bytes for side in sides]
    with Guarded(sizes) as memory:
        spaces = [a.reshape(-1, lanes.width) for a in memory.arrays(sizes, dtype)]
        given = [random_inputs(seed, k, p, lanes.width, dtype) for k, p in enumerate(programs)]
        for k, x in enumerate(given):
            for space in spaces[2 * k : 2 * k + 2]:
                space[:] = np.pi
                space[: len(x)] = x
        run_here(text, spaces)
        for k, (program, x) in enumerate(zip(programs, given, strict=True)):
            where = f"seed {seed}, program {k} for {machine.registers} registers, {lanes.vector}\n{program}"
            check(program, x, *(results(program, space) for space in spaces[2 * k : 2 * k + 2]), where)
        del spaces


def run_here(text, spaces):
    """Run a module on workspaces."""
    code = load(compile_image(text, "evaluate"), "evaluate")
    pointers = (ctypes.c_void_p * len(spaces))(*(space.ctypes.data for space in spaces))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)(pointers)


def module(programs, sides, lanes):
    """Return one module: all blocks, and a function that calls them all on their workspaces."""
    ops = {i.op for program in programs for i in program.instructions}
    texts = [*(text for side in sides for text in side.texts()), *math_definitions(ops, lanes), *attributes(lanes)]
    lines = []
    for n, side in enumerate(sides):
        lines += [f"  %a{n} = getelementptr ptr, ptr %all, i64 {n}", f"  %p{n} = load ptr, ptr %a{n}"]
        lines += side.calls(f"%p{n}")
    return "\n".join([*texts, "define void @evaluate(ptr %all) #0 {", *lines, "  ret void", "}"])


def random_inputs(seed, number, program, width, dtype):
    rng = np.random.default_rng([seed, number])
    x = rng.normal(size=(program.inputs[0].size, width))
    if rng.random() < 0.3:
        edges = rng.random(x.shape) < 0.5
        x[edges] = rng.choice(EDGES, size=edges.sum())
    with np.errstate(over="ignore"):
        return x.astype(dtype)


def results(program, space):
    """Return the results that blocks compute, as they are in a workspace."""
    first = program.inputs[0].size
    own = [n for n, k in enumerate(program.results) if program.instructions[k].op not in LEAVES]
    return {n: space[first + n].copy() for n in own}


def check(program, x, llvm, direct, where):
    for n, expected in llvm.items():
        same = np.array_equal(expected, direct[n], equal_nan=True)
        real = ~np.isnan(expected)
        assert same, f"{where}\nresult {n}: {direct[n]} instead of {expected}"
        assert np.array_equal(np.signbit(expected[real]), np.signbit(direct[n][real])), f"{where}\nsign of {n}"
    if not {i.op for i in program.instructions} & set(FUNCTIONS):  # else to some units in the last place only
        for (n, found), expected in zip(direct.items(), reference(program, x, direct), strict=True):
            assert np.array_equal(found, expected, equal_nan=True), f"{where}\nresult {n}: {found}, NumPy's {expected}"


def reference(program, x, wanted):
    """Return some results by NumPy, and by the C library where it has nothing: products joined to sums."""
    joined, values, number = joined_products(program), [], x.dtype.type
    with np.errstate(all="ignore"):
        for op, args, value in zip(joined.ops, joined.args, program.instructions.values, strict=True):
            operands = [values[a] for a in args]
            if op is Op.INPUT:
                values.append(x[int(value)])
            elif op is Op.CONST:
                values.append(np.full(len(x.T), number(value)))
            elif op in EXACT:
                values.append(EXACT[op](*operands))
            else:
                values.append(SPEC[op].numpy(*operands))
    return [values[program.results[n]] for n in wanted]


def multiply_add(a, b, c):
    """Return a b + c, rounded once."""
    function, kind = {8: ("fma", ctypes.c_double), 4: ("fmaf", ctypes.c_float)}[a.itemsize]
    exact = getattr(LIBM, function)
    exact.argtypes, exact.restype = [kind] * 3, kind
    return np.array([exact(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)], dtype=a.dtype)


def smaller(a, b):
    return np.where(np.isnan(a) | (a < b) | ((a == b) & np.signbit(a)), a, b)


LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
EXACT = {
    Fused.FMA: multiply_add,
    Fused.FMS: lambda a, b, c: multiply_add(a, b, -c),
    Fused.FNMA: lambda a, b, c: multiply_add(-a, b, c),
    Op.MIN: smaller,
    Op.MAX: lambda a, b: -smaller(-a, -b),
    Op.SIGN: lambda a: np.where(a > 0, a.dtype.type(1), np.where(a < 0, a.dtype.type(-1), a)),
}
"""What must be NumPy's to the last bit, and the sign of a zero, but is another function there."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inside", action="store_true")
    args = parser.parse_args()
    if not args.inside:
        sys.exit(subprocess.run([sys.executable, __file__, "--inside", *sys.argv[1:]], check=False).returncode)
    wrong = 0
    for seed in range(args.seed, args.seed + args.programs // args.batch):
        sys.stderr.write(f"\r{seed * args.batch}")
        try:
            run_batch(seed, args.batch)
        except AssertionError as error:
            wrong += 1
            print(f"\n{error}", flush=True)
    print(f"\n{args.programs} programs, {wrong} batches with something wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
