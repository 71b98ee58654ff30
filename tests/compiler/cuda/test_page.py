"""docs/cuda.md runs as it stands."""

import contextlib
import re
from pathlib import Path

import fake_cupy
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "cuda.md"


@pytest.mark.slow
def test_the_page_runs(device, monkeypatch):
    blocks, names = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE), {}
    assert len(blocks) == 3
    if device is None:
        pytest.importorskip("cupy", reason="CuPy is not installed")
    with fake_cupy.installed(monkeypatch) if device is not None else contextlib.nullcontext():
        for block in blocks:
            exec(compile(block, "cuda.md", "exec"), names)
