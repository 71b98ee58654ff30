"""Every error cardan raises on purpose.

One base exception; each subclass carries the data its message was made of, so that a program can react to it.
A message says what was wrong, what was given, what was expected, where, and how to mend it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any, ClassVar

from cardan._algebra.by_fields import ByFields

__all__ = [
    "AssemblyError", "CardanError", "ChunkError", "ConfigurationError", "DTypeError",
    "DescriptionError", "DescriptionWarning", "DeviceMemoryError", "DuplicateNameError", "Fault",
    "FunctionReferenceError",
    "JointError", "MechanismError", "MeshWarning", "MissingExtraError", "NotFiniteError", "OpenLoopError",
    "OverlapWarning", "ParameterError", "PluginError",
    "ProgramError", "ReachError", "RecompilationWarning", "ResultError", "ShapeError", "SizeWarning",
    "StaleProgramError", "StartWarning", "SunkenWarning", "TargetError", "TraceError",
    "UndrivenWarning", "UnknownNameError", "UnsupportedError",
]  # fmt: skip

MAX_MESSAGE = 1000  # characters: names and numbers of a stranger's file must not fill a terminal or a log


def shortened(text: str, length: int) -> str:
    """Return a text of at most about `length` characters: its beginning and its end, which says what to do."""
    return text if len(text) <= length else f"{text[: 2 * length // 3]}...{text[-length // 3 :]}"


def quoted(value: Any, length: int = 120) -> str:
    """Return the repr of a value, not too long to be read; of a long sequence only its beginning is looked at."""
    if isinstance(value, (str, bytes, list, tuple)) and len(value) > length:
        return shortened(repr(value[:length]), MAX_MESSAGE // 2) + f" (of length {len(value)})"
    return shortened(repr(value), MAX_MESSAGE // 2)


def visible(text: str) -> str:
    """Return a name as repr shows it: control characters, direction marks and half surrogates are escaped.

    Names are any text; a terminal, a log or source code that they stand in must not obey them.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def close_names(name: str, candidates: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """Return the up to three names nearest to one, among the first 1000, by their first 80 letters, small or capital.

    Comparing all pairs of letters of all names takes minutes for a file that was made to take them.
    """
    import difflib  # only where there is something to say: importing it takes a millisecond

    known: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(islice(candidates, 1000)):
        known.setdefault(candidate[:80].lower(), []).append(candidate)
    matches = difflib.get_close_matches(name[:80].lower(), known, n=3, cutoff=cutoff)
    return [candidate for match in matches for candidate in known[match]][:3]


def did_you_mean(names: Sequence[str]) -> str:
    return "; did you mean " + " or ".join(map(quoted, names)) + "?" if names else ""


class CardanError(Exception):
    """Base of every error raised by cardan. Errors keep their data when they are pickled."""

    longest: ClassVar[int] = 2 * MAX_MESSAGE

    def __str__(self) -> str:
        return shortened(super().__str__(), self.longest)

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[Exception], args: tuple[Any, ...], data: dict[str, Any]) -> Any:
    error = BaseException.__new__(kind, *args)  # that of MemoryError makes no others
    error.args = args
    error.__dict__.update(data)
    return error


class ParameterError(CardanError, ValueError):
    """A parameter of a joint, inertia, limit or pose is not acceptable."""

    def __init__(self, what: str, *, got: Any, expected: str, hint: str = "") -> None:
        self.what = what
        self.got = got
        self.expected = expected
        self.hint = hint
        super().__init__(f"{what}: got {quoted(got)}, expected {expected}." + (f" {hint}" if hint else ""))


class _ArgumentError(CardanError):
    """An argument of a function is not what it takes."""

    _verb: ClassVar[str]

    def __init__(self, where: str, argument: str, *, got: Any, expected: str, hint: str = "") -> None:
        self.where = where
        self.argument = argument
        self.got = got
        self.expected = expected
        self.hint = hint
        end = f" {hint}" if hint else ""
        super().__init__(f"{where}: argument {argument!r} {self._verb} {got}, expected {expected}.{end}")


class ShapeError(_ArgumentError, ValueError):
    """An array has the wrong shape."""

    _verb = "has shape"


