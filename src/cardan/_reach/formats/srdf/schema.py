"""Which elements and attributes of SRDF are known, and which are read."""

from __future__ import annotations

from cardan._reach.formats.vocabulary import Vocabulary, verdicts

ELEMENTS: dict[str, dict[str, str]] = {
    "robot": {
        **verdicts("name <group> <group_state> <end_effector>"),
        **verdicts("<disable_collisions> <disable_default_collisions> <enable_collisions>"),
        "version": "remark: SRDF has one version",
        "<virtual_joint>": "remark: load(base=...) chooses how a robot hangs on the world",
        "<passive_joint>": "remark: an actuator says which joints are driven",
        "<link_sphere_approximation>": "remark: shapes are those of the robot's description",
        "<joint_property>": "remark: it is for planners",
        "<gripper>": "remark: it is HPP's",
        "<specificities>": "remark: it is for controllers",
        "<rotor_params>": "remark: an armature is stated with the joint",
        "<disable_collision>": "remark: write <disable_collisions>",
    },
    "group": verdicts("name <link> <joint> <chain> <group>"),
    "group/link": verdicts("name"),
    "group/joint": {"name": "read", "value": "remark: states are in <group_state>"},
    "chain": verdicts("base_link tip_link"),
    "group_state": verdicts("name group <joint>"),
    "group_state/joint": verdicts("name value"),
    "end_effector": verdicts("name parent_link group parent_group"),
    "disable_collisions": verdicts("link1 link2 reason"),
    "enable_collisions": verdicts("link1 link2 reason"),
    "disable_default_collisions": verdicts("link"),
}
VOCABULARY = Vocabulary("SRDF", ELEMENTS)
