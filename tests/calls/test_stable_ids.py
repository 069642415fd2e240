"""Stable ids against the three rules: any ids, any grouping, any partitioning, chains of changes."""

from __future__ import annotations

import decimal
import random

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest
from conftest import Reader, on_backend, partitioned, same_dtypes, to_host

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    EdgeListError,
    NullVertexError,
    OptionError,
    UnknownColumnError,
    VertexTypeError,
)
from dask_graphflow.graph.hash_ids import hash_ids


class Rules:
    """The rules of the specification, vertex by vertex and group by group."""

    def __init__(self):
        self.current = {}  # the members of each id
        self.memory = []  # update, id, members
        self.given = 0  # ids that have been given
        self.update = 0

    def follow(self, groups):
        """Return the members of each id, and the events, and remember both for the next call."""
        groups, old = [frozenset(group) for group in groups], self.current
        ids = {members: one for one, members in old.items() if members in groups}
        changed = {one: members for one, members in old.items() if members not in groups}

        def offer(group, one):
            if group not in ids and one not in ids.values():
                ids[group] = one

        remembered = sorted(self.memory, key=lambda row: (-row[0], row[1]))
        for _, one, members in remembered:
            if members in groups:
                offer(members, one)
        for one, members in sorted(changed.items()):
            heirs = [group for group in groups if group & members]
            if heirs:
                offer(min(heirs, key=lambda group: (-len(group & members), min(group))), one)
        for _, one, members in remembered:
            for group in groups:
                if min(members) in group:
                    offer(group, one)
        for group in sorted(groups, key=min):
            if group not in ids:
                ids[group] = self.given
                self.given += 1
        self.memory += [(self.update, one, members) for one, members in changed.items()]
        self.update += 1
        self.current = {one: members for members, one in ids.items()}
        return self.current, set(self._events(old))

    def _events(self, old):
        """Yield the events between two groupings."""
        new = self.current
        before, now = (frozenset().union(*groups.values()) for groups in (old, new))
        for one, members in old.items():
            if not members & now:
                yield "dissolved", one, None, len(members), 0
            for other, group in new.items():
                if not members & group or (one == other and members == group):
                    continue
                both = one, other, len(members), len(group)
                if one != other:
                    parts = sum(bool(members & g) for g in new.values())
                    sources = sum(bool(group & m) for m in old.values())
                    yield "split" if parts > 1 and sources == 1 else "merged", *both
                if one == other and group - before:
                    yield "extended", *both
                if one == other and members - now:
                    yield "shrunk", *both
        for one, members in new.items():
            if not members & before:
                yield "created", None, one, 0, len(members)


SIZE = 60  # the vertices that may occur


def change(labels, earlier, rng):
    """Return the groups of vertices after some random changes, or those of an earlier step."""
    if earlier and rng.random() < 0.2:
        return rng.choice(earlier)
    labels = dict(labels)
    for _ in range(rng.randrange(4)):
        fresh = 1 + max(labels.values(), default=0)
        one, other = (rng.choice([fresh, *sorted(labels.values())]) for _ in range(2))
        kind = rng.choice(["merge", "split", "move", "add", "remove"])
        for v in range(SIZE):
            if kind == "merge" and labels.get(v) == one:
                labels[v] = other
            elif kind == "split" and labels.get(v) == one and rng.random() < 0.5:
                labels[v] = fresh
            elif kind == "move" and v in labels and rng.random() < 0.05:
                labels[v] = other
            elif kind == "add" and v not in labels and rng.random() < 0.2:
                labels[v] = one
            elif kind == "remove" and v in labels and rng.random() < 0.2:
                del labels[v]
    return labels


# Dtypes of ids, and the ids of the vertices 0, 1 and so on, in ascending order.
KINDS = {
    "int64": ("int64", lambda v: 7 * v - 50),
    "int8": ("int8", lambda v: v - 30),
    "uint64": ("uint64", lambda v: 2**63 + v),
    "nullable integers": ("Int32", int),
    "strings": ("str", lambda v: f"v{v:03}"),
    "Arrow strings": ("string[pyarrow]", lambda v: f"\u00e9{v:03}"),
    "categories": ("category", lambda v: f"v{v:03}"),
    "dates": ("datetime64[ms]", lambda v: pd.Timestamp("2020-01-01") + pd.Timedelta(hours=v)),
    "decimals": (pd.ArrowDtype(pa.decimal128(9, 2)), lambda v: decimal.Decimal(v) / 4),
    "two columns": (None, lambda v: (f"{v // 8}", v % 8)),
}