class DTypeError(_ArgumentError, TypeError):
    """An array holds something that is not a real number, or an argument has the wrong type."""

    _verb = "is"


class UnknownNameError(CardanError, KeyError):
    """A body, joint, frame or option was addressed by a name that does not exist.

    Nearest names are looked for when the message is read: most errors that are caught never are.
    """

    def __init__(self, kind: str, name: Any, candidates: Iterable[str], where: str = "", hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.hint = hint
        self.candidates: tuple[str, ...] = tuple(candidates)
        self.brief: str = (f"{where}: " if where else "") + f"there is no {kind} named {quoted(name)}"
        super().__init__(self.brief)

    @property
    def suggestions(self) -> list[str]:
        """The nearest names there are."""
        return close_names(str(self.name), self.candidates)

    @property
    def message(self) -> str:
        """What is wrong, and what was meant: as the hint knows, the nearest names, or all if they are few."""
        if self.hint:
            return f"{self.brief}; {self.hint}"
        if meant := did_you_mean(self.suggestions):
            return self.brief + meant
        if not self.candidates:
            return f"{self.brief}; there are none here."
        shown = ", ".join(map(quoted, self.candidates[:12]))
        return f"{self.brief}; the names are {shown}" + (", ..." if len(self.candidates) > 12 else "") + "."

    def __str__(self) -> str:
        return shortened(self.message, self.longest)  # KeyError would show its repr


def check_known(kind: str, name: Any, known: Collection[str], where: str = "") -> None:
    """Raise `UnknownNameError` unless a name is among those there are."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name, known, where)


def check_one_of(what: str, word: Any, words: Collection[str]) -> None:
    """Raise `ParameterError` unless a word is one of the few there are."""
    if not isinstance(word, str) or word not in words:
        raise ParameterError(what, got=word, expected=" or ".join(map(repr, words)))


class DuplicateNameError(CardanError, ValueError):
    """Two things of one kind were given the same name."""

    def __init__(self, kind: str, name: str, where: str) -> None:
        self.kind = kind
        self.name = name
        self.where = where
        super().__init__(f"{where}: there is already a {kind} named {quoted(name)}; give every {kind} its own name.")


def check_new(kind: str, name: str, taken: Container[str], where: str) -> None:
    """Raise `DuplicateNameError` if a name is taken."""
    if name in taken:
        raise DuplicateNameError(kind, name, where)


def check_distinct(kind: str, names: Iterable[str], where: str) -> None:
    """Raise `DuplicateNameError` for the first name that comes again."""
    taken: set[str] = set()
    for name in names:
        check_new(kind, name, taken, where)
        taken.add(name)


def _in_rows(rows: Sequence[Any]) -> str:
    """Return where in a batch something is wrong; empty for a single state."""
    shown = ", ".join(map(str, rows[:6])) + (", ..." if len(rows) > 6 else "")
    return f" in {len(rows)} rows of the batch ({shown})" if rows else ""


class ConfigurationError(CardanError, ValueError):
    """A configuration is invalid: a quaternion, or a (cos, sin), is 0 and gives no direction."""

    def __init__(self, where: str, argument: str, start: int, stop: int, rows: Sequence[int] = ()) -> None:
        self.where = where
        self.argument = argument
        self.start = start
        self.stop = stop
        self.rows: tuple[int, ...] = tuple(rows)
        what = "quaternion (x, y, z, w)" if stop - start == 4 else "(cos, sin)"
        super().__init__(
            f"{where}: argument {argument!r}{_in_rows(self.rows)}: entries {start} to {stop - 1} are a {what} of norm "
            "0, expected one of norm 1. Begin with model.neutral() or model.random_configuration(), not with zeros."
        )


class OpenLoopError(CardanError, ValueError):
    """A configuration leaves loops of a cluster open, found by a function that checks (`function.on(checked=True)`)."""

    def __init__(self, where: str, argument: str, loop: str, gap: float, rows: Sequence[int] = ()) -> None:
        self.where = where
        self.argument = argument
        self.loop = loop
        self.gap = gap
        self.rows: tuple[int, ...] = tuple(rows)
        super().__init__(
            f"{where}: argument {argument!r}{_in_rows(self.rows)} leaves loop {loop!r} open by {gap:.3g} m or rad, "
            "expected closed loops: a cluster is in no other configuration. Begin with model.neutral() or "
            "model.random_configuration(), or close it by cardan.normalize(model, q)."
        )


class NotFiniteError(CardanError, ValueError):
    """An argument or a result is not finite, found by a function that checks (`function.on(checked=True)`)."""

    def __init__(self, where: str, argument: str, index: tuple[int, ...], value: float, hint: str = "") -> None:
        self.where = where
        self.argument = argument
        self.index = index
        self.value = value
        end = f" {hint}" if hint else ""
        super().__init__(f"{where}: {argument}{list(index)} is {value}, expected a finite number.{end}")


class JointError(CardanError):
    """A joint's own definition cannot serve."""


class MechanismError(CardanError, ValueError):
    """Bodies and joints do not form what was asked for (a tree, a connected whole, a mimic of a real joint)."""


class UnsupportedError(MechanismError):
    """A part, such as a solver or a format, cannot do what is asked of it and would otherwise leave it out."""

    def __init__(self, what: str, by: str, instead: str) -> None:  # `what` with its name: "joint 'knee' (Spline)"
        self.what = what
        self.by = by
        self.instead = instead
        super().__init__(f"{by} cannot take {what}; {instead}.")


class ReachError(CardanError, ValueError):
    """A pose cannot be reached by a joint: `configuration_from_transform` found no configuration."""

    def __init__(self, joint: str, residual: float, tolerance: float) -> None:
        self.joint = joint
        self.residual = residual
        self.tolerance = tolerance
        super().__init__(
            f"{joint}: no configuration has this transform; the nearest one found is off by {residual:.3g} "
            f"(tolerance {tolerance:.3g}). Project the pose onto the joint's motion first, or raise `tolerance`."
        )


class AssemblyError(CardanError, ValueError):
    """Loops could not be closed: no configuration was found (`assemble`), or no velocity (`project_velocity`)."""

    def __init__(self, what: str, loop: str, residual: float, tolerance: float, rows: Sequence[Any] = ()) -> None:
        self.what = what
        self.loop = loop
        self.residual = residual
        self.tolerance = tolerance
        self.rows: tuple[Any, ...] = tuple(rows)
        super().__init__(
            f"the loops do not close{_in_rows(self.rows)}: the {what} nearest to it leaves {loop!r} open by "
            f"{residual:.3g} (tolerance {tolerance:.3g}). Begin elsewhere, hold fewer joints, or check lengths and "
            "poses of the loop."
        )


class InfeasibleError(CardanError, ValueError):
    """Hard limits exclude what was asked for; `constraints` are those in the way, for the first of `rows`."""

    def __init__(self, where: str, rows: Sequence[Any], constraints: Sequence[str]) -> None:
        self.where, self.rows, self.constraints = where, list(rows), list(constraints)
        of = _in_rows([row[0] if len(row) == 1 else row for row in self.rows])
        hint = "Begin within the limits and with the loops closed (cardan.assemble), or pass limits=False."
        cause = f"{', '.join(self.constraints)} exclude one another" if constraints else "the solver found none"
        super().__init__(f"{where}: no velocity{of} is within all limits: {cause}. {hint}")


class ExcitationError(CardanError, ValueError):
    """The measurements do not show some base parameter: the robot moved too little, or too few samples were taken."""

    def __init__(self, where: str, combination: str, ratio: float) -> None:
        self.where = where
        self.combination = combination
        self.ratio = ratio
        super().__init__(
            f"{where}: the samples do not show {combination} (its part of the torques is {ratio:.1e} of the largest). "
            "Measure along a motion that moves all joints, take more samples, or lock joints that stand still."
        )


class TraceError(CardanError, TypeError):
    """A function cannot be turned into a straight-line program."""


LIBRARIES = ("cardan", "numpy", "scipy")  # whose frames are looked past: NumPy calls a user's function, too


def users_frame() -> FrameType | None:
    """Return the innermost frame that runs code outside cardan, NumPy and SciPy."""
    frame = sys._getframe(1)
    while frame is not None and room(frame) in LIBRARIES:
        frame = frame.f_back
    return frame


def levels_inside() -> int:
    """Return how many frames, from the caller's on, belong to cardan: what `warnings.warn` shall look past."""
    level, frame, here = 1, sys._getframe(1), os.path.dirname(os.path.dirname(__file__)) + os.sep
    while frame is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    return level


def room(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]


def users_line() -> str:
    """Return ` (file:line)` of the code outside cardan, NumPy and SciPy that led here; empty if there is none."""
    frame = users_frame()
    return f" ({frame.f_code.co_filename}:{frame.f_lineno})" if frame is not None else ""


class ResultError(TraceError):
    """The result of a function is invalid: ragged, or not of the shape it declares."""

    def __init__(self, where: str, *, got: str, expected: str) -> None:
        self.where = where
        self.got = got
        self.expected = expected
        super().__init__(
            f"{where or 'result'}: got {got}, expected {expected}. Several results are returned as a tuple, a named "
            "tuple or a dictionary of arrays."
        )


class FunctionReferenceError(CardanError, LookupError):
    """A function cannot be found again in another process."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name
        super().__init__(
            f"function {name!r} of module {module!r} cannot be found by that name in another process. Define it at "
            "the top of a module that the other process can import, or load cloudpickle, which sends functions as code."
        )


class StaleProgramError(CardanError, RuntimeError):
    """A program that was found on disk would have to be traced again, and that gives another one."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name}: what was found on disk for the first call is not what tracing gives now. Something of cardan was "
            "replaced in this process; set CARDAN_CACHE_DIR to an empty folder for it."
        )


