"""Functions of a robot as source code for other machines: one file of C, or a library with its headers."""

from cardan._reach.generation.library import Generated, function_in, generate, step_of

__all__ = ["Generated", "function_in", "generate", "step_of"]
__dir__ = __all__.copy
