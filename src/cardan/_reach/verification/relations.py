"""What relates the joint to others: its reversal, and the chain of simpler joints it claims to equal."""

from __future__ import annotations

import numpy as np

from cardan._algebra.spatial import Motion
from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.differences import entries
from cardan._reach.verification.samples import Samples, columns, vector
from cardan._robot.joints import Joint, Reversed, reverse


@check("reversal", "X_rev = X^-1,  S_rev = -Ad(X) S,  bias_rev = -Ad(X) bias", 1e-10)
def reversal(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Exchange parent and child, in general and in closed form."""
    for other in (Reversed(joint), reverse(joint)) if not isinstance(joint, Reversed) else (reverse(joint),):
        for (q, v), X in zip(samples.states, samples.poses, strict=True):
            Ad = np.array(X.adjoint(), dtype=float)
            ledger.see(entries(other.transform(q)), entries(X.inverse()), q, label="X_rev")
            ledger.see(columns(other.motion_subspace(q)), -Ad @ columns(joint.motion_subspace(q)), q, label="S_rev")
            there: Motion = other.bias(q, v)
            ledger.see(vector(there), -Ad @ vector(joint.bias(q, v)), q, v, label="bias_rev")
    if ledger.failed:
        ledger.cause = "the reversal of this joint is in closed form and does not belong to it"


@check("equivalent chain", "X, S and bias are those of equivalent_chain(), with the same q and v", 1e-9)
def equivalence(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Compare with the joint that the class says it equals."""
    stated = getattr(joint, "equivalent_chain", None)
    if stated is None:
        raise Skip("the class has no equivalent_chain() that returns a joint, such as a Composite")
    chain = stated() if callable(stated) else stated
    if not isinstance(chain, Joint) or (chain.nq, chain.nv) != (joint.nq, joint.nv):
        ledger.fail(f"equivalent_chain() returns {chain!r}")
        ledger.cause = f"it must return a joint of nq = {joint.nq}, nv = {joint.nv}"
        return
    for q, v in samples.states:
        ledger.see(entries(joint.transform(q)), entries(chain.transform(q)), q, label="[R row by row, p]")
        ledger.see(columns(joint.motion_subspace(q)), columns(chain.motion_subspace(q)), q, label="S")
        ledger.see(vector(joint.bias(q, v)), vector(chain.bias(q, v)), q, v, label="bias")
    if ledger.failed:
        ledger.cause = "the chain has another placement, axis or order of coordinates than the joint"
