"""Public functions: a textbook page under `@public` is what users call, compiled for each model, on batches.

The page itself is written over scalars, for one state. `coriolis_matrix.kernel(model, q, v)` runs it so. Other pages
and the kernels of solvers call it by that, with symbols and spatial objects. Nothing is checked or packed then.

A page's docstring says what is its own. What all share is said here, and `help` shows both. An argument that a page
does not describe is one of these:

Throughout:
    model: the robot.
    q: configurations [rad, m], shape (..., nq).
    v: velocities [rad/s, m/s], shape (..., nv).
    a: accelerations [rad/s^2, m/s^2], shape (..., nv).
    tau: joint efforts [N m, N], shape (..., nv).
    external_forces: wrenches [force; moment] on the bodies [N, N m], shape (..., nbodies, 6), in the order of
        `model.body_names`, each in its body's own frame at its origin; zero by default.
    q0: configurations to begin with [rad, m], shape (..., nq).
    q1: configurations to end with [rad, m], shape (..., nq).
    frame: name of a body or frame (`model.frame_names`) or its index there, or n of them.
    at: the point whose velocity the linear part is: the origin of `"frame"` (the one asked for, or each body), of
        `"world"`, or of a body or frame by name.
    expressed_in: whose axes the components are along: `"frame"`, `"world"`, or a body or frame by name.

            at, expressed_in      Pinocchio              iDynTree
            "frame", "world"      LOCAL_WORLD_ALIGNED    MIXED_REPRESENTATION (the default)
            "frame", "frame"      LOCAL                  BODY_FIXED_REPRESENTATION
            "world", "world"      WORLD                  INERTIAL_FIXED_REPRESENTATION
    relative_to: name of the frame that the pose or motion is relative to; the world by default.
    packed: whether to return the entries at `packed_indices` of this function and the model alone, shape (..., n) each.

Raises:
    UnknownNameError, ParameterError: for a frame or reference that does not exist, or no frame.
    ShapeError, DTypeError: for an array that does not fit.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cardan._algebra.manifolds import Manifold
from cardan._compiler.program.autodiff import rate_along
from cardan._dynamics.call.arguments import Shape
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.traced import Known
from cardan._robot.model import Model

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
T = TypeVar("T", covariant=True)
Result = TypeVar("Result")
OfScalars = TypeVar("OfScalars")

Reals = NDArray[np.floating[Any]]
"""What comes back: float64, or float32 where all that came in is; a number of one state as NumPy's scalar."""

ArrayLike: TypeAlias = Any
"""An argument in numbers: of users an array of any library, or a list; in a page the scalars of one state."""


PUBLIC: dict[str, Function[..., Any]] = {}  # the public compiled functions by name, of the pages imported so far


class Public(Function[P, R], Generic[P, R, T]):
    kernel: Callable[Concatenate[Model, P], T]  # the page as it is written, on scalars


