"""The rooted tree the algorithms run over."""

from cardan._robot.model.annotations import Annotations
from cardan._robot.model.layout import Attachment, Node
from cardan._robot.model.model import Model
from cardan._robot.model.simplify import simplified_tree
from cardan._robot.records import FRAME_KINDS, WORLD, Body, Connection, Drive, Frame, Material

__all__ = [
    "FRAME_KINDS", "WORLD", "Annotations", "Attachment", "Body", "Connection", "Drive", "Frame", "Material", "Model",
    "Node", "simplified_tree",
]  # fmt: skip
