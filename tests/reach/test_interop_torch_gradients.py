"""gradcheck and gradgradcheck of PyTorch on every public function, forward and reverse."""

import numpy as np
import pytest

import cardan
from cardan.joints import Revolute
from mechanisms import random_model

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")
from cardan.interop.torch import wrap  # noqa: E402 -- needs torch

pytestmark = pytest.mark.usefixtures("quick_target")
PUBLIC = {
    name: function for name in sorted(cardan.__all__) if isinstance(function := getattr(cardan, name), cardan.Function)
}
LOOPED = {name for name in PUBLIC if name.startswith(("loop_", "constrained_", "impact"))}
FLAT = {"principal_value", "limit_coordinates"}
"""Functions that move no digit of a configuration within the limits: their derivative is the identity."""
FEW = ("inverse_dynamics", "frame_transform", "integrate", "wrench_at", "loop_residual")
"""Those of the default run: one and several results, an option, a quaternion, numbers by keyword, a loop."""


def hinged():
    """A free body with another one on a hinge: a quaternion and an angle."""
    return random_model(3, joints=[Revolute((0.0, 1.0, 0.0))])


def arguments(name, model, seed=0):
    """Return the arrays a function takes, by name, and its options."""
    function, rng = PUBLIC[name], np.random.default_rng(seed)
    options = {"frame": model.body_names[-1]} if "frame" in function.interface.open else {}
    optional = [n for n in function.interface.shapes if n in ("torque", "point")]
    names, _ = function.interface.required(model, options, optional)
    cores = function.interface.cores(model)
    arrays = {n: rng.normal(size=cores[n]) for n in names}
    for k, n in enumerate(n for n in names if n in ("q", "q0", "q1")):
        arrays[n] = model.random_configuration(seed=seed + k)
    if name == "eval_ik":
        arrays |= cardan.eval_fk(model, model.random_configuration(seed=seed), rng.normal(size=model.nv))._asdict()
    return {n: torch.tensor(x, requires_grad=True) for n, x in arrays.items()}, options


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(n, marks=pytest.mark.full) for n in PUBLIC if n not in FEW)])
def test_gradients(name):
    model = cardan.robots.four_bar().model() if name in LOOPED else hinged()
    arrays, options = arguments(name, model)
    wrapped = wrap(PUBLIC[name], model, **options)
    names = tuple(arrays)

    def flat(*values):
        return tuple(torch.utils._pytree.tree_leaves(wrapped(**dict(zip(names, values, strict=True)))))

    assert torch.autograd.gradcheck(flat, tuple(arrays.values()), check_forward_ad=True, atol=1e-4)
    assert torch.autograd.gradgradcheck(flat, tuple(arrays.values()), atol=1e-3, check_fwd_over_rev=True)