def frame(labels, kind="int64", rng=None):
    """Return the groups of vertices as a frame; with `rng`, in a random order and with random names."""
    dtype, make = KINDS[kind]
    order, numbers = [*labels], sorted({*labels.values()})
    if rng:
        rng.shuffle(order)
        numbers = rng.sample(range(10**6), len(numbers))
    names = dict(zip(sorted({*labels.values()}), numbers, strict=True))
    ids = [make(v) for v in order]
    if dtype is None:
        parts = [*zip(*ids, strict=True)] or [(), ()]
        made = {
            "vertex_0": pd.Series(parts[0], dtype="str"),
            "vertex_1": pd.Series(parts[1], dtype="int64"),
        }
    else:
        made = {"vertex": pd.Series(ids, dtype=dtype)}
    return pd.DataFrame(
        {**made, "group": pd.Series([names[labels[v]] for v in order], dtype="int64")}
    ), order


def given(labels, partitions):
    """Return a frame as a caller gives it: in memory, or lazy with some partitions."""
    return on_backend(labels if partitions is None else partitioned(labels, partitions))


def computed(ids):
    """Return the frames of a result in host memory, and check that they are as announced."""
    found = type(ids)(*map(to_host, dask.compute(*ids)))
    for own, announced in zip(found, ids, strict=True):
        assert same_columns(own, to_host(announced._meta))
    return found


def same_columns(own, other):
    return [*own.columns] == [*other.columns] and all(map(same_dtypes, own.dtypes, other.dtypes))


def members(ids, order):
    """Return the vertices of each id."""
    assert len(ids) == len(order)
    found = {}
    for one, v in zip(ids["id"].tolist(), order, strict=True):
        found.setdefault(one, set()).add(v)
    return found


def as_events(events):
    """Return the rows of events as tuples with None for nulls."""
    rows = events.astype(object).where(events.notna(), None).itertuples(index=False, name=None)
    found = [*rows]
    assert len({*found}) == len(found)
    return {*found}


def kept(found, way, folder):
    """Return what a caller kept of a computed result until the next call."""
    memory = found.memory
    if way == "result":
        return type(found)(*map(on_backend, found))
    if way == "file":
        dd.from_pandas(memory, npartitions=2).to_parquet(folder)
        memory = dd.read_parquet(folder)
    return given(memory, 3) if way == "shuffled" else on_backend(memory)


def groups_of(labels):
    """Return the vertices of each group."""
    found = {}
    for v, name in labels.items():
        found.setdefault(name, set()).add(v)
    return found.values()


def chain(rng, steps):
    """Yield groups of vertices, each from the one before by some random changes."""
    labels, earlier = {}, []
    for _ in range(steps):
        labels = change(labels, earlier, rng)
        earlier.append(labels)
        yield labels


@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_changes_follow_the_rules(kind, tmp_path):
    rng, rules, previous = random.Random(kind), Rules(), None
    for step, labels in enumerate(chain(rng, 20)):
        expected, events = rules.follow(groups_of(labels))
        given_labels, order = frame(labels, kind, rng)
        with dask.config.set(scheduler="sync"):
            ids = gf.stable_ids(given(given_labels, rng.choice([None, 1, 4])), previous=previous)
            found = computed(ids)
            way = rng.choice(["result", "frame", "shuffled", "file"])
            previous = kept(found, way, tmp_path / str(step))
        assert members(found.labels, order) == expected
        assert as_events(found.events) == events


def follow(labels, previous=None, partitions=None):
    """Return the vertices of each id and the computed result, for labels as a dict."""
    rows, order = frame(labels)
    found = computed(gf.stable_ids(given(rows, partitions), previous=previous))
    return members(found.labels, order), found


HISTORIES = {
    "a merge keeps the oldest id, and to undo it gives back the younger one": [
        {0: "ab", 1: "cdef", 2: "ghi"},
        {0: "abcdef", 2: "ghi"},
        {0: "ab", 1: "cdef", 2: "ghi"},
    ],
    "the largest part keeps the id": [{0: "abcd"}, {0: "bcd", 1: "a"}],
    "of equal parts, the one with the smallest vertex keeps the id": [
        {0: "abcd"},
        {0: "ad", 1: "bc"},
    ],
    "merges are undone in another order": [
        {0: "ab", 1: "cdef", 2: "ghi"},
        {0: "ab", 1: "cdefghi"},
        {0: "abcdefghi"},
        {0: "abcdef", 2: "ghij"},
        {0: "ab", 1: "cdef", 2: "ghij"},
    ],
    "of the ids of merged groups, a part gets the one that was merged last": [
        {0: "a", 1: "b", 2: "cde"},
        {0: "acde", 1: "b"},
        {0: "abcde"},
        {0: "ade", 1: "bc"},
    ],
    "a group that changes again counts as changed then": [
        {0: "a", 1: "b", 2: "cde"},
        {0: "acde", 1: "b"},
        {0: "abcde"},
        {0: "ab", 2: "cde"},
        {0: "abcde"},
        {0: "ade", 2: "bc"},
    ],
    "of two groups that had the same id, the later one gets it": [
        {0: "ab"},
        {0: "abcde"},
        {0: "cde"},
        {0: "cdef"},
        {0: "cde", 1: "ab"},
    ],
    "an id is not given again after its group is gone": [
        {0: "a", 1: "b"},
        {0: "a"},
        {0: "a", 2: "c"},
    ],
    "a group that returns gets its id back": [{0: "a", 1: "bc"}, {0: "a"}, {0: "a", 1: "bc"}],
}


