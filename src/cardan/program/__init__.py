"""From a function to a program: tracing, the intermediate representation and its passes."""

from cardan.program.expr import Expr, Graph
from cardan.program.instructions import Instruction, Instructions
from cardan.program.ops import SPEC, Kind, Op
from cardan.program.passes import PASSES
from cardan.program.program import Array, Program, verify
from cardan.program.trace import trace

__all__ = [
    "PASSES",
    "SPEC",
    "Array",
    "Expr",
    "Graph",
    "Instruction",
    "Instructions",
    "Kind",
    "Op",
    "Program",
    "trace",
    "verify",
]
