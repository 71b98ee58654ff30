"""Descriptions in USD for tests: what they are built of, and planted faults, a row each with what is said of it."""

from __future__ import annotations

HEADER = '#usda 1.0\n(\n    metersPerUnit = {m}\n    kilogramsPerUnit = {kg}\n    upAxis = "{up}"\n    defaultPrim = "World"\n)\n'
MASS = "float physics:mass = 2\nfloat3 physics:diagonalInertia = (1, 2, 2.5)"


def prim(kind: str, name: str, content: str = "", apis: str = "", *inside: str, extra: str = "") -> str:
    applied = ", ".join(f'"{api}"' for api in apis.split())
    meta = (f"    apiSchemas = [{applied}]\n" if apis else "") + extra
    body = "\n".join([content, *inside])
    return f'def {kind} "{name}" (\n{meta})\n{{\n{body}\n}}\n'


def body(name: str, content: str = MASS, *inside: str, kind: str = "Xform", apis: str = "") -> str:
    return prim(kind, name, content, f"PhysicsRigidBodyAPI PhysicsMassAPI {apis}", *inside)


def joint(kind: str, content: str = "", apis: str = "", name: str = "J", ends: str = "A B") -> str:
    one, two = ends.split()
    targets = "".join(f"rel physics:body{i} = </World/{end}>\n" for i, end in enumerate((one, two)) if end != "-")
    return prim(f"Physics{kind}Joint", name, targets + content, apis)


def at(x: float = 0, y: float = 0, z: float = 0, scale: tuple[float, ...] = (1, 1, 1), turn: float = 0.0) -> str:
    return (
        f"double3 xformOp:translate = ({x}, {y}, {z})\ndouble xformOp:rotateZ = {turn}\n"
        f"double3 xformOp:scale = {tuple(scale)}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ", "xformOp:scale"]\n'
    )


def world(
    *inside: str, m: float = 1, kg: float = 1, up: str = "Z", root: str = "", apis: str = "PhysicsArticulationRootAPI"
) -> str:
    return HEADER.format(m=m, kg=kg, up=up) + prim("Xform", "World", root, apis, *inside)


COLLIDES = "PhysicsCollisionAPI"
A_B = body("A") + body("B")
REVOLUTE = "float physics:lowerLimit = {}\nfloat physics:upperLimit = {}"


def reference(what: str) -> str:
    return prim("Xform", "R", extra=f"    {what}\n")


