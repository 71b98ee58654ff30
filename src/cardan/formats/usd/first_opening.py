"""Run as a program of its own: open files of binary USD and look at every value in them.

A damaged crate file may make OpenUSD run for ever or crash. This process, not the reader's, then does so. Arguments:
the places of Python's modules as JSON, seconds of processor time, and the files. It ends with 0, or with 1 and the
reason on its standard output, or is killed. It imports nothing of cardan, so that it starts quickly.
"""

import json
import sys
from typing import Any


def bound(seconds: float) -> None:
    """Let the system end this process when it has used its time, or asks for memory without end."""
    try:
        import resource
        import signal
    except ImportError:  # Windows: the parent's clock remains
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


ADDRESSES = 3 * 2**30
"""Bytes of addresses, not of memory: libraries and the stacks of their threads take most of them."""


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


def main(places: str, seconds: str, *files: str) -> int:
    """Look at all files; return the exit status."""
    sys.path[:] = json.loads(places)
    bound(float(seconds))
    for file in files:
        try:
            look(file)
        except Exception as error:
            print(f"{file}: {getattr(error, 'args', [''])[0]}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
