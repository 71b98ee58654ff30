"""What cardan makes of each element and attribute of MJCF (of MuJoCo 4): `ELEMENTS` decides, for reader and docs alike.

The table is one of `formats/vocabulary.py`, but what it remarks on is left out before MuJoCo sees it, and what stands
in no line is no MJCF: an error, as it is to MuJoCo.
"""

from __future__ import annotations

from functools import cache, partial

from cardan._reach.formats.vocabulary import Vocabulary, stated

WHY = {  # why things are not read
    "looks": "remark: it is about how things are shown",
    "softness": "remark: softness and speed of a constraint belong to MuJoCo's solver and are not kept",
    "yield": "warning: springs do not yield here",
    "own": "remark: numbers of the file's author's own are not kept",
    "solver": "remark: it is about how MuJoCo computes; it is not kept",
    "sizes": "remark: it is about MuJoCo's memory",
    "saving": "remark: it is about how MuJoCo saves files",
    "shown": "remark: groups of MuJoCo's viewer are not kept",
    "misplaced": "warning: MuJoCo knows it in <geom>, <site> and others, and refuses the file; it moves nothing",
    "sensor": "remark: sensors are not read; sites and cameras, on which they are, become frames",
    "flex": "warning: deformable bodies are not read",
    "plugin": "warning: plugins are code, which cardan does not run; what they would do is left out",
    "fluid": "warning: forces of the medium are not modelled",
    "contact": "warning: this part of contact is not kept",
    "delay": "warning: delays of controls are not kept",
    "state": "remark: a named configuration holds positions alone",
    "light": "remark: lights move nothing",
    "optics": "remark: only the pose of a camera is kept, as a frame",
    "gravcomp": "warning: the compensation of gravity is not kept; without it the body has its weight",
    "area": "remark: only the poses of sites are kept, as frames",
    "outside": "remark: MuJoCo ignores bodies outside of <worldbody>",
    "model": "refused: other models are not attached; compile the whole in MuJoCo, save that, and read it",
    "groups": "warning unless none: groups of actuators are not kept; those that it disables act as all others do",
    "passive": 'refused: MuJoCo 4 has no such flag; write spring="disable" and damper="disable"',
    "composite": "refused: MuJoCo 4 has no composites; save the file with an earlier version, which expands them",
}
_of = partial(stated, WHY)

_PLACE = "pos quat axisangle euler xyaxes zaxis"
_ACTUATOR = (
    "name class joint jointinparent tendon site body refsite slidersite cranksite cranklength gear ctrllimited "
    "ctrlrange forcelimited forcerange armature damping kp kv dampratio timeconst inheritrange"
)
_BODY = "<inertial> <joint> <freejoint> <geom> <site> <camera> <body> <frame> <replicate> <include>"
_TENDON = (
    "name class limited range actuatorfrclimited actuatorfrcrange springlength stiffness damping frictionloss armature"
)
_SOFT = "; softness: solref solimp"
_STOPS = "; softness: solreflimit solimplimit solreffriction solimpfriction margin; yield: springyield"
_OWN = "; shown: group; own: user"
_UNMOVING = "; light: <light>; flex: <flexcomp>; model: <attach>"


def _actuator(more: str = "") -> dict[str, str]:
    return _of(f"{_ACTUATOR} {more}{_OWN}; delay: delay nsample interp; solver: lengthrange")


