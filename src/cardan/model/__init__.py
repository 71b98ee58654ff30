"""The rooted tree the algorithms run over."""

from cardan.model.annotations import Annotations
from cardan.model.model import Model
from cardan.model.node import Attachment, Node
from cardan.model.simplify import simplified_tree
from cardan.records import FRAME_KINDS, WORLD, Body, Connection, Drive, Frame, Material

__all__ = [
    "FRAME_KINDS",
    "WORLD",
    "Annotations",
    "Attachment",
    "Body",
    "Connection",
    "Drive",
    "Frame",
    "Material",
    "Model",
    "Node",
    "simplified_tree",
]
