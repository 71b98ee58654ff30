"""Which elements and attributes of SRDF are known, and which are read."""

from __future__ import annotations

from cardan.formats.vocabulary import Vocabulary

_BASE = "remark: load(base=...) chooses how a robot hangs on the world"
ELEMENTS: dict[str, dict[str, str]] = {
    "robot": {
        "name": "read",
        "version": "remark: there is one",
        "<group>": "read",
        "<group_state>": "read",
        "<end_effector>": "read",
        "<virtual_joint>": _BASE,
        "<passive_joint>": "remark: an actuator says which joints are driven",
        "<disable_collisions>": "read",
        "<disable_default_collisions>": "read",
        "<enable_collisions>": "read",
        "<link_sphere_approximation>": "remark: shapes are those of the robot's description",
        "<joint_property>": "remark: it is for planners",
        "<gripper>": "remark: it is HPP's",
        "<specificities>": "remark: it is for controllers",
        "<rotor_params>": "remark: an armature is stated with the joint",
        "<disable_collision>": "remark: write <disable_collisions>",
    },
    "group": {"name": "read", **dict.fromkeys(("<link>", "<joint>", "<chain>", "<group>"), "read")},
    "group/link": {"name": "read"},
    "group/joint": {"name": "read", "value": "remark: states are in <group_state>"},
    "chain": {"base_link": "read", "tip_link": "read"},
    "group_state": {"name": "read", "group": "read", "<joint>": "read"},
    "group_state/joint": {"name": "read", "value": "read"},
    "end_effector": dict.fromkeys(("name", "parent_link", "group", "parent_group"), "read"),
    "disable_collisions": {"link1": "read", "link2": "read", "reason": "read"},
    "enable_collisions": {"link1": "read", "link2": "read", "reason": "read"},
    "disable_default_collisions": {"link": "read"},
}
VOCABULARY = Vocabulary("SRDF", ELEMENTS)
