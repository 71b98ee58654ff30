"""Mutants of files of USD: text broken along its structure, binary files at random.

python tests/usd_mutants.py FOLDER COUNT [SEED]     # reads COUNT mutants of the files of a folder, each in a process
"""

from __future__ import annotations

import os
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

NUMBERS = ["nan", "inf", "-inf", "1e308", "-1e308", "1e39", "1e-320", "0", "-0", "-1", "1e10", "1e-10", "180", "9" * 24,
           "0x10", "1,5", "''", "None", "(1,2)", "[1]", "true"]  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
ATTRIBUTE = re.compile(r"^\s+(?:custom |uniform |prepend |rel |\w+(?:\[\])? )*[\w:]+ = .*$", re.MULTILINE)
PATHS = re.compile(r"<(/[^<>]*)>")
PRIM = re.compile(r'^\s*(def|over|class) (\w* ?)"(\w+)"', re.MULTILINE)
TYPES = [
    "Xform", "Cube", "Sphere", "Mesh", "Capsule", "Cylinder", "Cone", "Plane", "PhysicsJoint", "PhysicsFixedJoint",
    "PhysicsRevoluteJoint", "PhysicsScene", "PhysicsPrismaticJoint", "PhysicsSphericalJoint", "PhysicsDistanceJoint",
    "PhysicsCollisionGroup", "PointInstancer", "Nonsense",
]  # fmt: skip
ADDED = [
    "quatf xformOp:orient = (0, 0, 0, 0)", "double3 xformOp:scale = (0, 1, 1)", "double3 xformOp:scale = (-1, 1, 1)",
    'uniform token[] xformOpOrder = ["xformOp:orient", "xformOp:scale"]',
    'uniform token[] xformOpOrder = ["!resetXformStack!"]', "float physics:mass = -1", "float physics:mass = nan",
    "float3 physics:diagonalInertia = (-1, 1, 1)", "float physics:density = inf",
    "quatf physics:principalAxes = (nan, 0, 0, 0)", "point3f physics:centerOfMass = (1e30, 0, 0)",
    "rel physics:body0 = </>", "rel physics:body0 = </nowhere>", "rel physics:body1 = [</a>, </b>]",
    "float physics:lowerLimit = 1e38", "float physics:upperLimit = nan", 'uniform token physics:axis = "W"',
    "bool physics:rigidBodyEnabled = false", "bool physics:kinematicEnabled = true",
    "bool physics:excludeFromArticulation = true", "bool physics:jointEnabled = 0", "string physics:mass = 'heavy'",
    "float3 physics:mass = (1, 2, 3)", "rel physics:filteredPairs = </>", "point3f[] points = [(0,0,0)]",
    "int[] faceVertexIndices = [7, -1, 3]", "int[] faceVertexCounts = [3, 1000000]", "double radius = -1",
    "double size = 1e300", "double height = nan", "double radius = 0",
]  # fmt: skip
ARCS = ("references = </>", "references = @./other.usda@", "references = @/etc/passwd@", "payload = @x.usdz@</a>",
        "inherits = </>",
        "specializes = </>", "instanceable = true", "active = false", 'apiSchemas = ["PhysicsRigidBodyAPI"]',
        "apiSchemas = None",
        'variants = {string v = "a"}', 'references = [</>, </>, </>, </>]', "kind = 7", "hidden = maybe")  # fmt: skip
HEADERS = ("metersPerUnit = 0", "metersPerUnit = -1", "metersPerUnit = nan", 'upAxis = "X"', "kilogramsPerUnit = 1e400",
           "subLayers = [@./self.usda@]", "subLayers = [@/etc/hostname@]", 'defaultPrim = "nothing"',
           "metersPerUnit = 1e-30")  # fmt: skip


def mutated(text: str, other: str, r: random.Random) -> str:
    """Return a text of USD with one to four things about it changed."""
    for _ in range(r.choice((1, 1, 2, 4))):
        text = r.choice(CHANGES)(text, other, r)
    return text


def _at(pattern: re.Pattern[str], text: str, r: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text[: 1 << 17]))
    return r.choice(found) if found else None


