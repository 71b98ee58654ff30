"""What the elements and attributes of SDF (1.2 to 1.12) mean to the reader.

Source: the specification of SDFormat (sdformat.org/spec), whose names these are.
"""

from __future__ import annotations

from functools import partial

from cardan._reach.formats.vocabulary import Vocabulary, stated, verdicts

VERSIONS = tuple((1, minor) for minor in range(2, 13))  # versions that are read; before, files had another root element

WHY = {  # why things are not read
    "look": "remark: cardan draws nothing",
    "program": "remark: it belongs to the program that simulates",
    "engine": "remark: a setting of one physics engine",
    "medium": "remark: wind, water and air are no part of the model",
    "deprecated": "remark: it was dropped from SDF and means nothing here",
    "state": "remark: a recorded state is no part of the model",
    "stops": "remark: the stops of joints are rigid",
    "no_shape": "remark: cardan has no such shape; it is left out",
    "auto": "remark: meshes are integrated over their triangles",
    "slippery": "warning: friction is Coulomb's, and the same in all directions here",
    "forceless": "warning: shapes that touch without force are not modelled",
    "gearbox": "remark: only for gearbox joints, which are refused",
    "sensor": "remark: a sensor is a frame here; what it measures, and how, is not read",
}
_of = partial(stated, WHY)

