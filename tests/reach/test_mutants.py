"""Mutants of URDF, SRDF and JSON: read, or refused with a place; soon, and with nothing else raised."""

import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

import cardan
from cardan.errors import DescriptionError
from cardan.formats import check
from compare_pairs import arm
from mutations import mutant

QUICK, FULL = 60, 20_000
LONGEST = 10.0  # [s] of the processor; 2 on a free core
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
URDF = f"""<robot name="r"><material name="m"><color rgba="1 0 0 1"/></material>
<link name="base"><collision name="c">
<origin xyz="0 0 1" rpy="1 0 0"/><geometry><box size="1 1 1"/></geometry></collision>
<visual><geometry><mesh filename="package://a/b.stl" scale="1 1 1"/></geometry><material name="m"/></visual></link>
<link name="l1"><inertial><origin xyz="0 0 1"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="l2"/><link name="l3"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/>{LIMIT}
<dynamics damping="1" friction="2"/></joint>
<joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/><mimic joint="j1" multiplier="2"/></joint>
<joint name="j3" type="floating"><origin xyz="1 0 0"/><parent link="l2"/><child link="l3"/></joint>
<loop name="l" type="revolute"><predecessor link="l2"/><successor link="l3"><origin xyz="0 0 1"/></successor>
<axis xyz="0 1 0"/></loop><frame name="tip" link="l3" xyz="1 2 3"/>
<transmission name="t"><type>x</type><joint name="j1"/><actuator name="m"><mechanicalReduction>3</mechanicalReduction>
</actuator></transmission></robot>"""
SRDF = """<robot name="r"><virtual_joint name="v" type="floating" parent_frame="w" child_link="base"/>
<group name="arm"><chain base_link="base" tip_link="l2"/><joint name="j3"/></group>
<group name="hand"><link name="l3"/><group name="arm"/></group>
<group_state name="home" group="arm"><joint name="j1" value="0.5"/><joint name="v" value="0 0 0 0 0 0 1"/></group_state>
<end_effector name="e" parent_link="l2" group="hand" parent_group="arm"/><passive_joint name="j2"/>
<disable_collisions link1="base" link2="l1" reason="x"/><disable_default_collisions link="l1"/>
<enable_collisions link1="l1" link2="l2"/></robot>"""
VALUES = (None, True, -1, 1e308, 10**400, "", "a" * 10_000, [], {}, [[[]]], "nan", 0, -0.0, 1e-320, {"a": 1}, "world")


def nodes(value: Any) -> list[Any]:
    """Return the objects and lists in a value that have something in them."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    here = [value] if isinstance(value, (dict, list)) and value else []
    return here + [node for entry in inside for node in nodes(entry)]


def json_mutant(text: str, rng: random.Random) -> bytes:
    """Return a file of JSON with a few entries deleted, doubled, renamed, swapped or replaced; some with bytes cut."""
    document = json.loads(text)
    for _ in range(rng.randint(1, 4)):
        node = rng.choice(nodes(document) or [{"": 0}])
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key, other = rng.choice(keys), rng.choice(keys)
        kind = rng.randrange(6)
        if kind == 0:
            del node[key]
        elif kind == 1:
            node[key] = rng.choice(VALUES)
        elif kind == 2:
            node[key], node[other] = node[other], node[key]
        elif kind == 3:
            node[key] = [node[key]]
        elif isinstance(node, dict):
            node[str(other) + "x" * rng.randrange(2)] = node.pop(key) if kind == 4 else node[key]
        else:
            node.append(node[key])
    content = json.dumps(document).encode()
    if rng.random() < 0.1:
        k = rng.randrange(len(content))
        content = content[:k] + bytes([rng.randrange(256)]) + content[k + rng.randrange(3) :]
    return content


JSON = (cardan.to_json(arm()), cardan.to_json(arm().model()))
KINDS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes], Any]]] = {
    "URDF": (lambda rng: mutant(URDF, rng), check),
    "SRDF": (lambda rng: mutant(SRDF, rng), lambda content: check(URDF, srdf=content)),
    "JSON": (lambda rng: json_mutant(rng.choice(JSON), rng), check),
}


@pytest.mark.slow
@pytest.mark.parametrize("count", [QUICK, pytest.param(FULL, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", KINDS)
def test_mutants(kind, count):
    made, read = KINDS[kind]
    outcomes = {"read": 0, "refused": 0}
    for seed in range(count):
        content = made(random.Random(seed))
        start = time.process_time()
        errors = [fault for fault in read(content) if fault.severity == "error"]
        assert time.process_time() - start < LONGEST, seed
        assert all(isinstance(fault.line, int) and fault.file for fault in errors), seed
        outcomes["refused" if errors else "read"] += 1
    assert outcomes["refused"] > count // 10
    assert outcomes["read"] > count // 100


def test_the_original_is_read():
    with pytest.warns():
        assert cardan.load_mechanism(URDF, on_inertia="ignore").bodies
    with pytest.raises(DescriptionError):
        cardan.load_mechanism(URDF[:-20])
