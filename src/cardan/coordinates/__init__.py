"""Every change of coordinates: other trees of a mechanism, other representations of the base, other libraries."""

from cardan.coordinates import conventions
from cardan.coordinates.base_representation import REFERENCES, BaseRepresentation, representation
from cardan.coordinates.model_converter import Converter, converter
from cardan.coordinates.other_coordinates import OtherCoordinates
from cardan.coordinates.peer_converter import PeerConverter

__all__ = [
    "REFERENCES",
    "BaseRepresentation",
    "Converter",
    "OtherCoordinates",
    "PeerConverter",
    "conventions",
    "converter",
    "representation",
]
__dir__ = __all__.copy
