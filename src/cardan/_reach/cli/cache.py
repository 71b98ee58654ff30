"""`cardan cache dir|size|clear`: the compiled programs kept on disk."""

from __future__ import annotations

import argparse

from cardan._compiler.runtime import disk_cache as cache


def fill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("dir", "size", "clear"))


def run(args: argparse.Namespace) -> int:
    if args.action == "dir":
        print(cache.directory())
    elif args.action == "size":
        print(f"{cache.size()} bytes in {sum(1 for _ in cache.entries())} files")
    else:
        print(f"{cache.clear()} files removed from {cache.directory()}")
    return 0
