"""The layers a file of USD is composed of, looked at before OpenUSD composes them.

Composing follows whatever path a layer names, multiplies prims with every reference, and takes time beyond measure over
long chains of them. So the layers are opened one by one, without composing: each must be a file the description may
read, and what they would become together must not be too much.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cardan.errors import DescriptionError, quoted
from cardan.formats.report import Place, Report
from cardan.formats.resources import Places
from cardan.formats.source import MAX_BYTES, Source
from cardan.formats.usd.text_depth import depth
from cardan.formats.usd.trial import Trial
from cardan.formats.usd.usd_package import pxr

MAX_BYTES_TOGETHER = 4 * MAX_BYTES
MAX_LAYERS_DEEP = 16
MAX_NESTING = 200
MAX_VALUES = 4_000_000
"""Commas in text: OpenUSD's parser needs about 100 bytes for each value."""
MAX_CHAIN = 32
"""References in a row: OpenUSD's time grows with a high power of it (5000 take minutes, then its stack is full)."""
MAX_PRIMS = 100_000
"""Prims after composing: OpenUSD needs about 1 kB and cardan about 50 microseconds for each."""
_ARCS = ("references", "payload", "inheritPaths", "specializes")


class Arc(NamedTuple):
    """What composing follows: at which prim, to which asset ("" for the same layers), to which prim there."""

    at: str
    asset: str
    target: str
    layer: str


@dataclass(slots=True)
class Opened:
    """A layer that was opened: its prims in order, its arcs, its sublayers, and the files of the assets it names."""

    layer: Any
    prims: list[str]
    arcs: list[Arc]
    sublayers: list[str] = field(default_factory=list)
    files: dict[str, str | None] = field(default_factory=dict)

    def file(self, asset: str) -> str | None:
        """Return where an asset path leads, or None: nothing is opened."""
        if asset not in self.files:
            self.files[asset] = resolved(self.layer, asset)
        return self.files[asset]


def open_layers(report: Report, path: str, places: Places, trusted: bool = False) -> Any:
    """Return the root layer of a file, after looking at all it is composed of; None where that was refused.

    Args:
        report: takes the faults.
        path: of the file.
        places: where layers may be.
        trusted: whether binary layers are opened without a trial in another process.
    """
    with Trial(trusted) as trial:
        return _open_layers(report, path, places, trial)


def _open_layers(report: Report, path: str, places: Places, trial: Trial) -> Any:
    opened: dict[str, Opened] = {}
    waiting, size = [(path, Place())], 0
    for _ in range(MAX_LAYERS_DEEP):
        size += _examine(report, [file for file, _ in waiting], size, trial)
        if report.errors:
            return None
        found = [opened.setdefault(file, _opened(report, file)) for file, _ in waiting]
        waiting = [new for each in found for new in _assets(report, each, places) if new[0] not in opened]
        waiting = list(dict(waiting).items())
        if report.errors or not waiting:
            break
    else:
        report.error(waiting[0][1], f"layers include layers more than {MAX_LAYERS_DEEP} deep")
    if not report.errors:
        Sizes(opened, path).check(report)
    if not report.errors and (told := trial.compose(path)):
        report.error(0, f"cannot be composed: {brief(told)}")
    return None if report.errors else opened[path].layer


def _examine(report: Report, files: Sequence[str], before: int, trial: Trial) -> int:
    """Return the size of files after looking at their bytes; what cannot be opened is an error."""
    binary, size = [], 0
    for file in files:
        if "[" in file:  # in a package, whose size is counted
            binary.append(file)
            continue
        try:
            content = Source.of(file).content
        except DescriptionError as error:
            report.errors += error.faults
            continue
        size += len(content)
        if not content.startswith(b"#usda"):
            binary.append(file)
        elif content.count(b",") > MAX_VALUES:
            told = f"has more than {MAX_VALUES} values; write it as binary USD, with  usdcat FILE -o FILE.usdc"
            report.error(Place(file=file), told)
        elif depth(content) > MAX_NESTING:
            report.error(Place(file=file), f"brackets are nested more than {MAX_NESTING} deep")
    if before + size > MAX_BYTES_TOGETHER:
        report.error(0, f"its layers have more than {MAX_BYTES_TOGETHER} bytes together")
    elif not report.errors and (told := trial.look(binary, size)):
        report.error(Place(file=binary[0]), f"cannot be opened: {brief(told)}")
    return size