def _put(text: str, m: re.Match[str] | None, new: str) -> str:
    return text if m is None else text[: m.start()] + new + text[m.end() :]


def _number(text: str, other: str, r: random.Random) -> str:
    return _put(text, _at(NUMBER, text, r), r.choice(NUMBERS))


def _numbers(text: str, other: str, r: random.Random) -> str:
    share, new = r.random() ** 3, r.choice(NUMBERS)
    return NUMBER.sub(lambda m: new if r.random() < share else m[0], text)


def _attribute(text: str, other: str, r: random.Random) -> str:
    m, theirs = _at(ATTRIBUTE, text, r), _at(ATTRIBUTE, other, r)
    choices = ["", f"{m[0]}\n{m[0]}" if m else "", theirs[0] if theirs else "", "    " + r.choice(ADDED)]
    return _put(text, m, r.choice(choices))


def _add(text: str, other: str, r: random.Random) -> str:
    m = _at(re.compile(r"\{\n"), text, r)
    return _put(text, m, "{\n    " + r.choice(ADDED) + "\n")


def _path(text: str, other: str, r: random.Random) -> str:
    m, n = _at(PATHS, text, r), _at(PATHS, text, r)
    choices = [
        n[0] if n else "</>",
        "</>",
        "<>",
        "<../..>",
        "</nowhere/at/all>",
        "</a.b>",
        "None",
        "<" + "/a" * 300 + ">",
    ]
    return _put(text, m, r.choice(choices))


def _arc(text: str, other: str, r: random.Random) -> str:
    m = _at(PRIM, text, r)
    above = PRIM.search(text)
    arc = r.choice(ARCS).replace("</>", f"</{above[3]}>" if above and r.random() < 0.7 else "</>")
    return text if m is None else text[: m.end()] + f" (\n prepend {arc}\n)\n" * 1 + text[m.end() :]


def _prim(text: str, other: str, r: random.Random) -> str:
    m = _at(PRIM, text, r)
    return text if m is None else _put(text, m, f'\n{r.choice(("def", "over", "class"))} {r.choice(TYPES)} "{m[3]}"')


def _rename(text: str, other: str, r: random.Random) -> str:
    m, n = _at(PRIM, text, r), _at(PRIM, text, r)
    return text if m is None or n is None else text[: m.start(3)] + n[3] + text[m.end(3) :]


def _header(text: str, other: str, r: random.Random) -> str:
    return re.sub(r"\n\(\n", f"\n(\n    {r.choice(HEADERS)}\n", text, count=1)


def _cut(text: str, other: str, r: random.Random) -> str:
    i, j = sorted(r.randrange(len(text) + 1) for _ in range(2))
    return r.choice((text[:i], text[:i] + text[j:], text[:i] + other[:200] + text[i:]))


def _nest(text: str, other: str, r: random.Random) -> str:
    n = r.choice((10, 150, 250, 5000))
    return text + "".join(f'\ndef Xform "n{k}"\n{{\n' for k in range(n)) + "}\n" * n


def _many(text: str, other: str, r: random.Random) -> str:
    n = r.choice((10, 30, 100))
    kind = r.choice(("references", "inherits", "payload", "specializes"))
    twice = "".join(
        f'def "m{k}"\n{{\n def "x" ({kind} = </m{k - 1}>)\n{{\n}}\n def "y" ({kind} = </m{k - 1}>)\n{{\n}}\n}}\n'
        for k in range(1, n)
    )
    return text + '\ndef Xform "m0"\n{\n}\n' + twice


def _token(text: str, other: str, r: random.Random) -> str:
    m = _at(re.compile(r'"[^"\n]*"'), text, r)
    return _put(text, m, r.choice(('""', '"\\x00"', '"X"', '"' + "a" * 3000 + '"', "'''", "@", "{", '"1 2"')))


def _byte(text: str, other: str, r: random.Random) -> str:
    i = r.randrange(len(text))
    return text[:i] + chr(r.choice((0, 7, 34, 40, 41, 60, 64, 91, 123, 125, 0xE9, 0x1F600))) + text[i + 1 :]


