"""Loops over the nodes of a tree: written out, or run over rows of a table with the code of each kind of joint once.

A page says what is done at a node, and how nodes hand on:

    each       x_i = f(i)
    outwards   x_i = f(i, x_p(i)),        of a root f(i, x_world)
    inwards    x_i, y_i = f(i, z_i),      z_i = own_i + sum over children j: y_j

`Nodes` does that node by node: for robots nothing is faster, because each node keeps its zeros and ones. `NodeRows`
makes it a loop of the program (`Region`): the nodes with equal joints are one kind, whose constants are columns, but
for those that all of them share. What nodes hand on is a row for each, with the world's behind the last.

Loops that follow each other in one direction become one: what a node has in it already is not read from its row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar, overload

from cardan._algebra.arrays.cell import Table
from cardan._algebra.arrays.symbolic import entries_of, rebuilt
from cardan._algebra.spatial import SE3, Force
from cardan._dynamics.call.results import packed
from cardan._robot.model import Model, Node

T = TypeVar("T")
Given = TypeVar("Given")
LOOP_FROM = 100
"""Nodes from which on loops are as fast as straight lines, in batches (decision 41)."""
ALIKE = 8
"""Nodes for each kind, at least: with fewer, a loop chooses more often among kinds than it saves."""


class Nodes:
    """The nodes of a model, gone over one by one."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def each(self, body: Callable[[Node], T], *, kept: bool = True) -> Sequence[T]:
        """Return what a body makes of each node; what is not `kept` is made again where a later loop reads it."""
        return [body(node) for node in self.model.nodes]

    def outwards(self, body: Callable[[Node, T], T], world: T) -> Sequence[T]:
        """Return what a body makes of each node and of what it made of the parent."""
        found: list[T] = []
        for node in self.model.nodes:
            found.append(body(node, found[node.parent] if node.parent >= 0 else world))
        return found

    def inwards(
        self, own: Sequence[Given], body: Callable[[Node, Given], tuple[T, Callable[[], Given]]]
    ) -> Sequence[T]:
        """Return what a body makes of each node and of its own value with all that its children gave.

        It returns that, and what gives the parent something: the latter is called if there is one. Their own values
        are of no other use: in rows, what the children give is added to them.
        """
        total: list[Any] = list(own)
        found: list[Any] = [None] * len(total)
        for node in reversed(self.model.nodes):
            found[node.index], give = body(node, total[node.index])
            if node.parent >= 0:
                total[node.parent] = total[node.parent] + give()
        return found

    def efforts(self, name: str = "v") -> Efforts:
        """Return a place for numbers along v, or along q."""
        return Efforts(self.model, name)

    def rows_of(self, table: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Return the rows of a table, one for each node, which may be read where they are."""
        return table

    def tables(
        self, body: Callable[[Node], Sequence[Any]], at: Sequence[int], others: Mapping[int, Sequence[Any]]
    ) -> list[Any]:
        """Return arrays of what a body makes of each node, several things each: in rows that are given, beside others.

        `at` says in which row those of each node are, and `others` what is in all other rows. The last nodes may have
        none.
        """
        rows = {**others, **{k: body(node) for k, node in zip(at, self.model.nodes, strict=False)}}
        return [list(column) for column in zip(*(rows[k] for k in range(len(rows))), strict=True)]

    def table(self, body: Callable[[Node], Sequence[Any]]) -> Any:
        """Return an array with a row for each node: the numbers that a body makes of it."""
        return self.tables(lambda node: [list(body(node))], range(len(self.model.nodes)), {})[0]

    def less(self, f: Sequence[Force], external: Sequence[ExternalForce]) -> Sequence[Force]:
        """Return forces on nodes less the external ones that act there."""
        found = list(f)
        for node, pose, force in external:
            if node >= 0:
                found[node] = found[node] - pose @ Force.of(force)
        return found


class ExternalForce(NamedTuple):
    node: int  # that it acts on; of the world, one is of no account
    pose: SE3  # of its frame there
    force: Sequence[Any]  # in its frame


class Efforts:
    """Numbers along v or q, which nodes add to."""

    def __init__(self, model: Model, name: str) -> None:
        self.name, self.size = name, model.nq if name == "q" else model.nv
        self.total: list[Any] = [0.0] * self.size

    def add(self, node: Node, part: Sequence[Any]) -> None:
        """Add a node's own part."""
        for i, value in zip(getattr(node, self.name), part, strict=True):
            self.total[i] = self.total[i] + value

    def values(self) -> list[Any]:
        """Return all of them."""
        return self.total


def nodes_of(model: Model, q: Sequence[Any], fewest: int | None = None) -> Nodes:
    """Return the nodes of a model: to be looped over if there are many, most of them alike, and q is traced.

    Not if joints share coordinates: loops put each number along v once, where theirs are sums.
    """
    fewest = LOOP_FROM if fewest is None else fewest
    graph = next((e.__rows__() for e in q if hasattr(type(e), "__rows__")), None)
    if graph is None or model.has_mimics or not are_many(model.nodes, fewest):
        return Nodes(model)
    return NodeRows(model, graph, _kinds(model.nodes))


def are_many(nodes: Sequence[Node], fewest: int) -> bool:
    """Return whether there are so many nodes, most of them alike."""
    return len(nodes) >= fewest and len(_kinds(nodes)) * ALIKE <= len(nodes)


def _kinds(nodes: Sequence[Node]) -> list[list[Node]]:
    """Return nodes in groups of equal joints."""
    found: dict[Any, list[Node]] = {}
    for node in nodes:
        found.setdefault(node.joint, []).append(node)
    return list(found.values())


# --- rows ---


class RowIndex(NamedTuple):
    """Which row: of the node that a loop is at, or of any other."""

    row: int  # the instruction that gives its number
    node: RowNode | None = None


class UnpreparedError(Exception):
    """Values that a loop reads must be put in a column before it begins."""


class Columns:
    """Values in columns: numbers, what is given with each call, and what is put there; each column made once."""

    def __init__(self, graph: Any) -> None:  # that of a traced value (`__rows__`)
        self.graph = graph
        self.known: dict[int, tuple[Any, Any]] = {}  # by identity of the values: these, and what stands for them

    def entry(self, values: Sequence[Any], row: int) -> Any:
        """Return the value at a row, by the number of an instruction; one that is the same in all rows as it is."""
        if id(values) not in self.known:
            self.known[id(values)] = values, self._standing(values)
        found = self.known[id(values)][1]
        return self.graph.entry(found, row) if type(found) is int else found

    def _standing(self, values: Sequence[Any]) -> Any:
        """Return the one value that all are, or the number of their column."""
        graph, first = self.graph, values[0]
        if all(isinstance(e, Real) for e in values):
            numbers = [float(e) for e in values]
            return numbers[0] if len(set(map(repr, numbers))) == 1 else graph.new_column(len(numbers), Table(numbers))
        found = graph.column_in_place(values)
        if found is not None:
            return found
        if len({graph.result(e) for e in values}) == 1:
            return first
        raise UnpreparedError(values)

    def put(self, values: Sequence[Any]) -> None:
        self.known[id(values)] = values, self.graph.column_of(values)


class RowNode:
    """A node that a loop is at: its joint, and its constants in columns."""

    def __init__(self, rows: NodeRows, kind: int, row: int) -> None:
        self.rows, self.kind, self.row = rows, kind, row
        self.joint = rows.kinds[kind][0].joint
        self.name = rows.kinds[kind][0].name  # of the first of the kind, for messages

    @property
    def index(self) -> Any:
        return RowIndex(self.row, self)

    def __getattr__(self, name: str) -> Any:
        template, columns = self.rows.constants(self.kind, name)
        return rebuilt(template, (self.rows.columns.entry(own, self.row) for own in columns))

    def configuration(self, q: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.rows.own_part(q, "q", c, self.row) for c in range(self.joint.nq))

    def velocity(self, v: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.rows.own_part(v, "v", c, self.row) for c in range(self.joint.nv))


class NodeRows(Nodes):
    """The nodes as rows, with loops that wait to be traced together."""

    def __init__(self, model: Model, graph: Any, kinds: list[list[Node]]) -> None:
        super().__init__(model)
        self.graph, self.kinds, self.columns = graph, kinds, Columns(graph)
        n = len(model.nodes)
        self.kind_of = {node.index: k for k, own in enumerate(kinds) for node in own}
        self.flags = [Table([float(self.kind_of[i] == k) for i in range(n)]) for k in range(len(kinds))]
        self.parents = Table([float(node.parent % (n + 1)) for node in model.nodes])  # the world's row is behind
        self._constants: dict[tuple[int, str], tuple[Any, list[list[Any]]]] = {}
        self._links: dict[tuple[str, int], Table | None] = {}
        self._parts: dict[tuple[int, str, int], tuple[Any, Any]] = {}  # with the values, which live as long
        self.waiting: list[_Loop] = []

    def each(self, body: Callable[[Node], T], *, kept: bool = True) -> Sequence[T]:
        return self._later(_Each(self, body, kept))

    def outwards(self, body: Callable[[Node, T], T], world: T) -> Sequence[T]:
        return self._later(_Outwards(self, body, world))

    def inwards(
        self, own: Sequence[Given], body: Callable[[Node, Given], tuple[T, Callable[[], Given]]]
    ) -> Sequence[T]:
        return self._later(_Inwards(self, body, own))

    def efforts(self, name: str = "v") -> Efforts:
        return _RowEfforts(self, name)

    def rows_of(self, table: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        return _GivenRows(self, table)

    def tables(
        self, body: Callable[[Node], Sequence[Any]], at: Sequence[int], others: Mapping[int, Sequence[Any]]
    ) -> list[Any]:
        found: dict[int, tuple[list[int], tuple[int, ...]]] = {}  # of each array, columns, and the shape of a row
        rows, places = len(at) + len(others), Table(at)

        def put(row: int, values: Sequence[Any]) -> None:
            for k, value in enumerate(values):
                array = packed(value)
                self._put(found.setdefault(k, ([], array.shape))[0], rows, row, array.ravel().tolist())

        def put_node(node: Any) -> tuple[()]:
            put(self.graph.link(places, node.row), body(node))
            return ()

        self.each(put_node)
        self.trace()
        for row, values in others.items():
            put(self.graph.at(row), values)
        return [self.graph.array(columns, (rows, *shape)) for columns, shape in found.values()]

    def _put(self, columns: list[int], rows: int, row: Any, values: Sequence[Any]) -> None:
        """Put values into a row of columns, which are made for the first ones."""
        columns.extend(self.graph.new_column(rows) for _ in values[len(columns) :])
        for column, value in zip(columns, values, strict=True):
            self.graph.put_in(column, row, value)

    def riders(
        self, places: Sequence[int], poses: Sequence[SE3], body: Callable[[Any, SE3], Sequence[Any]]
    ) -> list[int]:
        """Return columns with a row for each of what rides on nodes, or on the world (-1), at poses there.

        In them are the numbers that a body makes of the index of the node and the pose.
        """
        graph, world = self.graph, len(self.model.nodes)
        table, columns = Table([k % (world + 1) for k in places]), list[int]()
        constants = [list(column) for column in zip(*(entries_of(pose) for pose in poses), strict=True)]

        def write() -> None:
            start, row = graph.opened()
            pose = rebuilt(poses[0], (self.columns.entry(column, row) for column in constants))
            self._put(columns, len(places), row, list(body(RowIndex(graph.link(table, row)), pose)))
            graph.closed(start, len(places))

        self.trace()
        self.prepared(write)
        return columns

    def less(self, f: Sequence[Force], external: Sequence[ExternalForce]) -> Sequence[Force]:
        if not external:
            return f
        graph, world = self.graph, len(self.model.nodes)
        sums = [graph.new_column(world + 1) for _ in range(6)]
        places, first = Table([e.node % (world + 1) for e in external]), Table(range(0, 6 * len(external), 6))
        flat = [entry for e in external for entry in e.force]
        forces = [flat[c:] for c in range(6)]
        poses = [list(column) for column in zip(*(entries_of(e.pose) for e in external), strict=True)]

        def add() -> None:
            start, row = graph.opened()
            X = rebuilt(external[0].pose, (self.columns.entry(column, row) for column in poses))
            wrench = X @ Force.of([self.columns.entry(own, graph.link(first, row)) for own in forces])
            for column, value in zip(sums, wrench.scalars(), strict=True):
                graph.add_to(column, graph.link(places, row), value)
            graph.closed(start, len(external))

        self.prepared(add)

        def rest(node: Node) -> Force:
            here: Any = node.index
            return f[node.index] - Force.of([graph.entry(c, here.row) for c in sums])

        return self.each(rest)

    def _later(self, loop: _Loop) -> Rows[Any]:
        self.waiting.append(loop)
        return loop.rows

    def constants(self, kind: int, name: str) -> tuple[Any, list[list[Any]]]:
        """Return a constant of the first node of a kind, and of each of its entries all rows; of other kinds zeros."""
        if (kind, name) not in self._constants:
            own = self.kinds[kind]
            values = [getattr(node, name) for node in own]
            entries = zip(*(list(entries_of(value)) for value in values), strict=True)
            self._constants[kind, name] = values[0], [self._all_rows(own, column) for column in entries]
        return self._constants[kind, name]

    def _all_rows(self, own: Sequence[Node], values: Sequence[Any]) -> list[Any]:
        shared = isinstance(values[0], Real) and all(isinstance(e, Real) and e == values[0] for e in values)
        rows = [values[0] if shared else 0.0] * len(self.model.nodes)
        for node, value in zip(own, values, strict=True):
            rows[node.index] = values[0] if shared else value
        return rows

    def own_part(self, values: Sequence[Any], name: str, part: int, row: int) -> Any:
        """Return an entry of a vector along q or v, of those that are a node's own."""
        key = id(values), name, part
        if key not in self._parts:
            own = self.graph.column_in_place(values[part:])
            if own is None:
                own = [values[place[part] if part < len(place) else 0] for place in self.places(name)]
            self._parts[key] = values, own
        own = self._parts[key][1]
        return self.columns.entry(own, row) if isinstance(own, list) else self.graph.entry(own, self.place(name, row))

    def places(self, name: str) -> list[Sequence[int]]:
        return [getattr(node, name) for node in self.model.nodes]

    def place(self, name: str, row: int, part: int = 0) -> int:
        """Return where along q or v one of a node's own entries is."""
        if (name, part) not in self._links:
            own = [(*place[part:], 0)[0] for place in self.places(name)]
            self._links[name, part] = None if own == list(range(len(own))) else Table(own)
        table = self._links[name, part]
        return row if table is None else self.graph.link(table, row)

    def coordinates(self, body: Callable[[Node], Sequence[Any]]) -> Coordinates:
        """Return what a body makes of each node: a value for each of its coordinates along v."""
        loop = Coordinates(self, body)
        self.waiting.append(loop)
        return loop

    def trace(self) -> None:
        """Trace the loops that wait, those that follow each other in one direction as one."""
        waiting, self.waiting = self.waiting, []
        group: list[_Loop] = []
        for loop in waiting:
            ways = {other.backwards for other in (*group, loop)} - {None}
            if len(ways) > 1 or any(other.rows is loop.sums for other in group):
                self._settle(group)
                group = []
            group.append(loop)
        self._settle(group)

    def _settle(self, loops: Sequence[_Loop]) -> None:
        """Trace loops as one: again, if it shows that more varies from row to row than was known."""
        while loops:
            mark = self.prepared(lambda: self._pass(loops))
            if not [loop for loop in loops if not loop.is_settled()]:
                break
            self.graph.back_to(mark)

    def prepared(self, write: Callable[[], None]) -> tuple[int, int]:
        """Write something behind what it reads: again, after that is put in columns. Return where it begins."""
        while True:
            mark = self.graph.mark()
            try:
                write()
            except UnpreparedError as missing:
                self.graph.back_to(mark)
                self.columns.put(*missing.args)
            else:
                return mark

    def _pass(self, loops: Sequence[_Loop]) -> None:
        graph, backwards = self.graph, any(loop.backwards for loop in loops)
        for loop in loops:
            loop.begin()
        start, row = graph.opened()
        flags = [graph.link(table, row) for table in self.flags] if len(self.kinds) > 1 else []
        for kind in range(len(self.kinds)):
            inner = len(graph.instructions)
            node = RowNode(self, kind, row)
            for loop in loops:
                loop.at(node)
            if flags:
                graph.closed(inner, 1, flag=flags[kind])
            for loop in loops:
                loop.rows.here = None
        graph.closed(start, len(self.model.nodes), backwards=backwards or None)


class Rows(Sequence[T], Generic[T]):
    """What a loop makes of each node."""

    def __init__(self, nodes: NodeRows, again: Callable[[Any], T] | None = None) -> None:
        self.nodes, self.again = nodes, again  # what makes it again where it is read
        self.here: Any = None  # of the node that is being traced, that and the value
        self.forms: dict[int, tuple[Any, list[Any]]] = {}  # of each kind, a value, and its entries: numbers, or where
        self.places: dict[int, int] = {}  # the column of each entry that is put in one
        self.is_summed = False

    def column(self, entry: int) -> int:
        if entry not in self.places:
            self.places[entry] = self.nodes.graph.new_column(len(self.nodes.model.nodes) + 1)
        return self.places[entry]

    def keep(self, node: RowNode, value: Any, also: Container[int] = ()) -> list[Any]:
        """Put a value in a node's row: entries that are no numbers, once each, and some others."""
        entries, where = list(entries_of(value)), list[Any]()
        self.here = node, value
        known: dict[int, _Place] = {}
        for e, entry in enumerate(entries if self.again is None else ()):
            if e in also or self.is_summed:
                self.nodes.graph.put_in(self.column(e), node.row, entry)
                where.append(_Place(self.column(e), False))
            elif isinstance(entry, Real):
                where.append(entry)
            else:
                if entry.index not in known:
                    self.nodes.graph.put_in(self.column(e), node.row, -entry if entry.negative else entry)
                    known[entry.index] = _Place(self.column(e), False)
                where.append(known[entry.index]._replace(negative=entry.negative))
        self.forms[node.kind] = value, where
        return entries

    def __len__(self) -> int:
        return len(self.nodes.model.nodes)

    def __iter__(self) -> Iterator[T]:
        return (self[k] for k in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        if isinstance(index, RowIndex):
            return self.here[1] if self.here is not None and self.here[0] is index.node else self._read(index)
        self.nodes.trace()
        number = range(len(self))[index]
        if self.again is not None:
            return self.again(self.nodes.model.nodes[number])
        row = self.nodes.graph.at(number)
        return self._read(RowIndex(row, RowNode(self.nodes, self.nodes.kind_of[number], row)))

    def _read(self, index: RowIndex) -> Any:
        if self.again is not None and index.node is not None:
            return self.again(index.node)
        template, entries = self.forms[0 if index.node is None else index.node.kind]
        if index.node is None:
            entries = [self._shared(e) for e in range(len(entries))]
        return rebuilt(template, (e if isinstance(e, Real) else self._entry(e, index.row) for e in entries))

    def _entry(self, place: _Place, row: int) -> Any:
        found = self.nodes.graph.entry(place.column, row)
        return -found if place.negative else found

    def _shared(self, entry: int) -> Any:
        """Return an entry that is the same number, or in the same column, for all kinds."""
        own = [entries[entry] for _, entries in self.forms.values()]
        if any(e != own[0] for e in own):
            raise AssertionError("rows of nodes of several kinds differ in what they hold")
        return own[0]


def nodes_of_rows(model: Model, rows: Sequence[Any]) -> Nodes:
    """Return how nodes are gone over of which there are rows, or a list."""
    return rows.nodes if isinstance(rows, Rows) else Nodes(model)


class _Place(NamedTuple):
    column: int
    negative: bool


class _Loop(ABC):
    backwards: bool | None = None  # in which direction it must run
    sums: Any = None  # rows that it adds to, which are there before it begins

    def __init__(self, nodes: NodeRows, body: Callable[..., Any]) -> None:
        self.nodes, self.graph, self.body = nodes, nodes.graph, body
        self.rows: Rows[Any] = Rows(nodes)
        self.varying, self.more = set[int](), set[int]()  # entries handed on that are no numbers; those that show now

    def begin(self) -> None:
        """Write what there is before the loop."""
        return

    @abstractmethod
    def at(self, node: RowNode) -> None:
        """Write what is done at a node."""

    def is_settled(self) -> bool:
        """Return whether all that varies was known; if not, it is now."""
        known = self.more <= self.varying
        self.varying |= self.more
        return known

    def parent(self, node: RowNode) -> int:
        return self.graph.link(self.nodes.parents, node.row)


class _Each(_Loop):
    def __init__(self, nodes: NodeRows, body: Callable[..., Any], kept: bool) -> None:
        super().__init__(nodes, body)
        self.rows = Rows(nodes, None if kept else body)

    def at(self, node: RowNode) -> None:
        self.rows.keep(node, self.body(node))


class _Outwards(_Loop):
    backwards = False

    def __init__(self, nodes: NodeRows, body: Callable[..., Any], world: Any) -> None:
        super().__init__(nodes, body)
        self.world, self.known = world, list(entries_of(world))
        self.varying = {e for e, entry in enumerate(self.known) if not isinstance(entry, Real)}

    def begin(self) -> None:
        row = self.graph.at(len(self.rows))
        for e in sorted(self.varying):
            self.graph.put_in(self.rows.column(e), row, self.known[e])

    def at(self, node: RowNode) -> None:
        above = (
            self.graph.entry(self.rows.column(e), self.parent(node)) if e in self.varying else entry
            for e, entry in enumerate(self.known)
        )
        entries = self.rows.keep(node, self.body(node, rebuilt(self.world, above)), sorted(self.varying))
        pairs = enumerate(zip(entries, self.known, strict=True))
        self.more |= {e for e, (a, b) in pairs if not (isinstance(a, Real) and isinstance(b, Real) and a == b)}


class _Inwards(_Loop):
    backwards = True

    def __init__(self, nodes: NodeRows, body: Callable[..., Any], own: Any) -> None:
        super().__init__(nodes, body)
        self.sums = own
        if own.forms:
            raise AssertionError("what nodes give is added to values whose loop was traced before")
        own.is_summed = True

    def begin(self) -> None:
        row = self.graph.at(len(self.rows))
        for e in sorted(self.varying):
            self.graph.put_in(self.sums.column(e), row, 0.0)  # what is given to the world

    def at(self, node: RowNode) -> None:
        value, give = self.body(node, self.sums[node.index])
        self.rows.keep(node, value)
        for e, entry in enumerate(entries_of(give())):
            if not (isinstance(entry, Real) and entry == 0.0):
                self.more.add(e)
                self.graph.add_to(self.sums.column(e), self.parent(node), entry)


class Coordinates(_Loop):
    """What a loop makes of each node: a value for each coordinate along v."""

    def __init__(self, nodes: NodeRows, body: Callable[..., Any]) -> None:
        super().__init__(nodes, body)
        self.form: Any = None  # a value, and its entries
        self.places: dict[int, int] = {}  # the column of each entry that varies

    def at(self, node: RowNode) -> None:
        for part, value in enumerate(self.body(node)):
            entries, row = list(entries_of(value)), self.nodes.place("v", node.row, part)
            self.form = self.form or (value, entries)
            for e, (entry, first) in enumerate(zip(entries, self.form[1], strict=True)):
                if e in self.varying:
                    self.graph.put_in(self.places[e], row, entry)
                elif not (isinstance(entry, Real) and isinstance(first, Real) and entry == first):
                    self.more.add(e)

    def is_settled(self) -> bool:
        for e in sorted(self.more - self.varying):
            self.places[e] = self.graph.new_column(self.nodes.model.nv)
        return super().is_settled()

    def of(self, row: int) -> Any:
        """Return the value of a coordinate."""
        (value, entries), places = self.form, self.places
        return rebuilt(value, (self.graph.entry(places[e], row) if e in places else x for e, x in enumerate(entries)))


class _RowEfforts(Efforts):
    def __init__(self, nodes: NodeRows, name: str) -> None:
        super().__init__(nodes.model, name)
        self.nodes, self.column = nodes, nodes.graph.new_column(self.size)

    def add(self, node: Any, part: Sequence[Any]) -> None:
        for k, value in enumerate(part):
            self.nodes.graph.put_in(self.column, self.nodes.place(self.name, node.row, k), value)

    def values(self) -> list[Any]:
        self.nodes.trace()
        return self.nodes.graph.entries(self.column)


class _GivenRows(Sequence[Sequence[Any]]):
    def __init__(self, nodes: NodeRows, table: Sequence[Sequence[Any]]) -> None:
        self.nodes, self.columns = nodes, [list(column) for column in zip(*table, strict=True)]

    def __len__(self) -> int:
        return len(self.nodes.model.nodes)

    def __getitem__(self, index: Any) -> Any:
        return [self.nodes.columns.entry(column, index.row) for column in self.columns]
