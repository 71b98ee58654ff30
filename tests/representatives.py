"""Parametrisations of which a few stand for the rest in the default run, and those within one test."""

import functools
import inspect

import pytest


def represented(cases, by):
    """Return the cases as parameters: those that `by` says yes to are always run, the others with `--full`."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[] if by(case) else pytest.mark.full)
        for case in cases
    ]


def in_turn(names, cases):
    """Parametrise like pytest, but within one test: for cases that take less time than it takes to report them.

    A failure ends the test, and says of which case it is.
    """
    names = (names,) if isinstance(names, str) else names

    def decorate(test):
        @functools.wraps(test)
        def run(**given):
            for case in cases:
                values = dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                try:
                    test(**given, **values)
                except Exception as error:
                    error.add_note(", ".join(f"{name} = {value!r}" for name, value in values.items()))
                    raise

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=left)
        return run

    return decorate
