"""What each coordinate and velocity of a joint type is: unit, meaning, frame; for docs/joints.md.

A text that is empty goes on from the one before. A layout of another length than the joint's is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

Row = tuple[str, str]
"""Unit, meaning."""

_ANGLE = ("rad", "about the axis, right-handed; any number of turns")
_ALONG = ("m", "along the axis")
_POSITION = (("m", "position of the child's origin, in parent axes"), ("m", ""), ("m", ""))
_QUATERNION = (
    ("1", "unit quaternion of the child in the parent, scalar last; another norm is projected"),
    *[("1", "")] * 3,
)
_LINEAR = (("m/s", "velocity of the child's origin relative to the parent, in child axes"), ("m/s", ""), ("m/s", ""))
_ANGULAR = (
    ("rad/s", "angular velocity of the child relative to the parent, in child axes"),
    ("rad/s", ""),
    ("rad/s", ""),
)
_XYZ = (("rad", "about x of the parent"), ("rad", "about the y that the first leaves"), ("rad", "about z of the child"))
_HEADING = (("1", "cosine of the heading, about z; a point off the unit circle is projected"), ("1", "sine of it"))


def _rates(*units: str) -> tuple[Row, ...]:
    """Return the rows of velocities that are the rates of the coordinates."""
    return tuple((unit, "" if k else "rate of the coordinate") for k, unit in enumerate(units))


LAYOUTS: dict[str, tuple[Sequence[Row], Sequence[Row]]] = {
    "Fixed": ((), ()),
    "Revolute": ((_ANGLE,), _rates("rad/s")),
    "Prismatic": ((_ALONG,), _rates("m/s")),
    "Helical": ((_ANGLE,), _rates("rad/s")),
    "UnboundedRevolute": (
        (("1", "cosine of the angle about the axis; first or second as `order` says"), ("1", "sine of it")),
        (("rad/s", "rate of the angle"),),
    ),
    "Universal": (
        (("rad", "about `axis1`, fixed in the parent"), ("rad", "about `axis2`, fixed in the child")),
        _rates("rad/s", "rad/s"),
    ),
    "Spherical": (_QUATERNION, _ANGULAR),
    "SphericalZYX": (
        (("rad", "about z of the parent"), ("rad", "about the y that yaw leaves"), ("rad", "about x of the child")),
        _rates("rad/s", "rad/s", "rad/s"),
    ),
    "Translation": (_POSITION, _rates("m/s", "m/s", "m/s")),
    "Planar": (
        (("m", "position of the child's origin, along x of the parent"), ("m", "along y"), *_HEADING),
        (
            ("m/s", "velocity of the child's origin, along x of the child"),
            ("m/s", "along y"),
            ("rad/s", "of the heading"),
        ),
    ),
    "PlanarAngle": (
        (
            ("m", "position of the child's origin, along `x_axis`, in the parent"),
            ("m", "along `y_axis`"),
            ("rad", "about the normal; any number of turns"),
        ),
        (
            ("m/s", "velocity of the child's origin, along `x_axis` as the child carries it"),
            ("m/s", "along `y_axis`"),
            ("rad/s", "rate of the angle"),
        ),
    ),
    "FreeFlyer": ((*_POSITION, *_QUATERNION), (*_LINEAR, *_ANGULAR)),
    "FloatingMRP": (
        (*_POSITION, ("1", "modified Rodrigues parameters of the child in the parent"), ("1", ""), ("1", "")),
        (*_LINEAR, *_ANGULAR),
    ),
    "Ellipsoid": (_XYZ, _rates("rad/s", "rad/s", "rad/s")),
    "D6": (
        (
            ("m", "along the first linear axis, in the parent"),
            ("m", "along the second, and so on"),
            ("rad", "about the first angular axis, in the parent"),
            ("rad", "about the second, carried along by the first"),
            ("rad", "about the third, fixed in the child"),
        ),
        _rates("m/s", "m/s", "rad/s", "rad/s", "rad/s"),
    ),
    "Composite": (
        (
            ("rad", "the joints' coordinates, from parent to child; here of a revolute joint"),
            ("1", "of a spherical joint"),
            *[("1", "")] * 3,
            ("m", "of a prismatic joint"),
        ),
        (("rad/s", "the joints' velocities, each as the joint has it"), *[("rad/s", "")] * 3, ("m/s", "")),
    ),
    "Reversed": (
        (("rad", "the joint's own, here of an ellipsoid joint"), ("rad", ""), ("rad", "")),
        _rates("rad/s", "rad/s", "rad/s"),
    ),
    "Cylindrical": ((_ALONG, _ANGLE), _rates("m/s", "rad/s")),
    "VariableScrew": ((_ANGLE,), _rates("rad/s")),
    "ConstantVelocity": (
        (
            ("rad", "about `axis1` at either cross: a bend by twice as much"),
            ("rad", "about the axis between, at either cross"),
        ),
        _rates("rad/s", "rad/s"),
    ),
    "Spline": ((("of `span`", "parameter of the curve"),), (("of `span` per s", "rate of the coordinate"),)),
    "OpenSimCustom": (
        (("rad or m", "as the functions take it; the names are those of `coordinates`"), ("rad or m", "")),
        _rates("rad/s or m/s", "rad/s or m/s"),
    ),
    "Cable": (
        (
            _ALONG,
            ("rad", "component of the bend's rotation vector along `across[0]`, x for the axis z"),
            ("rad", "along `across[1]`, y for the axis z"),
        ),
        _rates("m/s", "rad/s", "rad/s"),
    ),
    "Distance": ((*_POSITION, *_QUATERNION), (*_LINEAR, *_ANGULAR)),
    "Mimic": ((), ()),
}
"""By type name: the rows of q and of v, of the catalogue's first example."""
