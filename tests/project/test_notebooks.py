"""The notebooks run from their first cell to their last: `notebooks/*.py`, in jupytext's percent format.

One always; the others with --full, and whenever the site is built (`.ci/run`), which shows their results.
"""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))


def test_there_are_six():
    assert len(NOTEBOOKS) >= 6


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.full] * (p.stem != "getting_started")) for p in NOTEBOOKS],
)
def test_notebooks_run(path, tmp_path):
    jupytext = pytest.importorskip("jupytext", reason="needs the `docs` extra: jupytext")
    nbclient = pytest.importorskip("nbclient", reason="needs the `docs` extra: nbclient")
    pytest.importorskip("ipykernel", reason="needs the `docs` extra: ipykernel")
    pytest.importorskip("matplotlib", reason="needs the `plot` extra")
    notebook = jupytext.read(path)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