# Tag (or `parent/tag`): its attributes and the `<elements>` that may stand in it, each with its verdict
ELEMENTS: dict[str, dict[str, str]] = {
    "mujoco": _of(
        "model <compiler> <option> <default> <asset> <worldbody> <contact> <tendon> <equality> <actuator> <keyframe> "
        "<include>; outside: <body>; looks: <visual> <statistic>; sizes: <size>; own: <custom>; sensor: <sensor>; "
        "plugin: <extension>; flex: <deformable>"
    ),
    "compiler": _of(
        "alignfree angle autolimits assetdir coordinate balanceinertia boundinertia boundmass discardvisual eulerseq "
        "fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir settotalmass strippath texturedir; "
        "saving: conflict passthrough savecanonical savecompiled saveinertial; solver: usethread <lengthrange>"
    ),
    "option": _of(
        "gravity <flag>; fluid: density viscosity wind; "
        "groups: actuatorgroupdisable; solver: apirate ccd_iterations ccd_tolerance collision cone impratio integrator "
        "iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance noslip_iterations "
        "noslip_tolerance sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance; "
        "softness: o_friction o_margin o_solimp o_solref"
    ),
    "flag": _of(
        "actuation clampctrl constraint contact damper equality filterparent frictionloss gravity limit "
        "spring; solver: autoreset diagexact energy eulerdamp fwdinv invdiscrete ipc island midphase multiccd "
        "nativeccd override refsafe sensor sensornoise sleep speculative warmstart; passive: passive"
    ),
    "default": _of(
        "class <default> <mesh> <texture> <material> <joint> <geom> <site> <camera> <equality> <tendon> <general> "
        "<motor> <position> <velocity> <intvelocity> <orientation> <pid> <damper> <cylinder> <muscle> <adhesion> "
        "<dcmotor> <include> <pair>; light: <light>; misplaced: group"  # robosuite's grippers have the group
    ),
    "default/equality": _of(f"active{_SOFT}"),
    "default/tendon": _of(f"{_TENDON}; looks: material rgba width{_OWN}{_STOPS}"),
    "asset": _of("<mesh> <hfield> <texture> <material> <include>; flex: <skin>; model: <model>"),
    "mesh": _of(
        "name class file content_type scale vertex face inertia refpos refquat builtin params; "
        "looks: normal texcoord smoothnormal material maxhullvert; plugin: <plugin>"
    ),
    "hfield": _of("name file content_type nrow ncol size elevation"),
    "texture": _of(
        "name class type file; "
        "looks: builtin colorspace content_type embed gridlayout gridsize height hflip mark markrgb nchannel random "
        "rgb1 rgb2 vflip width fileback filedown filefront fileleft fileright fileup"
    ),
    "material": _of(
        "name class texture rgba <layer>; "
        "looks: emission metallic reflectance roughness shininess specular texrepeat texuniform"
    ),
    "layer": _of("texture role"),
    "worldbody": _of(
        f"<geom> <site> <camera> <body> <frame> <replicate> <include> {_PLACE} name childclass; light: <light>; "
        "flex: <flexcomp>; own: user; model: <attach>"
    ),
    "body": _of(
        f"name childclass mocap {_PLACE} {_BODY}; light: <light>; flex: <flexcomp>; plugin: <plugin>; "
        "composite: <composite>; own: user; gravcomp: gravcomp; solver: fuse simple sleep; "
        "model: <attach>"
    ),
    "frame": _of(f"name childclass {_PLACE} {_BODY} scale massscale scaling{_UNMOVING}"),
    "replicate": _of(f"count sep offset euler childclass {_BODY} name {_PLACE}{_UNMOVING}"),
    "inertial": _of(f"{_PLACE} mass diaginertia fullinertia"),
    "joint": _of(
        "name class type pos axis ref springref stiffness springdamper damping armature frictionloss limited range "
        f"actuatorfrclimited actuatorfrcrange align; gravcomp: actuatorgravcomp{_STOPS}{_OWN}"
    ),
    "freejoint": _of("name align; shown: group"),
    "geom": _of(
        f"name class type {_PLACE} fromto size mass density shellinertia group contype conaffinity condim friction "
        "margin priority surfacevel rgba material mesh hfield fitscale; softness: solmix solref solimp; "
        "contact: adhesion gap; fluid: fluidcoef fluidshape; looks: castshadow; own: user; "
        "plugin: <plugin>"
    ),
    "site": _of(f"name class {_PLACE} fromto type size; area: mesh; looks: rgba material{_OWN}"),
    "camera": _of(
        f"name class {_PLACE}; "
        "optics: mode target fovy focal focalpixel ipd orthographic output principal principalpixel projection "
        "resolution sensorsize; own: user"
    ),
    "contact": _of("<exclude> <pair> <include>"),
    "pair": _of("name class geom1 geom2 condim friction margin; softness: solref solreffriction solimp; contact: gap"),
    "exclude": _of("name body1 body2"),
    "tendon": _of("<fixed> <spatial> <include>"),
    "fixed": _of(f"{_TENDON} <joint>{_STOPS}{_OWN}"),
    "fixed/joint": _of("joint coef"),
    "spatial": _of(f"{_TENDON} <site> <geom> <pulley>; looks: material rgba width{_OWN}{_STOPS}"),
    "spatial/site": _of("site"),
    "spatial/geom": _of("geom sidesite"),
    "pulley": _of("divisor"),
    "equality": _of("<connect> <weld> <joint> <tendon> <include>; flex: <flex> <flexvert> <flexstrain>"),
    "connect": _of(f"name class active body1 body2 anchor site1 site2{_SOFT}"),
    "weld": _of(f"name class active body1 body2 anchor relpose site1 site2{_SOFT} torquescale"),
    "equality/joint": _of(f"name class active joint1 joint2 polycoef{_SOFT}"),
    "equality/tendon": _of(f"name class active tendon1 tendon2 polycoef{_SOFT}"),
    "actuator": _of(
        "<general> <motor> <position> <velocity> <intvelocity> <orientation> <pid> <damper> <cylinder> <muscle> "
        "<adhesion> <dcmotor> <include>; plugin: <plugin>"
    ),
    "general": _actuator(
        "actdim actearly actlimited actrange biasprm biastype dynprm dyntype gainprm gaintype input ffrange velrange"
    ),
    "motor": _actuator(),
    "position": _actuator(),
    "velocity": _actuator(),
    "intvelocity": _actuator("actlimited actrange"),
    "orientation": _actuator("input"),
    "pid": _actuator("input ffrange velrange ki imax posrange slewmax"),
    "damper": _actuator(),
    "cylinder": _actuator("area bias diameter"),
    "muscle": _actuator("force fpmax fvmax lmax lmin range scale tausmooth vmax"),
    "adhesion": _actuator("gain"),
    "dcmotor": _actuator("cogging controller inductance input lugre motorconst nominal resistance saturation thermal"),
    "keyframe": _of("<key> <include>"),
    "key": _of("name qpos; state: time qvel act ctrl mpos mquat plastic"),
    "include": _of("file"),
}

_NAMES = (  # attributes that hold a name, not numbers
    "name class childclass file model body body1 body2 joint joint1 joint2 jointinparent site site1 site2 refsite "
    "slidersite cranksite geom sidesite tendon tendon1 tendon2 mesh hfield material texture target meshdir texturedir "
    "assetdir"
)
NAMES = frozenset(_NAMES.split())
VOCABULARY = Vocabulary("MJCF", ELEMENTS)


@cache
def key_of(parent: str, tag: str) -> str:
    within = f"{parent.rpartition('/')[2]}/{tag}"
    return within if within in ELEMENTS else tag