PLANTED = {
    "syntax": ("#usda 1.0\ndef Xform 'a' {\n", r":\d+.*error: cannot be opened"),
    "no bodies": (world(), "no rigid body: no prim has the PhysicsRigidBodyAPI"),
    "target": (world(A_B, joint("Revolute", ends="A Bee")), r"/World/J: error: physics:body1 names '/World/Bee', which does not exist; did you mean '/World/B'"),
    "targets": (world(A_B, joint("Fixed", "rel physics:body1 = [</World/A>, </World/B>]", ends="A -")), "physics:body1 names 2 prims, expected one"),
    "limits": (world(A_B, joint("Revolute", REVOLUTE.format(10, -10))), "/World/J: error: physics:lowerLimit is larger than physics:upperLimit"),
    "nan": (world(A_B, joint("Revolute", REVOLUTE.format("nan", 10))), "physics:lowerLimit: got nan, expected a finite number"),
    "axis": (world(A_B, joint("Revolute", 'uniform token physics:axis = "W"')), "physics:axis: got 'W', expected 'X' or 'Y' or 'Z'"),
    "mass": (world(body("A", "float physics:mass = -2")), "/World/A: error: physics:mass is -2, expected a number > 0"),
    "density": (world(body("A", "float physics:density = inf")), "physics:density: got inf, expected a finite number"),
    "type": (world(body("A", "string physics:mass = 'heavy'")), "physics:mass: got 'heavy', expected a number"),
    "axes": (world(body("A", MASS + "\nquatf physics:principalAxes = (nan, 0, 0, 1)")), "physics:principalAxes: got .* expected a quaternion of length 1"),
    "rotation": (world(A_B, joint("Fixed", "quatf physics:localRot0 = (0, 0, 0, 0)")), "physics:localRot0: got .* expected a quaternion of length 1"),
    "position": (world(A_B, joint("Fixed", "point3f physics:localPos0 = (inf, 0, 0)")), "physics:localPos0: got .* expected three finite numbers"),
    "scale": (world(body("A", MASS + "\n" + at(scale=(0, 1, 1)))), "/World/A: error: its transform scales by 1, 1, 0; expected scales that are not 0"),
    "transform": (world(body("A", MASS + "\ndouble3 xformOp:translate = (nan, 0, 0)\nuniform token[] xformOpOrder = ['xformOp:translate']")), "its transform has numbers that are not finite"),
    "operation": (world(body("A", MASS + "\ndouble3 xformOp:trans = (0, 0, 0)\nuniform token[] xformOpOrder = ['xformOp:trans']")), "/World/A: error: its transform, or one above, cannot be read"),
    "radius": (world(body("A", MASS, prim("Sphere", "S", "double radius = -1", COLLIDES))), "/World/A/S: error: radius: got -1.0, expected a number >= 0"),
    "stiffness": (world(A_B, joint("Revolute", "float drive:angular:physics:stiffness = -1", "PhysicsDriveAPI:angular")), "drive:angular:physics:stiffness: got -1.0, expected a number >= 0"),
    "force": (world(A_B, joint("Revolute", "float drive:angular:physics:maxForce = -1", "PhysicsDriveAPI:angular")), "drive:angular:physics:maxForce is negative"),
    "distance": (world(A_B, joint("Distance", "float physics:minDistance = 3\nfloat physics:maxDistance = 2")), "minimum and maximum of a distance joint: got"),
    "units": (world(body("A"), m=0), "error: metersPerUnit is 0, expected a number > 0"),
    "up": (world(body("A"), up="X"), "upAxis is 'X', expected 'Y' or 'Z'"),
    "list": (world(body("A", "string[] physics:centerOfMass = ['a', 'b']\nstring physics:principalAxes = 'x'\nfloat3 physics:diagonalInertia = (1, 1, 1)")), "physics:centerOfMass: got .* expected three finite numbers"),
    "layer": (world(body("A"), reference("references = @./nothing.usda@")), r"/World/R: error: cannot be composed: Could not open asset @.*nothing.usda@"),
    "system": (world(body("A"), reference("references = @/etc/passwd@")), r"/World/R: error: cannot be composed: Could not open asset @/etc/passwd@"),
    "expression": (world(body("A"), reference('references = @`"${X}.usda"`@')), "cannot be composed: Could not open asset"),
    "cycle": (world(body("A"), reference("references = </World/R/inside>")), "cannot be composed: Cycle detected:; @<string>@</World/R>; CANNOT reference"),
    "inherits": (world(body("A"), reference("references = </World/nowhere>")), "cannot be composed.*nowhere"),
    "restitution": (world(body("A", MASS, prim("Cube", "C", "rel material:binding = </World/M>", COLLIDES)), prim("Material", "M", "float physics:restitution = 2", "PhysicsMaterialAPI")), "/World/M: error: physics:restitution is 2, expected a number in"),
    "crate": (b"PXR-USDC" + bytes(range(200)), "cannot be opened"),
    "zip": (b"PK\x03\x04 this is no archive", "cannot be opened"),
}  # fmt: skip

