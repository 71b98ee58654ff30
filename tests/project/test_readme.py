"""The README's code blocks run as they stand, one after the other; its plot says what the page of figures says."""

import re
import runpy
from pathlib import Path

import numpy as np

README = Path(__file__).parents[2] / "README.md"


def test_code_blocks_run_and_print_what_is_shown(capsys):
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert blocks
    assert shown
    names = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    assert capsys.readouterr().out == "".join(shown)
    assert names["tau"].shape == (4096, 7)
    np.testing.assert_allclose(names["back"], names["a"], atol=1e-9)


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_the_plot_of_speed_is_that_of_the_page():
    """`python docs/build_speed.py` makes it anew."""
    plot = runpy.run_path(str(README.parent / "docs" / "build_speed.py"))
    assert plot["PICTURE"].read_text(encoding="utf-8") == plot["drawn"](
        plot["measured"](plot["PAGE"].read_text("utf-8"))
    )
