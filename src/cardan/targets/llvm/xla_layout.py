"""Where things are: in the context of a handler for XLA, and in the structures XLA calls it with.

Source: `xla/ffi/api/c_api.h` of the foreign function interface of XLA, versions 0.0 to 0.2 (the offsets are the same).
"""

from __future__ import annotations

FIELDS = ("evaluate", "heap", "spare", "malloc", "free", "dtype", "batch_end", "inputs", "outputs")
"""Words of the context; `batch_end`: core dimensions of the first result, behind those of the batch."""
WORD = {name: k for k, name in enumerate(FIELDS)}
SIZES = len(FIELDS)
"""From here on the entries of each array for a state, the arguments first."""

# offsets in bytes
FRAME_EXTENSION, FRAME_API, FRAME_INPUTS, FRAME_OUTPUTS = 8, 16, 40, 80
COUNT, ITEMS = 16, 32  # of the arguments or results of a frame: how many, and where pointers to them are
BUFFER_DTYPE, BUFFER_DATA, BUFFER_RANK, BUFFER_DIMS = 16, 24, 32, 40
EXTENSION_KIND, EXTENSION_METADATA = 8, 24
METADATA_MAJOR, METADATA_MINOR, METADATA_TRAITS = 24, 28, 32
API_MAJOR, API_MINOR, API_ERROR = 32, 36, 48
ERROR_MESSAGE, ERROR_CODE, ERROR_SIZE = 16, 24, 28

METADATA, MAJOR = 1, 0
INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 3, 8
DTYPES = {8: 12, 4: 11}  # F64 and F32, by the bytes of an entry
MARK = 0x6361_7264_616E_C0DE
"""What stands in the machine code for the address of a context until it is loaded for one."""
