"""`cardan view FILE`: a robot in the browser."""

from __future__ import annotations

import argparse

from cardan._reach.cli.dynamics import read_trajectory
from cardan._reach.cli.options import ROBOT, add, load_robot, say
from cardan._reach.viewer import show


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT)
    parser.add_argument("--trajectory", metavar="FILE", help=".csv or .npz to play, as for `cardan dynamics`")
    parser.add_argument("--dt", type=float, metavar="S", help="time between samples of the trajectory [s]")
    parser.add_argument("--drag", metavar="FRAME", help="body or frame to put a handle on")
    parser.add_argument("--collision", action="store_true", help="show collision shapes, too")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at (default: this machine alone)")
    parser.add_argument("--port", type=int, help="port to serve at (default: the first free one from 8080 on)")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")


def run(args: argparse.Namespace) -> int:
    model = load_robot(args)
    path = None if args.trajectory is None else read_trajectory(args.trajectory, model).q
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