def _opened(report: Report, file: str) -> Opened:
    Sdf, Tf = pxr().Sdf, pxr().Tf
    try:
        layer = Sdf.Layer.FindOrOpen(file)
    except Tf.ErrorException as error:
        report.error(parse_place(str(error.args[0]), file), f"cannot be opened: {brief(str(error))}")
        layer = None
    if layer is None:
        if not report.errors:
            report.error(Place(file=file), "cannot be opened: it is no layer of USD")
        return Opened(None, [], [])
    paths: list[Any] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)
    prims = [p for p in paths if p.IsPrimPath() or p.IsPrimVariantSelectionPath()]
    arcs = [arc for p in prims for arc in _arcs(report, layer, file, p)]
    names = sorted(str(p.StripAllVariantSelections()) for p in prims if p.IsPrimPath())
    return Opened(layer, names, arcs, list(layer.subLayerPaths))


def _arcs(report: Report, layer: Any, file: str, path: Any) -> Iterator[Arc]:
    """Yield the arcs authored at a prim, whatever operation of a list they are authored with."""
    spec = layer.GetPrimAtPath(path)
    keys = spec.ListInfoKeys() if spec else ()
    at = str(path.StripAllVariantSelections())
    if "clips" in keys or "clipSets" in keys:
        report.error(
            Place(where=at), "value clips are refused: they open files while values are read; flatten the stage"
        )
    for key in _ARCS:
        if key not in keys:
            continue
        listed = spec.GetInfo(key)
        for item in (*listed.explicitItems, *listed.addedItems, *listed.prependedItems, *listed.appendedItems):
            is_path = key in ("inheritPaths", "specializes")
            yield Arc(at, "" if is_path else item.assetPath, str(item if is_path else item.primPath), file)


def _assets(report: Report, opened: Opened, places: Places) -> list[tuple[str, Place]]:
    """Return the files a layer names, each with where it is named; note those that cannot or may not be read."""
    found = []
    named = [("/", asset) for asset in opened.sublayers] + [(arc.at, arc.asset) for arc in opened.arcs if arc.asset]
    for at, asset in dict.fromkeys(named):
        place = Place(where=at)
        file = opened.file(asset)
        if asset.startswith("`"):
            report.error(
                place, f"the asset path {quoted(asset)} is an expression, which is not followed; write the path"
            )
        elif file is None:
            report.error(place, f"the layer {quoted(asset)} was not found")
        elif not places.allow(file.partition("[")[0]):  # it, or the package (robot.usdz[...]) it is in
            told = "is outside the folders this description may read; allow its folder with package_dirs=[folder]"
            report.error(place, f"the layer {quoted(asset)} {told}")
        else:
            found.append((file, place))
    return found


def resolved(layer: Any, asset: str) -> str | None:
    """Return where an asset path of a layer leads, or None: nothing is opened."""
    Ar = pxr().Ar
    try:
        return Ar.GetResolver().Resolve(layer.ComputeAbsolutePath(asset)).GetPathString() or None
    except pxr().Tf.ErrorException:
        return None


