"""`cardan joints`: the catalogue of joint types; `joints new` and `joints verify`: the kit for one of your own.

`joints new NAME` writes a commented joint and its test, which run as they are; the texts have the comments. `joints
verify WHAT` gives the certificate of a joint of your own, or of one that ships.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import re
from pathlib import Path
from string import Template
from typing import Any

from cardan._algebra.errors import JointError, ParameterError, UnknownNameError
from cardan._compiler.runtime.staging import write_whole
from cardan._reach.cli.options import add, table, tell
from cardan._reach.generation.library import imported
from cardan._reach.verification import verify_joint
from cardan._robot.joints import CATALOGUE, Joint, Limits


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, "--json")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions (none: the list of joint types)")
    writer = actions.add_parser("new", help="write a commented joint and its test")
    writer.add_argument("name", metavar="NAME", help="of the joint, such as Cam or crank_slider")
    writer.add_argument("-o", "--output", metavar="FILE", help="where to (default: NAME.py; the test beside it)")
    writer.set_defaults(run=new)
    checker = actions.add_parser("verify", help="check a joint against its definition and all that follows from it")
    checker.add_argument("joint", metavar="FILE:CLASS", help="a class in a Python file, or the name of a joint type")
    checker.add_argument("--arguments", metavar="JSON", help="of the class, such as '{\"pitch\": 0.1}'")
    checker.add_argument("--samples", type=int, default=12, metavar="N", help="configurations (default: 12)")
    checker.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    checker.add_argument("--limits", metavar="JSON", help="lower and upper positions, as '[[-0.3], [0.3]]'")
    add(checker, "--json")
    checker.set_defaults(run=verify)


def run(args: argparse.Namespace) -> int:
    entries = [described(joint) for joint in CATALOGUE]
    header = ("joint", "nq", "nv", "q", "v", "S constant", "example")
    tell(args, entries, table(header, [_row(entry) for entry in entries]))
    return 0


def described(joint: Joint) -> dict[str, Any]:
    """Return a joint type as plain data; a mimic owns no coordinates."""
    own = not joint.primaries
    return {
        "type": type(joint).__name__,
        "nq": joint.nq if own else 0,
        "nv": joint.nv if own else 0,
        "q": joint.coordinate_names if own else (),
        "v": joint.velocity_names if own else (),
        "constant_motion_subspace": joint.has_constant_motion_subspace,
        "summary": (type(joint).__doc__ or "").split("\n")[0],
        "example": repr(joint),
    }


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    constant = "yes" if entry["constant_motion_subspace"] else "no"
    layouts = (" ".join(entry["q"]) or "-", " ".join(entry["v"]) or "-")
    return entry["type"], str(entry["nq"]), str(entry["nv"]), *layouts, constant, entry["example"][:70]


JOINT = '''"""$NAME: one sentence on what it lets the child body do.

$CLASS is written by `cardan joints new`. It works as it stands; change it into your joint step by step and run

    cardan joints verify $FILE:$CLASS

