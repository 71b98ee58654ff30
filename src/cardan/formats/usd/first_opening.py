"""Run as a program of its own: open binary USD, look at every value in it, and compose it.

A damaged crate file may make OpenUSD crash, or ask for memory without end. This process, not the reader's, then does
so. It is told what to do in lines of JSON on its standard input, `[seconds, "look", [files]]` or `[seconds, "compose",
[file]]`, after the places of Python's modules, and answers each by a line: the reason why a file cannot be opened, or
an empty text. It imports nothing of cardan, so that it starts quickly.
"""

import json
import os
import sys
from typing import Any

MEMORY = 450 * 2**20
"""Bytes of memory of its own this process may have at least; OpenUSD takes about 100 MB to begin with."""
TIMES = 8
"""And for each byte of a file: packed arrays grow."""


def bound(seconds: float, files: list[str]) -> None:
    """Let the system end this process when it has used its time, or asks for memory without end."""
    try:
        import resource
        import signal
    except ImportError:  # Windows: the parent's clock remains
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sizes = (os.path.getsize(file) for file in files if os.path.exists(file))
    memory = MEMORY + TIMES * sum(sizes)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory if most < 0 else min(memory, most), most))


def look(path: str) -> None:
    """Read every field of every spec of a layer."""
    import pxr.Sdf  # pyright: ignore[reportMissingImports]

    Sdf: Any = pxr.Sdf
    layer = Sdf.Layer.FindOrOpen(path)
    if layer is None:
        raise ValueError("it is no layer")

    def read(place: object) -> None:
        spec = layer.GetObjectAtPath(place)
        for key in spec.ListInfoKeys() if spec else ():
            spec.GetInfo(key)

    layer.Traverse(Sdf.Path.absoluteRootPath, read)


def compose(path: str) -> None:
    """Do with a stage what the reader does: every value of every prim, its pose, its composition errors."""
    import pxr.Usd  # pyright: ignore[reportMissingImports]
    import pxr.UsdGeom  # pyright: ignore[reportMissingImports]

    Usd: Any = pxr.Usd
    UsdGeom: Any = pxr.UsdGeom
    stage = Usd.Stage.Open(path)
    [str(error) for error in getattr(stage, "GetCompositionErrors", list)()]
    cache = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
    for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()):
        values(prim)
        try:
            cache.GetLocalToWorldTransform(prim)
        except Exception:  # the reader says so itself
            continue


def values(prim: Any) -> None:
    """Ask for what a prim has."""
    prim.GetPrimTypeInfo().GetAppliedAPISchemas()
    for attribute in prim.GetAttributes():
        attribute.Get()
    for relationship in prim.GetRelationships():
        relationship.GetTargets()


def reason(seconds: float, task: str, files: list[str]) -> str:
    """Return why one of some files cannot be opened, or an empty text."""
    bound(seconds, files)
    for file in files:
        try:
            {"look": look, "compose": compose}[task](file)
        except Exception as error:
            return f"{file}: {(error.args or ('',))[0]}"
    return ""


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        print(json.dumps(reason(*json.loads(line))), flush=True)
