"""What the types, schemas and attributes of a stage mean to the reader: one table, which makes its remarks.

Types stand under `stage`; an attribute under the type or the applied schema that has it, whole namespaces at the end.
A name with `*` stands for every instance of a schema that is applied several times. Attributes are looked up by name
alone: their namespaces make them unique, but for `physics:collisionEnabled`, of which joints warn. What is in no table,
and in a namespace of physics, is remarked on, too; looks, cameras and lights are told of by the types of their prims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cardan._reach.formats.report import Report
from cardan._reach.formats.usd.values import GEOMETRIES, JOINTS, Scene, value
from cardan._reach.formats.vocabulary import READ, Verdict, teller, verdicts

_SOLVER = "remark: a parameter of a solver"
_STATE = "remark: a velocity; a description holds no velocities"
_CONTACT = "remark: a parameter of contact that cardan's materials do not have"
_SOFT = "remark: bodies are rigid, and their shapes solid"
_BREAK = "warning: joints of cardan do not break"
_OTHER = "warning: it changes the motion"


def _read(names: str, start: str = "") -> dict[str, str]:
    return verdicts(" ".join(start + name for name in names.split()))


ELEMENTS: dict[str, dict[str, str]] = {
    "stage": {
        **verdicts("<Xform> <Scope> <Camera> <Material> <Shader> <PhysicsScene>"),
        **{f"<{kind}>": "read" for kind in (*JOINTS, "PhysicsCollisionGroup", *GEOMETRIES)},
        "<GeomSubset>": "remark: a part of a mesh has no look of its own",
        "<PointInstancer>": "warning: its instances are not written out",
        **verdicts("<TetMesh> <BasisCurves> <Points>", _SOFT),
        **verdicts("<MjcActuator> <MjcTendon> <NewtonActuator>", "warning: what moves a robot is not read from USD"),
    },
    "metadata": {
        **_read("metersPerUnit kilogramsPerUnit upAxis defaultPrim active instanceable"),
        **_read("subLayers references payload inherits specializes variants"),
        "clips": "refused: they open files while values are read",
    },
    "Cube": _read("size"),
    "Sphere": _read("radius"),
    "Cylinder": _read("radius height axis"),
    "Cylinder_1": _read("radiusTop radiusBottom height axis"),
    "Capsule": _read("radius height axis"),
    "Cone": _read("radius height axis"),
    "Capsule_1": _read("radiusTop radiusBottom height axis"),
    "Mesh": _read("points faceVertexCounts faceVertexIndices"),
    "Plane": {"axis": "read", "width": "remark: a plane has no end", "length": "remark: a plane has no end"},
    "Shader": _read("diffuseColor opacity", "inputs:"),
    "PhysicsScene": _read("gravityDirection gravityMagnitude", "physics:"),
    "PhysicsJoint": {
        **_read("body0 body1 localPos0 localPos1 localRot0 localRot1", "physics:"),
        **_read("jointEnabled excludeFromArticulation", "physics:"),
        **verdicts("physics:breakForce physics:breakTorque", _BREAK),
    },
    "PhysicsRevoluteJoint": _read("axis lowerLimit upperLimit", "physics:"),
    "PhysicsPrismaticJoint": _read("axis lowerLimit upperLimit", "physics:"),
    "PhysicsSphericalJoint": _read("coneAngle0Limit coneAngle1Limit", "physics:"),
    "PhysicsDistanceJoint": _read("minDistance maxDistance", "physics:"),
    "PhysicsCollisionGroup": {
        **_read("includes excludes expansionRule includeRoot membershipExpression", "collection:*:"),
        **_read("filteredGroups mergeGroup invertFilteredGroups", "physics:"),
    },
    # --- applied schemas
    "PhysicsRigidBodyAPI": {
        **_read("rigidBodyEnabled kinematicEnabled", "physics:"),
        "physics:startsAsleep": _SOLVER,
        "physics:simulationOwner": "remark: a description is of one world",
        **verdicts("physics:velocity physics:linearVelocity physics:angularVelocity", _STATE),
    },
    "PhysxRigidBodyAPI": {
        "physxRigidBody:disableGravity": "warning: here, it falls as all others do",
        **verdicts("physxRigidBody:linearDamping physxRigidBody:angularDamping", _OTHER),
        "physxRigidBody:enableGyroscopicForces": "warning unless True: forces of a body's spin are always there",
    },
    "PhysicsMassAPI": _read("mass density centerOfMass diagonalInertia principalAxes", "physics:"),
    "PhysicsCollisionAPI": _read("collisionEnabled", "physics:"),
    "NewtonCollisionAPI": {
        **_read("massModel", "newton:"),
        **verdicts("newton:contactMargin newton:contactAdhesion", _OTHER),
    },
    "MjcCollisionAPI": {
        **_read("shellinertia", "mjc:"),
        **verdicts("mjc:contype mjc:conaffinity", "warning unless 1: groups of collision say here what touches"),
        "mjc:condim": "warning unless 3: contacts have friction here, and none of spin",
        **verdicts("mjc:margin mjc:gap mjc:priority", _OTHER),
    },
    "PhysxCollisionAPI": {"physxCollision:restOffset": _OTHER},
    "PhysicsMeshCollisionAPI": {"physics:approximation": "warning unless convexHull: a mesh touches as its hull"},
    "PhysicsMaterialAPI": _read("dynamicFriction staticFriction restitution density", "physics:"),
    "MjcMaterialAPI": verdicts(
        "mjc:torsionalfriction mjc:rollingfriction", "remark: it acts where mjc:condim is above 3"
    ),
    "NewtonMaterialAPI": verdicts("newton:torsionalFriction newton:rollingFriction", _OTHER),
    "PhysicsFilteredPairsAPI": _read("filteredPairs", "physics:"),
    "PhysicsDriveAPI": {
        **_read("type stiffness damping maxForce targetPosition", "drive:*:physics:"),
        "drive:*:physics:targetVelocity": "warning: a drive of cardan gets its target velocity in use",
    },
    "PhysicsLimitAPI": _read("low high", "limit:*:physics:"),
    "PhysicsJointStateAPI": {
        "state:*:physics:position": "read",
        "state:*:physics:velocity": _STATE,
        "state:*:physics:appliedForce": "remark: an effort; a description holds no efforts",
    },
    "PhysxJointAPI": {
        **_read("armature maxJointVelocity", "physxJoint:"),
        "physxJoint:jointFriction": "warning: a share of the force the joint transmits, not an effort",
    },
    "PhysxLimitAPI": {f"physxLimit:*:{key}": _SOLVER for key in ("stiffness", "damping", "restitution")},
    "NewtonJointAPI": {
        **_read("armature damping friction velocityLimit", "newton:"),
        **verdicts("newton:limitStiffness newton:limitDamping", _SOLVER),
    },
    "NewtonMassAPI": _read("inertia", "newton:"),
    "NewtonMimicAPI": _read("Joint Enabled Coef0 Coef1", "newton:mimic"),
    "PhysxMimicJointAPI": _read("referenceJoint gearing offset", "physxMimicJoint:*:"),
    "MjcEqualityJointAPI": _read("target coef0 coef1 coef2 coef3 coef4", "mjc:"),
    "PhysxArticulationAPI": _read("enabledSelfCollisions", "physxArticulation:"),
    "NewtonArticulationRootAPI": _read("selfCollisionEnabled", "newton:"),
    "NewtonSceneAPI": _read("gravityEnabled", "newton:"),
    "MjcJointAPI": {
        **_read("armature damping frictionloss stiffness springref ref", "mjc:"),
        **verdicts("mjc:solreflimit mjc:solimplimit", _SOLVER),
        **verdicts("mjc:dampingPoly mjc:stiffnessPoly mjc:actuatorgravcomp mjc:actuatorfrcrange:min", _OTHER),
        "mjc:actuatorfrcrange:max": _OTHER,
    },
    "MjcSceneAPI": {
        "mjc:compiler:angle": "read",
        "mjc:compiler:inertiaFromGeom": "warning unless auto: bodies keep the inertia that they are given",
        **verdicts("mjc:option:density mjc:option:viscosity mjc:option:wind", _OTHER),
        **verdicts("mjc:compiler:balanceInertia mjc:compiler:boundInertia mjc:compiler:boundMass", _OTHER),
        "mjc:compiler:setTotalMass": _OTHER,
        **verdicts("mjc:flag:energy mjc:flag:fwdinv mjc:flag:invdiscrete mjc:flag:multiccd mjc:flag:sleep", _SOLVER),
    },
    "MjcBodyAPI": {"mjc:gravcomp": _OTHER},
    "MaterialBindingAPI": _read("material:binding material:binding:physics"),
    "namespaces": {
        **verdicts("physxScene:* physxArticulation:* newton:kamino:* mjc:option:* mjc:sol*", _SOLVER),
        "mjc:flag:*": "warning unless True: flags of MuJoCo are not kept",
        "mjc:compiler:*": "remark: rules of MuJoCo's compiler are not kept",
        "physxRigidBody:*": "remark: PhysX's own bounds of bodies",
        **verdicts("physxCollision:* physxMaterial:* newton:contact*", _CONTACT),
    },
}
_UNKNOWN = "remark: this reader does not know it"
_PHYSICAL = re.compile(r"(physics|drive|limit|state|newton|physx\w*|mjc|omniphysics|warpSim|collection:colliders):")
_INSTANCE = re.compile(r"^(drive|limit|state|physxLimit|physxMimicJoint|collection):[^:]+:")
TYPES = ELEMENTS["stage"]
ATTRIBUTES = {name: verdict for known in ELEMENTS.values() for name, verdict in known.items() if known is not TYPES}


def verdict_of(name: str) -> Verdict:
    """Return what becomes of an attribute or relationship, by the table."""
    key = _INSTANCE.sub(r"\1:*:", name)
    known = (told for start, told in ELEMENTS["namespaces"].items() if name.startswith(start[:-1]))
    return Verdict.of(ATTRIBUTES.get(key) or next(known, _UNKNOWN))


def remark_unread(report: Report, scene: Scene) -> None:
    """Remark on what the reader does not use, and warn of what would move a robot.

    It is said once for each name and type, at the first place, with their number.
    """
    places: dict[tuple[str, Verdict], list[Any]] = {}
    verdicts: dict[str, Verdict] = {}
    for prim in scene.prims:
        for key in _unread(prim, verdicts):
            places.setdefault(key, []).append(prim)
    for (what, verdict), prims in places.items():
        more = f" (so on {len(prims) - 1} more)" if len(prims) > 1 else ""
        teller(report, verdict)(str(prims[0].GetPath()), f"{what} is not used: {verdict.why}{more}")


def _unread(prim: Any, verdicts: dict[str, Verdict]) -> Iterator[tuple[str, Verdict]]:
    kind = str(prim.GetTypeName())
    if kind not in verdicts:
        verdicts[kind] = Verdict.of(TYPES.get(f"<{kind}>", _UNKNOWN)) if kind else READ
    for name in (kind, *prim.GetAuthoredPropertyNames()):
        if name not in verdicts:
            verdicts[name] = verdict_of(name) if _PHYSICAL.match(name) else READ
        # exporters give balls an approximation, too, which only meshes have
        is_idle = name == "physics:approximation" and kind in GEOMETRIES and kind != "Mesh"
        if verdicts[name] != READ and not is_idle:
            yield name, verdicts[name].on(str(value(prim, name) if name != kind else kind))
