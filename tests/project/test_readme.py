"""The README's code blocks run as they stand, one after the other."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[2] / "README.md"


def test_code_blocks_run(capsys):
    pytest.importorskip("sympy")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    assert names["tau"].shape == (4096, 7)
    np.testing.assert_allclose(names["back"], names["a"], atol=1e-9)
    assert "5.886*sin(q0)" in capsys.readouterr().out
