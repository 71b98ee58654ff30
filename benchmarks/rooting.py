"""What another root costs: making the model, and converting states, per evaluation. `python -m benchmarks.rooting`."""

from __future__ import annotations

import numpy as np

import cardan
from cardan._reach.cli.bench import shortest

BATCH, SECONDS = 4096, 0.3


def main() -> None:
    """Print the table."""
    print("| robot, roots | model(root=...) | q | v | a | effort | inverse dynamics, for comparison |\n|" + "---|" * 7)
    pairs = {"arm7": ("base", "tool"), "quadruped": (None, None), "humanoid": ("pelvis", "left_foot")}
    for name, (first, last) in pairs.items():
        m = getattr(cardan.robots, name)()
        first, last = first or m.bodies[0].name, last or m.bodies[-1].name
        source = m.model(root=first, base="floating")
        making = shortest(lambda m=m, last=last: m.model(root=last, base="floating"), SECONDS)
        to = cardan.converter(source, m.model(root=last, base="floating"))
        rng = np.random.default_rng(0)
        q, (v, a, tau) = source.random_configuration((BATCH,), seed=0), rng.normal(size=(3, BATCH, source.nv))
        calls = (
            lambda to=to, q=q: to.configuration(q),
            lambda to=to, q=q, v=v: to.velocity(q, v),
            lambda to=to, q=q, v=v, a=a: to.acceleration(q, v, a),
            lambda to=to, q=q, tau=tau: to.effort(q, tau),
            lambda s=source, q=q, v=v, a=a: cardan.inverse_dynamics(s, q, v, a),
        )
        cells = " | ".join(f"{1e9 * shortest(call, SECONDS) / BATCH:.0f} ns" for call in calls)
        print(f"| {name}, {first} to {last} | {1e3 * making:.1f} ms | {cells} |", flush=True)


if __name__ == "__main__":
    cardan.set_num_threads(1)
    main()
