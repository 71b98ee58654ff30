"""Constants of a model as inputs: given at every call, for every state its own, instead of written into the program.

    varied = model.with_inputs("mass", radii=("shoulder", "radii"))
    tau = cardan.inverse_dynamics(varied, q, v, a, mass=masses, radii=radii)

A function traced for such a model is traced on `with_constants(model, values)`: the same tree, with symbols in it.
(A model is `Any` here: the module of `Model` imports this one.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, cast

import numpy as np

from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import CardanError, ParameterError, ShapeError, UnknownNameError, check_known
from cardan._algebra.manifolds.product import scalar_coordinates
from cardan._algebra.spatial import SE3, Inertia, Symmetric3, Vector3
from cardan._robot.joints.derivation.derived import rates_program, subspace_program
from cardan._robot.joints.derivation.programs import EmptySlot, parameter, replaced, with_parameter
from cardan._robot.model.layout import PASSIVE
from cardan._robot.records import Body, Connection

# Constants of a body: mass [kg], centre of mass [m] and inertia about it [kg m^2] in body axes; or, instead of the
# three, the ten parameters of `Inertia.parameters`, in which the dynamics is linear.
INERTIAL: dict[str, tuple[int, ...]] = {"mass": (), "com": (3,), "inertia": (3, 3), "inertial_parameters": (10,)}

# Constants of a joint, homogeneous matrices (4, 4): its frames in its two bodies.
POSES = ("parent_pose", "child_pose")
_PARTS = {"drive": ("stiffness", "damping"), "spring": ("stiffness", "rest")}
# Constants of a joint's drive and spring: the part, and what they are called there.
OF_A_PART = {f"{part}_{key}": (part, key) for part, keys in _PARTS.items() for key in keys}

# Limits along the degrees of freedom as `Model` names them, and what `Limits` calls them. A degree of freedom
# whose position is no coordinate, as of an orientation, cannot be given a limit that it has not: it stays infinite.
LIMITS = {"lower": "lower", "upper": "upper", "effort_lower": "effort_lower", "effort_upper": "effort"}
ALONG_V = (*PASSIVE, *LIMITS)  # what is given as one number for each degree of freedom

Values = dict[tuple[str, str], np.ndarray]  # by owner and constant

# What `with_inputs` takes without an owner: one number, vector or matrix for each body, joint, frame or dof.
OF_ALL = (*INERTIAL, *POSES, "frame_pose", *ALONG_V, "gravity")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Input(ByFields):
    """A constant that is given at every call."""

    name: str  # the keyword it is given by
    constant: str  # which constant
    owner: str | None  # whose: a body, joint or frame; None for all of the model
    shape: tuple[int, ...]  # core shape of the array that is given

    @property
    def is_pose(self) -> bool:
        """Whether it holds poses, whose tangent has six directions each."""
        return self.constant in (*POSES, "frame_pose", "pose")

    @property
    def is_of_motion(self) -> bool:
        """Whether it may change how a joint moves bodies: where it is, or a parameter of its own."""
        return self.constant not in (*INERTIAL, *ALONG_V, "frame_pose", "pose", "gravity")


def find_inputs(model: Any, names: tuple[str, ...], owned: Mapping[str, Any]) -> dict[str, Input]:
    """Return the new inputs, by name, after those the model has; raise if one does not exist, or is there twice."""
    given: list[Input] = []
    for name in names:
        if name not in OF_ALL:
            hint = "a parameter of one joint is asked for as radii=('joint', 'radii')"
            raise UnknownNameError("constant", name, OF_ALL, where=f"with_inputs; {hint}")
        given.append(Input(name, name, None, _nominal_of_all(model, name).shape))
    for name, pair in owned.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(e, str) for e in pair):
            raise ParameterError(f"input {name!r}", got=pair, expected="(owner, constant), such as ('link7', 'mass')")
        owner, constant = pair
        given.append(Input(name, constant, owner, _nominal_of_one(model, owner, constant).shape))
    found = dict(model.inputs)
    for new in given:
        if new.name in found:
            raise ParameterError(f"input {new.name!r}", got="it twice", expected="each name once")
        found[new.name] = new
    _check_disjoint(model, found)
    return found


def _check_disjoint(model: Any, found: Mapping[str, Input]) -> None:
    """Raise where two inputs say the same thing."""
    said: dict[tuple[str, str], str] = {}
    placed = {c.name for c in model.connections if c.joint.is_placed}
    for given in found.values():
        for owner in _owners(model, given):
            if owner in placed and given.constant not in ALONG_V:
                expected = "not of a joint of a cluster, whose configurations are closed for its own places"
                raise ParameterError(f"input {given.name!r}", got=f"{given.constant} of {owner!r}", expected=expected)
            same = ("mass", "com", "inertia") if given.constant == "inertial_parameters" else (_own_constant(given),)
            for key in [(owner, constant) for constant in same]:
                if key in said:
                    got = f"{given.name!r} and {said[key]!r} both determine the {key[1]} of {owner!r}"
                    raise ParameterError("inputs", got=got, expected="each constant once")
                said[key] = given.name


def _owners(model: Any, given: Input) -> tuple[str, ...]:
    if given.owner is not None:
        return (given.owner,)
    if given.constant in INERTIAL:
        return model.body_names
    if given.constant == "frame_pose":
        return tuple(f.name for f in model.frames)
    if given.constant in ALONG_V:
        return tuple(c.name for c in model.connections if not c.joint.primaries)
    return ("",) if given.constant == "gravity" else model.joint_names


def _own_constant(given: Input) -> str:
    """Return what a constant is called that belongs to one body, joint or frame."""
    return "pose" if given.constant == "frame_pose" else given.constant


def nominal(model: Any, given: Input) -> np.ndarray:
    """Return the model's own value of a constant, in the shape of the input."""
    if given.owner is None:
        return _nominal_of_all(model, given.constant)
    return _nominal_of_one(model, given.owner, given.constant)


