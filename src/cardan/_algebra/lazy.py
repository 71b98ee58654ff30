"""What is imported only when it is used: names of this package (PEP 562), and what other packages add by entry points.

A package lists its names in `__all__` and imports them under `imported_later`. The public modules, such as
`cardan.joints`, show such a package by a `*`. `tests/project/test_public_names.py` holds all of these together.

Other packages add arrays, formats, targets, solvers and commands:

    [project.entry-points."cardan.arrays"]          # in the other package's pyproject.toml
    "dpnp.ndarray" = "my_package.dpnp_arrays"

Entry points are asked for only when a name is not among cardan's own: reading the metadata of all installed packages
takes milliseconds.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cardan._algebra.errors import PluginError
from cardan._algebra.explained import UnknownAttributeError

_REPLACING = threading.Lock()  # Python's `import`; two threads that interleave would leave a replacement for good


def _fetcher(package: str, homes: Mapping[str, str], modules: str, shown: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, of its `__name__`, for homes such as `{"a.load": "load save"}`.

    Modules are names of modules of the package that are attributes themselves; all other names are those of the
    package or module that is `shown`, if there is one.
    """
    module_of = {name: home for home, names in homes.items() for name in names.split()}

    def fetch(name: str) -> Any:
        if name in module_of:
            value = getattr(importlib.import_module(module_of[name], package), name)
        elif name in modules.split():
            value = importlib.import_module(f".{name}", package)
        elif not shown or (name.startswith("__") and name != "__all__"):
            raise UnknownAttributeError(package, name)  # `inspect`, `unittest` ask every module: nothing is imported
        else:
            there = importlib.import_module(shown)
            try:
                value = getattr(there, name)  # what is not in `__all__`, too: pickles name it
            except AttributeError:
                raise UnknownAttributeError(package, name) from None
        setattr(sys.modules[package], name, value)  # found at once from now on
        return value

    return fetch


@contextlib.contextmanager
def imported_later(namespace: dict[str, Any]) -> Iterator[None]:
    """Within it, a package's `from x import y` imports nothing yet: y is fetched when it is first used.

    After `from x import *` all names of x are found here, as a public module shows a package of a wing. Type checkers
    and editors read ordinary imports, so that the names are written once.

    Args:
        namespace: the package's `globals()`, which gets a `__getattr__`, and a `__dir__` that lists its `__all__`.
    """
    homes: dict[str, str] = {}
    package, shown = namespace["__name__"], ""

    def note(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        nonlocal shown
        if globals is not namespace:  # another thread imports at the same time
            return imported(name, globals, locals, fromlist, level)
        if fromlist == ("*",):
            shown = name
            return SimpleNamespace(__all__=())
        homes[name] = " ".join([homes.get(name, ""), *fromlist])
        return SimpleNamespace(**dict.fromkeys(fromlist))

    with _REPLACING:
        imported = builtins.__import__
        builtins.__import__ = note
        try:
            yield
        finally:
            builtins.__import__ = imported
    for name in " ".join(homes.values()).split():
        del namespace[name]  # now `__getattr__` is asked for it
    fetch = _fetcher(package, homes, homes.pop(package, ""), shown)
    namespace.update(__getattr__=fetch, __dir__=lambda: list(namespace.get("__all__") or fetch("__all__")))


def later(home: str) -> Callable[..., Any]:
    """Return a function that is imported when it is first called: `"cardan._reach.pictures.html:robot_html"`."""
    module, _, name = home.partition(":")

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    return call


if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@functools.cache
def registered(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group, such as `"cardan.formats"`, by name; of two of one name the first counts."""
    from importlib.metadata import entry_points  # takes milliseconds, and most processes never come here

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return found


def plugin(group: str, name: str) -> Any:
    """Return what a package registered under a name, None if none did; raise `PluginError` if it cannot be loaded."""
    entry = registered(group).get(name)
    if entry is None:
        return None
    try:
        return entry.load()
    except Exception as error:  # whatever a stranger's module raises while it is imported
        package = entry.dist.name if entry.dist else "an unknown package"
        raise PluginError(group, name, package, entry.value, error) from error
