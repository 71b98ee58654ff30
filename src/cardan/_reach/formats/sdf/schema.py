"""What the elements and attributes of SDF (1.2 to 1.12) mean to the reader.

Source: the specification of SDFormat (sdformat.org/spec), whose names these are.
"""

from __future__ import annotations

from cardan._reach.formats.vocabulary import Vocabulary, verdicts

VERSIONS = tuple((1, minor) for minor in range(2, 13))  # versions that are read; before, files had another root element

_LOOK = "remark: cardan draws nothing"
_PROGRAM = "remark: it belongs to the program that simulates"
_ENGINE = "remark: a setting of one physics engine"
_MEDIUM = "remark: wind, water and air are no part of the model"
_DEPRECATED = "remark: it was dropped from SDF and means nothing here"
_STATE = "remark: a recorded state is no part of the model"
_STOPS = "remark: the stops of joints are rigid"
_NO_SHAPE = "remark: cardan has no such shape; it is left out"
_SELF = "remark: pass self_collision to Mechanism.world"
_AUTO = "remark: meshes are integrated over their triangles"
_SLIPPERY = "remark: friction is the same in all directions here"
_FORCELESS = "remark: shapes that touch without force are not modelled"
_GEARBOX = "remark: only for gearbox joints, which are refused"
_SENSOR = "remark: a sensor is a frame here; what it measures, and how, is not read"
_AXIS = verdicts("<xyz> <limit> <dynamics> <mimic> <use_parent_model_frame>") | {"<initial_position>": _DEPRECATED}

