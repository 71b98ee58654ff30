"""docs/cuda.md runs as it stands."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "cuda.md"


@pytest.mark.slow
def test_the_page_runs(device):
    blocks, names = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE), {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for block in blocks:
            exec(compile(block, "cuda.md", "exec"), names)
    assert said.getvalue().strip() == "<DeviceArray of float32, shape (1000, 7), on device 0>"
    assert len(blocks) == 3