CHANGES: tuple[Callable[[str, str, random.Random], str], ...] = (
    _number, _number, _numbers, _attribute, _attribute, _add, _add, _path, _path, _arc, _arc, _prim, _rename, _header,
    _cut, _nest, _many, _token, _byte,
)  # fmt: skip


def damaged(content: bytes, r: random.Random) -> bytes:
    """Return a binary file with some bytes changed, or cut."""
    data = bytearray(content)
    for _ in range(r.choice((1, 1, 2, 5, 20))):
        i = r.randrange(len(data))
        match r.randrange(6):
            case 0:
                data[i] = r.randrange(256)
            case 1:
                data[i] ^= 1 << r.randrange(8)
            case 2:
                data[i : i + 8] = r.choice((b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7))
            case 3:
                data[-1 - r.randrange(min(400, len(data)))] = r.randrange(256)
            case 4:
                data[r.randrange(min(88, len(data)))] = r.randrange(256)
            case 5:
                del data[max(i, 9) :]
    return bytes(data)


# --- reading them, each in a process of its own -------------------------------------------------------------------


def read_in_child(path: str, seconds: float) -> tuple[str, float, int]:
    """Return what became of reading a file, the processor time [s] and the memory it took beyond the start [MB]."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        os.write(write_end, _outcome(path).encode()[:4000])
        os._exit(0)
    os.close(write_end)
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.002)
    else:
        os.kill(pid, 9)
        _, status, used = os.wait4(pid, 0)
        return "did not end", seconds, used.ru_maxrss // 1024
    with os.fdopen(read_end, "rb") as pipe:
        told = pipe.read().decode("utf-8", "replace")
    if status:
        told = f"died of {status}"
    return told, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def _outcome(path: str) -> str:
    import warnings

    import cardan

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)
    try:
        model = cardan.formats.load_mechanism(path)
    except cardan.DescriptionError as error:
        placed = all(fault.file for fault in error.faults) and error.faults
        return f"refused: {error.faults[0]}" if placed else "refused without a place"
    except BaseException as error:
        return f"raised {type(error).__name__}: {error}"
    return f"read: {len(model.bodies)} bodies"


def main(folder: str, count: int, seed: int = 0) -> int:
    """Read mutants, print what became of them, and return how many were neither read nor refused, in 4 s and 500 MB."""
    import cardan._reach.formats.usd.reader  # noqa: F401 -- once, before the processes part
    from cardan._reach.formats.usd.stage import pxr

    pxr()
    files = sorted(p for p in Path(folder).rglob("*.usd*") if p.stat().st_size < 200_000)
    texts = [p.read_text() for p in files if p.read_bytes().startswith(b"#usda")]
    binary = [p.read_bytes() for p in files if not p.read_bytes().startswith(b"#usda")]
    kinds: Counter[str] = Counter()
    worst_time, worst_memory, bad = (0.0, 0), (0, 0), 0
    with tempfile.TemporaryDirectory() as place:
        for number in range(seed, seed + count):
            r = random.Random(number)
            if binary and r.random() < 0.25:
                content = r.choice(binary)
                path = Path(place) / ("self.usdz" if content.startswith(b"PK") else "self.usd")
                path.write_bytes(damaged(content, r))
            else:
                path = Path(place) / "self.usda"
                path.write_text(mutated(r.choice(texts), r.choice(texts), r), encoding="utf-8", errors="replace")
            told, used, memory = read_in_child(str(path), 20.0)
            kind = told.split(":")[0]
            kinds[kind] += 1
            worst_time, worst_memory = max(worst_time, (used, number)), max(worst_memory, (memory, number))
            if kind.startswith("died") or kind == "did not end":  # OpenUSD on some damage (docs/security.md)
                continue
            if kind not in ("read", "refused") or used > 4.0 or memory > 500:
                bad += 1
                print(number, told[:300], f"{used:.1f} s", f"{memory} MB", flush=True)
    print(dict(kinds), "longest", worst_time, "largest", worst_memory)
    return bad


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1], *map(int, sys.argv[2:]))))
