"""Where things are: in the context and the job of a handler for XLA, and in the structures XLA calls it with.

Source: `xla/ffi/api/c_api.h` of the foreign function interface of XLA, versions 0.1 and 0.2 (jaxlib 0.4.38 to 0.8.1).
"""

from __future__ import annotations

from cardan._compiler.runtime import threads

FIELDS = (
    "evaluate", "passes", "heap", "spare", "malloc", "free", "rest",
    "launch", "kernel", "threads",
    "dtype", "itemsize", "core_rank", "work", "width", "inputs", "outputs",
)  # fmt: skip
"""Words of the context: `rest` lets other threads run; `core_rank`: dimensions of the first result for one state.

The first line is of programs in machine code, the second of kernels: the driver's function that launches them, and how.
"""
WORD = {name: k for k, name in enumerate(FIELDS)}
SIZES = len(FIELDS)  # from here on the entries of each array for one state, the arguments first
JOB = ("next", "done", "users", "failed", "parts", "size", "rows", "context", "inputs", "outputs")
"""Words of a job: parts taken, and done; who knows of it; whether there was no memory; parts, and rows of each."""
JOB_WORD = {name: k for k, name in enumerate(JOB)}
WORTHWHILE, GRAIN = threads.WORTHWHILE, threads.GRAIN
PARTS = 4  # parts for each thread, so that one that comes late keeps nobody waiting long

# offsets in bytes
FRAME_EXTENSION, FRAME_API, FRAME_CONTEXT, FRAME_INPUTS, FRAME_OUTPUTS = 8, 16, 24, 40, 80
COUNT, ITEMS = 16, 32  # of the arguments or results of a frame: how many, and where pointers to them are
BUFFER_DTYPE, BUFFER_DATA, BUFFER_RANK, BUFFER_DIMS = 16, 24, 32, 40
EXTENSION_KIND, EXTENSION_METADATA = 8, 24
METADATA_MAJOR, METADATA_MINOR, METADATA_TRAITS = 24, 28, 32
API_MINOR, API_ERROR, API_ERROR_DESTROY, API_STREAM, API_SCHEDULE, API_THREADS = 36, 48, 64, 80, 136, 144
ERROR_MESSAGE, ERROR_CODE = 16, 24
ERROR_SIZE, DESTROY_SIZE, SCHEDULE_SIZE, THREADS_SIZE, STREAM_SIZE = 28, 24, 40, 32, 32

METADATA, MAJOR, MINOR_OF_OLD = 1, 0, 1
INVALID_ARGUMENT, RESOURCE_EXHAUSTED, INTERNAL = 3, 8, 13
CAPTURED = 1  # the trait of handlers whose launches XLA may record, to repeat them without a call
MOST_BLOCKS = 2**31 - 1
DTYPES = {8: 12, 4: 11}  # F64 and F32, by the bytes of an entry
MARK = 0x6361_7264_616E_C0DE  # what stands in the machine code for the address of a context until it is loaded for one
