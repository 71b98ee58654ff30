"""Parametrisations of which a few stand for the rest in the default run."""

import pytest


def represented(cases, by):
    """Return the cases as parameters: those that `by` says yes to are always run, the others with `--full`."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[] if by(case) else pytest.mark.full)
        for case in cases
    ]
