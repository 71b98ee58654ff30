"""Solvers in maximal coordinates: every body by its own pose, joints as constraints between them.

They differ in the page of `maximal_steps` that brings the joints together, and share all else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cardan._algebra.checked_numbers import not_negative, truth
from cardan._algebra.spatial import Vector3
from cardan._dynamics.algorithms.chains import trees_of
from cardan._dynamics.algorithms.drives import JointForces, coupling, is_solid
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.touching import ContactPair
from cardan._motion.crowd.kinds import are_long
from cardan._motion.maximal_steps import (
    StepResult,
    rigid_start,
    semi_implicit_step,
    variational,
    xpbd,
)
from cardan._motion.maximal_steps.bodies import PartialStep, finished, mean_rates
from cardan._motion.simulation.pairs import roots_of
from cardan._motion.simulation.solvers.compiled_solver import CompiledSolver
from cardan._motion.simulation.solvers.solver import SHARED, YES, checked_steps, left_out
from cardan._motion.simulation.solvers.step_function import Outcome, Settings, StepInputs, state_after
from cardan._motion.simulation.solvers.table_steps import NoRow, TableSteps, what_is_no_row
from cardan._motion.simulation.world import World
from cardan._robot.model.layout import ARMATURE
from cardan._robot.records import Material

CLOSINGS = {"variational": variational, "xpbd": xpbd}
"""How joints close in so many iterations, by the method of a solver."""


class Maximal(CompiledSolver):
    """A solver that moves every body by itself and brings joints together.

    A state is coordinates, which keep no gaps: each step begins with closed joints, and what velocities it leaves are
    projected to those the joints allow. `residual` is the largest gap of a step over its length, or by how much
    velocities are wrong at contacts, or of what joints' forces answer to.
    """

    supports: ClassVar[Mapping[str, str]] = {
        **SHARED,
        "distance": YES,
        "cable": YES,
        "link without inertia": "give it one, or take cardan.solvers.Featherstone",
        "armature that follows": "take cardan.solvers.Featherstone, or leave the armature out",
        "cluster": 'take cardan.solvers.Featherstone, or loops="constraints"',
        "joint along several velocities": "take cardan.solvers.Featherstone",
        "contact": YES,
        "surface velocity": "take cardan.solvers.Featherstone, or a joint that is driven (World.with_kinematic)",
        "rolling friction": "take cardan.solvers.Featherstone, whose convex law has it",
    }
    method: ClassVar[str]
    """How a step is taken: one of `CLOSINGS`, or by springs."""
    options: ClassVar[tuple[str, ...]] = ("iterations",)
    """Names of the attributes that are its options."""

    def __init__(self, world: World, dt: float, limits: bool, contacts: bool) -> None:
        self.limits: bool = truth("limits", limits)
        self.contacts: bool = truth("contacts", contacts)
        super().__init__(world, dt)

    def features(self) -> Iterator[tuple[str, str]]:
        """Yield what is in the world that not every solver takes."""
        model = self.world.model
        yield from left_out(model)
        for name in dict.fromkeys(name for node in model.nodes for name in node.joint.primaries):
            joint = model.joint(name)
            columns = [s.scalars() for s in joint.motion_subspace(joint.neutral())]
            if np.linalg.matrix_rank(np.array(columns, dtype=float)) < joint.nv:
                yield "cluster", f"the cluster at joint {name!r}, which does not have all its freedoms"
        for name in coupling(model, limits=self.limits):
            yield (
                "joint along several velocities",
                f"the drive, dry friction or limits of joint {name!r}, which follows several velocities",
            )
        for node in model.nodes:
            if node.name.endswith(ARMATURE) and node.name not in model.joint_names:
                name = node.name.removesuffix(ARMATURE)
                yield "armature that follows", f"the armature of joint {name!r}, which follows others"
            elif not is_solid(node):
                yield "link without inertia", f"what joint {node.name!r} moves, without mass or inertia"
        for pair in self._unusual_pairs() if self.contacts else ():
            if any(pair.surface_velocities):
                yield "surface velocity", f"a surface that runs ({pair.name})"
            if _rubs(pair.material):
                yield "rolling friction", f"torsional or rolling friction, or two coefficients ({pair.name})"

    def _check_support(self) -> None:
        super()._check_support()
        if self.contacts:
            self._check_touching()

    def _unusual_pairs(self) -> Iterator[ContactPair]:
        """Yield the pairs of shapes whose surfaces run, or have more friction than one coefficient."""
        rules = self.world.pairs.rules
        unusual = {i for i, own in enumerate(rules.solids) if own.shape.surface_velocity or _rubs(own.shape.surface)}
        for i in unusual.union(*(both for both, own in rules.surfaces.items() if _rubs(own.material))):
            for j in rules.partners(i).tolist():
                yield self.world.pairs.pair(min(i, j), max(i, j))

    @cached_property
    def settings(self) -> Settings:
        """What a step is made for."""
        # A tuple of tuples, and no mapping: programs are kept by what their settings hold.
        pairs = tuple(self.world.pairs) if self.contacts else ()
        options = tuple((name, getattr(self, name)) for name in self.options)
        return Settings(self.method, self.dt, pairs, self.limits, self.world.kinematic, options)

    @property
    def _outcomes(self) -> tuple[str, Outcome, Outcome, bool]:
        return "maximal_step", step_state, find_forces, False


def _rubs(surface: Material | None) -> bool:
    return surface is not None and (surface.torsional > 0.0 or surface.rolling > 0.0 or surface.anisotropy != 1.0)


def step_state(given: StepInputs) -> dict[str, Any]:
    """Return what a step leaves that bodies and joints take as the method says.

    The residual is by how much velocities are wrong at most, because a search ended [rad/s, m/s]: gaps over the step,
    and forces that are not what they should be.
    """
    joints, h, stepped = given.joints, given.settings.dt, take_step(given)
    return state_after(given, joints.at_end(stepped.q, stepped.v, mean_rates(joints.v, stepped.v, h)), stepped.error(h))


def find_forces(given: StepInputs) -> dict[str, Any]:
    """Return the forces whose impulses contacts give in a step."""
    done, rate = take_step(given).contacts, 1.0 / given.settings.dt
    force, torque = [contact.impulse * rate for contact in done], [Vector3.zero() for _ in done]
    return {"force": force, "torque": torque, "point": [contact.point for contact in done]}


def take_step(given: StepInputs) -> StepResult:
    """Return the step as the bodies take it."""
    settings, model, v, h = given.settings, given.joints.model, given.joints.v, given.settings.dt
    options = dict(settings.options)

    def acting(begun: PartialStep, v: Vector, h: float) -> StepResult:
        return finished(begun, JointForces(model, begun.q, v, given.command, h, limits=settings.limits), v, h)

    if closing := CLOSINGS.get(settings.method):
        return acting(rigid_start(closing(**options), model, given.q, v, h, given.pairs), v, h)
    return semi_implicit_step(acting, model, given.q, v, h, pairs=given.pairs, **options)


class Rigid(Maximal):
    """One of them whose contacts are rigid; its method says how joints close."""

    usual: ClassVar[int]
    """Iterations where none are asked for."""

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        iterations: int | None = None,
        limits: bool = True,
        contacts: bool = True,
        tables: bool | None = None,
        sleep: float | None = None,
    ) -> None:
        self.iterations: int = checked_steps(self.usual if iterations is None else iterations, "iterations")
        self._ask(tables, sleep)
        super().__init__(world, dt, limits, contacts)

    def _no_row(self) -> NoRow | None:
        """See `CompiledSolver._no_row`."""
        if not self.contacts:
            return NoRow("a world in which everything passes through everything else")
        for nodes in trees_of(self.world.model):
            if are_long(nodes):
                return NoRow(f"the tree of joint {nodes[0].name!r}, which is long", "take cardan.solvers.Featherstone")
        return what_is_no_row(self.world)

    @cached_property
    def _by_tables(self) -> TableSteps:
        closing = CLOSINGS[self.method](self.iterations)
        return TableSteps(self.world, self.dt, closing, limits=self.limits, sleep=self.sleep)


class XPBD(Rigid):
    """Bodies move as joints let them when a step begins, then one joint after the other moves them back: XPBD.

    Of order 1; loses energy at first order. Cheap with few iterations, at the price of gaps that `residual` shows.
    Drives, damping, friction and stops act with the weight as the joints allow, before bodies move. Contacts are rigid:
    nothing overlaps at a step's end, what sticks stays where it was, restitution is of the velocities after it.

    Args:
        world, dt, limits: as for `Featherstone`.
        iterations: over all joints; None for 4.
        contacts: False to let everything pass through everything else.
        tables, sleep: as for `Featherstone`. By tables contacts take the iterations they need, heaps of balls passes.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> cardan.solvers.XPBD(world, dt=0.001).step(world.state()).time
        array([0.001])

    Source: `maximal_steps/xpbd.py`.
    """

    method, usual = "xpbd", 4
    supports: ClassVar[Mapping[str, str]] = {
        **Rigid.supports,
        "what a kinematic joint moves by other joints": "its passes over the joints would push the joint back: take "
        "cardan.solvers.Featherstone or Variational",
    }

    def features(self) -> Iterator[tuple[str, str]]:
        yield from super().features()
        model, kinematic = self.world.model, self.world.kinematic
        root, nodes = roots_of(model), [(node.name, node.index) for node in model.nodes]
        moved = {root[at]: name for name, at in nodes if name in kinematic}
        ends = [(c.name, model.attachment(body).node) for c in model.closures for body in (c.parent, c.child)]
        for name, at in (*nodes, *ends):
            if at >= 0 and root[at] in moved and name not in kinematic:
                what = f"joint {name!r} in the tree of {moved[root[at]]!r}, which moves as it is told"
                yield "what a kinematic joint moves by other joints", what


class Variational(Rigid):
    """Bodies by their poses, joints by one solve for all of them along the directions of the step's beginning.

    Symplectic and of order 2: of conservative motion the energy does not drift. Drives, damping, friction and stops are
    taken implicitly, of order 1. Contacts are rigid, as those of `XPBD`; in flight between them it stays symplectic.

    Args:
        world, dt, limits: as for `Featherstone`.
        iterations: for the impulses of the joints, at least; None for 2. Each shrinks the gaps by a factor of the order
            of the step. More follow where joints are not closed to 1e-5 m/s and rad/s. Derivatives are those of these.
        contacts: False to let everything pass through everything else.
        tables, sleep: as for `Featherstone`.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> cardan.solvers.Variational(world, dt=0.001).step(world.state()).time
        array([0.001])

    Source: `maximal_steps/variational.py`.
    """

    method, usual = "variational", 2


class SemiImplicit(Maximal):
    """Bodies that springs hold together: what a joint does not allow is pushed back by its gap and rate.

    Of order 1; gaps are those of the springs (`residual`). Contacts are springs, too, as stiff as their material if the
    step allows, damped so that they give back its restitution; their friction creeps, by the length of a part of a step
    times a few times the slope's pull.

    Args:
        world, dt, limits: as for `Featherstone`.
        stiffness: of the springs [N/m, N m/rad]; None for as stiff as each row's bodies and the step allow.
        damping: of the springs [N s/m, N m s/rad]; None likewise.
        parts: into which a step is cut, between which the springs are asked.
        contacts: False to let everything pass through everything else.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> cardan.solvers.SemiImplicit(world, dt=0.001).step(world.state()).time
        array([0.001])

    Source: `maximal_steps/semi_implicit.py`.
    """

    method = "semi_implicit"
    options: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "parts")

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        stiffness: float | None = None,
        damping: float | None = None,
        parts: int = 4,
        limits: bool = True,
        contacts: bool = True,
    ) -> None:
        self.stiffness: float | None = None if stiffness is None else not_negative("stiffness", stiffness)
        self.damping: float | None = None if damping is None else not_negative("damping", damping)
        self.parts: int = checked_steps(parts, "parts")
        super().__init__(world, dt, limits, contacts)