DOUBTED = {
    "massless": (world(body("A", "")), "/World/A: warning: has no mass, and no collider"),
    "no inertia": (world(body("A", "float physics:mass = 1")), "has a mass, but no physics:diagonalInertia"),
    "triangle": (world(body("A", "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 1, 5)")), "break the triangle inequality"),
    "itself": (world(A_B, joint("Fixed", ends="A A")), "joins one body, with itself, and is left out"),
    "cone": (world(A_B, joint("Spherical", "float physics:coneAngle0Limit = 30")), "limits its axis to a cone of 30"),
    "acceleration": (world(A_B, joint("Revolute", 'uniform token drive:angular:physics:type = "acceleration"\nfloat drive:angular:physics:stiffness = 3', "PhysicsDriveAPI:angular")), "is 'acceleration'"),
    "falls": (world(body("A", MASS + "\nbool physxRigidBody:disableGravity = true")), "disableGravity is not used: here, it falls"),
    "spins": (world(A_B, joint("Revolute", "float drive:angular:physics:targetVelocity = 3", "PhysicsDriveAPI:angular")), "targetVelocity is not used"),
    "break": (world(A_B, joint("Fixed", "float physics:breakForce = 3")), "joints of cardan do not break"),
    "touching neighbours": (world(A_B, joint("Fixed", "bool physics:collisionEnabled = true")), "touch by the world's rules"),
    "gyroscopic": (world(body("A", MASS + "\nbool physxRigidBody:enableGyroscopicForces = false")), "enableGyroscopicForces is not used"),
    "air": (world(body("A", MASS + "\nfloat physxRigidBody:linearDamping = 0.1")), "linearDamping is not used: it changes the motion"),
    "gravcomp": (world(body("A", MASS + "\nfloat mjc:gravcomp = 1")), "mjc:gravcomp is not used: it changes the motion"),
    "masks": (world(body("A", MASS + "\nint mjc:contype = 0")), "mjc:contype is not used: groups of collision"),
    "flags": (world(body("A", MASS), prim("PhysicsScene", "scene", "bool mjc:flag:contact = false")), "mjc:flag:contact is not used"),
    "range of effort": (world(A_B, joint("Revolute", "float mjc:actuatorfrcrange:max = 3")), "mjc:actuatorfrcrange:max is not used"),
    "box for a mesh": (world(body("A", MASS + '\nuniform token physics:approximation = "boundingCube"')), "approximation is not used: a mesh touches as its hull"),
}  # fmt: skip

REMARKED = {
    "unbreakable": (world(A_B, joint("Fixed", "float physics:breakForce = 3.4028235e38")), "joints of cardan do not break"),
    "usual flags": (world(body("A", MASS), prim("PhysicsScene", "scene", "bool mjc:flag:multiccd = false")), "mjc:flag:multiccd is not used"),
    "usual rule": (world(body("A", MASS), prim("PhysicsScene", "scene", 'token mjc:compiler:inertiaFromGeom = "auto"')), "inertiaFromGeom is not used"),
    "rolling": (world(body("A", MASS), prim("Material", "M", "double mjc:rollingfriction = 0.1")), "it acts where mjc:condim is above 3"),
    "nothing": (world(body("A", MASS + "\nfloat physxRigidBody:linearDamping = 0")), "linearDamping is not used: it changes the motion"),
    "attribute": (world(body("A", MASS + "\nvector3f physics:velocity = (1, 0, 0)")), "physics:velocity is not used"),
    "unknown": (world(body("A", MASS + "\nfloat physics:colour = 3")), "physics:colour is not used: this reader does not know it"),
    "axes": (world(body("A", "quatf physics:principalAxes = (0, 1, 0, 0)")), "no physics:diagonalInertia to turn"),
    "type": (world(body("A"), prim("DistantLight", "Sun")), "/World/Sun: warning: DistantLight is not used"),
    "disabled": (world(A_B, joint("Fixed", "bool physics:jointEnabled = false")), "physics:jointEnabled is false"),
    "drive": (world(A_B, joint("Revolute", "float drive:angular:physics:stiffness = 3")), "PhysicsDriveAPI:angular is not applied"),
    "open": (world(body("A"), body("B", MASS + "\n" + at(x=1)), joint("Fixed")), "leave it open by 1"),
    "kinematic": (world(body("A", MASS + "\nbool physics:kinematicEnabled = true")), "it is fixed to the world where it stands"),
    "shear": (world(prim("Xform", "S", at(scale=(1, 3, 1)), "", body("A", MASS, prim("Cube", "C", at(turn=30), COLLIDES)))), "its transform shears it"),
}  # fmt: skip