@pytest.mark.parametrize("history", HISTORIES)
def test_groups_get_the_ids_of_the_rules(history):
    previous = None
    for expected in HISTORIES[history]:
        labels = {ord(v) - ord("a"): one for one, group in expected.items() for v in group}
        found, computed_ids = follow(labels, previous)
        previous = computed_ids.memory
        assert found == {one: {ord(v) - ord("a") for v in group} for one, group in expected.items()}


@pytest.mark.parametrize("seed", range(5))
def test_to_undo_any_change_gives_back_all_ids(seed):
    rng = random.Random(seed)
    *before, labels = chain(rng, 6)
    _, found = follow(before[0])
    for one in before[1:]:
        _, found = follow(one, found.memory)
    old, found = follow(labels, found.memory)
    _, other = follow(change(labels, [], rng), found.memory)
    again, found = follow(labels, other.memory)
    assert again == old
    unchanged, last = follow(labels, found.memory)
    assert unchanged == old
    assert last.events.empty
    pd.testing.assert_frame_equal(last.memory, found.memory)


@pytest.mark.parametrize("way", ["partitions", "threads", "cluster"])
def test_frames_are_the_same_for_every_partitioning_and_scheduler(way, request):
    rng = random.Random(1)
    first, second = ({v: rng.randrange(12) for v in rng.sample(range(SIZE), 50)} for _ in range(2))
    rows, _ = frame(second, "strings", rng)
    before, _ = frame(first, "strings")
    with dask.config.set(scheduler="sync"):
        memory = computed(gf.stable_ids(on_backend(before))).memory
        wanted = computed(gf.stable_ids(on_backend(rows), memory))
    client = request.getfixturevalue("client") if way == "cluster" else None
    for partitions in (2, 7):
        ids = gf.stable_ids(given(rows, partitions), given(memory, 9 - partitions))
        with dask.config.set(
            **({} if client else {"scheduler": way.replace("partitions", "sync")})
        ):
            found = computed(ids)
        for own, other in zip(found, wanted, strict=True):
            pd.testing.assert_frame_equal(
                own.reset_index(drop=True), other.reset_index(drop=True), check_dtype=False
            )


def test_a_result_is_computed_once_for_all_frames():
    rows, _ = frame(dict.fromkeys(range(9), 0))
    reader = Reader([rows[:4], rows[4:]])
    labels = on_backend(dd.from_map(reader, range(2), meta=rows[:0]))
    ids = gf.stable_ids(labels)
    assert reader.read == []
    with dask.config.set(scheduler="sync"):
        dask.compute(*ids)
    assert sorted(reader.read) == [0, 1]


GROUPINGS = {
    "connected_components": {},
    "strongly_connected_components": {},
    "label_propagation": {"directed": False},
    "louvain": {"directed": False},
    "leiden": {"directed": False},
}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", GROUPINGS)
@pytest.mark.parametrize("width", [1, 2])
def test_results_of_algorithms_are_labels(name, width):
    pairs = pd.DataFrame({"p": [1, 2, 3, 7, 8, 9], "q": 5, "r": [2, 3, 1, 8, 9, 7], "s": 5})
    ends = {"source": ["p", "q"][:width], "target": ["r", "s"][:width]}
    labels = on_backend(getattr(gf, name)(pairs, **ends, **GROUPINGS[name]))
    found = computed(gf.stable_ids(labels))
    assert found.labels["id"].tolist() == [0, 0, 0, 1, 1, 1]
    assert found.events["event"].tolist() == ["created"] * 2


def test_a_level_of_a_result_is_chosen_by_its_columns():
    levels = pd.DataFrame({"vertex": [1, 2], "community_1": [0, 1], "community_2": [0, 0]})
    with pytest.raises(
        UnknownColumnError, match=r"'community_2'; .* labels\[\['vertex', 'community_1'\]\]$"
    ):
        gf.stable_ids(on_backend(levels))
    one = computed(gf.stable_ids(on_backend(levels[["vertex", "community_2"]])))
    assert one.labels["id"].tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["int64", "strings", "dates", "decimals", "two columns"])
