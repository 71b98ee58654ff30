"""Which class a name in a file means: those cardan ships by plain names, others by their import path.

An import path is `module:QualName`, such as `my_robot.joints:Cam`. Nothing is imported because a file says so, unless
the caller trusts the file; and then only a class of joint, coordinate function or manifold is accepted.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, TypeVar

from cardan._algebra import manifolds
from cardan._algebra.errors import ParameterError, close_names, did_you_mean
from cardan._algebra.manifolds import Manifold
from cardan._reach.formats.json.text import WrongError
from cardan._robot.joints import CATALOGUE, Constant, CoordinateFunction, Joint, Linear, NaturalSpline, Polynomial

Kind = TypeVar("Kind", bound=type)
BASES = (Joint, CoordinateFunction, Manifold)
WHAT = "a class of joint, coordinate function or manifold"

_JOINTS = {type(joint).__name__: type(joint) for joint in CATALOGUE}
_FUNCTIONS = {kind.__name__: kind for kind in (Constant, Linear, Polynomial, NaturalSpline)}
_SPACES = ("Euclidean", "UnitComplex", "UnitQuaternion", "MRP", "SE2", "SE3", "Product")
SHIPPED: dict[str, type[Any]] = {
    **_JOINTS,
    **_FUNCTIONS,
    **{f"manifolds.{name}": getattr(manifolds, name) for name in _SPACES},
}
"""The classes cardan ships by their names in a file."""

_NAMES = {kind: name for name, kind in SHIPPED.items()}
_registered: dict[str, type[Any]] = {}


def register_joint(kind: Kind) -> Kind:
    """Allow every file to name this class; usable as a decorator.

    Args:
        kind: a joint class of your own, or a coordinate function or manifold that your joints are made of. In a file it
            is named by its import path, `module:QualName`. A class registered later under the same path replaces it.

    Returns:
        The class.

    Raises:
        ParameterError: if it is no such class.

    Examples:
        >>> @cardan.register_joint
        ... class Lift(cardan.Joint):
        ...     manifold = cardan.manifolds.Euclidean(1)
        ...     def transform(self, q):
        ...         return cardan.SE3(translation=(0.0, 0.0, q[0]))
    """
    if not is_accepted(kind):
        raise ParameterError("class to register", got=kind, expected=f"{WHAT} (the class itself)")
    _registered[import_path(kind)] = kind
    return kind


def is_accepted(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BASES)


def import_path(kind: type[Any]) -> str:
    """Return `module:QualName`."""
    return f"{kind.__module__}:{kind.__qualname__}"


def is_shipped(kind: type[Any]) -> bool:
    return kind in _NAMES


def name_of(kind: type[Any], what: str) -> str:
    """Return the name of a class in a file; it must be found again by it, so no class in a function has one."""
    if is_shipped(kind):
        return _NAMES[kind]
    path = import_path(kind)
    if _registered.get(path) is not kind and _looked_up(path) is not kind:
        expected = f"a class that is found at its import path {path!r}"
        hint = "Define it at the top of a module, or register it with cardan.register_joint."
        raise ParameterError(what, got=kind, expected=expected, hint=hint)
    return path


def _looked_up(path: str) -> Any:
    """Return what a loaded module has at an import path; None if nothing. Only namespaces are read, of classes."""
    module, _, names = path.partition(":")
    found: Any = sys.modules.get(module)
    for k, name in enumerate(names.split(".")):
        if not isinstance(found, type if k else ModuleType):
            return None
        found = vars(found).get(name)
    return found


def class_named(name: str, *, trusted: bool) -> type[Any]:
    """Return the class a file names, plainly or by its import path; only if trusted, a module is imported for it."""
    if name in SHIPPED or name in _registered:
        return SHIPPED.get(name) or _registered[name]
    module, colon, names = name.partition(":")
    if not colon:
        hint = (
            did_you_mean(close_names(name, SHIPPED))
            or "; a class of your own is named by its import path, module:QualName"
        )
        raise WrongError(f"there is no joint or value type {name[:120]!r}{hint}")
    if not trusted:
        raise WrongError(
            f"names the class {name[:200]!r}, which is not cardan's and not registered: import it and call "
            f"cardan.register_joint({names[:100]}) before reading; or, only if you trust whoever wrote the file, pass "
            f"trusted=True, which imports the module {module[:100]!r}"
        )
    return _imported(name, module, names)


def _imported(path: str, module: str, names: str) -> type[Any]:
    if not all(part.isidentifier() for part in (*module.split("."), *names.split("."))):
        raise WrongError(f"{path[:200]!r} is no import path; expected module:QualName, such as my_robot.joints:Cam")
    try:
        importlib.import_module(module)
    except Exception as error:  # a module may raise anything
        raise WrongError(f"the module of {path!r} cannot be imported: {type(error).__name__}: {error}") from error
    kind = _looked_up(path)
    if kind is None:
        raise WrongError(f"the module {module!r} has no class {names!r}")
    if not is_accepted(kind):
        raise WrongError(f"{path!r} is not {WHAT}; nothing else is accepted")
    return kind
