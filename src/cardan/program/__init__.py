"""From a function to a program: tracing, the intermediate representation, its passes and targets."""

from cardan.program.expr import Expr, Graph
from cardan.program.ops import SPEC, Kind, Op
from cardan.program.passes import PASSES
from cardan.program.program import Array, Instruction, Program, input_names, output_names, verify
from cardan.program.targets.numpy import compile_numpy, evaluate
from cardan.program.trace import trace

__all__ = [
    "PASSES",
    "SPEC",
    "Array",
    "Expr",
    "Graph",
    "Instruction",
    "Kind",
    "Op",
    "Program",
    "compile_numpy",
    "evaluate",
    "input_names",
    "output_names",
    "trace",
    "verify",
]
