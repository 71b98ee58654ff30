"""What the reference makes of the package before it is written: units in brackets are no links, a name is what it is at run time."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
import cardan

CODE_OR_BRACKETS = re.compile(r"(`[^`]*`)|\](\s?)\[")


class Reference(griffe.Extension):
    """Three things that reading the source alone does not tell."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escape the second of neighbouring brackets: `twists [linear; angular] [m/s]` is no link called 'linear; angular'."""
        if isinstance(obj, griffe.Function) and any(str(d.value).startswith("public") for d in obj.decorators):
            complete(obj)
        if obj.docstring is not None:
            obj.docstring.value = CODE_OR_BRACKETS.sub(lambda m: m[1] or rf"]{m[2]}\[", obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Take a name for what is imported under it, not for the file of the same name it is imported from."""
        for module in modules(pkg):
            for name in sorted({*map(str, module.exports or ())} & module.members.keys()):
                thing = imported(pkg, module, name)
                if thing is not None:
                    module.del_member(name)
                    module.set_member(name, griffe.Alias(name, thing, parent=module))


def complete(function: griffe.Function) -> None:
    """Show a public function as `help` does: with what all share, and the type of what users get."""
    shown = getattr(cardan, function.name)
    function.docstring = griffe.Docstring(inspect.getdoc(shown) or "", parent=function, parser="google")
    function.returns = inspect.signature(shown).return_annotation


def modules(room: griffe.Module) -> list[griffe.Module]:
    """Return a module and all within it, the innermost first."""
    inner = [modules(member) for member in room.members.values() if isinstance(member, griffe.Module)]
    return [*(module for found in inner for module in found), room]


def imported(pkg: griffe.Module, room: griffe.Module, name: str) -> griffe.Object | None:
    """Return what a name of a room is, if it is a function of a file of its name: `compare`, of comparison/compare.py."""
    path = str(room.imports.get(name, ""))  # cardan.comparison.compare.compare in the room, .compare in those above
    *above, last = path.removeprefix(f"{pkg.path}.").split(".")
    found = pkg[above].members.get(last) if above else None
    if isinstance(found, griffe.Alias) and found.resolved:  # put there before, as rooms within come first
        return found.target
    return found if isinstance(found, griffe.Function) and above[-1] == name else None
