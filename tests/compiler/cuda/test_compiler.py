"""NVRTC without a device: what kernels take, what is kept on disk, what is said when something is missing."""

import os
import struct
import subprocess
import sys

import pytest
from benchmarks.occupancy import LIMITS, occupancy
from hand_written import by_hand
from nvrtc import needs_nvrtc

import cardan
from cardan._compiler.program.program import Program
from cardan._compiler.runtime import disk_cache
from cardan._compiler.targets import Outline
from cardan._compiler.targets.cuda import compiler
from cardan._compiler.targets.cuda.compiler import Resources, compiled, resources_of
from cardan.errors import TargetError, UnknownNameError


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "cache"))


def registers_in(image):
    """Return the registers of the only kernel, as its image says: EIATTR_REGCOUNT of section .nv.info."""
    (start,), (size, count, names) = struct.unpack_from("<Q", image, 40), struct.unpack_from("<HHH", image, 58)
    headers = [struct.unpack_from("<IIQQQQ", image, start + size * k) for k in range(count)]
    texts = headers[names][4]
    for name, _, _, _, offset, length in headers:
        if image[texts + name :].partition(b"\0")[0] == b".nv.info":
            words = [image[offset + k : offset + k + 4] for k in range(0, length, 4)]
            return [int.from_bytes(words[k + 2], "little") for k, w in enumerate(words) if w == b"\x04\x2f\x08\x00"]
    return []


# --- what a kernel takes ---


@needs_nvrtc
@pytest.mark.parametrize("architecture", LIMITS)
def test_a_kernel_compiles_without_a_device(architecture):
    code = by_hand()
    found = compiled(code.source, code.name, architecture)
    assert found.image.startswith(b"\x7fELF")
    assert found.seconds > 0
    assert registers_in(found.image) == [found.resources.registers]
    assert found.resources[1:] == (0, 0, 0, 0)  # neither spills, nor a stack, nor shared memory of its own


@needs_nvrtc
def test_spills_and_shared_memory_are_counted():
    source = """
    extern "C" __global__ void __launch_bounds__(1024) hungry(long long n, const double *x, double *y) {
        __shared__ double all[100];
        all[threadIdx.x % 100] = x[threadIdx.x];
        double v[60];
        #pragma unroll
        for (int k = 0; k < 60; k++) v[k] = x[k * n] * all[k];
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 60; k++) y[threadIdx.x + k * n] += v[k] * v[(k + 7) % 60];
    }"""
    r = compiled(source, "hungry", "sm_90").resources
    assert r.shared == 800
    assert r.registers <= 64  # as 1024 threads of a block leave no more
    assert r.spill_stores > 0
    assert r.spill_loads > 0
    assert r.stack > 0


def test_what_the_assembler_says_is_read():
    said = """ptxas info    : 272 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function 'f' for 'sm_80'
ptxas info    : Function properties for f
ptxas         .     1168 bytes stack frame, 288 bytes spill stores, 280 bytes spill loads
ptxas info    : Used 254 registers, used 1 barriers, 1200 bytes cumulative stack size, 800 bytes smem, 376 bytes cmem[0]
ptxas info    : Function properties for part
ptxas         .     32 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
"""
    assert resources_of(said) == Resources(254, 300, 300, 1200, 800)


@pytest.mark.parametrize(
    ("registers", "threads", "shared", "architecture", "expected"),
    [  # from NVIDIA's occupancy calculator's rules, by hand
        (32, 128, 0, "sm_90", 1.0),
        (33, 128, 0, "sm_90", 48 / 64),  # 40 of 32 threads: 1280 a warp, 12 in each quarter, 12 blocks
        (64, 128, 0, "sm_90", 32 / 64),
        (255, 128, 0, "sm_80", 8 / 64),
        (168, 128, 0, "sm_100", 12 / 64),
        (32, 32, 0, "sm_90", 32 / 64),  # 32 blocks at most
        (32, 128, 100 * 1024, "sm_90", 8 / 64),
        (32, 128, 100 * 1024, "sm_80", 4 / 64),
        (32, 128, 200 * 1024, "sm_80", 0.0),  # no block fits
        (64, 1024, 0, "sm_90", 32 / 64),
        (65, 1024, 0, "sm_90", 0.0),
    ],
)
def test_occupancy(registers, threads, shared, architecture, expected):
    assert occupancy(Resources(registers, 0, 0, 0, shared), threads, architecture) == expected


def test_an_unknown_architecture():
    with pytest.raises(UnknownNameError, match="sm_91"):
        occupancy(Resources(32, 0, 0, 0, 0), 128, "sm_91")


# --- the disk ---


