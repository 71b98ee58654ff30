"""From a function to a program: tracing, the intermediate representation and its passes."""

from cardan._compiler.program.expr import Graph as Graph
from cardan._compiler.program.instructions import Instruction as Instruction
from cardan._compiler.program.instructions import Instructions as Instructions
from cardan._compiler.program.ops import SPEC as SPEC
from cardan._compiler.program.ops import Op as Op
from cardan._compiler.program.program import Array as Array
from cardan._compiler.program.program import Program as Program
from cardan._compiler.program.trace import trace as trace