class ProgramError(CardanError, AssertionError):
    """A program violates the rules of its representation: a defect in cardan or in a pass, never in user input."""


class TargetError(CardanError, RuntimeError):
    """A target cannot run on this machine."""


class DeviceMemoryError(CardanError, MemoryError):
    """A device has not enough memory."""


class ChunkError(CardanError, RuntimeError):
    """Rows `start` to `stop` of a mapped function could not be computed (`distributed.map`)."""

    def __init__(self, where: str, start: int, stop: int, *, reason: BaseException) -> None:
        self.where = where
        self.start = start
        self.stop = stop
        super().__init__(f"{where}: rows {start} to {stop - 1}: {type(reason).__name__}: {reason}")


class MissingExtraError(CardanError, ImportError):
    """An optional capability was asked for and its packages are not installed."""

    def __init__(self, capability: str, extra: str) -> None:
        self.capability = capability
        self.extra = extra
        super().__init__(f'{capability} needs the extra {extra!r}: install it with  pip install "cardan[{extra}]"')


class PluginError(CardanError, ImportError):
    """Something that another package adds by an entry point cannot be loaded."""

    def __init__(self, group: str, name: str, package: str, home: str, cause: BaseException) -> None:
        self.group = group
        self.plugin = name
        self.package = package
        self.home = home
        super().__init__(
            f"{package} adds {name!r} to {group} ({home}), but it cannot be loaded: {type(cause).__name__}: {cause}. "
            "Mend or uninstall that package."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fault(ByFields):
    """One fault of a robot description.

    Attributes:
        file: path as it was given.
        line: line number, from 1; 0 where the fault belongs to the whole file.
        message: what is wrong, got and expected, and how to mend it.
        severity: `"error"` or `"warning"`.
        where: the path of what it is about, in formats that have paths and no lines (`/World/arm` in USD).

    Examples:
        >>> print(cardan.errors.Fault("arm.urdf", 12, "the mass is negative", "error"))
        arm.urdf:12: error: the mass is negative
    """

    file: str
    line: int
    message: str
    severity: str = "error"
    where: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message, MAX_MESSAGE))

    def __str__(self) -> str:
        place = ":".join(part for part in (self.file, str(self.line or ""), self.where) if part)
        return f"{place}: {self.severity}: {self.message}"


