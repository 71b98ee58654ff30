"""This machine as LLVM sees it: its processor, its compiler, and machine code loaded into memory.

An object file of ELF becomes a flat image: its sections one after the other, the references between them filled in. All
references of position-independent code within one file are distances, so they are the same wherever the image is
loaded (at a multiple of 4096, which the page distances of AArch64 take for granted).

Source: System V ABI, chapters 4 and 5; its supplements for AMD64 (table 4.9) and AArch64 (ELF for the Arm 64-bit
Architecture, section 5.7).
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from cardan._algebra.errors import TargetError
from cardan._compiler.targets.llvm.image import LOCK, OBJECT, Image, has_flat_images
from cardan._compiler.targets.llvm.lanes import Lanes


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


def compile_object(text: str) -> bytes:
    with LOCK:
        module = llvm.parse_assembly(text, context=llvm.create_context())  # LLVM's own would keep every constant
        module.verify()
        machine, passes, builder = _pipeline()
        passes.run(module, builder)
        return machine.emit_object(module)


@functools.cache
def _pipeline() -> tuple[Any, Any, Any]:
    """Return what compiles, once and for all: llvmlite loses 1.5 kB for each pass builder and pass manager."""
    machine = _target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    return machine, builder.getModulePassManager(), builder


def compile_image(text: str, function: str, **about: int) -> Image:
    code = compile_object(text)
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


ALIGNMENT = 64  # of every section: constants are vectors of at most so many bytes
_PROGBITS, _SYMTAB, _RELA, _ALLOCATED = 1, 2, 4, 2
Patch = Callable[[int, int, int], int]
"""From place, target and the 32 bits there (all relative to the image) to the 32 bits that must be there."""


class Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    name: int
    section: int
    value: int


def _with(word: int, value: int, bits: int, at: int) -> int:
    """Return an instruction with `bits` bits from bit `at` on replaced."""
    return word & ~((1 << bits) - 1 << at) | (value & (1 << bits) - 1) << at


def _page(word: int, place: int, target: int) -> int:
    pages = (target >> 12) - (place >> 12)
    return _with(_with(word, pages, 2, 29), pages >> 2, 19, 5)


def _low12(shift: int) -> Patch:
    return lambda place, target, word: _with(word, (target & 0xFFF) >> shift, 12, 10)


X86_64: dict[int, Patch] = dict.fromkeys((2, 4), lambda place, target, word: target - place & 0xFFFFFFFF)  # PC32, PLT32
AARCH64: dict[int, Patch] = {
    261: lambda place, target, word: target - place & 0xFFFFFFFF,  # PREL32
    275: lambda place, target, word: _page(word, place, target),  # ADR_PREL_PG_HI21
    **{kind: _low12(shift) for kind, shift in {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}.items()},
    **dict.fromkeys((282, 283), lambda place, target, word: _with(word, target - place >> 2, 26, 0)),  # B, BL
}
"""The low 12 bits are those of ADD and of loads and stores of 1, 2, 4, 8 and 16 bytes."""
MACHINES = {62: X86_64, 183: AARCH64}


class _Object:
    """Reads an object file of 64 bits, little end first."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
        self.patches = MACHINES[struct.unpack_from("<H", data, 18)[0]]
        self.sections = [Section(*struct.unpack_from("<4xIQ8xQQII", data, start + 64 * k)) for k in range(count)]
        table = next(s for s in self.sections if s.kind == _SYMTAB)
        self.names = self.sections[table.link].offset
        self.symbols = [Symbol(*struct.unpack_from("<I2xHQ", data, table.offset + k)) for k in range(0, table.size, 24)]

    def name(self, symbol: Symbol) -> str:
        start = self.names + symbol.name
        return self.data[start : self.data.index(b"\0", start)].decode()

    def relocations(self) -> Iterator[tuple[int, int, int, Symbol, int]]:
        """Yield section, offset in it, kind, symbol and addend of each reference."""
        for section in self.sections:
            if section.kind == _RELA:
                for at in range(section.offset, section.offset + section.size, 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    yield section.info, offset, info & 0xFFFFFFFF, self.symbols[info >> 32], addend


def flatten(data: bytes, function: str) -> tuple[bytes, int]:
    """Return an object file as a flat image, and where a function begins; TargetError if it refers to another file."""
    file, image, places = _Object(data), bytearray(), {}
    for k, section in enumerate(file.sections):
        if section.kind == _PROGBITS and section.flags & _ALLOCATED:
            image += bytes(-len(image) % ALIGNMENT)
            places[k] = len(image)
            image += data[section.offset : section.offset + section.size]
    for section, offset, kind, symbol, addend in file.relocations():
        if section not in places:
            continue
        if symbol.section not in places or kind not in file.patches:
            raise TargetError(f"the object file refers to {file.name(symbol)!r} (kind {kind}), which is outside it.")
        place, target = places[section] + offset, places[symbol.section] + symbol.value + addend
        word = int.from_bytes(image[place : place + 4], "little")
        image[place : place + 4] = file.patches[kind](place, target, word).to_bytes(4, "little")
    entry = next(places[s.section] + s.value for s in file.symbols if s.section in places and file.name(s) == function)
    return bytes(image), entry
