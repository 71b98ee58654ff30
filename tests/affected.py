"""Which tests a change can break, for `pytest --affected`: the contracts between the wings say it."""

import functools
import pathlib
import subprocess

WINGS = ("algebra", "compiler", "robot", "dynamics", "motion", "reach")
"""Of src/cardan (with an underscore) and of this folder; each imports only from those before it."""


def path_in_tests(item):
    """Return the path of a test's file, from this folder."""
    return item.path.relative_to(pathlib.Path(__file__).parent).as_posix()


def changed_paths(root):
    """Return the paths that differ from where this branch left main, and those git does not track yet."""
    git = functools.partial(subprocess.run, cwd=root, capture_output=True, text=True)
    start = git(["git", "merge-base", "HEAD", "main"]).stdout.strip() or "HEAD"
    listed = git(["git", "diff", "--name-only", start]).stdout + git(["git", "status", "--porcelain", "-uall"]).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def lowest(changed):
    """Return the number of the lowest wing that changed; 0 if something did that belongs to none, or to all."""
    wings = [path.split("/")[2][1:] for path in changed if path.startswith("src/cardan/_") and path.count("/") > 2]
    elsewhere = any(path.startswith("src/") and path.count("/") < 3 for path in changed) or "pyproject.toml" in changed
    return 0 if elsewhere else min((WINGS.index(wing) for wing in wings), default=len(WINGS))


def is_affected(place, changed):
    """Return whether a test may fail: it changed, or its wing or one below; outside the wings, if anything did."""
    wing = place.split("/")[0]
    of_wing = WINGS.index(wing) >= lowest(changed) if wing in WINGS else bool(changed)
    return of_wing or f"tests/{place}" in changed


def rank(place, changed):
    """Return what comes first: changed tests, those of the lowest changed wing, the wings above it, the others."""
    wing = place.split("/")[0]
    return f"tests/{place}" not in changed, WINGS.index(wing) if wing in WINGS else len(WINGS)
