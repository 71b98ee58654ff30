"""Which elements and attributes of URDF (1.0 to 1.2) and its extensions (docs/urdf.md) are known, and which are read.

The reader remarks on what it would silently skip otherwise.
"""

from __future__ import annotations

from cardan.formats.vocabulary import Vocabulary

VERSIONS = ("1", "1.0", "1.1", "1.2")


def _read(attributes: str, children: str = "") -> dict[str, str]:
    return dict.fromkeys([*attributes.split(), *(f"<{child}>" for child in children.split())], "read")


_SOFT = "remark: soft limits are a controller's"
_RATES = "remark: acceleration, deceleration and jerk are not limited"
_OF_A_MECHANISM = dict.fromkeys(("<role>", "<offset>"), "remark: what is between motor and joint is a ratio alone")
_CLOSURE = "remark: the robot is read without it; write it as <loop>"
ELEMENTS: dict[str, dict[str, str]] = {
    "robot": {
        **_read("name version", "link joint material loop frame transmission ros2_control"),
        "<coupling>": "refused: put <mimic joint=... multiplier=.../> into the joint that follows",
        "<gazebo>": "remark: it is the simulator Gazebo's",
        "<sensor>": "remark: sensors are not read",
        "<loop_joint>": _CLOSURE,
        "<loop_constraint>": _CLOSURE,
        "<constraint>": _CLOSURE,
    },
    "link": {
        **_read("name", "inertial visual collision"),
        "type": "remark: links have no types",
        "<contact>": "remark: it is Bullet's",
    },
    "inertial": _read("", "origin mass inertia"),
    "mass": _read("value"),
    "inertia": _read("ixx ixy ixz iyy iyz izz"),
    "origin": _read("xyz rpy quat_xyzw"),
    "visual": _read("name", "origin geometry material"),
    "collision": {
        **_read("name", "origin geometry material"),
        "<verbose>": "remark: it was never in use",
    },
    "geometry": _read("", "box sphere cylinder capsule mesh"),
    "box": _read("size"),
    "sphere": _read("radius"),
    "cylinder": _read("radius length"),
    "capsule": _read("radius length"),
    "mesh": _read("filename scale"),
    "material": _read("name", "color texture"),
    "color": _read("rgba"),
    "texture": _read("filename"),
    "joint": {
        **_read("name type", "origin parent child axis limit dynamics mimic"),
        "independent": "remark: which coordinates are free is found, not stated",
        "<safety_controller>": _SOFT,
        "<calibration>": "remark: where a joint's reference switch is does not move it",
    },
    "loop": _read("name type", "predecessor successor axis limit dynamics"),
    "predecessor": _read("link", "origin"),
    "successor": _read("link", "origin"),
    "frame": _read("name link xyz rpy quat_xyzw kind"),
    "parent": _read("link"),
    "child": _read("link"),
    "axis": _read("xyz"),
    "limit": {
        **_read("lower upper effort velocity"),
        "acceleration": _RATES,
        "deceleration": _RATES,
        "jerk": _RATES,
    },
    "dynamics": _read("damping friction armature"),
    "mimic": _read("joint multiplier offset"),
    "transmission": _read("name type", "type joint actuator mechanicalReduction"),
    "transmission/joint": _read("name", "hardwareInterface mechanicalReduction") | _OF_A_MECHANISM,
    "transmission/actuator": {
        **_read("name", "hardwareInterface mechanicalReduction"),
        **_OF_A_MECHANISM,
        "<motorTorqueConstant>": "remark: currents are not modelled",
    },
    "ros2_control": {
        **_read("name type", "joint"),
        "<hardware>": "remark: it is the driver's",
        "<sensor>": "remark: sensors are not read",
        "<gpio>": "remark: it is the driver's",
        "<transmission>": "remark: the commands of its joints are read alone",
    },
    "ros2_control/joint": {
        **_read("name", "command_interface"),
        "<state_interface>": "remark: what is measured is not read",
        "<param>": "remark: it is the driver's",
        "<limits>": "remark: those of the joint count",
    },
    "command_interface": _read("name", "param"),
    "param": _read("name"),
}
FOREIGN = {"pose": "is SDF's: write <origin xyz=... rpy=.../>", "inertia_matrix": "is no element of URDF: <inertia>"}
VOCABULARY = Vocabulary("URDF", ELEMENTS, FOREIGN)
