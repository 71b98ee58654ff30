"""Models with constraints that are functions: what glides, rolls without slipping, or stays on a curve."""

import numpy as np

import cardan
from cardan.joints import Coupled, FreeFlyer, Planar, Prismatic, Revolute

Z = np.array([0.0, 0.0, 1.0])
BODY = cardan.Inertia(mass=2.0, com=(0.4, 0.0, 0.0), inertia=np.diag([0.1, 0.2, 0.3]))


def blade(model, q, v):
    """What glides along x of the body, and not across."""
    return cardan.frame_velocity(model, q, v, "thing", expressed_in="frame")[1]


def twist(model, q, v, frame="thing"):
    V = cardan.frame_velocity(model, q, v, frame)  # of its origin, in world axes
    return V[:3], V[3:]


def arm_of(model, q, radius, frame="thing"):
    """From the centre of a disc, whose axle is y, to its lowest point."""
    axle = cardan.frame_transform(model, q, frame)[:3, 1]
    down = axle * axle[2] - Z
    return down * (radius / cardan.sqrt(down @ down))


def rolling(radius, frame="thing"):
    def rolls(model, q, v):
        u, w = twist(model, q, v, frame)
        return u + np.cross(w, arm_of(model, q, radius, frame))

    return rolls


def alone(joint, inertia):
    m = cardan.Mechanism("alone")
    m.add_body("thing", inertia)
    m.add_joint("moves", joint, "world", "thing")
    return m.model()


def sleigh():
    return alone(Planar(), BODY).with_constraints(blade)


def disc(*constraints, radius=0.3, mass=1.5):
    moments = 0.25 * mass * radius**2 * np.array([1.0, 2.0, 1.0])
    free = alone(FreeFlyer(), cardan.Inertia(mass=mass, com=(0.0, 0.0, 0.0), inertia=np.diag(moments)))
    return free.with_constraints(*(constraints or (rolling(radius),)))


def cart():
    """Four wheels whose rollers are at 45 degrees."""
    r, places = 0.05, [(0.25, 0.2), (0.25, -0.2), (-0.25, 0.2), (-0.25, -0.2)]
    m = cardan.Mechanism("cart")
    m.add_body("cart", cardan.Inertia(mass=10.0, com=(0.0, 0.0, 0.0), inertia=np.eye(3)))
    m.add_joint("moves", Planar(), "world", "cart", parent_pose=cardan.SE3(translation=(0.0, 0.0, r)))
    for k, (x, y) in enumerate(places):
        m.add_body(f"wheel{k}", cardan.Inertia(mass=0.5, com=(0.0, 0.0, 0.0), inertia=1e-3 * np.eye(3)))
        pose = cardan.SE3(translation=(x, y, 0.0))
        m.add_joint(f"axle{k}", Revolute((0.0, 1.0, 0.0)), "cart", f"wheel{k}", parent_pose=pose)

    def mecanum(model, q, v):
        ahead = cardan.frame_transform(model, q, "cart")[:3, 0]
        side, slips = np.cross(Z, ahead), []
        for k in range(4):
            u, w = twist(model, q, v, f"wheel{k}")
            touching = u - r * np.cross(w, Z)
            slips.append(touching @ (ahead * (-1.0) ** (k in (0, 3)) + side))
        return slips

    return m.model().with_constraints(mecanum)


BASE, TRACK, RADIUS = 2.5, 1.4, 0.3


def car():
    """Ackermann: a tie rod turns the front wheels about one centre, on the line of the rear axle; all four roll."""
    m = cardan.Mechanism("car")
    wheel = cardan.Inertia(mass=20.0, com=(0.0, 0.0, 0.0), inertia=np.diag([0.5, 1.0, 0.5]))
    m.add_body("car", cardan.Inertia(mass=1200.0, com=(1.2, 0.0, 0.1), inertia=np.diag([300.0, 1500.0, 1700.0])))
    m.add_joint("moves", Planar(), "world", "car", parent_pose=cardan.SE3(translation=(0.0, 0.0, RADIUS)))
    m.add_body("column", cardan.Inertia(mass=1.0, com=(0.0, 0.0, 0.0), inertia=0.01 * np.eye(3)))
    m.add_joint("steering", Revolute((0.0, 0.0, 1.0)), "car", "column", limits=cardan.Limits([-0.5], [0.5]))
    wheels = {}
    for side, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
        knuckle, front, rear = f"{side}_knuckle", f"{side}_front", f"{side}_rear"
        m.add_body(knuckle, cardan.Inertia(mass=10.0, com=(0.0, 0.0, 0.0), inertia=0.2 * np.eye(3)))
        turns = Coupled(
            Revolute((0.0, 0.0, 1.0)),
            ["steering"],
            lambda x, y=y: cardan.scalar.atan2(BASE * cardan.scalar.tan(x), BASE - y * cardan.scalar.tan(x)),
        )  # cot = cot x - y / BASE
        m.add_joint(f"{side}_pin", turns, "car", knuckle, cardan.SE3(translation=(BASE, y, 0.0)))
        for name, above, at in ((front, knuckle, (0, 0, 0)), (rear, "car", (0, y, 0))):
            m.add_body(name, wheel)
            m.add_joint(f"{name}_axle", Revolute((0.0, 1.0, 0.0)), above, name, cardan.SE3(translation=at))
            wheels[name] = above

    def rolls(model, q, v):
        slips = []
        for name in wheels:
            u, w = twist(model, q, v, name)
            slips += [*(u - RADIUS * np.cross(w, Z))[:2]]
        return slips

    return m.model().with_constraints(rolls)


def pendulum():
    """A point that slides in a plane, on a circle."""
    m = cardan.Mechanism("pendulum")
    m.add_body("slide", cardan.Inertia(mass=0.0, com=(0.0, 0.0, 0.0), inertia=np.zeros((3, 3))))
    m.add_body("thing", cardan.Inertia(mass=2.0, com=(0.0, 0.0, 0.0), inertia=np.eye(3)))
    m.add_joint("x", Prismatic((1.0, 0.0, 0.0)), "world", "slide")
    m.add_joint("z", Prismatic((0.0, 0.0, 1.0)), "slide", "thing")

    def circle(model, q):
        p = cardan.frame_transform(model, q, "thing")[:3, 3]
        return 0.5 * (p @ p - 0.25)

    return m.model().with_constraints(circle)
