"""What the elements and attributes of SDF (1.2 to 1.12) mean to the reader.

Source: the specification of SDFormat (sdformat.org/spec), whose names these are.
"""

from __future__ import annotations

from cardan.formats.vocabulary import Vocabulary

VERSIONS = tuple((1, minor) for minor in range(2, 13))
"""Versions that are read; before, files had another root element."""

_LOOK = "remark: cardan draws nothing"
_PROGRAM = "remark: it belongs to the program that simulates"
_ENGINE = "remark: a setting of one physics engine"
_MEDIUM = "remark: wind, water and air are no part of the model"
_DEPRECATED = "remark: it was dropped from SDF and means nothing here"
_STATE = "remark: a recorded state is no part of the model"
_STOPS = "remark: the stops of joints are rigid"
_NO_SHAPE = "remark: cardan has no such shape; it is left out"
_POSE = {"frame": "read", "relative_to": "read", "rotation_format": "read", "degrees": "read"}
_SENSOR = "remark: a sensor is a frame here; what it measures, and how, is not read"
_SENSOR_PARTS = tuple(
    f"<{part}>"
    for part in (
        "always_on", "update_rate", "visualize", "topic", "enable_metrics", "plugin", "frame", "frame_id", "air_flow",
        "air_pressure", "air_speed", "altimeter", "camera", "contact", "force_torque", "gps", "gpu_lidar", "imu",
        "lidar", "logical_camera", "magnetometer", "navsat", "ray", "rfid", "rfidtag", "sonar", "transceiver",
    )
)  # fmt: skip
_INCLUDE = {
    "merge": "read", "<uri>": "read", "<name>": "read", "<pose>": "read", "<static>": "read",
    "<placement_frame>": "read", "placement_frame": "read", "<plugin>": _PROGRAM, "<model_state>": _STATE,
    "<namespace>": _PROGRAM,
    "<experimental:params>": "refused: it changes the file that is included; apply it first, with  gz sdf -p FILE",
}  # fmt: skip
_AXIS = {
    "<xyz>": "read", "<limit>": "read", "<dynamics>": "read", "<mimic>": "read", "<use_parent_model_frame>": "read",
    "<initial_position>": _DEPRECATED,
}  # fmt: skip
_BODY_PARTS = dict.fromkeys(
    ("<light>", "<projector>", "<audio_sink>", "<audio_source>", "<particle_emitter>"), _LOOK
) | {"<battery>": _PROGRAM}

