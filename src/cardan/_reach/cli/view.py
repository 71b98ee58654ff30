"""`cardan view FILE`: a robot in the browser."""

from __future__ import annotations

import argparse

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._reach.cli.options import ROBOT, add, load_robot, say
from cardan._reach.viewer import show


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT)
    parser.add_argument("--trajectory", metavar="FILE", help=".npy, or .npz with an array q, shape (T, nq), to play")
    parser.add_argument("--dt", type=float, metavar="S", help="time between samples of the trajectory [s]")
    parser.add_argument("--drag", metavar="FRAME", help="body or frame to put a handle on")
    parser.add_argument("--collision", action="store_true", help="show collision shapes, too")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at (default: this machine alone)")
    parser.add_argument("--port", type=int, help="port to serve at (default: the first free one from 8080 on)")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")


def run(args: argparse.Namespace) -> int:
    model = load_robot(args)
    path = None if args.trajectory is None else read_path(args.trajectory)
    start = None if path is None else path[0]
    shown = {"collision": True} if args.collision else {}
    with show(model, start, host=args.host, port=args.port, title=model.name, **shown) as viewer:
        if path is not None:
            viewer.play(path, args.dt)
        if args.drag is not None:
            viewer.drag(args.drag)
        say(f"{model.name} is shown at {viewer.url}; Ctrl-C ends it")
        if viewer.how_to_reach:
            say(viewer.how_to_reach)
        if not args.no_browser:
            viewer.open_browser()
        viewer.wait()  # the server ends with the process
    return 0


def read_path(file: str) -> np.ndarray:
    """Return the configurations that a file of NumPy's holds."""
    try:
        found = np.load(file)  # never a pickle
        return found["q"] if isinstance(found, np.lib.npyio.NpzFile) else found
    except (ValueError, KeyError) as error:
        expected = "a .npy of configurations, or an .npz with an array q"
        raise ParameterError("--trajectory", got=f"{file}: {error}", expected=expected) from None