class DescriptionError(CardanError, ValueError):
    """A robot description is faulty; `faults` holds every fault found, each with its file and line."""

    longest = 2000 * MAX_MESSAGE  # as many faults as are kept, each bounded

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class DescriptionWarning(UserWarning):
    """A robot description is questionable; the message begins with file:line."""


class _Warning(UserWarning):
    """Base of warnings that keep their data when they are pickled."""

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.args, self.__dict__)


class OverlapWarning(_Warning):
    """Pairs of shapes of a world may not touch, because they overlap where it begins; `pairs` names them."""

    def __init__(self, world: str, pairs: Sequence[str]) -> None:
        self.world = world
        self.pairs: tuple[str, ...] = tuple(pairs)
        super().__init__(
            f"world {world!r}: {len(pairs)} pairs of shapes never touch, because they overlap where it begins: "
            f"{first_of(self.pairs)}. Keep them by keep_overlapping=True; say that none is meant to touch by "
            "disable_contact(a, b)."
        )


class MeshWarning(_Warning):
    """Neighbours in a surface of triangles face different ways; `sides` says at how many sides they do."""

    def __init__(self, mesh: str, sides: int) -> None:
        self.mesh = mesh
        self.sides = sides
        super().__init__(
            f"{mesh}: at {sides} sides the triangles face different ways. What is behind a triangle is not met: turn "
            "those that face inwards, by exchanging two of their corners."
        )


