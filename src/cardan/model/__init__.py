"""The rooted tree the algorithms run over."""

from cardan.model.description import FRAME_KINDS, WORLD, Body, Connection, Frame
from cardan.model.economy import economical
from cardan.model.model import Model
from cardan.model.node import Attachment, Node

__all__ = ["FRAME_KINDS", "WORLD", "Attachment", "Body", "Connection", "Frame", "Model", "Node", "economical"]