# By tag, or the end of a path of tags: attributes and, in angle brackets, children, each with what becomes of it
ELEMENTS: dict[str, dict[str, str]] = {
    "sdf": _of("version <world> <model>; look: <actor> <light>"),
    "world": {
        **_of(
            "name <model> <include> <frame> <joint> <gravity>; program: namespace <audio> <magnetic_field> <plugin> "
            "<spherical_coordinates>; look: <scene> <light> <gui> <road>; medium: <wind> <atmosphere>; state: <state>"
        ),
        "<physics>": "remark: choose a solver and a step when simulating",
        "<actor>": "remark: actors move by a script, not by dynamics",
        "<population>": "warning: copies that a simulator makes are not made here",
    },
    "model": _of(
        "name canonical_link placement_frame <static> <pose> <link> <joint> <frame> <model> <include> <self_collide>; "
        "program: namespace <plugin> <gripper>; engine: <allow_auto_disable>; medium: <enable_wind>; "
        "state: <model_state>; deprecated: <origin>"
    ),
    "include": {
        **_of(
            "merge <uri> <name> <pose> <static> <placement_frame> placement_frame; program: <plugin> <namespace>; "
            "state: <model_state>"
        ),
        "<experimental:params>": "refused: it changes the file that is included; apply it first, with  gz sdf -p FILE",
    },
    "frame": _of("name attached_to cardan:kind <pose>; deprecated: <origin>"),
    "pose": verdicts("frame relative_to rotation_format degrees"),
    "link": {
        **_of(
            "name <pose> <inertial> <collision> <visual> <sensor> <gravity> <kinematic> <self_collide>; deprecated: "
            "<frame>; medium: <enable_wind>; look: <light> <projector> <audio_sink> <audio_source> "
            "<particle_emitter>; program: <battery>"
        ),
        "<must_be_base_link>": "remark: choose a base with base= of cardan.load",
        "<velocity_decay>": "warning: damping of a body against space is no part of the model",
    },
    "inertial": _of(
        "auto <mass> <density> <pose> <inertia>; auto: <auto_inertia_params>; medium: <fluid_added_mass>; "
        "deprecated: <frame>"
    ),
    "inertia": verdicts("<ixx> <ixy> <ixz> <iyy> <iyz> <izz>"),
    "collision": _of(
        "name <pose> <geometry> <surface> <density>; auto: <auto_inertia_params>; look: <laser_retro>; engine: "
        "<max_contacts>; deprecated: <frame>"
    ),
    "visual": _of(
        "name <pose> <geometry> <material> <transparency>; look: <cast_shadows> <laser_retro> <visibility_flags> "
        "<meta>; program: <plugin>; deprecated: <frame>"
    ),
    "geometry": _of(
        "<box> <sphere> <cylinder> <capsule> <cone> <ellipsoid> <plane> <mesh> <empty>; no_shape: <polyline> "
        "<heightmap> <image>"
    ),
    "cone": verdicts("<radius> <length>"),
    "box": verdicts("<size>"),
    "sphere": verdicts("<radius>"),
    "cylinder": verdicts("<radius> <length>"),
    "capsule": verdicts("<radius> <length>"),
    "ellipsoid": verdicts("<radii>"),
    "plane": verdicts("<normal>") | {"<size>": "remark: a plane has no end here"},
    "mesh": {
        **_of("<uri> <scale>; engine: <convex_decomposition> optimization"),
        "<submesh>": "warning: the whole file is meant here",
    },
    "material": _of(
        "cardan:name <diffuse> <pbr>; look: <ambient> <specular> <emissive> <script> <shader> <lighting> "
        "<render_order> <double_sided> <shininess>"
    ),
    "pbr": _of("<metal>; look: <specular>"),
    "metal": _of(
        "<albedo_map>; look: <roughness_map> <metalness_map> <environment_map> <ambient_occlusion_map> <normal_map> "
        "<emissive_map> <light_map> <metalness> <roughness>"
    ),
    "surface": verdicts("<friction> <bounce> <contact>") | {"<soft_contact>": "remark: bodies are rigid here"},
    "surface/friction": verdicts("<ode> <torsional> <bullet>"),
    "friction/ode": _of("<mu> <mu2>; slippery: <fdir1> <slip1> <slip2>"),
    "friction/bullet": _of("<friction> <friction2>; slippery: <fdir1> <rolling_friction>"),
    "torsional": {
        **_of("<coefficient> <patch_radius> <use_patch_radius>; engine: <ode>"),
        "<surface_radius>": "warning: a patch that grows with the depth of contact is not modelled",
    },
    "bounce": _of("<restitution_coefficient>; engine: <threshold>"),
    "contact": _of(
        "<collide_bitmask> <category_bitmask>; forceless: <collide_without_contact> <collide_without_contact_bitmask>; "
        "engine: <poissons_ratio> <elastic_modulus> <ode> <bullet>"
    ),
    "joint": _of(
        "name type <parent> <child> <axis> <axis2> <pose> <thread_pitch> <screw_thread_pitch> <sensor> "
        "<cardan:armature>; gearbox: <gearbox_ratio> <gearbox_reference_body>; engine: <physics>; deprecated: <frame>"
    ),
    "parent": _of("; deprecated: <link>"),
    "child": _of("; deprecated: <link>"),
    "axis": _of("<xyz> <limit> <dynamics> <mimic> <use_parent_model_frame>; deprecated: <initial_position>"),
    "axis2": _of("<xyz> <limit> <dynamics> <mimic> <use_parent_model_frame>; deprecated: <initial_position>"),
    "xyz": verdicts("expressed_in"),
    "limit": _of("<lower> <upper> <effort> <velocity>; stops: <stiffness> <dissipation>"),
    "dynamics": verdicts("<damping> <friction> <spring_stiffness> <spring_reference>"),
    "mimic": verdicts("joint axis <multiplier> <offset> <reference>"),
    "sensor": _of(
        "name type <pose>; sensor: <always_on> <update_rate> <visualize> <topic> <enable_metrics> <plugin> <frame> "
        "<frame_id> <air_flow> <air_pressure> <air_speed> <altimeter> <camera> <contact> <force_torque> <gps> "
        "<gpu_lidar> <imu> <lidar> <logical_camera> <magnetometer> <navsat> <ray> <rfid> <rfidtag> <sonar> "
        "<transceiver>"
    ),
}

VOCABULARY = Vocabulary("SDF", ELEMENTS)
