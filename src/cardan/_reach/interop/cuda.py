"""Arrays on a device: NumPy's copied there and back, those of other libraries taken where they are."""

from cardan._reach.interop.device_array import DeviceArray, as_device_array, to_device

__all__ = ["DeviceArray", "as_device_array", "to_device"]
__dir__ = __all__.copy
