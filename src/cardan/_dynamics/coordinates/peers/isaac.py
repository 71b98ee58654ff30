"""Isaac Lab and Isaac Sim (PhysX): root pose and velocity in the world, then joints breadth first.

q' = (`root_link_pos_w`, `root_link_quat_w`, `joint_pos`), v' = (`root_com_lin_vel_w`, `root_com_ang_vel_w`,
`joint_vel`): the position is that of the root link's origin, the velocity that of its centre of mass, as PhysX has it
(its Jacobians are of centres of mass, too). Matrices here are along this v'; along what the first six rows of PhysX's
own mass matrix are, its documentation does not say. Quaternions are (x, y, z, w) from Isaac Lab 3.0 on, as in PhysX
and Isaac Gym, and (w, x, y, z) in Isaac Lab 2 and Isaac Sim's own interface.

Source: Isaac Lab documentation, `ArticulationData` and "Migrating to 3.0"; isaac-sim/IsaacLab issue 37 (breadth first)
and issue 942 (centre of mass). Not compared with the library, which needs its own machine.
"""

from __future__ import annotations

from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Free, circle
from cardan._dynamics.coordinates.convention import (
    FREE,
    ONE_AXIS,
    Convention,
    WrenchForm,
    centre_of_mass,
    check_choice,
    each,
)
from cardan._dynamics.coordinates.forms import Quaternion
from cardan._robot import joints as J


def convention(quaternion: Quaternion = "xyzw", velocity_of: str = "com", merged_bodies: bool = False) -> Convention:
    """Return the conventions of Isaac Lab.

    Args:
        quaternion: `"xyzw"` (Isaac Lab 3, PhysX, Isaac Gym) or `"wxyz"` (Isaac Lab 1 and 2, Isaac Sim).
        velocity_of: `"com"` (`root_com_vel_w`, PhysX) or `"link"` (`root_link_vel_w`).
        merged_bodies: whether the importer merged bodies joined by fixed joints (`merge_fixed_joints`), so that they
            have one centre of mass.
    """
    check_choice("quaternion", quaternion, ("xyzw", "wxyz"))
    check_choice("velocity_of", velocity_of, ("com", "link"))
    point = centre_of_mass(merged_bodies) if velocity_of == "com" else None
    charts = {
        **each(ONE_AXIS),
        J.UnboundedRevolute: circle("angle"),
        **each(FREE, Free(quaternion, "mixed", "mixed", of_base=True, point=point)),
    }
    joints = "revolute, prismatic, and the free root"
    return Convention("Isaac Lab", charts, joints, numbering.breadth_first, WrenchForm("com", "body"))
