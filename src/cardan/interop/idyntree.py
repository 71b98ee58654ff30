"""iDynTree: the base's pose and twist, the twist in one of three representations; then the joints.

q' = (base position, base quaternion (w, x, y, z), joint positions), what `setRobotState` takes apart into a transform
and the joints' vector. Joints are numbered as the model was loaded: its URDF reader keeps them in a hash table, so
their order is no property of the file; load with a list of joints (`loadReducedModelFromFile`), or give `order=` here.

Source: iDynTree documentation, KinDynComputations and FrameVelocityRepresentation; FACTS, section 6.
"""

from __future__ import annotations

from cardan.interop import order
from cardan.interop.ball_chart import Ball
from cardan.interop.chart import Chart, Same, Turn
from cardan.interop.convention import ONE_AXIS, Convention, WrenchForm, check_choice
from cardan.interop.free_chart import Free
from cardan.joints import FloatingMRP, FreeFlyer, Spherical, UnboundedRevolute
from cardan.model import WORLD, Connection, Model
from cardan.spatial import REPRESENTATIONS, Representation


def convention(representation: Representation = "mixed") -> Convention:
    """Return iDynTree's conventions.

    Args:
        representation: that of the base velocity: `"mixed"` (its default), `"body"` or `"inertial"`.
    """
    check_choice("representation", representation, REPRESENTATIONS)

    def chart(model: Model, c: Connection) -> Chart | None:
        joint = c.joint
        if isinstance(joint, ONE_AXIS):
            return Same(joint)
        if isinstance(joint, UnboundedRevolute):
            return Turn(joint, "cos_sin")
        if isinstance(joint, Spherical):
            return Ball(joint, "wxyz", "child", c.child_pose.rotation)
        if isinstance(joint, (FreeFlyer, FloatingMRP)) and c.parent == WORLD:
            left, right = c.parent_pose, c.child_pose.inverse()
            return Free(joint, "wxyz", representation, representation, left=left, right=right)
        return None

    joints = "revolute, RevoluteSO2, prismatic, spherical, and the free base"
    forms = {
        "body": WrenchForm("origin", "body"),
        "mixed": WrenchForm("origin", "world"),
        "inertial": WrenchForm("world", "world"),
    }
    return Convention("iDynTree", chart, joints, order.document, forms[representation])