@needs_nvrtc
def test_compiled_once(monkeypatch):
    code = by_hand()
    first = compiled(code.source, code.name, "sm_90")
    monkeypatch.setattr(compiler._nvrtc(), "nvrtcCompileProgram", None)
    again = compiled(code.source, code.name, "sm_90")
    assert again == first._replace(seconds=0.0)
    names = {compiler.key_of(code.source, arch) for arch in LIMITS} | {compiler.key_of(code.source + " ", "sm_90")}
    assert len(names) == 4
    if os.name == "posix":
        assert all(status.st_mode & 0o077 == 0 for _, status in disk_cache.entries())


@needs_nvrtc
def test_a_damaged_entry_is_compiled_anew():
    code = by_hand()
    first = compiled(code.source, code.name, "sm_90")
    for file, _ in disk_cache.entries():
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert compiled(code.source, code.name, "sm_90").image == first.image


@needs_nvrtc
def test_a_full_disk_loses_no_result(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code = by_hand()
    assert compiled(code.source, code.name, "sm_90").image
    assert not disk_cache.entries()


def pendulum_program() -> Program:
    return cardan.mass_matrix.program(cardan.robots.double_pendulum().model())


@needs_nvrtc
def test_a_kernel_that_was_made_needs_no_program(monkeypatch):
    program = pendulum_program()
    outline = Outline.of(program)
    first = compiler.kernel_of(outline, lambda: program, False, "sm_90")
    again = compiler.kernel_of(outline, lambda: pytest.fail("the program was asked for"), False, "sm_90")
    assert again.name == first.name
    assert again.cubin.image == first.cubin.image
    other = compiler.kernel_of(outline, lambda: program, True, "sm_90")
    assert other.cubin.image != first.cubin.image


@needs_nvrtc
def test_a_kernel_whose_image_is_gone_is_made_anew():
    program = pendulum_program()
    outline = Outline.of(program)
    first = compiler.kernel_of(outline, lambda: program, False, "sm_90")
    for file, status in disk_cache.entries():
        if status.st_size > 1000:
            file.unlink()
    assert compiler.kernel_of(outline, lambda: program, False, "sm_90").cubin.image == first.cubin.image


# --- what is missing, or refused ---


@needs_nvrtc
def test_what_nvrtc_says_is_told():
    source = 'extern "C" __global__ void wrong(long long n) { no_such_function(n); }'
    with pytest.raises(TargetError, match=r"cannot compile wrong for sm_90:\nwrong.cu\(1\): error.*no_such_function"):
        compiled(source, "wrong", "sm_90")
    many = "\n".join(f"int x{k} = y{k};" for k in range(40))
    with pytest.raises(TargetError, match=r"more lines\)") as raised:
        compiled(many, "many", "sm_90")
    assert len(str(raised.value).splitlines()) < 20


@needs_nvrtc
def test_architectures_of_devices():
    assert compiler.architecture_for(8, 0) == "sm_80"
    assert compiler.architecture_for(9, 0) == "sm_90"
    assert compiler.architecture_for(9, 7) == "sm_90"  # a later one of the same major version
    with pytest.raises(TargetError, match=r"compute capability 3.5, NVRTC .* an older NVRTC"):
        compiler.architecture_for(3, 5)
    with pytest.raises(TargetError, match=r"compute capability 99.0.*--upgrade nvidia-cuda-nvrtc"):
        compiler.architecture_for(99, 0)


def run_without(*modules):
    """Return what a process says that computes on a device and lacks modules."""
    code = f"""
import sys
for name in {modules!r}:
    sys.modules[name] = None
from cardan._compiler.targets.cuda.driver import driver
try:
    driver()
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_without_the_extra_the_error_says_what_to_install():
    said = run_without("cuda", "cuda.bindings")
    assert said.startswith("MissingExtraError the cuda target needs the extra 'cuda'")
    assert 'pip install "cardan[cuda]"' in said


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a driver")
@needs_nvrtc
def test_without_a_driver_the_error_says_so():
    said = run_without()
    assert said.startswith("TargetError the cuda target finds no driver of NVIDIA's")
    assert "arrays of NumPy are computed on the processor" in said


@needs_nvrtc
def test_without_nvrtc_the_error_says_so(monkeypatch):
    def missing():
        raise RuntimeError('Failure finding "libnvrtc.so.13"\nmore')

    monkeypatch.setattr(compiler._nvrtc(), "nvrtcVersion", missing)
    compiler._nvrtc.cache_clear()
    with pytest.raises(TargetError, match=r"needs NVRTC.*pip install nvidia-cuda-nvrtc.*libnvrtc.so.13"):
        compiler.version()
    compiler._nvrtc.cache_clear()


def test_an_old_driver():
    from cardan._compiler.targets.cuda.driver import check_driver

    check_driver(13000, (13, 5))
    check_driver(14020, (13, 5))
    with pytest.raises(TargetError, match=r"CUDA 12.4, kernels compiled by NVRTC 13.5 need .*13.0.*update the driver"):
        check_driver(12040, (13, 5))
