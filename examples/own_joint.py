"""A joint of one's own in fifteen lines: a follower on an elliptic cam.

python examples/own_joint.py [PICTURE.png]

More: docs/new-joint.md.
"""

import sys
from dataclasses import dataclass

import numpy as np

import cardan
from cardan.spatial.rotations import rotation_about_axis


@dataclass(frozen=True)
class EllipticCam(cardan.Joint):
    """The child runs along an ellipse in the xz plane, its x axis the tangent. q: angle [rad]."""

    a: float = 0.4  # m, half axis along x
    b: float = 0.2  # m, along z
    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        """Return the pose of the follower on the cam."""
        c, s = cardan.cos(q[0]), cardan.sin(q[0])
        tangent = cardan.atan2(-self.b * c, -self.a * s)  # about y
        return cardan.SE3(
            rotation_about_axis((0.0, 1.0, 0.0), tangent), (self.a * c, 0.0, self.b * s)
        )


def main(picture: str) -> None:
    """Let a pendulum swing on a follower that runs around the cam without friction."""
    certificate = cardan.verify_joint(EllipticCam())  # dozens of identities, by sampling
    print(certificate.verdict)

    m = cardan.Mechanism("cam")
    m.add_body("follower", cardan.Inertia(1.0, (0, 0, 0), 0.002 * np.eye(3)))
    m.add_body("pendulum", cardan.Inertia(0.5, (0, 0, -0.25), 0.001 * np.eye(3)))
    m.add_joint("cam", EllipticCam(), "world", "follower")
    m.add_joint("hinge", cardan.joints.Revolute([0, 1, 0]), "follower", "pendulum")
    m.add_frame("bob", "pendulum", cardan.SE3(translation=[0, 0, -0.25]))
    model = m.model()

    free = {"limits": False, "contact": None}
    solver = cardan.solvers.Featherstone(m.world(), 0.002, integrator="rk4", **free)
    found = solver.rollout(solver.world.state(q=[1.2, 0.0]), steps=1000, every=5)
    q, v = found.q[:, 0], found.v[:, 0]
    energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
    print(f"the energy changes by {np.ptp(energy):.1e} J")

    ax = cardan.plot(model, q, t=found.time[:, 0], paths=["follower", "bob"], shown=8)
    ax.figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "own_joint.png")
