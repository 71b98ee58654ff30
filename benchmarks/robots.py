"""The robots: some that exist, and chains of n revolute joints; every library reads the same URDF text.

Shapes, transmissions and simulator tags are cut out, as they take no part in dynamics; so is `<mimic>`, which not every
library knows: the Panda has 9 degrees of freedom, two of them its fingers.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import cardan

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from robots_data import urdf_files

REAL = {
    "panda": ("panda.urdf", "fixed"),
    "ur5": ("ur5_robot.urdf", "fixed"),
    "anymal": ("anymal.urdf", "floating"),
    "g1": ("g1_29dof_rev_1_0.urdf", "floating"),
    "icub": ("icub_reduced.urdf", "floating"),
    "talos": ("talos_reduced.urdf", "floating"),
}
CHAINS = {f"chain{n}": n for n in (10, 20, 50, 100, 200, 300)}
NAMES = (*REAL, *CHAINS)
STATES = 4096
_USELESS = "visual|collision|transmission|gazebo|mujoco"


@dataclass(frozen=True)
class Robot:
    """A robot as URDF text, with the states at which everything is evaluated.

    Attributes:
        name: in tables.
        base: "fixed" or "floating".
        urdf: the description.
    """

    name: str
    base: str
    urdf: str

    @cached_property
    def model(self) -> cardan.Model:
        """The robot in cardan."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cardan.errors.DescriptionWarning)
            return cardan.load(self.urdf, base=self.base)

    @cached_property
    def states(self) -> dict[str, np.ndarray]:
        """Random states q, v, a, tau in cardan's order, shapes (STATES, nq or nv)."""
        rng = np.random.default_rng(0)
        v, a, tau = rng.normal(size=(3, STATES, self.model.nv))
        return {"q": self.model.random_configuration((STATES,), seed=0), "v": v, "a": a, "tau": tau}

    @property
    def frame(self) -> str:
        """The body whose Jacobian is taken: the last."""
        return self.model.body_names[-1]


def robot(name: str) -> Robot:
    """Return a robot by its name, or raise `FileNotFoundError`."""
    if name in CHAINS:
        return Robot(name, "fixed", chain_urdf(CHAINS[name]))
    file, base = REAL[name]
    found = next((f for f in urdf_files() if f.name == file), None)
    if found is None:
        raise FileNotFoundError(f"{file} is not among the robots of example-robot-data")
    return Robot(name, base, stripped(found.read_text()))


def stripped(urdf: str) -> str:
    """Return URDF text without what is not about the dynamics of a tree."""
    bare = re.sub(rf"<({_USELESS})\b[^>]*/>|<({_USELESS})\b.*?</\2>", "", urdf, flags=re.DOTALL)
    return re.sub(r"<mimic\b[^>]*/>|<mimic\b.*?</mimic>", "", bare, flags=re.DOTALL)


def chain_urdf(n: int) -> str:
    """Return a chain of n hinges in general position, each link 4 to 20 cm long with an inertia off every axis."""
    rng = np.random.default_rng(n)
    m = cardan.Mechanism(f"chain{n}")
    m.add_body("base", _inertia(rng))  # some readers want the mass of a root that cannot move
    for k in range(1, n + 1):
        m.add_body(f"link{k}", _inertia(rng))
        pose = cardan.SE3(_rotation(rng), rng.uniform(0.04, 0.2) * _direction(rng))
        parent, limits = "base" if k == 1 else f"link{k - 1}", cardan.Limits([-3.0], [3.0], [10.0], [100.0])
        m.add_joint(f"joint{k}", cardan.joints.Revolute([0, 0, 1]), parent, f"link{k}", pose, limits=limits)
    return cardan.to_urdf(m)


def _inertia(rng: np.random.Generator) -> cardan.Inertia:
    """Return a box of about a kilogram, turned and shifted."""
    mass, sides, R = rng.uniform(0.3, 2.0), rng.uniform(0.03, 0.15, size=3), np.array(_rotation(rng))
    moments = mass / 12 * (np.sum(sides**2) - sides**2)
    return cardan.Inertia(mass=mass, com=0.05 * _direction(rng), inertia=R @ np.diag(moments) @ R.T)


def _direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _rotation(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)