ELEMENTS: dict[str, dict[str, str]] = {
    "sdf": {
        "version": "read", "<world>": "read", "<model>": "read", "<actor>": _LOOK, "<light>": _LOOK,
    },
    "world": {
        "name": "read", "namespace": _PROGRAM, "<model>": "read", "<include>": "read", "<frame>": "read",
        "<joint>": "read", "<gravity>": "read", "<physics>": "remark: choose a solver and a step when simulating",
        "<scene>": _LOOK, "<light>": _LOOK, "<gui>": _LOOK, "<road>": _LOOK,
        "<actor>": "remark: actors move by a script, not by dynamics", "<audio>": _PROGRAM, "<wind>": _MEDIUM,
        "<magnetic_field>": _PROGRAM, "<atmosphere>": _MEDIUM, "<plugin>": _PROGRAM, "<state>": _STATE,
        "<spherical_coordinates>": _PROGRAM, "<population>": "remark: copies that a simulator makes are not made here",
    },
    "model": {
        "name": "read", "canonical_link": "read", "placement_frame": "read", "namespace": _PROGRAM,
        "<static>": "read", "<pose>": "read", "<link>": "read", "<joint>": "read", "<frame>": "read",
        "<model>": "read", "<include>": "read", "<plugin>": _PROGRAM, "<gripper>": _PROGRAM,
        "<self_collide>": "remark: pass self_collision to Mechanism.world", "<allow_auto_disable>": _ENGINE,
        "<enable_wind>": _MEDIUM, "<model_state>": _STATE, "<origin>": _DEPRECATED,
    },
    "include": _INCLUDE,
    "frame": {"name": "read", "attached_to": "read", "<pose>": "read", "<origin>": _DEPRECATED},
    "pose": _POSE,
    "link": {
        "name": "read", "<pose>": "read", "<inertial>": "read", "<collision>": "read", "<visual>": "read",
        "<sensor>": "read", "<gravity>": "read", "<kinematic>": "read", "<frame>": _DEPRECATED,
        "<self_collide>": "remark: pass self_collision to Mechanism.world", "<enable_wind>": _MEDIUM,
        "<must_be_base_link>": "remark: choose a base with base= of cardan.load",
        "<velocity_decay>": "remark: damping of a body against space is no part of the model",
    } | _BODY_PARTS,
    "inertial": {
        "auto": "read", "<mass>": "read", "<density>": "read", "<pose>": "read", "<inertia>": "read",
        "<auto_inertia_params>": "remark: meshes are integrated over their triangles",
        "<fluid_added_mass>": _MEDIUM, "<frame>": _DEPRECATED,
    },
    "inertia": {f"<{entry}>": "read" for entry in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")},
    "collision": {
        "name": "read", "<pose>": "read", "<geometry>": "read", "<surface>": "read", "<density>": "read",
        "<auto_inertia_params>": "remark: meshes are integrated over their triangles", "<laser_retro>": _LOOK,
        "<max_contacts>": _ENGINE, "<frame>": _DEPRECATED,
    },
    "visual": {
        "name": "read", "<pose>": "read", "<geometry>": "read", "<material>": "read", "<transparency>": "read",
        "<cast_shadows>": _LOOK, "<laser_retro>": _LOOK, "<visibility_flags>": _LOOK, "<meta>": _LOOK,
        "<plugin>": _PROGRAM, "<frame>": _DEPRECATED,
    },
    "geometry": {
        "<box>": "read", "<sphere>": "read", "<cylinder>": "read", "<capsule>": "read", "<ellipsoid>": "read",
        "<plane>": "read", "<mesh>": "read", "<empty>": "read",
        "<cone>": "remark: cardan has no such shape; it is left out, but counts for an automatic inertia",
        "<polyline>": _NO_SHAPE, "<heightmap>": _NO_SHAPE, "<image>": _NO_SHAPE,
    },
    "box": {"<size>": "read"},
    "sphere": {"<radius>": "read"},
    "cylinder": {"<radius>": "read", "<length>": "read"},
    "capsule": {"<radius>": "read", "<length>": "read"},
    "ellipsoid": {"<radii>": "read"},
    "plane": {"<normal>": "read", "<size>": "remark: a plane has no end here"},
    "mesh": {
        "<uri>": "read", "<scale>": "read", "<submesh>": "remark: the whole file is meant here",
        "<convex_decomposition>": _ENGINE, "optimization": _ENGINE,
    },
    "material": {
        "<diffuse>": "read", "<pbr>": "read", "<ambient>": _LOOK, "<specular>": _LOOK, "<emissive>": _LOOK,
        "<script>": _LOOK, "<shader>": _LOOK, "<lighting>": _LOOK, "<render_order>": _LOOK, "<double_sided>": _LOOK,
        "<shininess>": _LOOK,
    },
    "pbr": {"<metal>": "read", "<specular>": _LOOK},
    "metal": {"<albedo_map>": "read"} | dict.fromkeys(
        ("<roughness_map>", "<metalness_map>", "<environment_map>", "<ambient_occlusion_map>", "<normal_map>",
         "<emissive_map>", "<light_map>", "<metalness>", "<roughness>"), _LOOK,
    ),
    "surface": {
        "<friction>": "read", "<bounce>": "read", "<contact>": "read",
        "<soft_contact>": "remark: bodies are rigid here",
    },
    "surface/friction": {"<ode>": "read", "<torsional>": "read", "<bullet>": "read"},
    "friction/ode": {
        "<mu>": "read", "<mu2>": "read", "<fdir1>": "remark: friction is the same in all directions here",
        "<slip1>": _ENGINE, "<slip2>": _ENGINE,
    },
    "friction/bullet": {
        "<friction>": "read", "<friction2>": "read", "<fdir1>": "remark: friction is the same in all directions here",
        "<rolling_friction>": _ENGINE,
    },
    "torsional": {
        "<coefficient>": "read", "<patch_radius>": "read", "<use_patch_radius>": "read", "<ode>": _ENGINE,
        "<surface_radius>": "remark: a patch that grows with the depth of contact is not modelled",
    },
    "bounce": {"<restitution_coefficient>": "read", "<threshold>": _ENGINE},
    "contact": {
        "<collide_bitmask>": "read", "<category_bitmask>": "read",
        "<collide_without_contact>": "remark: shapes that touch without force are not modelled",
        "<collide_without_contact_bitmask>": "remark: shapes that touch without force are not modelled",
        "<poissons_ratio>": _ENGINE, "<elastic_modulus>": _ENGINE, "<ode>": _ENGINE, "<bullet>": _ENGINE,
    },
    "joint": {
        "name": "read", "type": "read", "<parent>": "read", "<child>": "read", "<axis>": "read", "<axis2>": "read",
        "<pose>": "read", "<thread_pitch>": "read", "<screw_thread_pitch>": "read", "<sensor>": "read",
        "<gearbox_ratio>": "remark: only for gearbox joints, which are refused",
        "<gearbox_reference_body>": "remark: only for gearbox joints, which are refused",
        "<cardan:armature>": "read", "<physics>": _ENGINE, "<frame>": _DEPRECATED,
    },
    "parent": {"<link>": _DEPRECATED},
    "child": {"<link>": _DEPRECATED},
    "axis": _AXIS,
    "axis2": _AXIS,
    "xyz": {"expressed_in": "read"},
    "limit": {
        "<lower>": "read", "<upper>": "read", "<effort>": "read", "<velocity>": "read",
        "<stiffness>": _STOPS, "<dissipation>": _STOPS,
    },
    "dynamics": {
        "<damping>": "read", "<friction>": "read", "<spring_stiffness>": "read", "<spring_reference>": "read",
    },
    "mimic": {"joint": "read", "axis": "read", "<multiplier>": "read", "<offset>": "read", "<reference>": "read"},
    "sensor": {"name": "read", "type": "read", "<pose>": "read"} | dict.fromkeys(_SENSOR_PARTS, _SENSOR),
}  # fmt: skip
"""By tag, or the end of a path of tags: attributes and, in angle brackets, children, each with what becomes of it."""

VOCABULARY = Vocabulary("SDF", ELEMENTS)
