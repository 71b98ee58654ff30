"""From a function to a program: tracing, the intermediate representation and its passes."""

from cardan._compiler.program.expr import Expr, Graph
from cardan._compiler.program.instructions import Instruction, Instructions
from cardan._compiler.program.ops import SPEC, Op
from cardan._compiler.program.passes import PASSES
from cardan._compiler.program.program import Array, Program, verify
from cardan._compiler.program.trace import trace

__all__ = [
    "PASSES",
    "SPEC",
    "Array",
    "Expr",
    "Graph",
    "Instruction",
    "Instructions",
    "Op",
    "Program",
    "trace",
    "verify",
]
