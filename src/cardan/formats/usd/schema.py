"""What the types, schemas and attributes of a stage mean to the reader: one table, which makes its remarks.

Types stand under `stage`; an attribute under the type or the applied schema that has it, whole namespaces at the end.
A name with `*` stands for every instance of a schema that is applied several times. Attributes are looked up by name
alone: their namespaces make them unique. What is in no table, and in a namespace of physics, is remarked on, too;
looks, cameras and lights are told of by the types of their prims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cardan.formats.report import Place, Report
from cardan.formats.usd.scene import GEOMETRIES, JOINTS, Scene

_SOLVER = "remark: a parameter of a solver"
_STATE = "remark: a velocity; a description holds none"
_CONTACT = "remark: a parameter of contact cardan's materials do not have"
_COUNTER = "remark: a number a program wrote down for itself"
_NONE = "remark: cardan has no such thing"
_SOFT = "remark: bodies are rigid, and their shapes solid"
_BODY_JOINT = {f"physics:{name}{side}": "read" for name in ("body", "localPos", "localRot") for side in "01"}
_BREAK = "remark: joints of cardan do not break"

ELEMENTS: dict[str, dict[str, str]] = {
    "stage": {
        **{f"<{kind}>": "read" for kind in ("Xform", "Scope", "Camera", "Material", "Shader", "PhysicsScene", *JOINTS)},
        **{f"<{kind}>": "read" for kind in ("PhysicsCollisionGroup", *GEOMETRIES) if kind != "Cone"},
        "<Cone>": "remark: cardan has no cone; the shape is left out, and its mass where a mass is computed",
        "<GeomSubset>": "remark: a part of a mesh has no look of its own",
        "<PointInstancer>": "remark: its instances are not written out",
        "<TetMesh>": _SOFT,
        "<BasisCurves>": _SOFT,
        "<Points>": _SOFT,
        "<MjcActuator>": "remark: actuators of MuJoCo are read from MJCF, not from USD",
        "<NewtonActuator>": "remark: what Newton computes efforts by is no property of the robot",
    },
    "metadata": {
        **dict.fromkeys(
            ("metersPerUnit", "kilogramsPerUnit", "upAxis", "defaultPrim", "active", "instanceable"), "read"
        ),
        **dict.fromkeys(("subLayers", "references", "payload", "inherits", "specializes", "variants"), "read"),
        "clips": "refused: they open files while values are read",
    },
    "Cube": {"size": "read"},
    "Sphere": {"radius": "read"},
    "Cylinder": {"radius": "read", "height": "read", "axis": "read"},
    "Cylinder_1": {"radiusTop": "read", "radiusBottom": "read", "height": "read", "axis": "read"},
    "Capsule": {"radius": "read", "height": "read", "axis": "read"},
    "Capsule_1": {"radiusTop": "read", "radiusBottom": "read", "height": "read", "axis": "read"},
    "Mesh": {"points": "read", "faceVertexCounts": "read", "faceVertexIndices": "read"},
    "Plane": {"axis": "read", "width": "remark: a plane has no end", "length": "remark: a plane has no end"},
    "Shader": {"inputs:diffuseColor": "read", "inputs:opacity": "read"},
    "PhysicsScene": {"physics:gravityDirection": "read", "physics:gravityMagnitude": "read"},
    "PhysicsJoint": {
        **_BODY_JOINT,
        "physics:jointEnabled": "read",
        "physics:collisionEnabled": "read",
        "physics:excludeFromArticulation": "read",
        "physics:breakForce": _BREAK,
        "physics:breakTorque": _BREAK,
    },
    "PhysicsRevoluteJoint": {"physics:axis": "read", "physics:lowerLimit": "read", "physics:upperLimit": "read"},
    "PhysicsPrismaticJoint": {"physics:axis": "read", "physics:lowerLimit": "read", "physics:upperLimit": "read"},
    "PhysicsSphericalJoint": {"physics:coneAngle0Limit": "read", "physics:coneAngle1Limit": "read"},
    "PhysicsDistanceJoint": {"physics:minDistance": "read", "physics:maxDistance": "read"},
    "PhysicsCollisionGroup": {
        "collection:*:includes": "read",
        "collection:*:excludes": "read",
        "collection:*:expansionRule": "read",
        "collection:*:includeRoot": "read",
        "collection:*:membershipExpression": "read",
        "physics:filteredGroups": "read",
        "physics:mergeGroup": "read",
        "physics:invertFilteredGroups": "read",
    },
    # --- applied schemas
    "PhysicsRigidBodyAPI": {
        "physics:rigidBodyEnabled": "read",
        "physics:kinematicEnabled": "read",
        "physics:startsAsleep": _SOLVER,
        "physics:simulationOwner": "remark: a description is of one world",
        "physics:velocity": _STATE,
        "physics:linearVelocity": _STATE,
        "physics:angularVelocity": _STATE,
    },
    "PhysicsMassAPI": {
        f"physics:{name}": "read" for name in ("mass", "density", "centerOfMass", "diagonalInertia", "principalAxes")
    },
    "PhysicsCollisionAPI": {"physics:collisionEnabled": "read"},
    "PhysicsMeshCollisionAPI": {"physics:approximation": "remark: meshes are kept as they are"},
    "PhysicsMaterialAPI": {
        f"physics:{name}": "read" for name in ("dynamicFriction", "staticFriction", "restitution", "density")
    },
    "PhysicsFilteredPairsAPI": {"physics:filteredPairs": "read"},
    "PhysicsDriveAPI": {
        **{f"drive:*:physics:{key}": "read" for key in ("type", "stiffness", "damping", "maxForce", "targetPosition")},
        "drive:*:physics:targetVelocity": "remark: drives of cardan are told a velocity when they are used",
    },
    "PhysicsLimitAPI": {"limit:*:physics:low": "read", "limit:*:physics:high": "read"},
    "PhysicsJointStateAPI": {
        "state:*:physics:position": "read",
        "state:*:physics:velocity": _STATE,
        "state:*:physics:appliedForce": "remark: an effort; a description holds none",
    },
    "PhysxJointAPI": {
        "physxJoint:armature": "read",
        "physxJoint:maxJointVelocity": "read",
        "physxJoint:jointFriction": "remark: a share of the force the joint transmits, not an effort",
    },
    "PhysxLimitAPI": {f"physxLimit:*:{key}": _SOLVER for key in ("stiffness", "damping", "restitution")},
    "NewtonJointAPI": {
        "newton:armature": "read",
        "newton:damping": "read",
        "newton:friction": "read",
        "newton:velocityLimit": "read",
        "newton:limitStiffness": _SOLVER,
        "newton:limitDamping": _SOLVER,
    },
    "NewtonMimicAPI": {f"newton:mimic{key}": "read" for key in ("Joint", "Enabled", "Coef0", "Coef1")},
    "PhysxMimicJointAPI": {f"physxMimicJoint:*:{key}": "read" for key in ("referenceJoint", "gearing", "offset")},
    "MjcEqualityJointAPI": {f"mjc:{key}": "read" for key in ("target", "coef0", "coef1", "coef2", "coef3", "coef4")},
    "NewtonSceneAPI": {"newton:gravityEnabled": "read"},
    "MjcJointAPI": {
        "mjc:armature": "read",
        "mjc:damping": "read",
        "mjc:frictionloss": "read",
        "mjc:stiffness": "read",
        "mjc:springref": "read",
        "mjc:solreflimit": _SOLVER,
        "mjc:solimplimit": _SOLVER,
    },
    "MaterialBindingAPI": {"material:binding": "read", "material:binding:physics": "read"},
    "namespaces": {
        "physxScene:*": _SOLVER,
        "physxArticulation:*": _SOLVER,
        "physxRigidBody:*": "remark: PhysX's own damping and bounds of bodies",
        "physxCollision:*": _CONTACT,
        "physxMaterial:*": _CONTACT,
        "newton:kamino:*": _SOLVER,
        "newton:mpm:*": _NONE,
        "mjc:option:*": _SOLVER,
        "mjc:flag:*": _SOLVER,
        "mjc:sol*": _SOLVER,
        "mjc:condim*": _CONTACT,
        "physics:tensor:*": _COUNTER,
        "physics:newton:*": _COUNTER,
        "physics:engine*": _COUNTER,
    },
}
_PHYSICAL = re.compile(r"(physics|drive|limit|state|newton|physx\w*|mjc|omniphysics|warpSim|collection:colliders):")
_INSTANCE = re.compile(r"^(drive|limit|state|physxLimit|physxMimicJoint|collection):[^:]+:")
TYPES = ELEMENTS["stage"]
ATTRIBUTES = {name: verdict for known in ELEMENTS.values() for name, verdict in known.items() if known is not TYPES}


def verdict_of(name: str) -> str:
    """Return what becomes of an attribute or relationship: "read", "remark: why", or "" where it is not known."""
    key = _INSTANCE.sub(r"\1:*:", name)
    if key in ATTRIBUTES:
        return ATTRIBUTES[key]
    return next((told for start, told in ELEMENTS["namespaces"].items() if name.startswith(start[:-1])), "")


def remark_unread(report: Report, scene: Scene) -> None:
    """Remark on what the reader does not use: once for each name and type, at the first place, with their number."""
    places: dict[tuple[str, str], list[Any]] = {}
    verdicts: dict[str, tuple[str, str] | None] = {}
    for prim in scene.prims:
        for key in _unread(prim, verdicts):
            places.setdefault(key, []).append(prim)
    for (what, why), prims in places.items():
        more = f" (so on {len(prims) - 1} more)" if len(prims) > 1 else ""
        report.remark(Place(where=str(prims[0].GetPath())), f"{what} is not used: {why}{more}")


def _unread(prim: Any, verdicts: dict[str, tuple[str, str] | None]) -> Iterator[tuple[str, str]]:
    kind = str(prim.GetTypeName())
    if kind not in verdicts:
        verdicts[kind] = _told(kind, TYPES.get(f"<{kind}>", "") if kind else "read")
    for name in (kind, *prim.GetAuthoredPropertyNames()):
        if name not in verdicts:
            verdicts[name] = _told(name, verdict_of(name)) if _PHYSICAL.match(name) else None
        if (found := verdicts[name]) is not None:
            yield found


def _told(name: str, verdict: str) -> tuple[str, str] | None:
    if verdict == "read":
        return None
    return name, verdict.partition(": ")[2] or "this reader does not know it"
