"""A page of the viewer without a browser: it speaks viser's protocol, keeps what it is sent, and moves widgets.

A message from the server: the sizes of its first part, unpacked and packed (8 bytes each), that part (msgpack in zstd),
and the arrays it refers to, each at a multiple of 8 bytes.
"""

import time

import msgspec
import numpy as np
import viser
import zstandard
from websockets.sync.client import connect


class Page:
    """What a browser would know: nodes of the scene and widgets, each as a dictionary of its properties."""

    def __init__(self, viewer):
        self.nodes, self.widgets = {}, {}
        address = viewer.url.replace("http", "ws", 1)
        self._socket = connect(address, subprotocols=[f"viser-v{viser.__version__}"], max_size=None)
        place = {"position": (3.0, 3.0, 3.0), "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0)}
        lens = {"fov": 1.0, "near": 0.01, "far": 100.0, "image_height": 100, "image_width": 100}
        self.send("ViewerCameraMessage", wxyz=(1.0, 0.0, 0.0, 0.0), **place, **lens)  # who says where it is, is there

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def until(self, condition, timeout=10.0):
        """Take in what comes until a condition of the page holds, and return its value."""
        end = time.monotonic() + timeout
        while not (found := condition()):
            left = end - time.monotonic()
            assert left > 0.0, f"not within {timeout} s: nodes {sorted(self.nodes)}, widgets {self.labels()}"
            try:
                self._take(self._socket.recv(timeout=min(left, 0.02)))
            except TimeoutError:
                continue
        return found

    def labels(self):
        return [widget["label"] for widget in self.widgets.values() if "label" in widget]

    def widget(self, label):
        """Return the name of the widget with a label, once it is there."""
        return self.until(lambda: next((u for u, w in self.widgets.items() if w.get("label") == label), None))

    def move(self, label, value):
        """Set a widget, as a person would."""
        self.send("GuiUpdateMessage", uuid=self.widget(label), updates={"value": value})

    def drag(self, name, position, wxyz, phase="Update"):
        """Grab a handle of the scene, move it, or let it go."""
        where = {"position": list(map(float, position)), "wxyz": list(map(float, wxyz))} if phase == "Update" else {}
        kind = "TransformControlsUpdateMessage" if phase == "Update" else f"TransformControlsDrag{phase}Message"
        self.send(kind, name=name, **where)

    def send(self, kind, **fields):
        self._socket.send(msgspec.msgpack.encode({"type": kind, **fields}))

    def _take(self, raw):
        packed = int.from_bytes(raw[8:16], "little")
        message = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + packed]))
        buffers, at = [], 16 + packed
        for length in message["binaryBufferLengths"]:
            at += -at % 8
            buffers.append(raw[at : at + length])
            at += length
        for each in message["messages"]:
            self._apply(filled(each, buffers))

    def _apply(self, message):
        kind, name = message["type"], message.get("name")
        if "uuid" in message and "props" in message:
            self.widgets[message["uuid"]] = {**message["props"], "value": message.get("value")}
        elif kind == "GuiUpdateMessage":
            self.widgets[message["uuid"]].update(message["updates"])
        elif kind == "RemoveSceneNodeMessage":
            self.nodes = {n: node for n, node in self.nodes.items() if n != name and not n.startswith(f"{name}/")}
        elif "props" in message:
            self.nodes[name] = {"type": kind, **message["props"]}
        elif kind == "SceneNodeUpdateMessage":
            self.nodes[name].update(message["updates"])
        elif kind in ("SetPositionMessage", "SetOrientationMessage", "SetSceneNodeVisibilityMessage"):
            self.nodes.setdefault(name, {}).update(
                {key: value for key, value in message.items() if key in ("position", "wxyz", "visible")}
            )


def filled(value, buffers):
    """Return a message with its arrays in their places."""
    if isinstance(value, dict):
        if "__binary_index" in value:
            return np.frombuffer(buffers[value["__binary_index"]], value["dtype"])
        return {key: filled(each, buffers) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, buffers) for each in value]
    return value