def _nominal_of_all(model: Any, constant: str) -> np.ndarray:
    if constant in INERTIAL:
        rows = [_inertial(b.inertia, constant) for b in model.bodies]
        array = np.array(rows, dtype=float).reshape(len(rows), *INERTIAL[constant])
        return array.reshape(-1) if constant == "inertial_parameters" else array
    if constant in POSES:
        return _matrices([getattr(c, constant) for c in model.connections])
    if constant == "frame_pose":
        return _matrices([f.pose for f in model.frames])
    if constant == "gravity":
        return np.array(model.gravity, dtype=float)
    owners = [c for c in model.connections if not c.joint.primaries]
    return np.array([e for c in owners for e in _along_v(c, constant)], dtype=float)


def _nominal_of_one(model: Any, owner: str, constant: str) -> np.ndarray:
    if constant in INERTIAL:
        return np.array(_inertial(model.body(owner).inertia, constant), dtype=float)
    if constant == "pose":
        names = [f.name for f in model.frames]
        check_known("frame", owner, names, "with_inputs")
        return _matrices([model.frames[names.index(owner)].pose])[0]
    if owner in model.body_names and owner not in model.slices:
        raise UnknownNameError("constant", constant, INERTIAL, where=f"with_inputs: body {owner!r}")
    connection = model.connection(owner)
    if constant in POSES:
        return _matrices([getattr(connection, constant)])[0]
    if constant in ALONG_V:
        return np.array(_along_v(connection, constant), dtype=float)
    own = parameter(connection.joint, constant)
    _check_open(connection, constant, own)
    return own


def _along_v(c: Connection, constant: str) -> tuple[float, ...]:
    return getattr(c.limits, LIMITS[constant]) if constant in LIMITS else getattr(c, constant)


def _check_open(connection: Connection, constant: str, array: np.ndarray) -> None:
    """Raise if a joint's own code cannot do with symbols in place of an array of parameters."""
    # The joint's code is tried on symbols now, and not at the first call, where nobody remembers the parameter.
    slots = np.array([EmptySlot(k) for k in range(array.size)], dtype=object).reshape(array.shape)
    template = with_parameter(connection.joint, constant, slots)
    try:
        subspace_program(template)
        rates_program((template,))
    except (CardanError, TypeError, ValueError) as error:
        what, got = f"parameter {constant!r} of joint {connection.name!r}", "one whose value the joint's code looks at"
        expected = "one that its transform and motion subspace only calculate with"
        raise ParameterError(what, got=got, expected=expected, hint=f"Of a symbol it said: {error}") from error


def _inertial(inertia: Inertia | None, constant: str) -> Any:
    own = inertia or Inertia.zero()
    if constant == "inertial_parameters":
        return own.parameters()
    if constant == "inertia":
        return [list(row) for row in own.inertia_at_com.matrix().rows()]
    return getattr(own, constant)


def _matrices(poses: list[SE3]) -> np.ndarray:
    return np.array([X.homogeneous() for X in poses], dtype=float).reshape(len(poses), 4, 4)


def with_constants(model: Any, values: Mapping[str, np.ndarray]) -> Any:
    """Return the model with the inputs' values in it, numbers or symbols, which nobody checks: poses must be rigid."""
    given = spread(model, values)
    if not model.inputs:
        return model
    bodies = tuple(_body(b, given) for b in model.bodies)
    connections = tuple(_connection(c, given) for c in model.connections)
    frames = tuple(
        f if (X := given.get((f.name, "pose"))) is None else replaced(f, pose=SE3.of(X)) for f in model.frames
    )
    twin = replace(model, bodies=bodies, connections=connections, frames=frames, inputs={})
    gravity = given.get(("", "gravity"))
    return twin if gravity is None else replaced(twin, gravity=Vector3(*gravity))


