"""Opens the layers of a stage one by one, composes it and reads every value: in a process of its own first.

OpenUSD follows whatever a layer names and multiplies prims with every reference. Its crate files are offsets and
counts: some damage crashes it, and some makes it ask for memory without end (26.11: about one damaged file in 400).
Here that happens to a process whose bounds are known (`sandbox_process.py`). For trusted files only the layers are
opened, in the reader's. It imports nothing of cardan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

Ask = Callable[[str, str], Any]
MAX_LAYERS_DEEP = 16
_EXPRESSION = "`"


def prepare() -> None:
    os.environ["PXR_WORK_THREAD_LIMIT"] = "1"
    _pxr()


def _pxr() -> Any:
    import pxr as package
    from pxr import Ar, Sdf, Usd, UsdGeom  # noqa: F401

    return package


def work(argument: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """Return what is wrong with a file of USD: `error`, at a prim, `where`, of a layer, `file`; or an empty dictionary.

    Args:
        argument: the `file`, and whether to `compose` it.
        ask: answers `"layer"`, a path, by its `size`, or by an `error`: it may not be read.
    """
    try:
        examine(argument["file"], ask)
        if argument["compose"]:
            compose(argument["file"])
    except FaultError as fault:
        if "bad_alloc" in fault.told["error"]:  # OpenUSD's MemoryError
            raise MemoryError from None
        return fault.told
    return {}


class FaultError(Exception):
    def __init__(self, error: str, where: str = "", file: str = "") -> None:
        super().__init__(error)
        self.told = {"error": error, "where": where, "file": file}


def examine(file: str, ask: Ask) -> None:
    """Open a layer and all that it and those it names name, each after asking whether it may be read."""
    known, waiting = {file}, {file: "/"}
    for _ in range(MAX_LAYERS_DEEP):
        found: dict[str, str] = {}
        for each, where in waiting.items():
            answer = ask("layer", each)
            if "error" in answer:
                raise FaultError(answer["error"], "" if where == "/" else where)
            found |= assets(each)
        waiting = {each: where for each, where in found.items() if each not in known}
        known |= waiting.keys()
        if not waiting:
            return
    raise FaultError(f"layers include layers more than {MAX_LAYERS_DEEP} deep", next(iter(waiting.values())))


def assets(file: str) -> dict[str, str]:
    """Return the files that a layer names, each with the prim where it does."""
    try:
        layer = _pxr().Sdf.Layer.FindOrOpen(file)
    except Exception as error:
        raise FaultError(f"cannot be opened: {(error.args or ('',))[0]}", file=file) from None
    if layer is None:
        raise FaultError("cannot be opened: it is no layer of USD", file=file)
    found: dict[str, str] = {}
    for where, asset in named(layer):
        if asset.startswith(_EXPRESSION):
            raise FaultError(f"the asset path {asset!r} is an expression, which is not followed; write the path", where)
        found[resolved(layer, asset, where)] = where
    return found


def named(layer: Any) -> Iterator[tuple[str, str]]:
    """Yield the asset paths that composing follows, each with its prim; read all else that is said, too."""
    paths: list[Any] = []
    layer.Traverse(_pxr().Sdf.Path.absoluteRootPath, paths.append)
    yield from (("/", asset) for asset in layer.subLayerPaths)
    for path in paths:
        spec = layer.GetObjectAtPath(path)
        for key in spec.ListInfoKeys() if spec else ():
            value = spec.GetInfo(key)
            where = str(path.StripAllVariantSelections())
            if key in ("clips", "clipSets"):
                told = "value clips are refused: they open files while values are read; flatten the stage"
                raise FaultError(told, where)
            if key in ("references", "payload"):
                items = (*value.explicitItems, *value.addedItems, *value.prependedItems, *value.appendedItems)
                yield from ((where, item.assetPath) for item in items if item.assetPath)


def resolved(layer: Any, asset: str, where: str) -> str:
    """Return where an asset path of a layer leads: nothing is opened."""
    try:
        file = _pxr().Ar.GetResolver().Resolve(layer.ComputeAbsolutePath(asset)).GetPathString()
    except Exception:
        file = ""
    if not file:
        raise FaultError(f"the layer {asset!r} was not found", where)
    return file


def compose(file: str) -> None:
    """Do with a stage what the reader does: every value of every prim, its pose, its composition errors."""
    Usd = _pxr().Usd
    try:
        stage = Usd.Stage.Open(file)
        [str(error) for error in getattr(stage, "GetCompositionErrors", list)()]
        cache = _pxr().UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
        for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()):
            read(prim, cache)
    except Exception as error:
        raise FaultError(f"cannot be composed: {(error.args or ('',))[0]}") from None


def read(prim: Any, cache: Any) -> None:
    prim.GetPrimTypeInfo().GetAppliedAPISchemas()
    for attribute in prim.GetAttributes():
        attribute.Get()
    for relationship in prim.GetRelationships():
        relationship.GetTargets()
    try:
        cache.GetLocalToWorldTransform(prim)
    except Exception:  # the reader says so itself
        return
