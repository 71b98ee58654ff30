"""What a joint must be before its mathematics can be examined: sizes, types, a value that stays the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np

from cardan._algebra.arrays import as_argument
from cardan._algebra.errors import CardanError
from cardan._compiler.program import Array, trace
from cardan._reach.formats import from_json, to_json
from cardan._reach.verification.check import Ledger, check
from cardan._reach.verification.samples import Samples, columns, entries, vector
from cardan._robot.joints import Joint, first_checks


@check("sizes", "nq and nv are those of the manifold, of its maps and of the names", essential=True)
def sizes(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if fault := first_checks.manifold_fault(joint):
        ledger.fail(fault.what)
        ledger.cause = fault.cure
        return
    for fault in first_checks.size_faults(joint, samples.q[-1], samples.v[0]):
        ledger.fail(fault.what)


@check("transform", "transform(q) is a pose of finite numbers", essential=True)
def transform(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q in samples.q:
        ledger.now = (q, None)
        X = joint.transform(q)
        if fault := first_checks.type_fault(X):
            ledger.fail(fault.what, q)
            ledger.cause = fault.cure
            return
        numbers = entries(X)  # a number that is not finite is compared with 0, and so is wrong
        ledger.see(numbers, np.where(np.isfinite(numbers), numbers, 0.0), q, label="[R row by row, p]")
    if ledger.failed and ledger.place == samples.q[0]:
        kinds = {4: "; for a quaternion it is UnitQuaternion()", 2: "; for (cos, sin) it is UnitComplex()"}
        guard = "0 / 0 or a root of zero, to be guarded with cardan.where on both sides"
        ledger.cause = f"at the neutral configuration: {guard}, or the wrong manifold{kinds.get(joint.nq, '')}"


@check("shapes", "S has nv columns, each a Motion; the bias is a Motion; there are nv efforts", essential=True)
def shapes(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        ledger.now = (q, v)
        S, bias, efforts = list(joint.motion_subspace(q)), joint.bias(q, v), joint.efforts(q, v)
        faults = (
            first_checks.columns_fault(joint, S),
            first_checks.efforts_fault(joint, efforts),
            *map(first_checks.motion_fault, (*S, bias)),
        )
        for fault in filter(None, faults):
            ledger.fail(fault.what, q, v)
            ledger.cause = ledger.cause or fault.cure


@check("no memory", "every call with the same q gives the same result, whatever was called before", 1e-15)
def memory(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    before = _attributes(joint)
    first = [_everything(joint, q, v) for q, v in samples.states]
    # Another order: what a joint remembers shows.
    backwards = [_everything(joint, q, v) for q, v in reversed(samples.states)]
    for (q, v), a, b in zip(samples.states, first, reversed(backwards), strict=True):
        ledger.see(b, a, q, v, label="[transform, S, bias, efforts]")
    for q, v in samples.states:  # S and bias asked for at a configuration whose transform was not
        joint.transform(samples.q[0])
        S = columns(joint.motion_subspace(q)).ravel()
        ledger.see(S, columns(samples.joint.motion_subspace(q)).ravel(), q, v, label="S")
        joint.transform(q)
        ledger.see(S, columns(joint.motion_subspace(q)).ravel(), q, v, label="S after transform(neutral)")
    changed = [k for k, text in _attributes(joint).items() if before.get(k) != text]
    if changed:
        ledger.fail(f"calls change the attribute {changed[0]!r}")
    if ledger.failed:
        ledger.cause = first_checks.MEMORY


def _everything(joint: Joint, q: Any, v: Any) -> np.ndarray:
    S, bias = columns(joint.motion_subspace(q)), vector(joint.bias(q, v))
    efforts = np.array([float(e) for e in joint.efforts(q, v)])
    return np.concatenate([entries(joint.transform(q)), S.ravel(), bias, efforts])


def _attributes(joint: Joint) -> dict[str, str]:
    return {k: repr(value) for k, value in {**joint.parameters(), **getattr(joint, "__dict__", {})}.items()}


@check("value", "copies, pickles and rebuilds are equal to the joint, with an equal hash")
def value(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    ways = {"a copy": copy.deepcopy, "a pickle": lambda j: pickle.loads(pickle.dumps(j))}
    if dataclasses.is_dataclass(joint):
        ways["one built from parameters()"] = lambda j: type(j)(**j.parameters())
    for how, make in ways.items():
        try:
            other = make(joint)
        except Exception as error:  # pickling may raise anything
            ledger.fail(f"{how} raises {type(error).__name__}: {first_checks.first_line(error)}")
            ledger.cause = "define the class at the top of a module, with parameters that can be stored"
            return
        if not (other == joint and hash(other) == hash(joint)):
            ledger.fail(f"{how} is not equal to the joint, or its hash differs")
            ledger.cause = "__eq__ must compare the parameters; a frozen dataclass does, cardan.Joint does without"
            return
        for q in samples.q[:2]:
            ledger.see(entries(other.transform(q)), entries(joint.transform(q)), q, label=f"transform of {how}")


@check("serialisation", "from_json(to_json(joint)) is the joint, to the last bit")
def serialisation(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Write the joint as JSON, read it, compare; its class is trusted to be found where it says."""
    try:
        text = to_json(joint)
        other = from_json(text, trusted=True)
    except CardanError as error:
        ledger.fail(first_checks.first_line(error))
        ledger.cause = "make it a frozen dataclass at the top of a module, whose fields are numbers, texts, joints, ..."
        return
    if not (other == joint and to_json(other) == text):
        ledger.fail("the joint that is read is not equal to the one that was written")
        ledger.cause = "__init__ or __post_init__ changes a parameter, or the joint keeps one outside its fields"
        return
    for q, v in samples.states:
        ledger.now = (q, v)
        ledger.see(_everything(other, q, v), _everything(joint, q, v), q, v, label="[transform, S, bias, efforts]")
    if ledger.failed:
        ledger.cause = "the joint depends on something that is not among its parameters; make it a dataclass field"


@check("traced", "transform, S, bias and efforts run on symbols", essential=True)
def traced(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    q, v = Array("q", (joint.nq,)), Array("v", (joint.nv,))
    methods: dict[str, tuple[Any, list[Array]]] = {
        "transform": (lambda q: joint.transform(q).matrix().ravel().tolist(), [q]),
        "motion_subspace": (lambda q: [e for s in joint.motion_subspace(q) for e in s.scalars()], [q]),
        "bias": (lambda q, v: list(joint.bias(q, v).scalars()), [q, v]),
        "efforts": (lambda q, v: list(joint.efforts(q, v)), [q, v]),
    }
    for name, (method, inputs) in methods.items():
        try:
            trace(name, lambda *arrays, method=method: {"result": as_argument(method(*arrays))}, inputs)
        except Exception as error:  # the joint's code may raise anything
            ledger.fail(f"{name} raises {type(error).__name__}: {first_checks.first_line(error)}")
            ledger.cause = first_checks.cause_of(error)
            return
