"""Small descriptions in SDF, one for each thing the reader has to get right; the oracles read them, too."""

from __future__ import annotations

from collections.abc import Sequence


def sdf(inside: str, version: str = "1.11") -> str:
    """Return a file."""
    return f'<?xml version="1.0"?>\n<sdf version="{version}">\n{inside}\n</sdf>\n'


def model(inside: str, name: str = "robot", version: str = "1.11", attributes: str = "") -> str:
    """Return a file of one model."""
    return sdf(f'<model name="{name}"{attributes}>\n{inside}\n</model>', version)


def link(
    name: str, pose: str = "", inside: str = "", mass: float = 2.0, inertia: Sequence[float] = (0.3, 0.4, 0.5)
) -> str:
    """Return a link whose centre of mass and axes are nowhere special."""
    moments = "".join(f"<{e}>{v}</{e}>" for e, v in zip(("ixx", "iyy", "izz"), inertia, strict=True))
    inertial = f"<mass>{mass}</mass><pose>0.1 -0.2 0.3 0.4 -0.5 0.6</pose><inertia>{moments}<ixy>0.01</ixy></inertia>"
    return f'<link name="{name}">{pose}<inertial>{inertial}</inertial>{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "<axis><xyz>0 0.6 0.8</xyz></axis>") -> str:
    """Return a joint."""
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def axis(xyz: str, inside: str = "", attributes: str = "") -> str:
    """Return an axis."""
    return f"<axis><xyz{attributes}>{xyz}</xyz>{inside}</axis>"


def collision(name: str, geometry: str, before: str = "") -> str:
    """Return a collision element."""
    return f'<collision name="{name}">{before}<geometry>{geometry}</geometry></collision>'


_TURNED = "<pose>0.3 -0.1 0.5 0.2 -0.4 0.7</pose>"
_FURTHER = "<pose>0.9 0.2 0.1 -0.3 0.5 1.1</pose>"
_TWO = link("base", "<pose>0 0 0.1 0.1 0.2 0.3</pose>") + link("a", _TURNED)
_WELD = joint("weld", "fixed", "world", "base", "")

TEXTS: dict[str, str] = {
    "hinge": model(_TWO + _WELD + joint("j", "revolute", "base", "a")),
    "joint_pose": model(
        _TWO + _WELD + joint("j", "revolute", "base", "a", "<pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>" + axis("1 0 0"))
    ),
    "slide_expressed_in_model": model(
        _TWO + _WELD
        + joint("j", "prismatic", "base", "a", '<axis><xyz expressed_in="__model__">1 2 -2</xyz></axis>')
    ),
    "old_axis": model(_TWO + _WELD + joint("j", "revolute", "base", "a"), version="1.4"),
    "old_parent_model_frame": model(
        _TWO + _WELD
        + joint("j", "revolute", "base", "a", axis("0 0.6 0.8", "<use_parent_model_frame>1</use_parent_model_frame>")),
        version="1.6",
    ),
    "screw": model(
        _TWO + _WELD
        + joint("j", "screw", "base", "a", "<screw_thread_pitch>0.05</screw_thread_pitch><axis><xyz>0 0 1</xyz></axis>")
    ),
    "old_screw": model(
        _TWO + _WELD + joint("j", "screw", "base", "a", "<thread_pitch>20</thread_pitch><axis><xyz>0 0 1</xyz></axis>"),
        version="1.6",
    ),
    "universal": model(
        _TWO + _WELD
        + joint("j", "universal", "base", "a", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>")
    ),
    "ball": model(_TWO + _WELD + joint("j", "ball", "base", "a", "<pose>0.1 0 0.2 0.3 0 0</pose>")),
    "frames": model(
        link("base") + link("a", '<pose relative_to="f">0.1 0 0 0 0 0.4</pose>') + _WELD
        + '<frame name="f" attached_to="g"><pose>0 0.2 0 0.3 0 0</pose></frame>'
        + '<frame name="g" attached_to="base"><pose relative_to="__model__">0.5 0 0 0 0.2 0</pose></frame>'
        + '<frame name="tip" attached_to="j"><pose degrees="true">0 0 1 0 90 0</pose></frame>'
        + joint(
            "j", "revolute", "f", "a",
            '<pose relative_to="g">0.1 0.1 0 0 0 0</pose>' + axis("0 1 0", "", ' expressed_in="f"'),
        )
    ),
    "nested": model(
        '<pose>1 2 3 0.1 0.2 0.3</pose>' + link("base") + _WELD
        + '<model name="arm" placement_frame="grip"><pose relative_to="base">0.2 0 0 0 0 0.5</pose>'
        + link("low", _TURNED) + link("high", _FURTHER)
        + '<frame name="grip" attached_to="low"><pose rotation_format="quat_xyzw">0 0 0.1 0 0.6 0 0.8</pose></frame>'
        + joint("elbow", "revolute", "low", "high") + "</model>"
        + joint("shoulder", "revolute", "base", "arm::low")
        + '<frame name="camera" attached_to="arm::high"/>'
    ),
    "world": sdf(
        '<world name="w"><gravity>0 1 -3</gravity>'
        + f'<model name="box"><pose>1 2 3 0.1 0.2 0.3</pose>{link("l", _TURNED)}</model>'
        + f'<model name="arm"><pose>0 0 1 0 0 0.3</pose>{_TWO}{joint("j", "revolute", "base", "a")}</model>'
        + f'<model name="floor"><static>true</static>{link("l", _FURTHER)}</model></world>'
    ),
    "automatic_inertia": model(
        '<link name="a"><inertial auto="true"><density>300</density></inertial>'
        + collision("c", "<box><size>0.2 0.3 0.4</size></box>", "<pose>0.1 0 0 0.2 0 0</pose>")
        + collision("d", "<capsule><radius>0.1</radius><length>0.4</length></capsule>", "<density>900</density>")
        + collision("e", "<cone><radius>0.2</radius><length>0.5</length></cone>", "<pose>0 0 1 0 0.3 0</pose>")
        + '</link><link name="b"><inertial auto="true"><mass>7</mass></inertial>'
        + collision("c", "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>") + "</link>"
        + joint("w", "fixed", "world", "a", "") + joint("j", "revolute", "a", "b")
    ),
    "properties": model(
        _TWO + _WELD
        + joint(
            "j", "revolute", "base", "a",
            "<axis><xyz>0 0 2</xyz>"
            "<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>"
            "<dynamics><damping>0.5</damping><friction>0.25</friction><spring_stiffness>10</spring_stiffness>"
            "<spring_reference>0.3</spring_reference></dynamics></axis>",
        )
    ),
    "mimic": model(
        _TWO + link("b", _FURTHER) + _WELD + joint("j", "revolute", "base", "a")
        + joint(
            "k", "revolute", "a", "b",
            '<axis><xyz>1 0 0</xyz><mimic joint="j"><multiplier>2</multiplier><offset>0.5</offset>'
            "<reference>0.1</reference></mimic></axis>",
        )
    ),
    "default_inertia": model(
        '<link name="base"/><link name="a"><pose>1 0 0 0 0 0</pose></link>' + _WELD
        + joint("j", "revolute", "base", "a")
    ),
}  # fmt: skip
"""By what they are about."""