class Sizes:
    """How many prims composing can give at most, without composing.

    The size of a prim is the number of specs below it and the sizes of all that arcs below it lead to. What arcs of
    prims above bring is counted whole. Sublayers count as one with the layer that names them.
    """

    def __init__(self, opened: dict[str, Opened], root: str) -> None:
        self.opened, self.root = opened, root
        self.stacks: dict[str, tuple[list[str], list[Arc], list[str]]] = {}
        self.known: dict[tuple[str, str], tuple[int, int]] = {}
        self.too_deep: Arc | None = None

    def check(self, report: Report) -> None:
        """Note an error if there would be too many prims, or too long a chain of references."""
        size, _ = self.size(self.root, "/", 0)
        if self.too_deep is not None:
            told = f"more than {MAX_CHAIN} references in a row, each to a prim that refers to the next"
            report.error(Place(where=self.too_deep.at), told)
        elif size > MAX_PRIMS:
            report.error(0, f"has up to {min(size, 10**12)} prims with all it refers to; at most {MAX_PRIMS} are read")

    def size(self, file: str, prim: str, chain: int) -> tuple[int, int]:
        """Return the size of a prim of a layer, and the length of the longest chain of arcs from there."""
        key = file, prim
        if key in self.known:
            return self.known[key]
        self.known[key] = 0, 0  # a cycle: OpenUSD leaves it out
        prims, arcs, places = self._stack(file)
        low, high = _range(prims, prim)
        inside = slice(*_range(places, prim))
        above = [arc for up in ancestors(prim) for arc in arcs[slice(*_exactly(places, up))]]
        total, longest = high - low, 0
        for arc in (*arcs[inside], *above):
            if chain >= MAX_CHAIN:
                self.too_deep = arc
                break
            for target_file, target in self._targets(file, arc):
                size, length = self.size(target_file, target, chain + 1)
                total, longest = min(total + size, 10**18), max(longest, 1 + length)
                if chain + longest > MAX_CHAIN:
                    self.too_deep = arc
            if self.too_deep is not None:
                break
        self.known[key] = total, longest
        return total, longest

    def _targets(self, file: str, arc: Arc) -> Iterator[tuple[str, str]]:
        if not arc.asset:
            yield file, arc.target or "/"
            if file != self.root:  # a class may have more in the layers that refer to this one
                yield self.root, arc.target or "/"
            return
        target_file = self.opened[arc.layer].file(arc.asset)
        if target_file in self.opened:
            default = self.opened[target_file].layer.defaultPrim
            yield target_file, arc.target or ("/" + default.lstrip("/") if default else "/")

    def _stack(self, file: str) -> tuple[list[str], list[Arc], list[str]]:
        """Return the prims, the arcs by place, and these places, of a layer with its sublayers."""
        if file not in self.stacks:
            files, waiting = {file: None}, [file]
            while waiting:
                each = self.opened[waiting.pop()]
                new = [f for asset in each.sublayers if (f := each.file(asset)) and f not in files]
                files |= dict.fromkeys(new)
                waiting += [f for f in new if f in self.opened]
            layers = [self.opened[f] for f in files if f in self.opened]
            prims = sorted(p for each in layers for p in each.prims)
            arcs = sorted(arc for each in layers for arc in each.arcs)
            self.stacks[file] = prims, arcs, [arc.at for arc in arcs]
        return self.stacks[file]


def _exactly(paths: Sequence[str], path: str) -> tuple[int, int]:
    low = bisect_left(paths, path)
    return low, bisect_left(paths, path + "\0", low)


def _range(paths: Sequence[str], path: str) -> tuple[int, int]:
    """Return where a path and all below it are among sorted paths."""
    if path == "/":
        return 0, len(paths)
    return bisect_left(paths, path), bisect_left(paths, path + "0")  # "0" comes after "/"


def ancestors(path: str) -> Iterator[str]:
    """Yield the paths above one, but for the root's."""
    while path := path.rpartition("/")[0]:
        yield path


_PLACED = re.compile(r"([^'\s]+):(\d+):(\d+): ")
_WORDS = re.compile(r"Error in '[^']*' at line \d+ in file \S+ : |,@anon:[^@]*@")  # the session's layer is no file's


def parse_place(told: str, file: str) -> Place:
    """Return the line OpenUSD's parser names."""
    found = _PLACED.search(told)
    return Place(int(found[2]) if found else 0, file=file)


def brief(told: str) -> str:
    """Return what OpenUSD says without where in its own code it says so, and without layers of its own."""
    lines = [_PLACED.sub("", _WORDS.sub("", line)).strip().strip("'") for line in told.splitlines()]
    return "; ".join(line for line in dict.fromkeys(lines) if line)[:400]
