"""The table of what a reader uses: it drives the remarks, and the page in docs is made of it."""

import sys
import time
from pathlib import Path

import pytest

from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.vocabulary import READ, Verdict, Vocabulary
from cardan._reach.formats.xml import parse
from cardan.errors import DescriptionError
from cardan.formats import check, load

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import build_formats as build  # noqa: E402

WORDS = Vocabulary(
    "TOY",
    {
        "toy": {"name": "read", "colour": "remark: it cannot be seen", "<joint>": "read", "<loop>": "read"}
        | {
            "weight": "warning: toys weigh nothing",
            "sides": "warning unless 6: dice have 6",
            "<motor>": "warning: no motors",
        },
        "joint": {"name": "read", "<limit>": "read", "<spring>": "refused: it would be another toy without"},
        "loop": {"<joint>": "read"},
        "loop/joint": {"first": "read", "second": "read"},
    },
    {"hinge": "is a door's: write <joint>"},
)


def told(text: str) -> list[tuple[int, str, str]]:
    report = Report("toy")
    WORDS.review(report, parse(Source.of(text)))
    return [(fault.line, fault.severity, fault.message) for fault in report.faults()]


def test_the_page_is_up_to_date():
    assert build.PAGE.read_text(encoding="utf-8") == build.page(), "run: python docs/build_formats.py"


def test_every_verdict_of_every_table_is_one():
    for vocabulary in build.vocabularies():
        for known in vocabulary.table.values():
            assert all(verdict == READ or verdict.why for verdict in known.values())
        roots = set(vocabulary.elements) - set(vocabulary.parents)
        assert all("/" in key or key in vocabulary.parents or key in roots for key in vocabulary.elements)


@pytest.mark.parametrize("text", ["", "Read", "read: because", "remark", "remark: ", "refused", "skipped: no"])
def test_a_verdict_says_why(text):
    with pytest.raises(ValueError, match="expected 'read', 'remark: why'"):
        Verdict.of(text)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<joint name="a"><limit/></joint>', None),
        ('<joint nam="a"/>', "<joint> has no attribute 'nam'; did you mean 'name'?"),
        ("<joynt/>", "<joynt> in <toy> is skipped; did you mean <joint>?"),
        ("<wheel/>", "<wheel> in <toy> is skipped: it is no element of TOY"),
        ("<limit/>", "<limit> in <toy> is skipped: it means nothing here: it belongs into <joint>"),
        ("<hinge/>", "<hinge> in <toy> is skipped: it is a door's: write <joint>"),
        ('<loop><joint first="a" name="b"/></loop>', "<joint> has no attribute 'name'"),
        ('<loop><joint first="a"><limit/></joint></loop>', "<limit> in <joint> is skipped: it means nothing here"),
        ('<joint first="a"/>', "<joint> has no attribute 'first'"),
        ('<x:joint xmlns:x="y"/>', "<x:joint> in <toy> is skipped: it is no element of TOY"),
        ('<joint x:name="a"/>', "<joint> has no attribute 'x:name'"),
        ('<joint xmlns:x="a"/>', None),
        ("<joint><spring/></joint>", "<spring> in <joint> is refused: it would be another toy without"),
    ],
)
def test_what_is_not_read_is_told(inside, message):
    faults = told(f"<toy>\n{inside}\n</toy>")
    assert [line for line, _, _ in faults] == ([] if message is None else [2])
    if message is not None:
        ((_, severity, text),) = faults
        assert text.startswith(message)
        assert severity == ("error" if "refused" in message else "warning")


def test_an_attribute_may_be_remarked_upon():
    assert told('<toy colour="red"/>') == [(1, "warning", "<toy colour=...> is skipped: it cannot be seen")]


@pytest.mark.parametrize(
    ("text", "is_warned_of"),
    [
        ('<toy weight="2"/>', True),
        ('<toy weight="0.0"/>', False),
        ('<toy weight="false"/>', False),
        ('<toy weight="-inf"/>', False),
        ('<toy sides="6"/>', False),
        ('<toy sides="0"/>', True),
        ("<toy><motor><power>3</power></motor></toy>", True),
        ('<toy><motor name="m"/></toy>', True),
        ("<toy><motor><power> 0 </power></motor></toy>", False),
    ],
)
def test_what_would_matter_is_a_warning_and_what_changes_nothing_a_remark(text, is_warned_of):
    report = Report("toy")
    WORDS.review(report, parse(Source.of(text)))
    assert [len(report.warnings), len(report.remarks)] == [is_warned_of, not is_warned_of]


def test_what_occurs_often_is_told_once():
    (fault,) = told("<toy>" + "\n<wheel/>" * 9 + "</toy>")
    assert fault[0] == 2
    assert fault[2].endswith("it is no element of TOY (so in line 3, 4, 5 and 5 more, too)")


def test_what_is_not_read_is_not_looked_into():
    assert len(told("<toy><wheel><wheel/><joint bad='1'/></wheel></toy>")) == 1


def test_a_file_of_unknown_names_takes_no_time():
    text = "<toy>" + "".join(f"<{'x' * 30}{k} y{k}='1'/>" for k in range(30_000)) + "</toy>"
    start = time.process_time()
    assert len(told(text)) == 1001
    assert time.process_time() - start < 5.0


def test_all_of_a_urdf_is_read_or_told():
    text = '<robot name="r"><link name="a"/>\n<sensor/><gazebo/><gazebo/><thing/></robot>'
    assert [fault.message.split(" is skipped")[0] for fault in check(text)] == [
        "<sensor> in <robot>",
        "<thing> in <robot>",
    ]
    load(text)
    with pytest.raises(DescriptionError, match="<coupling> in <robot> is refused: put <mimic"):
        load(text.replace("thing", "coupling"))
