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


def _of(start: str, names: str, verdict: str = "read") -> dict[str, str]:
    """Return one verdict on several names, all of which have the same beginning."""
    return verdicts(" ".join(start + name for name in names.split()), verdict)


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
        **verdicts("metersPerUnit kilogramsPerUnit upAxis defaultPrim active instanceable"),
        **verdicts("subLayers references payload inherits specializes variants"),
        "clips": "refused: they open files while values are read",
    },
    "Cube": verdicts("size"),
    "Sphere": verdicts("radius"),
    "Cylinder": verdicts("radius height axis"),
    "Cylinder_1": verdicts("radiusTop radiusBottom height axis"),
    "Capsule": verdicts("radius height axis"),
    "Cone": verdicts("radius height axis"),
    "Capsule_1": verdicts("radiusTop radiusBottom height axis"),
    "Mesh": verdicts("points faceVertexCounts faceVertexIndices"),
    "Plane": {"axis": "read", "width": "remark: a plane has no end", "length": "remark: a plane has no end"},
    "Shader": _of("inputs:", "diffuseColor opacity"),
    "PhysicsScene": _of("physics:", "gravityDirection gravityMagnitude"),
    "PhysicsJoint": {
        **_of("physics:", "body0 body1 localPos0 localPos1 localRot0 localRot1"),
        **_of("physics:", "jointEnabled excludeFromArticulation"),
        **_of("physics:", "breakForce breakTorque", _BREAK),
    },
    "PhysicsRevoluteJoint": _of("physics:", "axis lowerLimit upperLimit"),
    "PhysicsPrismaticJoint": _of("physics:", "axis lowerLimit upperLimit"),
    "PhysicsSphericalJoint": _of("physics:", "coneAngle0Limit coneAngle1Limit"),
    "PhysicsDistanceJoint": _of("physics:", "minDistance maxDistance"),
    "PhysicsCollisionGroup": {
        **_of("collection:*:", "includes excludes expansionRule includeRoot membershipExpression"),
        **_of("physics:", "filteredGroups mergeGroup invertFilteredGroups"),
    },
    # --- applied schemas
    "PhysicsRigidBodyAPI": {
        **_of("physics:", "rigidBodyEnabled kinematicEnabled"),
        "physics:startsAsleep": _SOLVER,
        "physics:simulationOwner": "remark: a description is of one world",
        **_of("physics:", "velocity linearVelocity angularVelocity", _STATE),
    },
    "PhysxRigidBodyAPI": {
        "physxRigidBody:disableGravity": "warning: here, it falls as all others do",
        **_of("physxRigidBody:", "linearDamping angularDamping", _OTHER),
        "physxRigidBody:enableGyroscopicForces": "warning unless True: forces of a body's spin are always there",
    },
    "PhysicsMassAPI": _of("physics:", "mass density centerOfMass diagonalInertia principalAxes"),
    "PhysicsCollisionAPI": _of("physics:", "collisionEnabled"),
    "NewtonCollisionAPI": {"newton:massModel": "read"} | _of("newton:", "contactMargin contactAdhesion", _OTHER),
    "MjcCollisionAPI": {
        **_of("mjc:", "shellinertia"),
        **_of("mjc:", "contype conaffinity", "warning unless 1: groups of collision say here what touches"),
        "mjc:condim": "warning unless 3: contacts have friction here, and none of spin",
        **_of("mjc:", "margin gap priority", _OTHER),
    },
    "PhysxCollisionAPI": {"physxCollision:restOffset": _OTHER},
    "PhysicsMeshCollisionAPI": {"physics:approximation": "warning unless convexHull: a mesh touches as its hull"},
    "PhysicsMaterialAPI": _of("physics:", "dynamicFriction staticFriction restitution density"),
    "MjcMaterialAPI": _of("mjc:", "torsionalfriction rollingfriction", "remark: it acts where mjc:condim is above 3"),
    "NewtonMaterialAPI": _of("newton:", "torsionalFriction rollingFriction", _OTHER),
    "PhysicsFilteredPairsAPI": _of("physics:", "filteredPairs"),
    "PhysicsDriveAPI": {
        **_of("drive:*:physics:", "type stiffness damping maxForce targetPosition"),
        "drive:*:physics:targetVelocity": "warning: a drive of cardan gets its target velocity in use",
    },
    "PhysicsLimitAPI": _of("limit:*:physics:", "low high"),
    "PhysicsJointStateAPI": {
        "state:*:physics:position": "read",
        "state:*:physics:velocity": _STATE,
        "state:*:physics:appliedForce": "remark: an effort; a description holds no efforts",
    },
    "PhysxJointAPI": {
        **_of("physxJoint:", "armature maxJointVelocity"),
        "physxJoint:jointFriction": "warning: a share of the force the joint transmits, not an effort",
    },
    "PhysxLimitAPI": _of("physxLimit:*:", "stiffness damping restitution", _SOLVER),
    "NewtonJointAPI": {
        **_of("newton:", "armature damping friction velocityLimit"),
        **_of("newton:", "limitStiffness limitDamping", _SOLVER),
    },
    "NewtonMassAPI": _of("newton:", "inertia"),
    "NewtonMimicAPI": _of("newton:mimic", "Joint Enabled Coef0 Coef1"),
    "PhysxMimicJointAPI": _of("physxMimicJoint:*:", "referenceJoint gearing offset"),
    "MjcEqualityJointAPI": _of("mjc:", "target coef0 coef1 coef2 coef3 coef4"),
    "PhysxArticulationAPI": _of("physxArticulation:", "enabledSelfCollisions"),
    "NewtonArticulationRootAPI": _of("newton:", "selfCollisionEnabled"),
    "NewtonSceneAPI": _of("newton:", "gravityEnabled"),
    "MjcJointAPI": {
        **_of("mjc:", "armature damping frictionloss stiffness springref ref"),
        **_of("mjc:", "solreflimit solimplimit", _SOLVER),
        **_of("mjc:", "dampingPoly stiffnessPoly actuatorgravcomp actuatorfrcrange:min actuatorfrcrange:max", _OTHER),
    },
    "MjcSceneAPI": {
        "mjc:compiler:angle": "read",
        "mjc:compiler:inertiaFromGeom": "warning unless auto: bodies keep the inertia that they are given",
        **_of("mjc:option:", "density viscosity wind", _OTHER),
        **_of("mjc:compiler:", "balanceInertia boundInertia boundMass setTotalMass", _OTHER),
        **_of("mjc:flag:", "energy fwdinv invdiscrete multiccd sleep", _SOLVER),
    },
    "MjcBodyAPI": {"mjc:gravcomp": _OTHER},
    "MaterialBindingAPI": verdicts("material:binding material:binding:physics"),
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
