"""Every change of coordinates: other trees of a mechanism, other representations of the base, other libraries."""

from cardan._dynamics.coordinates import conventions
from cardan._dynamics.coordinates.base_representation import REFERENCES, BaseRepresentation, representation
from cardan._dynamics.coordinates.model_converter import Converter, converter
from cardan._dynamics.coordinates.other_coordinates import OtherCoordinates
from cardan._dynamics.coordinates.peer_converter import PeerConverter

__all__ = [
    "REFERENCES", "BaseRepresentation", "Converter", "OtherCoordinates", "PeerConverter", "conventions", "converter",
    "representation",
]  # fmt: skip
__dir__ = __all__.copy
