"""What a notebook shows of a model or a mechanism: a picture at the neutral configuration, and its text.

It is registered for models and mechanisms (`cardan/_wiring.py`). The picture is that of `plot` (extra `plot`).
"""

from __future__ import annotations

import base64
import io
from html import escape

from cardan._reach.pictures.robot_plot import plot, pyplot
from cardan._robot.description import Mechanism
from cardan._robot.model import Model

DPI = 50  # of the picture


def robot_html(robot: Model | Mechanism) -> str:
    """Return a picture of a robot and its text as HTML; it raises nothing, whatever the robot is made of.

    Args:
        robot: any.

    Examples:
        >>> cardan.pictures.robot_html(arm).startswith("<")
        True
    """
    try:
        text = str(robot)
    except Exception:  # joints of users' own may raise anything; a notebook shows what it can
        text = object.__repr__(robot)
    return f'{_image(robot)}<pre style="max-height:32em;overflow:auto">{escape(text)}</pre>'


def _image(robot: Model | Mechanism) -> str:
    """Return a picture of a robot, or nothing where matplotlib is missing or cannot draw it."""
    try:
        model = robot if isinstance(robot, Model) else robot.model()
        figure, stream = plot(model).figure, io.BytesIO()
        figure.savefig(stream, dpi=DPI, format="png")
        pyplot().close(figure)
    except Exception:
        return ""
    data = base64.b64encode(stream.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{escape(robot.name)}">'