# By tag, or the end of a path of tags: attributes and, in angle brackets, children, each with what becomes of it
ELEMENTS: dict[str, dict[str, str]] = {
    "sdf": verdicts("version <world> <model>") | verdicts("<actor> <light>", _LOOK),
    "world": {
        **verdicts("name <model> <include> <frame> <joint> <gravity>"),
        **verdicts("namespace <audio> <magnetic_field> <plugin> <spherical_coordinates>", _PROGRAM),
        "<physics>": "remark: choose a solver and a step when simulating",
        **verdicts("<scene> <light> <gui> <road>", _LOOK),
        "<actor>": "remark: actors move by a script, not by dynamics",
        **verdicts("<wind> <atmosphere>", _MEDIUM),
        "<state>": _STATE,
        "<population>": "remark: copies that a simulator makes are not made here",
    },
    "model": {
        **verdicts("name canonical_link placement_frame <static> <pose> <link> <joint> <frame> <model> <include>"),
        **verdicts("namespace <plugin> <gripper>", _PROGRAM),
        "<self_collide>": _SELF,
        "<allow_auto_disable>": _ENGINE,
        "<enable_wind>": _MEDIUM,
        "<model_state>": _STATE,
        "<origin>": _DEPRECATED,
    },
    "include": {
        **verdicts("merge <uri> <name> <pose> <static> <placement_frame> placement_frame"),
        **verdicts("<plugin> <namespace>", _PROGRAM),
        "<model_state>": _STATE,
        "<experimental:params>": "refused: it changes the file that is included; apply it first, with  gz sdf -p FILE",
    },
    "frame": verdicts("name attached_to <pose>") | {"<origin>": _DEPRECATED},
    "pose": verdicts("frame relative_to rotation_format degrees"),
    "link": {
        **verdicts("name <pose> <inertial> <collision> <visual> <sensor> <gravity> <kinematic>"),
        "<frame>": _DEPRECATED,
        "<self_collide>": _SELF,
        "<enable_wind>": _MEDIUM,
        "<must_be_base_link>": "remark: choose a base with base= of cardan.load",
        "<velocity_decay>": "remark: damping of a body against space is no part of the model",
        **verdicts("<light> <projector> <audio_sink> <audio_source> <particle_emitter>", _LOOK),
        "<battery>": _PROGRAM,
    },
    "inertial": {
        **verdicts("auto <mass> <density> <pose> <inertia>"),
        "<auto_inertia_params>": _AUTO,
        "<fluid_added_mass>": _MEDIUM,
        "<frame>": _DEPRECATED,
    },
    "inertia": verdicts("<ixx> <ixy> <ixz> <iyy> <iyz> <izz>"),
    "collision": {
        **verdicts("name <pose> <geometry> <surface> <density>"),
        "<auto_inertia_params>": _AUTO,
        "<laser_retro>": _LOOK,
        "<max_contacts>": _ENGINE,
        "<frame>": _DEPRECATED,
    },
    "visual": {
        **verdicts("name <pose> <geometry> <material> <transparency>"),
        **verdicts("<cast_shadows> <laser_retro> <visibility_flags> <meta>", _LOOK),
        "<plugin>": _PROGRAM,
        "<frame>": _DEPRECATED,
    },
    "geometry": {
        **verdicts("<box> <sphere> <cylinder> <capsule> <ellipsoid> <plane> <mesh> <empty>"),
        "<cone>": "remark: cardan has no such shape; it is left out, but counts for an automatic inertia",
        **verdicts("<polyline> <heightmap> <image>", _NO_SHAPE),
    },
    "box": verdicts("<size>"),
    "sphere": verdicts("<radius>"),
    "cylinder": verdicts("<radius> <length>"),
    "capsule": verdicts("<radius> <length>"),
    "ellipsoid": verdicts("<radii>"),
    "plane": {"<normal>": "read", "<size>": "remark: a plane has no end here"},
    "mesh": {
        **verdicts("<uri> <scale>"),
        "<submesh>": "remark: the whole file is meant here",
        **verdicts("<convex_decomposition> optimization", _ENGINE),
    },
    "material": verdicts("<diffuse> <pbr>")
    | verdicts("<ambient> <specular> <emissive> <script> <shader> <lighting> <render_order> <double_sided>", _LOOK)
    | {"<shininess>": _LOOK},
    "pbr": {"<metal>": "read", "<specular>": _LOOK},
    "metal": verdicts("<albedo_map>")
    | verdicts("<roughness_map> <metalness_map> <environment_map> <ambient_occlusion_map> <normal_map>", _LOOK)
    | verdicts("<emissive_map> <light_map> <metalness> <roughness>", _LOOK),
    "surface": verdicts("<friction> <bounce> <contact>") | {"<soft_contact>": "remark: bodies are rigid here"},
    "surface/friction": verdicts("<ode> <torsional> <bullet>"),
    "friction/ode": verdicts("<mu> <mu2>") | {"<fdir1>": _SLIPPERY} | verdicts("<slip1> <slip2>", _ENGINE),
    "friction/bullet": {**verdicts("<friction> <friction2>"), "<fdir1>": _SLIPPERY, "<rolling_friction>": _ENGINE},
    "torsional": {
        **verdicts("<coefficient> <patch_radius> <use_patch_radius>"),
        "<ode>": _ENGINE,
        "<surface_radius>": "remark: a patch that grows with the depth of contact is not modelled",
    },
    "bounce": {"<restitution_coefficient>": "read", "<threshold>": _ENGINE},
    "contact": verdicts("<collide_bitmask> <category_bitmask>")
    | verdicts("<collide_without_contact> <collide_without_contact_bitmask>", _FORCELESS)
    | verdicts("<poissons_ratio> <elastic_modulus> <ode> <bullet>", _ENGINE),
    "joint": {
        **verdicts("name type <parent> <child> <axis> <axis2> <pose> <thread_pitch> <screw_thread_pitch> <sensor>"),
        **verdicts("<gearbox_ratio> <gearbox_reference_body>", _GEARBOX),
        "<cardan:armature>": "read",
        "<physics>": _ENGINE,
        "<frame>": _DEPRECATED,
    },
    "parent": {"<link>": _DEPRECATED},
    "child": {"<link>": _DEPRECATED},
    "axis": _AXIS,
    "axis2": _AXIS,
    "xyz": verdicts("expressed_in"),
    "limit": verdicts("<lower> <upper> <effort> <velocity>") | verdicts("<stiffness> <dissipation>", _STOPS),
    "dynamics": verdicts("<damping> <friction> <spring_stiffness> <spring_reference>"),
    "mimic": verdicts("joint axis <multiplier> <offset> <reference>"),
    "sensor": verdicts("name type <pose>")
    | verdicts("<always_on> <update_rate> <visualize> <topic> <enable_metrics> <plugin> <frame> <frame_id>", _SENSOR)
    | verdicts("<air_flow> <air_pressure> <air_speed> <altimeter> <camera> <contact> <force_torque> <gps>", _SENSOR)
    | verdicts("<gpu_lidar> <imu> <lidar> <logical_camera> <magnetometer> <navsat> <ray> <rfid> <rfidtag>", _SENSOR)
    | verdicts("<sonar> <transceiver>", _SENSOR),
}

VOCABULARY = Vocabulary("SDF", ELEMENTS)