def test_hashes_depend_on_values_and_not_on_types(kind):
    wider = {
        "int64": "int8",
        "strings": "object",
        "dates": "datetime64[ns]",
        "decimals": pd.ArrowDtype(pa.decimal128(20, 6)),
    }
    vertices = frame(dict.fromkeys(range(12), 0), kind)[0].drop(columns="group")
    other = vertices.astype(wider[kind]) if kind in wider else vertices.astype({"vertex_1": "Int8"})
    hashes = hash_ids(vertices)
    assert (hashes == hash_ids(other)).all()
    assert len({*hashes.tolist()}) == len(hashes)


def test_hashes_stay_the_same_in_later_versions():
    numbers = hash_ids(pd.DataFrame({"vertex": [0, 1, -1]}))
    texts = hash_ids(pd.DataFrame({"vertex": ["a", "\u00e9"]}))
    both = hash_ids(pd.DataFrame({"vertex_0": [1], "vertex_1": ["a"]}))
    assert [hex(one) for one in (*numbers, *texts, *both)] == [
        "0x0",
        "0x5692161d100b05e5",
        "0xb4d055fcf2cbbd7b",
        "0xc1999a454057bfd0",
        "0xeaa82851ccf8e8e7",
        "0x89d36ed9fe012353",
    ]


LABELS = pd.DataFrame({"vertex": [1, 2, 3], "component": [1, 1, 3]})
MEMORY = pd.DataFrame({"vertex": [1, 2], "id": [0, 1], "size": 0, "members": 0, "update": -1})


@pytest.mark.parametrize(
    ("labels", "previous", "error", "message"),
    [
        (LABELS[["vertex"]], None, UnknownColumnError, r"'vertex'; .* Add a column with the group"),
        (
            LABELS.rename(columns={"vertex": "node"}),
            None,
            UnknownColumnError,
            r"'node', 'component'; .* Rename the column .* to 'vertex'$",
        ),
        (
            LABELS.astype({"component": float}),
            None,
            VertexTypeError,
            r"^labels='component' has dtype float64; .* labels.astype\(\{'component': 'Int64'\}\)$",
        ),
        (
            LABELS.astype({"vertex": float}),
            None,
            VertexTypeError,
            "^labels='vertex' has dtype float64",
        ),
        ([1, 2], None, EdgeListError, "^labels is a builtins.list; give a DataFrame"),
        (LABELS, 3, EdgeListError, "^previous is a builtins.int; give a DataFrame"),
        (
            LABELS,
            LABELS,
            UnknownColumnError,
            r"^previous has .* lacks 'id', 'size', 'members', 'update'; ",
        ),
        (
            LABELS,
            MEMORY.astype({"vertex": str}),
            VertexTypeError,
            r"^labels has dtype int64 and previous has dtype str.*Give labels with ids of the type",
        ),
        (
            LABELS,
            MEMORY.astype({"id": float}),
            OptionError,
            "^previous has the dtype float64 in its column",
        ),
    ],
)
def test_wrong_frames_are_refused_at_the_call(labels, previous, error, message):
    with pytest.raises(error, match=message):
        gf.stable_ids(on_backend(labels), previous=on_backend(previous))


@pytest.mark.parametrize("partitions", [None, 3])
@pytest.mark.parametrize(
    ("labels", "previous", "error", "message"),
    [
        (
            LABELS.astype("Int64").replace({"vertex": {2: pd.NA}}),
            None,
            NullVertexError,
            r"^column 'vertex' has 1 null in partition . of labels; give a group for each vertex",
        ),
        (
            LABELS.astype("Int64").replace({"component": {1: pd.NA}}),
            None,
            NullVertexError,
            r"^column 'component' has . nulls? in partition . of labels",
        ),
        (
            pd.concat([LABELS, LABELS[:1]]),
            None,
            EdgeListError,
            r"^1 vertex has several rows in labels, such as 1; .* labels.drop_duplicates\(\['vertex'\]\)$",
        ),
        (
            LABELS,
            pd.concat([MEMORY, MEMORY]),
            EdgeListError,
            "^2 vertices have several rows in previous, such as 1, 2; give the memory",
        ),
        (
            LABELS,
            MEMORY.astype("Int64").replace({"id": {1: pd.NA}}),
            NullVertexError,
            "^column 'id' has",
        ),
    ],
)
def test_wrong_rows_are_refused_when_they_are_read(labels, previous, error, message, partitions):
    if previous is not None:
        previous = given(previous, partitions)
    ids = gf.stable_ids(given(labels, partitions), previous=previous)
    with pytest.raises(error, match=message):
        ids.labels.compute(scheduler="sync")
