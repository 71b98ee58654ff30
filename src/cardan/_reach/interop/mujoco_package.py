"""MuJoCo, an extra: imported when it is used, and not before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from cardan._compiler.runtime.extras import package


def mujoco(capability: str) -> Any:
    """Return the module `mujoco`, for what it is wanted for; errors as `extras.package`."""
    return package("mujoco", capability, "mujoco")


def mujoco_batch(capability: str) -> Any:
    """Return the module `mujoco.batch`, which steps many simulations at once; errors as `mujoco`."""
    mujoco(capability)
    from mujoco import batch

    return batch


_HEARING = Lock()


@contextmanager
def heard(mj: Any) -> Iterator[list[str]]:
    """Give a list that in the end holds what MuJoCo warned about; it prints nothing, and writes no file.

    MuJoCo has one handler of warnings for the whole process, and Python one list: one thread hears at a time, and both
    are as before afterwards.
    """
    told: list[str] = []
    with _HEARING:
        before = mj.get_mju_user_warning()
        mj.set_mju_user_warning(lambda message: told.append(message.strip()))
        try:
            with warnings.catch_warnings(record=True) as shown:
                warnings.simplefilter("always")
                yield told
        finally:
            mj.set_mju_user_warning(before)
        told += [str(warning.message) for warning in shown]
