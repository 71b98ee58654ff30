"""The functions of analysis as definitions in LLVM IR, on vectors, at most 2 units in the last place off everywhere.

Without a library and without branches but one, rarely taken: for angles beyond 1e12. Special values fall out of the
arithmetic or are selected. Single precision computes in double, but for sine and cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial

from cardan._compiler.program.ops import Op
from cardan._compiler.targets.libm.far import FAST_RANGE
from cardan._compiler.targets.libm.functions import FUNCTIONS
from cardan._compiler.targets.libm.trig import sincos, tan
from cardan._compiler.targets.llvm.far_lanes import far_definitions
from cardan._compiler.targets.llvm.lanes import Lanes
from cardan._compiler.targets.llvm.writer import Writer

Results = str | tuple[str, ...]
SINCOS = "lanes_sincos"
RARELY = '!1 = !{!"branch_weights", i32 1, i32 100000}'


def function_name(op: Enum) -> str:
    """Return the name of an operation's function."""
    return f"lanes_{op.value}"


def math_definitions(ops: Iterable[Op], lanes: Lanes) -> list[str]:
    """Return the definitions a program with these operations needs."""
    ops = set(ops)
    texts = [_definition(function_name(op), FUNCTIONS[op], lanes) for op in FUNCTIONS if op in ops]
    if ops & {Op.SIN, Op.COS}:
        texts += _angular(SINCOS, sincos, lanes)
    if Op.TAN in ops:
        texts += _angular(function_name(Op.TAN), tan, lanes)
    if ops & {Op.SIN, Op.COS, Op.TAN}:
        texts += [*far_definitions(lanes.width), RARELY]
    return texts


def _definition(
    name: str, function: Callable[..., Results], lanes: Lanes, attributes: str = "#0", own: bool = False
) -> str:
    """Return a function of vectors that computes in double precision, or, if it knows it, in its `own`."""
    w, outer = Writer(lanes if own else Lanes(lanes.width, "double")), lanes.vector
    parameters = ["%y", "%x"] if function is FUNCTIONS[Op.ATAN2] else ["%x"]
    single = w.lanes != lanes
    results = function(w, *(w.emit(f"fpext {outer} {p} to {w.v}") if single else p for p in parameters))
    results = (results,) if isinstance(results, str) else results
    results = [w.emit(f"fptrunc {w.v} {r} to {outer}") if single else r for r in results]
    return w.function(name, [(outer, p) for p in parameters], [(outer, r) for r in results], attributes)


def _angular(name: str, function: Callable[..., Results], lanes: Lanes) -> list[str]:
    """Return a function for all angles and its part for far ones, which is called only where a lane has one."""
    far, own = f"{name}_far", function is sincos
    inner = lanes if own else Lanes(lanes.width, "double")
    return [
        _definition(far, partial(function, far=True), inner),
        _definition(name, lambda w, x: joined(w, x, function(w, x), far), lanes, "#1" if own else "#0", own),
    ]


def joined(w: Writer, x: str, near: str | tuple[str, ...], far_function: str) -> tuple[str, ...]:
    """Write a branch to the far function if any angle is beyond the fast range, and return what then is right.

    Its results are taken for those angles alone: what comes of an angle does not depend on those beside it.
    """
    near = (near,) if isinstance(near, str) else near
    mask = w.compare("ogt", w.call("fabs", x), FAST_RANGE[w.word])
    some = w.emit(f"icmp ne i{w.width} {w.emit(f'bitcast {w.m} {mask} to i{w.width}')}, 0")
    w.line(f"br i1 {some}, label %far, label %near, !prof !1")
    w.label("far")
    exact = w.invoke(far_function, [w.v] * len(near), [(w.v, x)])
    exact = [w.select(mask, e, n) for e, n in zip(exact, near, strict=True)]
    w.line("br label %near")
    w.label("near")
    return tuple(w.emit(f"phi {w.v} [ {e}, %far ], [ {n}, %start ]") for e, n in zip(exact, near, strict=True))
