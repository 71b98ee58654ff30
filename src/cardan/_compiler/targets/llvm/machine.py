"""This machine as LLVM sees it: its processor, its compiler, and machine code loaded into memory."""

from __future__ import annotations

import functools
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from cardan._compiler.targets.llvm.elf import flatten
from cardan._compiler.targets.llvm.image import LOCK, OBJECT, Image, has_flat_images
from cardan._compiler.targets.llvm.writer import Lanes


@functools.cache
def host_features() -> tuple[str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def machine_name() -> tuple[str, ...]:
    """Return what machine code depends on besides its source."""
    return (llvmlite.__version__, *host_features(), llvm.get_default_triple())


def has_multiply_add() -> bool:
    machine = llvm.get_default_triple().split("-")[0]
    return machine not in ("x86_64", "i386", "i686") or "+fma" in host_features()[1].split(",")


@functools.cache
def host_lanes(dtype: np.dtype) -> Lanes:
    """Return how many states of a dtype this machine computes at a time."""
    features = set(host_features()[1].split(","))
    size = 64 if "+avx512f" in features and "+avx512dq" in features else 32 if "+avx" in features else 16
    return Lanes(size // dtype.itemsize, "double" if dtype.itemsize == 8 else "float")


def _target_machine() -> Any:
    name, features = host_features()
    target = llvm.Target.from_default_triple()
    # small code model, position independent: constants stay near the code and cost no register (PERFORMANCE, fact 2)
    return target.create_target_machine(cpu=name, features=features, opt=2, reloc="pic", codemodel="small")


def compile_object(text: str, *, optimised: bool = False) -> bytes:
    """Return the object file of a module. Programs gain nothing from LLVM's passes; loops and names of kernels do."""
    with LOCK:
        module = llvm.parse_assembly(text, context=llvm.create_context())  # LLVM's own would keep every constant
        module.verify()
        machine, passes, builder = _pipeline(2) if optimised else _without_passes()
        passes.run(module, builder)
        return machine.emit_object(module)


def _pipeline(level: int) -> tuple[Any, Any, Any]:
    """Return what compiles at a level of LLVM's; its passes, from 1 on, serve one module."""
    machine = _target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.slp_vectorization = level > 0
    builder = llvm.create_pass_builder(machine, options)
    return machine, builder.getModulePassManager(), builder


# once and for all: llvmlite loses 1.5 kB for each pass builder and pass manager
_without_passes = functools.cache(lambda: _pipeline(0))


def compile_image(text: str, function: str, *, optimised: bool = False, **about: int) -> Image:
    code = compile_object(text, optimised=optimised)
    code, entry = flatten(code, function) if has_flat_images() else (code, OBJECT)
    return Image(code, entry, **about)


class Engine:
    """An object file in memory, with one function to call; unloaded when it is no longer referred to.

    JITLink keeps code and constants close together. (MCJIT may map them further apart than 2 GB, out of reach of the
    small code model, in a process where other libraries have taken much of the address space.) Each has a linker of
    its own, since a linker keeps the names of all it ever linked.
    """

    def __init__(self, code: bytes, function: str) -> None:
        with LOCK:
            linker = llvm.create_lljit_compiler(_target_machine(), use_jit_link=True)
            library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(function)
            self._library = library.link(linker, function)
            self._linker = linker
        self.address: int = self._library[function]