def with_numbers(model: Any, values: Mapping[str, Any]) -> Any:
    """Return the model with checked numbers for some of its inputs, which are inputs no longer."""
    arrays: dict[str, np.ndarray] = {}
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.shape != model.inputs[name].shape:
            raise ShapeError("with_values", name, got=array.shape, expected=str(model.inputs[name].shape))
        if not np.isfinite(array).all():
            raise ParameterError(f"with_values: {name}", got=value, expected="finite numbers")
        arrays[name] = array
    # `with_constants` checks nothing, as symbols have no sign or length. Numbers have: the constructors run once more.
    unchecked = with_constants(model, arrays)
    for b in unchecked.bodies:
        if b.inertia is not None and b.inertia.mass < 0.0:
            raise ParameterError(f"mass of body {b.name!r}", got=b.inertia.mass, expected="a mass >= 0 [kg]")
    bodies = tuple(replace(b) for b in unchecked.bodies)
    joints = [replace(cast("Any", c.joint)) if is_dataclass(c.joint) else c.joint for c in unchecked.connections]
    connections = tuple(replace(c, joint=joint) for c, joint in zip(unchecked.connections, joints, strict=True))
    frames = tuple(replace(f) for f in unchecked.frames)
    rest = {name: given for name, given in model.inputs.items() if name not in values}
    return replace(unchecked, bodies=bodies, connections=connections, frames=frames, inputs=rest)


def spread(model: Any, values: Mapping[str, np.ndarray]) -> Values:
    """Return the inputs' values by owner and constant."""
    found: Values = {}
    for name, value in values.items():
        given = model.inputs[name]
        # Of objects, so that symbols, batches and floats are spread in one way.
        array = np.asarray(value, dtype=object).reshape(given.shape)
        if given.owner is not None:
            found[given.owner, given.constant] = array
        elif given.constant in ALONG_V:
            found.update({(owner, given.constant): array[model.slices[owner][1]] for owner in _owners(model, given)})
        elif given.constant == "gravity":
            found["", "gravity"] = array
        else:
            owners = _owners(model, given)
            rows = array.reshape(len(owners), -1) if given.constant == "inertial_parameters" else array
            found.update({(owner, _own_constant(given)): rows[k, ...] for k, owner in enumerate(owners)})
    return found


def _body(body: Body, given: Values) -> Body:
    ten = given.get((body.name, "inertial_parameters"))
    if ten is not None:
        return replaced(body, inertia=Inertia.from_parameters(ten.tolist()))
    parts = {constant: given.get((body.name, constant)) for constant in ("mass", "com", "inertia")}
    if all(part is None for part in parts.values()):
        return body
    own = body.inertia or Inertia.zero()
    mass = own.mass if parts["mass"] is None else parts["mass"][()]
    com = own.com if parts["com"] is None else Vector3(*parts["com"])
    # Mass and centre move the inertia about the origin; the one about the centre of mass stays what it is.
    J, about = parts["inertia"], own.inertia_at_com
    if J is not None:
        about = Symmetric3(J[i, i] if i == j else 0.5 * (J[i, j] + J[j, i]) for i in range(3) for j in range(i, 3))
    return replaced(body, inertia=Inertia.from_origin(mass, com * mass, about + Symmetric3.point(com) * mass))


def _connection(c: Connection, given: Values) -> Connection:
    changes: dict[str, Any] = {n: SE3.of(X) for n in POSES if (X := given.get((c.name, n))) is not None}
    along = {n: tuple(values) for n in PASSIVE if (values := given.get((c.name, n))) is not None}
    parts: dict[str, dict[str, Any]] = {}
    for part, key in (OF_A_PART[name] for name in along.keys() & OF_A_PART.keys()):
        parts.setdefault(part, {})[key] = along.pop(f"{part}_{key}")
    changes |= along | {part: replaced(getattr(c, part), **values) for part, values in parts.items()}
    limits: dict[str, tuple[Any, ...]] = {}
    for n in LIMITS:
        if (values := given.get((c.name, n))) is not None:
            open_ended, own = without_limit(c, n), enumerate(_along_v(c, n))
            limits[LIMITS[n]] = tuple(e if k in open_ended else values[k] for k, e in own)
    if limits:
        changes["limits"] = replaced(c.limits, **limits)
    joint = c.joint
    for (owner, constant), value in given.items():
        if owner == c.name and constant not in (*POSES, *ALONG_V, *INERTIAL, "pose"):
            joint = with_parameter(joint, constant, value)
    return replaced(c, joint=joint, **changes) if changes or joint is not c.joint else c


def without_limit(c: Connection, constant: str) -> set[int]:
    """Return which degrees of freedom of a joint have no limit, and cannot be given one: see `LIMITS`."""
    if constant not in ("lower", "upper"):
        return set()
    scalar = {k for _, k in scalar_coordinates(c.joint.manifold)}
    return {k for k, own in enumerate(_along_v(c, constant)) if math.isinf(own) and k not in scalar}