class SizeWarning(_Warning):
    """A program is so long that it takes long to compile; `operations` is how long, `seconds` about what it takes."""

    def __init__(self, program: str, operations: int, seconds: float) -> None:
        self.program, self.operations, self.seconds = program, operations, seconds
        super().__init__(
            f"{program} has {operations} operations, which take about {seconds:.0f} s to compile, once: it is kept on "
            "disk. A loop of Python is written out; cardan.repeat and cardan.scan are not. A world's step is shorter "
            "with fewer pairs that may touch, world.with_contacts('*_foot'); with simpler shapes for meshes; "
            "by tables, cardan.solvers.Featherstone(world, dt, tables=True), if loops are clusters, "
            'finalize(loops="clusters").'
        )


class CallbackWarning(_Warning):
    """There is no C compiler, so that a `function` for CasADi runs behind Python (`interop.casadi.wrap`)."""

    def __init__(self, function: str) -> None:
        self.function = function
        super().__init__(
            f"{function} is a callback to native code, without a C compiler: each call takes some 20 us more. "
            "Install gcc or clang, or name one by compiler= or CC."
        )


class StartWarning(_Warning):
    """A world begins, or a joint is locked, where nobody would put it; `things` are those it is about."""

    def __init__(self, message: str, things: Sequence[str]) -> None:
        self.things: tuple[str, ...] = tuple(things)
        super().__init__(message)


class UndrivenWarning(_Warning):
    """Where to go is asked of a world without a drive, in which nothing goes there."""


class SunkenWarning(_Warning):
    """Links are below the ground at the end of a rollout, for they have no collision shapes; `links` names them."""

    def __init__(self, message: str, links: Sequence[str]) -> None:
        self.links: tuple[str, ...] = tuple(links)
        super().__init__(message)


def first_of(names: Sequence[str], most: int | None = 6) -> str:
    """Return some names in a row, and how many there are if that is not all."""
    shown = names[:most]
    return ", ".join(map(visible, shown)) + (f", ... ({len(names)} in all)" if len(shown) < len(names) else "")


class RecompilationWarning(_Warning):
    """A function was compiled many times for one model: something that changes is an option of it, not an argument."""

    def __init__(self, function: str, model: str, count: int, options: Sequence[str]) -> None:
        self.function = function
        self.model = model
        self.count = count
        self.options: tuple[str, ...] = tuple(options)
        names = " and ".join(map(repr, self.options[:3])) or "what is left out"
        super().__init__(
            f"{function} is compiled for model {model!r} for the {count}th time: each value of {names} is a program of "
            "its own. Give numbers as floats or arrays, which are arguments; several frames as one list of names."
        )


__dir__ = __all__.copy
for _name in __all__:  # tracebacks and pickles say where users find them
    globals()[_name].__module__ = "cardan.errors"
