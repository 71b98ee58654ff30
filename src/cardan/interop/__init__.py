"""What other libraries call things: conversions at the door. No other library is imported here."""

from cardan.interop import conventions
from cardan.interop.converter import PeerConverter

__all__ = ["PeerConverter", "conventions"]
