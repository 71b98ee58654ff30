"""From a function to a program: tracing, the intermediate representation, its passes and targets."""

from cardan.program.expr import Expr, Graph
from cardan.program.ops import SPEC, Kind, Op
from cardan.program.passes import PASSES
from cardan.program.program import Array, Instruction, Program, input_names, output_names, verify
from cardan.program.targets import SOURCES, TARGETS, compile_program, default_target
from cardan.program.targets.numpy import compile_numpy, evaluate
from cardan.program.targets.runner import Runner
from cardan.program.threads import num_threads, set_num_threads
from cardan.program.trace import trace

__all__ = [
    "PASSES",
    "SOURCES",
    "SPEC",
    "TARGETS",
    "Array",
    "Expr",
    "Graph",
    "Instruction",
    "Kind",
    "Op",
    "Program",
    "Runner",
    "compile_numpy",
    "compile_program",
    "default_target",
    "evaluate",
    "input_names",
    "num_threads",
    "output_names",
    "set_num_threads",
    "trace",
    "verify",
]