@overload
def public(page: Callable[Concatenate[Model, P], OfScalars], /) -> Public[P, Reals, OfScalars]: ...
@overload
def public(
    *,
    result: type[Result],
    shapes: Mapping[str, Shape] | None = None,
    options: Sequence[str] = (),
    simplified: bool = False,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Callable[[Callable[Concatenate[Model, P], OfScalars]], Public[P, Result, OfScalars]]: ...
@overload
def public(
    *,
    shapes: Mapping[str, Shape] | None = None,
    returns: Shape | None = None,
    options: Sequence[str] = (),
    simplified: bool = False,
) -> Callable[[Callable[Concatenate[Model, P], OfScalars]], Public[P, Reals, OfScalars]]: ...
def public(page: Callable[..., Any] | None = None, /, *, result: Any = None, **declared: Any) -> Any:
    """Make a page a public function: what `cardan.function` does, with the documentation and the types users read.

    Args:
        page: `page(model, q, v, ...)`, over scalars.
        result: what users get, where that is not one array: a named tuple of `Reals`.
        declared: shapes, returns, options, simplified and bounds, as for `cardan.function`.
    """

    def made(page: Callable[..., Any]) -> Public[..., Any, Any]:
        # a generic named tuple as it is written: `ConstrainedDynamics[Reals, Reals]`
        shown = result and f"{result.__origin__.__name__}[{', '.join('Reals' for _ in result.__args__)}]"
        page.__annotations__["return"] = shown or "Reals"
        function: Public[..., Any, Any] = Public(page, **declared)
        function.kernel = page
        if page.__doc__:  # python -OO takes docstrings away
            of_module = sys.modules[page.__module__].__doc__ or ""
            function.__doc__ = documented(page.__doc__, function.interface.parameters.parameters, of_module, result)
        PUBLIC[function.name] = function
        return function

    return made if page is None else made(page)


def known(
    of: Function[..., Any],
    *,
    by: Callable[..., Sequence[Any]],
    wrt: tuple[str, ...],
    back: Callable[..., Sequence[Any]] | None = None,
    twice: Callable[..., Sequence[Any]] | None = None,
    weights: Shape = ("nv",),
) -> None:
    """Note that a page has the derivatives of another one by some arguments: what calls that is differentiated so.

    `back` is a page that pulls weights of its result back to these arguments, along tangents. `twice` has the
    derivatives of that by the arguments and the weights: what calls the page is differentiated twice so.
    """
    pulled = None if back is None else Function(back, shapes={"weights": weights})
    if pulled is not None and twice is not None:
        pulled.made_from.known = Known(twice, (*wrt, "weights"))
    of.made_from.known = Known(by, wrt, pulled)


@functools.cache
def commutators(manifold: Manifold) -> list[tuple[int, int, int, float]]:
    """Return the entries (i, j, k) of what makes second derivatives along tangents of those along geodesics.

    With x = difference(q0, q) and dx = K(x) dt, a gradient g by x is K^T g along the tangent. As q moves along j from
    q0, its entry i changes by that of g, and by (dK/dx_j)_ki g_k.
    """

    def K(x: Sequence[Any]) -> list[Any]:
        return [e for row in manifold.difference_rate_jacobian(x) for e in row]

    n, found = manifold.nv, []
    for j in range(n):
        rates = rate_along(K, [0.0] * n, [float(m == j) for m in range(n)])
        found += [(i, j, k, rates[n * k + i]) for k in range(n) for i in range(n) if rates[n * k + i]]
    return found


def documented(
    docstring: str, parameters: Sequence[str] | Mapping[str, Any], of_module: str = "", result: Any = None
) -> str:
    """Return the whole documentation of a public function: its own docstring with what is said once for all.

    Its page's docstring says where its source is, unless its own does. A named tuple that is returned says itself what
    is in it.
    """
    found = _sections(docstring)
    if result is not None:
        kind = result.__origin__
        said = _sections(kind.__doc__ or "Attributes:")
        named = f"`{kind.__name__}({', '.join(kind._fields)})`.\n{said['']}\n{said['Attributes']}"
        found["Returns"] = "\n" + textwrap.indent(named, "    ")
    own, shared = _entries(found.get("Args", "")), _entries(_SHARED["Throughout"])
    described = dict.fromkeys(own.get(name, shared.get(name, "")) for name in parameters)
    found["Args"] = "".join(f"\n{entry}" for entry in described)
    of_frame, of_array = _SHARED["Raises"].removeprefix("\n").split("\n")
    raised = [of_frame, of_array] if {"frame", "at"} & {*parameters} else [of_array]
    found["Raises"] = "\n".join([found.get("Raises", ""), *raised])
    if "Source" not in found:
        found["Source"] = _sections(of_module).get("Source", "")
    parts = [f"{title}:{found[title]}" for title in _ORDER if found.get(title)]
    return "\n\n".join([found[""], *parts])


def _sections(docstring: str) -> dict[str, str]:
    """Return the parts of a docstring by their titles; what is before all titles has none."""
    pieces = _TITLE.split(inspect.cleandoc(docstring))
    return {"": pieces[0].rstrip()} | {
        title: text.rstrip() for title, text in zip(*[iter(pieces[1:])] * 2, strict=True)
    }


def _entries(section: str) -> dict[str, str]:
    entries = _ENTRY.split(section.removeprefix("\n"))
    return {name: entry for entry in entries for name in entry.partition(":")[0].replace(",", " ").split()}


_ORDER = ("Args", "Returns", "Raises", "Examples", "Peers", "Source")
_TITLE = re.compile(r"^(Args|Throughout|Attributes|Returns|Raises|Examples|Peers|Source|Cost|Notation):", re.MULTILINE)
_ENTRY = re.compile(r"\n(?=    \w)")
_SHARED = _sections(__doc__ or "Throughout:\nRaises:")
