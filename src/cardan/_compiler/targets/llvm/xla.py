"""Handlers for XLA: functions in machine code, without Python, that call a compiled program on XLA's buffers.

XLA calls a handler with one structure (a frame) that says where arguments and results are; it holds no other state. So
each program has a handler of its own: a copy of the same machine code, in which the address of a context is written.
What is called is a program in machine code, or the driver of a device, that it may launch a kernel.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import TargetError
from cardan._algebra.lazy import later
from cardan._compiler.targets.llvm import xla_layout as at
from cardan._compiler.targets.llvm.image import LOCK, Image, workspace
from cardan._compiler.targets.llvm.store import image_of, load


class Handler:
    """The handler of one program, for core shapes of its arguments and results.

    `words` are those of what it calls; see `words_of`. It launches a kernel on a `device`. What must live as long as it
    does, it `keep`s; whoever may call its `address` must keep the handler alive.
    """

    def __init__(
        self,
        words: Mapping[str, int],
        dtype: np.dtype,
        inputs: Sequence[tuple[int, ...]],
        outputs: Sequence[tuple[int, ...]],
        *,
        device: bool = False,
        keep: Any = None,
    ) -> None:
        sizes = [int(np.prod(shape)) for shape in (*inputs, *outputs)]
        words = {
            **words,
            "dtype": at.DTYPES[dtype.itemsize],
            "itemsize": dtype.itemsize,
            "core_rank": len(outputs[0]),
            "inputs": len(inputs),
            "outputs": len(outputs),
        }
        self.context = np.array([words.get(name, 0) for name in at.FIELDS] + sizes, dtype=np.int64)
        heap = words.get("heap", 0)
        self._space, start = workspace(heap)
        if heap:
            self.context[at.WORD["spare"]] = start
        self._keep = keep
        address, mark = self.context.__array_interface__["data"][0], at.MARK.to_bytes(8, "little")
        with LOCK:
            image = _image(device)
            if image.code.count(mark) != 1:
                lacking = "the compiler left no place for the context of a handler"
                raise TargetError(f"{lacking}; this processor is not known to it.")
            code = image.code.replace(mark, address.to_bytes(8, "little"))
            self._code = load(image._replace(code=code), "handler")
        self.address: int = self._code.address


def words_of(code: Any, work: int, passes: int) -> dict[str, int]:
    """Return the words that say how to call a program's machine code; see `work_of` for work, `Outline` for passes."""
    system: Any = ctypes  # checkers know `WinDLL` on Windows alone
    rest = system.WinDLL("kernel32").SwitchToThread if os.name == "nt" else system.CDLL(None).sched_yield
    return {
        "evaluate": code.address,
        "passes": passes,
        "heap": code.heap,
        "malloc": _address(ctypes.pythonapi.PyMem_RawMalloc),
        "free": _address(ctypes.pythonapi.PyMem_RawFree),
        "rest": _address(rest),
        "work": min(work, at.WORTHWHILE),
        "width": code.image.width,
    }


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.cache
def _image(device: bool) -> Image:
    kind = "of a device" if device else f"{at.WORTHWHILE} {at.GRAIN}"  # the source itself is in the name, too
    text = functools.partial(later("cardan._compiler.targets.llvm.xla_text:handler_text"), device=device)
    return image_of(f"handler for XLA {kind}", text, "handler")
