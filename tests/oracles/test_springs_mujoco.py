"""Springs and margins handed to MuJoCo: its accelerations and contacts are those here."""

from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan import Inertia, Mechanism, Spring
from cardan import joints as J
from cardan.description import Shape, Sphere
from cardan.errors import UnsupportedError
from cardan.interop import to_mjspec
from mechanisms import random_mechanism
from test_mujoco_spec import There, close, tree

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)

SPRUNG = [
    J.Revolute((0.36, 0.48, 0.8)),
    J.Prismatic((0.36, 0.48, 0.8)),
    J.Universal((1, 0, 0), (0, 0.6, 0.8)),
    J.Cylindrical((0.36, 0.48, 0.8)),
    J.Translation(),
    J.SphericalZYX(),
    J.Spherical(),
]


def with_springs(model, seed):
    rng = np.random.default_rng(seed)

    def sprung(c):
        stiffness, rest = rng.uniform(1.0, 30.0, c.joint.nv), rng.uniform(-1.0, 1.0, c.joint.nv)
        if isinstance(c.joint, J.Spherical):
            stiffness, rest = stiffness[:1].repeat(3), rest * 0.0
        return c if c.joint.is_floating else replace(c, spring=Spring(stiffness, rest))

    return replace(model, connections=tuple(map(sprung, model.connections)))


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_with_springs(reference_target, seed):
    model = with_springs(tree(seed, joints=SPRUNG), seed)
    model = replace(model, connections=tuple(replace(c, friction=None) for c in model.connections))
    there = There(model)
    q, v = model.random_configuration(seed=seed), np.random.default_rng(seed).normal(size=model.nv)
    there.at(q, v)
    a = cardan.forward_dynamics(model, q, v, -cardan.passive_forces(model, q, v))
    close(there.data.qacc, there.to.acceleration(q, v, a), 1e-9)


def test_the_spring_of_a_mimic(reference_target):
    m = random_mechanism(0, joints=[J.Revolute((0, 0, 1))])
    m.add_body("other", Inertia(1.0, (0.1, 0, 0), np.eye(3) * 0.1))
    name = m.joints[-1].name
    m.add_joint(
        "copy", J.Mimic(J.Revolute((0, 1, 0)), name, 0.5, 0.2), m.bodies[0].name, "other", spring=Spring(9.0, 0.4)
    )
    spec = to_mjspec(m)
    joint = spec.joint("copy")
    assert (joint.stiffness[0], joint.springref) == (9.0, 0.4)


@pytest.mark.parametrize(
    ("joint", "spring"),
    [
        (J.FreeFlyer(), Spring(1.0)),
        (J.Spherical(), Spring((1.0, 2.0, 3.0))),
        (J.Spherical(), Spring(1.0, 0.1)),
        (J.PlanarAngle(), Spring(1.0)),
        (J.UnboundedRevolute(), Spring(1.0)),
    ],
)
def test_springs_it_cannot_say_are_refused(joint, spring):
    m = Mechanism("one")
    m.add_body("b", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("j", joint, "world", "b", spring=spring)
    with pytest.raises(UnsupportedError, match="spring"):
        to_mjspec(m)


def test_margins_are_added_there_and_here():
    m = Mechanism("two")
    for k, margin in enumerate((0.03, 0.05)):
        m.add_body(f"b{k}", Inertia(1.0, (0, 0, 0), np.eye(3)))
        m.add_joint(f"j{k}", J.FreeFlyer(), "world", f"b{k}")
        m.add_shape(Shape(f"b{k}", "collision", Sphere(0.1), margin=margin))
    for robot in (m, m.world(self_collision=True)):
        there = to_mjspec(robot).compile()
        data = mujoco.MjData(there)
        for gap, touching in ((0.079, 1), (0.081, 0)):
            data.qpos[:] = 0.0
            data.qpos[[3, 10]] = 1.0
            data.qpos[9] = 0.2 + gap
            mujoco.mj_forward(there, data)
            assert data.ncon == touching


def test_the_period_under_mujocos_own_steps():
    m = Mechanism("oscillator", gravity=(0.0, 0.0, 0.0))
    m.add_body("wheel", Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.2, 0.15])))
    m.add_joint("axle", J.Revolute((0, 1, 0)), "world", "wheel", spring=Spring(8.0, 0.3))
    period, world = 2.0 * np.pi * np.sqrt(0.2 / 8.0), m.world()
    for integrator, error in (("rk4", 1e-9), ("euler", 1e-3)):
        solver = cardan.solvers.MuJoCo(world, period / 1000, integrator=integrator)
        state = solver.step(world.state(q=[[0.5]]), steps=1000)
        np.testing.assert_allclose(state.q, [[0.5]], atol=error)
        np.testing.assert_allclose(state.v, [[0.0]], atol=error)
