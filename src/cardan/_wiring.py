"""What upper wings give to lower ones. It is registered when cardan is imported, and loaded when it is first used.

This is the only place that knows both sides: a lower wing names no module of an upper one.
"""

from cardan._algebra.explained import SUGGESTIONS
from cardan._algebra.lazy import later
from cardan._dynamics.call.registry import DERIVATIVES, register_arrays
from cardan._motion.simulation.solvers import register_solver
from cardan._robot.registered import MAKERS, MESH_READERS, RENDERERS

SUGGESTIONS.append(later("cardan._dynamics.call.suggestions:suggestion"))
DERIVATIVES += [
    "cardan._dynamics.algorithms.second_derivatives",
    "cardan._dynamics.algorithms.forward_second_derivatives",
    "cardan._dynamics.functions.constrained_derivatives",
    "cardan._dynamics.functions.named_derivatives",
]
register_arrays("torch.Tensor", "cardan._reach.interop.torch_wrapped")
register_arrays("jax.Tracer", "cardan._reach.interop.jax")
register_arrays("cupy.ndarray", "cardan._reach.interop.cupy_arrays")
MAKERS["world"] = later("cardan._motion.simulation.builder:world_of")
MAKERS["clusters"] = later("cardan._dynamics.functions.clusters:clustered")
register_solver("cardan._reach.interop.mujoco_solver:MuJoCo")
RENDERERS["Model"] = later("cardan._reach.pictures.html:robot_html")
RENDERERS["Mechanism"] = later("cardan._reach.pictures.html:robot_html")
MESH_READERS |= dict.fromkeys(
    (".usd", ".usda", ".usdc", ".usdz"), later("cardan._reach.formats.usd.shapes:surface_of_usd")
)
