"""What `explain` says of a program: its operations by the line of source that wrote them."""

import re

import cardan


def operations_by_line(text):
    """Return {line of source: operations}, and the total."""
    rows = re.findall(r"^ +(\d+) (?:\S+:\d+ \S+: (.*)|on \d+ further lines)$", text.partition("as traced:\n")[2], re.M)
    return {line: int(count) for count, line in rows}, sum(int(count) for count, _ in rows)


def test_operations_are_listed_by_the_line_of_the_page():
    model = cardan.robots.quadruped().model(base="floating")
    text = cardan.inverse_dynamics.explain(model, by_line=True)
    lines, total = operations_by_line(text)
    assert total == cardan.inverse_dynamics.program(model).operations  # no pass takes any away here
    assert any("(5.10)" in line for line in lines)


def test_lines_of_a_users_function_are_theirs():
    @cardan.function
    def twice(model, q):
        return [2.0 * angle * angle for angle in q]  # two operations each

    arm = cardan.robots.arm7().model()
    lines, total = operations_by_line(twice.explain(arm, by_line=True))
    assert total == 14
    assert lines == {"return [2.0 * angle * angle for angle in q]  # two operations each": 14}
    assert "as traced" not in twice.explain(arm)