after each. The certificate names the identity that fails, where, by how much, and what the likely error is.
"""

from dataclasses import dataclass

import cardan
from cardan import SE3, Joint, Motion
from cardan.manifolds import Euclidean  # or Product, UnitComplex, UnitQuaternion, MRP, SE2, SE3
from cardan.scalar import cos, sin  # never math's: these, and numpy's, run on symbols, too
from cardan.spatial.rotations import rotation_about_axis

Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)  # immutable; equal parameters make equal joints
class $CLASS(Joint):
    """Slides along x, turns about z, and rises with the turn. q: slide [m], turn [rad]; v: their rates.

    Args:
        rise: height at a quarter turn [m].
    """

    rise: float = 0.1
    manifold = Euclidean(2)  # how nv velocities move nq coordinates

    def transform(self, q):
        """Return X_pc, the pose of the child frame in the parent frame. This alone is a complete joint."""
        slide, turn = q
        return SE3(rotation_about_axis(Z, turn), (slide, 0.0, self.rise * sin(turn)))

    # Not defined everywhere? domain = cardan.Limits([-0.3, -1.0], [0.3, 1.0]) beside the manifold says where.
    # Everything below is optional: delete it, and it is derived from `transform`, or searched for.

    def motion_subspace(self, q):
        """Return the nv columns of S(q): the twists [linear; angular] of the child, in CHILD coordinates.

        Column j is vee(X^-1 dX/dt) while q moves with v = e_j: linear R^T dp/dt, angular vee(R^T dR/dt).
        """
        _, turn = q
        along_x = (cos(turn), -sin(turn), 0.0)  # R^T e_x
        return [Motion(along_x, (0.0, 0.0, 0.0)), Motion((0.0, 0.0, self.rise * cos(turn)), Z)]

    def bias(self, q, v):
        """Return (dS/dt) v, in child coordinates: quadratic in v, zero if S does not depend on q."""
        (_, turn), (slide_rate, turn_rate) = q, v
        product = slide_rate * turn_rate
        rising = -self.rise * sin(turn) * turn_rate * turn_rate
        return Motion((-sin(turn) * product, -cos(turn) * product, rising), (0.0, 0.0, 0.0))

    def nearest_configuration(self, X_pc):
        """Return q with transform(q) = X_pc, the inverse of `transform`."""
        R, p = X_pc
        return p[0], cardan.atan2(R[1, 0], R[0, 0])

    @property
    def coordinate_names(self):
        """Names for tables."""
        return "slide", "turn"

    # If the joint equals a chain of simpler ones with the same q and v, say so; the certificate compares them.
    #
    # def equivalent_chain(self):
    #     return cardan.joints.Composite([cardan.joints.Prismatic((1, 0, 0)), cardan.joints.Revolute(Z)])


if __name__ == "__main__":
    print(cardan.verify_joint($CLASS()))
'''

TEST = '''"""Tests of $CLASS: run `pytest $TEST_FILE`."""

import cardan
import numpy as np
import pytest
from $MODULE import $CLASS


@pytest.mark.parametrize("joint", [$CLASS(), $CLASS(rise=-0.3)], ids=str)
def test_certificate(joint):
    certificate = cardan.verify_joint(joint)
    assert certificate.passed, str(certificate)


def test_pose_by_hand():
    X = $CLASS(rise=0.1).transform([0.5, np.pi / 2])
    np.testing.assert_allclose(X.translation, [0.5, 0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(X.rotation.rows(), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_a_robot_with_it_moves():
    m = cardan.Mechanism("robot")
    m.add_body("link", cardan.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("joint", $CLASS(), "world", "link")
    robot = m.model()
    q, v, a = robot.random_configuration((100,), seed=0), np.ones((100, 2)), np.ones((100, 2))
    tau = cardan.inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(robot, q, v, tau), a, atol=1e-10)
'''


def new(args: argparse.Namespace) -> int:
    place = Path(args.output or f"{args.name}.py")
    # `crank_slider` becomes `CrankSlider`.
    class_name = "".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-\s]+", args.name))
    test = place.with_name(f"test_{place.name}")
    if not class_name.isidentifier():
        expected = "letters, digits and underscores, such as Cam or crank_slider"
        raise ParameterError("NAME", got=args.name, expected=expected)
    if place.suffix != ".py" or not place.stem.isidentifier():
        raise ParameterError("-o FILE", got=str(place), expected="a file a module can be imported from, such as cam.py")
    for file in (place, test):
        if file.exists():
            expected = "one that does not exist: nothing is replaced"
            raise ParameterError("file to write", got=str(file), expected=expected)
    words = {"NAME": args.name, "CLASS": class_name, "FILE": place.name, "MODULE": place.stem, "TEST_FILE": test.name}
    texts = {place: Template(JOINT).substitute(words), test: Template(TEST).substitute(words)}
    try:
        write_whole({p: lambda stream, text=text: stream.write(text.encode()) for p, text in texts.items()})
    except OSError as error:
        raise ParameterError("-o FILE", got=str(place), expected=f"a place to write ({error.strerror})") from None
    print(f"wrote {place} and {test}; check it with\n    cardan joints verify {place}:{class_name}")
    return 0


def verify(args: argparse.Namespace) -> int:
    joint = joint_of(args.joint, args.arguments)
    certificate = verify_joint(joint, args.samples, args.seed, limits=limits_of(args.limits))
    tell(args, certificate.plain(), certificate)
    return 0 if certificate.passed else 1


def joint_of(what: str, arguments: str | None) -> Joint:
    file, colon, name = what.rpartition(":")
    kind = class_of(Path(file), name) if colon else None
    if kind is None:
        types = {type(j).__name__: j for j in reversed(CATALOGUE)}
        if what not in types:
            where = "cardan joints verify (or a class in a file, as FILE:CLASS)"
            raise UnknownNameError("joint type", what, types, where=where)
        if arguments is None:
            return types[what]
        kind = type(types[what])
    return make_joint(kind, arguments)


def limits_of(text: str | None) -> Limits | None:
    """Return the limits the command line names; null stands for no limit."""
    if text is None:
        return None
    expected = "JSON of lower and upper positions, nv numbers (or null) each: '[[-0.3], [0.3]]'"
    try:
        lower, upper = (
            [unlimited if e is None else float(e) for e in side]
            for side, unlimited in zip(json.loads(text), (-math.inf, math.inf), strict=True)
        )
    except (TypeError, ValueError):
        raise ParameterError("--limits", got=text, expected=expected) from None
    return Limits(lower=lower, upper=upper)


def class_of(file: Path, name: str) -> type[Joint]:
    members = vars(imported(file)).items()
    joints = {k: v for k, v in members if inspect.isclass(v) and issubclass(v, Joint) and v is not Joint}
    if name not in joints:
        raise UnknownNameError("joint class", name, joints, where=str(file))
    return joints[name]


def make_joint(kind: type[Joint], arguments: str | None) -> Joint:
    try:
        given = json.loads(arguments) if arguments is not None else {}
    except json.JSONDecodeError as error:
        raise ParameterError("--arguments", got=arguments, expected=f"JSON ({error})") from None
    if not isinstance(given, (dict, list)):
        raise ParameterError("--arguments", got=arguments, expected="a JSON object of keywords, or a list")
    try:
        return kind(**given) if isinstance(given, dict) else kind(*given)
    except TypeError as error:
        hint = "give its arguments as --arguments JSON" if arguments is None else "check --arguments"
        raise JointError(f"{kind.__name__} cannot be made: {error}; {hint}.") from error
