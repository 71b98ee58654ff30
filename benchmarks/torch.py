"""`python -m benchmarks torch`: what a call by PyTorch costs, beside the bare call and pin through callbacks.

Times are of one call of inverse dynamics in microseconds, the shortest of many, in rounds that alternate:

- bare: `cardan.function(model, ...)` on NumPy arrays.
- wrapped: `wrap(function, model)` on tensors; recorded: the same where gradients are asked for; gradient: that and
  `torch.autograd.grad` by all three arguments.
- pin, pin gradient: pin's own function and derivatives in a `torch.autograd.Function`, state by state.
- nothing: a sum of the same tensors, recorded, and its gradient: what PyTorch itself needs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import cardan
from cardan._reach.cli.bench import shortest
from cardan.interop.torch import wrap

BATCHES = (1, 64, 4096)
ROUNDS, SECONDS = 5, 0.1
COLUMNS = ("bare", "wrapped", "recorded", "gradient", "pin", "pin gradient", "nothing")


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks torch", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args(given)
    torch.set_num_threads(1)
    cardan.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, arm7; microseconds a call")
    print("| states | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (1 + len(COLUMNS)))
    for batch in BATCHES:
        times = measured(cases(batch), args.rounds)
        print(f"| {batch} | " + " | ".join(f"{1e6 * t:.1f}" for t in times) + " |", flush=True)


def measured(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the shortest time of each call [s], in rounds that alternate between them."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        best = [min(found, shortest(call, SECONDS)) for found, call in zip(best, calls, strict=True)]
    return best


def cases(batch: int) -> list[Callable[[], Any]]:
    """Return the calls to compare."""
    model, function = cardan.robots.arm7().model(), cardan.inverse_dynamics
    rng = np.random.default_rng(0)
    shape = (batch,) if batch > 1 else ()
    arrays = [model.random_configuration(shape, seed=0), *rng.normal(size=(2, *shape, model.nv))]
    plain = [torch.from_numpy(x) for x in arrays]
    recorded = [x.clone().requires_grad_() for x in plain]
    weights, wrapped, peer = torch.ones_like(plain[0]), wrap(function, model), of_pin().apply

    def gradient(call: Callable[..., Any]) -> Any:
        return torch.autograd.grad(call(*recorded), recorded, weights)

    for ours, theirs in zip(gradient(wrapped), gradient(peer), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    return [
        lambda: function(model, *arrays),
        lambda: wrapped(*plain),
        lambda: wrapped(*recorded),
        lambda: gradient(wrapped),
        lambda: peer(*plain),
        lambda: gradient(peer),
        lambda: gradient(lambda q, v, a: q + v + a),
    ]


def of_pin() -> Any:
    """Return inverse dynamics by pin as a function of PyTorch."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(cardan.robots.urdf_path("arm7")))
    data = model.createData()

    class Torques(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *arrays: Any) -> Any:
            ctx.save_for_backward(*arrays)
            rows = [x.reshape(-1, model.nv).numpy() for x in arrays]
            found = [pin.rnea(model, data, *row) for row in zip(*rows, strict=True)]
            return torch.from_numpy(np.stack(found)).reshape(arrays[0].shape)

        @staticmethod
        def backward(ctx: Any, *given: Any) -> Any:
            arrays = [x.detach().reshape(-1, model.nv).numpy() for x in (*ctx.saved_tensors, *given)]
            found = [weighed(*row) for row in zip(*arrays, strict=True)]
            return tuple(torch.from_numpy(np.stack(x)).reshape(given[0].shape) for x in zip(*found, strict=True))

    def weighed(q: Any, v: Any, a: Any, weights: Any) -> Any:
        pin.computeRNEADerivatives(model, data, q, v, a)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        return [weights @ J for J in (data.dtau_dq, data.dtau_dv, M)]

    return Torques
