import pytest


@pytest.fixture(autouse=True)
def reference_target(monkeypatch):
    """Single states of many robots: the reference target needs no compilation. The native one is compared with it."""
    monkeypatch.setenv("CARDAN_TARGET", "numpy")
