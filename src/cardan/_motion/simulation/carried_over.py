"""The state of one world as a state of another, by names: bodies come and go between two steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._motion.crowd.kept import KeptImpulses
from cardan._motion.simulation.pairs import PairList
from cardan._motion.simulation.state import SAVED, State
from cardan._motion.simulation.world_contents import CONTACT_INPUTS, WorldContents
from cardan._robot.model import Model
from cardan._robot.model.inputs import spread

ALONG = {"q": 0, "v": 1, "warm": 1}
"""Arrays of a state that follow the joints, and which of a joint's two slices is theirs."""


def carried_over(world: WorldContents, state: Any) -> State:
    """Return the state of a world in which all goes on that it has in common with another; see `World.state_from`."""
    if not isinstance(state, State):
        raise ParameterError("state to go on from", got=state, expected="a cardan.State")
    old = state.world
    if world.moves_like(old):
        return state.copy()
    _check_joints(old.model, world.model)
    _check_constants(old, world)
    after = State(world, len(state), state.dtype)
    for name in SAVED:
        if name in ALONG:
            _copy_named(name, old, getattr(state, name), world, getattr(after, name))
        else:
            getattr(after, name)[...] = getattr(state, name)
    for name, own in state.constants.items():
        _copy_named(name, old, own, world, after.constants[name])
    if state.kept_impulses is not None:
        after.kept_impulses = _kept(state.kept_impulses, old.pairs, world.pairs)
    return after


def _check_joints(old: Model, new: Model) -> None:
    """Raise for a joint of both worlds whose coordinates mean two things."""
    for name in new.slices:
        if name in old.slices:
            mine, theirs = new.joint(name), old.joint(name)
            if (type(mine), mine.manifold) != (type(theirs), theirs.manifold):
                hint = "Give the joint another name in one of the worlds: then it begins where its world does."
                raise ParameterError(f"joint {name!r} of the state", got=theirs, expected=repr(mine), hint=hint)


def _check_constants(old: WorldContents, new: WorldContents) -> None:
    """Raise for what is given for each world there, and not here."""
    there, here = ({n: (i.constant, i.owner) for n, i in w.model.inputs.items()} for w in (old, new))
    left_out = [name for name in old.contact_inputs if name not in new.contact_inputs]
    left_out += [name for name, own in there.items() if here.get(name) != own]
    if left_out:
        expected = f"of those that world {new.name!r} is given: {', '.join((*new.contact_inputs, *here)) or 'none'}"
        hint = "Ask for the same world.with_inputs(...) as there."
        raise ParameterError("constants of the state", got=left_out, expected=expected, hint=hint)


def _copy_named(name: str, old: WorldContents, source: np.ndarray, new: WorldContents, target: np.ndarray) -> None:
    """Copy the numbers of all that both worlds have, arrays (worlds, ...) of a name."""
    there, here = _places(old, name, source[:1].size), _places(new, name, target[:1].size)
    both = [(there[owner], own) for owner, own in here.items() if owner in there and there[owner].size == own.size]
    if both and len(source):
        at = [np.concatenate([place.ravel() for place in places]).astype(int) for places in zip(*both, strict=True)]
        target.reshape(len(target), -1)[:, at[1]] = source.reshape(len(source), -1)[:, at[0]]


def _places(world: WorldContents, name: str, size: int) -> Mapping[Any, np.ndarray]:
    """Return whose the numbers of an array of one world are: their places by owner."""
    places = np.arange(size)
    if name in ALONG:
        return {joint: places[own[ALONG[name]]] for joint, own in world.model.slices.items()}
    if name in CONTACT_INPUTS:
        return {key: places[k, None] for k, key in enumerate(_pair_keys(world.pairs))}
    return spread(world.model, {name: places})


def _kept(kept: KeptImpulses, old: PairList, new: PairList) -> KeptImpulses:
    """Return the impulses of contacts between shapes that both worlds have."""
    place = {own: (k, new.rules.solids[k].node) for k, own in enumerate(_shape_keys(new))}
    found = [place.get(own, (-1, -1)) for own in _shape_keys(old)]
    numbers, nodes = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return kept.renumbered(numbers, nodes, len(new.rules.solids))


def _pair_keys(pairs: PairList) -> Iterator[Hashable]:
    """Yield what pairs of shapes are known by in any world, whichever of both comes first."""
    own = _shape_keys(pairs)
    yield from (frozenset((own[i], own[j])) for i, j in pairs.rules)


def _shape_keys(pairs: PairList) -> list[tuple[str, str, int]]:
    """Return what shapes are known by in any world: the body, the name, and which of these it is."""
    found, count = [], Counter[tuple[str, str]]()
    for solid in pairs.rules.solids:
        own = solid.shape.body, solid.shape.name
        count[own] += 1
        found.append((*own, count[own]))
    return found
