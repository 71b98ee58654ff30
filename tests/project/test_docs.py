"""The pages of the documentation run as they stand: Python blocks in order as one program, commands in a shell's way.

A block `python file=NAME` is a file of that name. A block `console` holds commands after `$ ` with the output they
must give: each line of it in order, where a line `...` stands for any lines.
"""

import argparse
import contextlib
import importlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from cardan._reach.cli.main import COMMANDS, main
from representatives import represented

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "getting-started.md": ("matplotlib",),
    "tour.md": ("sympy",),
    "clearance.md": (),
    "faq.md": (),
    "control-loop.md": (),
    "rl.md": (),
    "optimisation.md": ("scipy", "casadi"),
    "deployment.md": (),
    "new-algorithm.md": (),
    "new-format.md": (),
    "simulate.md": ("gymnasium", "matplotlib"),
    "new-joint.md": ("sympy", "matplotlib"),
    "identification.md": ("scipy",),
    "trajectories.md": ("toppra",),
    "mechanism.md": (),
    "articulations.md": (),
    "simulation.md": ("scipy",),
    "senses.md": (),
    "contact-physics.md": (),
    "conventions.md": (),
    "jax.md": ("jax",),
    "clusters.md": ("dask",),
    "mujoco.md": ("mujoco",),
    "loops.md": (),
    "closed-mechanisms.md": (),
    "inverse-kinematics.md": ("daqp",),
    "maximal.md": (),
    "many-bodies.md": (),
    "functions.md": (),
    "pictures.md": ("matplotlib",),
    "sdf.md": (),
    "usd.md": ("pxr",),
    "torch.md": ("torch",),
    "viewer.md": ("viser", "trimesh"),
    "coming-from/index.md": (),
    "coming-from/pinocchio.md": ("pinocchio",),
    "coming-from/mujoco.md": ("mujoco",),
    "coming-from/newton.md": (),
    "coming-from/rigidbodydynamics.md": (),
    "coming-from/drake.md": (),
    "coming-from/idyntree.md": (),
}
CODE = re.compile(r"^```.*?^```|`[^`]+`", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:^|`|\$ )cardan ([a-z]+ [^`\n#]*?[a-z_]\.[a-z]+[^`\n#]*)", re.MULTILINE)
"""A command with a file that has a name, in code; prose may begin with the library's name, too."""

BLOCK = re.compile(r"^```(python|console)([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_commands_in_the_pages_are_taken(capsys):
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    for command in COMMANDS:
        importlib.import_module(f"cardan._reach.cli.{command}").fill(subparsers.add_parser(command))
    code = [part for page in sorted(DOCS.rglob("*.md")) for part in CODE.findall(page.read_text(encoding="utf-8"))]
    found = [command for part in code for command in COMMAND.findall(part)]
    assert len(found) > 10
    for command in found:
        try:
            parser.parse_args(shlex.split(command))
        except SystemExit:
            pytest.fail(f"cardan {command}: {capsys.readouterr().err}")


@pytest.mark.slow
@pytest.mark.parametrize("page", represented(PAGES, by=["getting-started.md", "functions.md", "faq.md"].count))
def test_pages_run(page, tmp_path, monkeypatch):
    for module in PAGES[page]:
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    text, names, ran = (DOCS / page).read_text(encoding="utf-8"), {}, 0
    for kind, options, block in BLOCK.findall(text):
        if kind == "console":
            run_commands(block)
        elif "file=" in options:
            (tmp_path / options.split("file=")[1].strip()).write_text(block, encoding="utf-8")
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"{page}, block {ran}", "exec"), names)
        ran += 1
    assert ran >= 3
    for name in ("rolling", "ellipsoid", "joint_wrenches", "dh", "tables"):
        sys.modules.pop(name, None)


def run_commands(block):
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "cardan"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = main(arguments)
        assert not code, out.getvalue()
        check_output(command, out.getvalue().splitlines(), expected.splitlines())


def check_output(command, lines, expected):
    rest = iter(lines)
    for line in expected:
        if line.strip() in ("...", ""):
            continue
        assert any(line.rstrip() in found for found in rest), f"$ {command}: no line {line!r} in\n" + "\n".join(lines)
