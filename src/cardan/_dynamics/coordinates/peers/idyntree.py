"""iDynTree: the base's pose and twist, the twist in one of three representations; then the joints.

q' = (base position, base quaternion (w, x, y, z), joint positions), what `setRobotState` takes apart into a transform
and the joints' vector. Joints are numbered as the model was loaded: its URDF reader keeps them in a hash table, so
their order is no property of the file; load with a list of joints (`loadReducedModelFromFile`), or give `order=` here.

Source: iDynTree documentation, KinDynComputations and FrameVelocityRepresentation; FACTS, section 6.
"""

from __future__ import annotations

from cardan._algebra.spatial import REPRESENTATIONS, Representation
from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Free, ball, circle
from cardan._dynamics.coordinates.convention import FREE, ONE_AXIS, Convention, WrenchForm, check_choice, each
from cardan._robot import joints as J


def convention(representation: Representation = "mixed") -> Convention:
    """Return iDynTree's conventions.

    Args:
        representation: that of the base velocity: `"mixed"` (its default), `"body"` or `"inertial"`.
    """
    check_choice("representation", representation, REPRESENTATIONS)
    charts = {
        **each(ONE_AXIS),
        J.UnboundedRevolute: circle("cos_sin"),
        J.Spherical: ball("wxyz", of_body=True),
        **each(FREE, Free("wxyz", representation, representation, of_base=True)),
    }
    joints = "revolute, RevoluteSO2, prismatic, spherical, and the free base"
    return Convention("iDynTree", charts, joints, numbering.document, WrenchForm("origin", representation))
