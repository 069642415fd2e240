"""Random small graphs, the forms in which a call gets them, and the calls as scripts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.declarations.vertex_options import VertexWeights

Edge = tuple[int, int, float]
POOL = 512  # vertices are 0 to POOL - 1
GRAIN = 64  # shards are cut at multiples of this, so that several members share a small graph

IDS: dict[str, Callable[[int], Any]] = {
    "int64": lambda i: 3 * i - 50,
    "int32": lambda i: 2**31 - POOL + i,
    "uint64": lambda i: 2**64 - POOL + i,
    "Int64": lambda i: 2**40 * i,
    "str": lambda i: f"v{i:03}",
    "string[pyarrow]": lambda i: chr(0x100 + i),
    "datetime64[ns]": lambda i: pd.Timestamp(86_400_000_000_001 * i),
    "two columns": lambda i: (f"{i // 7:03}", i % 7),
}
"""The id of each vertex, by type; ids are in the order of the vertices."""

OPTIONS = [option for one in ALGORITHMS.values() for option in one.options.values()]
NAMES_VERTICES = {option.name for option in OPTIONS if option.kind == "ids"}
WEIGHS_VERTICES = {option.name for option in OPTIONS if isinstance(option.check, VertexWeights)}
ID_COLUMNS = {
    *(
        "vertex",
        "predecessor",
        "successor",
        "component",
        "label",
        "source",
        "target",
        "seed",
        "first",
        "second",
    )
}
NO_IDS = {"community_metrics"}  # its communities are labels

WEIGHTS: list[list[float]] = [[1.0], [0.25, 0.5, 1.0, 3.0], [1.0, 2.0, 9.0], [0.1, 0.7, 1 / 3]]
UNUSUAL: list[list[float]] = [[0.0, 1.0, 2.5], [0.0], [2.0**-60, 1.0, 2.0**60], [-1.0, 2.0],
                              [1.0, math.nan], [1.0, math.inf], [1e-6], [1e6]]  # fmt: skip

SHAPES: dict[str, Callable[[int, Random], list[tuple[int, int]]]] = {
    "nothing": lambda n, rng: [],
    "loops": lambda n, rng: [(i, i) for i in range(n)],
    "star": lambda n, rng: [(0, i) if i % 3 else (i, 0) for i in range(1, n)],
    "path": lambda n, rng: [(i, i + 1) for i in range(n - 1)],
    "cycle": lambda n, rng: [(i, (i + 1) % n) for i in range(n)],
    "pairs": lambda n, rng: [(2 * i, 2 * i + 1) for i in range(n // 2)],
    "grid": lambda n, rng: (
        [(i, i + 1) for i in range(n - 1) if (i + 1) % 5] + [(i, i + 5) for i in range(n - 5)]
    ),
    "clique": lambda n, rng: [(i, j) for j in range(min(n, 9)) for i in range(j)],
    "even": lambda n, rng: [(rng.randrange(n), rng.randrange(n)) for _ in range(2 * n)],
    "dense": lambda n, rng: [(rng.randrange(n), rng.randrange(n)) for _ in range(5 * n)],
    # Few vertices have most of the edges, as in R-MAT graphs.
    "skewed": lambda n, rng: [(int(n * rng.random() ** 3), int(n * rng.random() ** 3))
                              for _ in range(3 * n)],
}  # fmt: skip


@dataclass(frozen=True)
class Network:
    """A graph: its edges, the vertices that are given besides, and what edges mean."""

    edges: tuple[Edge, ...]
    given: tuple[int, ...] = ()
    directed: bool = True
    weighted: bool = False
    ids: str = ""  # the type of the ids, one of `IDS`; by default, vertices are their own ids

    @classmethod
    def random(cls, rng: Random, *, usual: bool = False) -> Network:
        """Return a random graph; usual ones have neither huge, tiny, nor invalid weights."""
        n = rng.choice([1, 2, 3, 5, 8, 14, 14, 30, 30, 150 if rng.random() < 0.3 else 20])
        pairs = SHAPES[rng.choice(list(SHAPES))](n, rng)
        if rng.random() < 0.3:
            pairs += rng.choices([*pairs, (0, 0), (n - 1, 0)], k=rng.choice([1, 1, n]))
        if rng.random() < 0.5:
            names = rng.sample(range(n), n)
            pairs = [(names[a], names[b]) for a, b in pairs]
        weights = rng.choice(WEIGHTS if usual or rng.random() < 0.8 else UNUSUAL)
        given = rng.sample(range(n + 3), rng.randint(1, 3)) if rng.random() < 0.3 else []
        edges = tuple((a, b, rng.choice(weights)) for a, b in pairs)
        return cls(edges, tuple(given), rng.random() < 0.5, rng.random() < 0.6)

    @cached_property
    def vertices(self) -> list[int]:
        return sorted({v for a, b, _ in self.edges for v in (a, b)} | {*self.given})

    @cached_property
    def weights(self) -> list[float]:
        return [w for *_, w in self.edges] if self.weighted else []

    def near(self, *, directed: bool | None = None) -> dict[int, list[tuple[int, float]]]:
        """Return the edges that leave each vertex; without a direction, a self-loop leaves once."""
        found: dict[int, list[tuple[int, float]]] = {v: [] for v in self.vertices}
        for a, b, w in self.edges:
            found[a].append((b, w if self.weighted else 1.0))
            if not (self.directed if directed is None else directed) and a != b:
                found[b].append((a, w if self.weighted else 1.0))
        return found

    def graph(self, *, directed: bool | None = None) -> Any:
        """Return the graph of NetworkX without self-loops and parallel edges."""
        graph = nx.DiGraph() if (self.directed if directed is None else directed) else nx.Graph()
        graph.add_nodes_from(self.vertices)
        graph.add_edges_from((a, b) for a, b, _ in self.edges if a != b)
        return graph

    def lightest(self) -> Any:
        """Return the weighted graph of NetworkX without self-loops, with the lightest parallel edges."""
        graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from(self.vertices)
        for a, b, w in sorted(self.edges, key=lambda edge: -edge[2]):
            if a != b:
                graph.add_edge(a, b, weight=w)
        return graph

    def matrix(self) -> np.ndarray[Any, Any]:
        """Return the adjacency matrix, in which the weights of parallel edges are added up."""
        at = {v: i for i, v in enumerate(self.vertices)}
        found = np.zeros((len(at), len(at)))
        for a, ends in self.near().items():
            for b, w in ends:
                found[at[a], at[b]] += w
        return found

    def rows(self, keep: Callable[[int, int], bool]) -> list[tuple[Any, ...]]:
        """Return some edges as a result lists them."""
        ends = [(a, b, w) if self.directed else (*sorted((a, b)), w) for a, b, w in self.edges]
        found = sorted((edge for edge in ends if keep(*edge[:2])), key=_nan_last)
        return found if self.weighted else [edge[:2] for edge in found]

    def with_edges(self, edges: Sequence[Edge], given: Sequence[int] = ()) -> Network:
        return replace(self, edges=tuple(edges), given=(*self.given, *given))


def _nan_last(edge: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*edge[:2], math.isnan(edge[2]), edge[2])


@dataclass(frozen=True)
class Form:
    """How a call gets a graph; results do not depend on it."""

    ids: str = "int64"
    partitions: int = 1
    shards: int = 1
    scheduler: str = "sync"
    persisted: bool = False
    order: int = 0  # of the edges: a seed, or 0 for their own order
    frames: bool = False  # whether vertices in options are frames or Series, instead of lists
    back: bool = False  # whether the edges are reversed, and then the names of their columns too
    updated: bool = False  # whether half of the edges are inserted later, and others deleted
    # Whether communities start from those before the update. Results depend on no other part of a form, so
    # calls that are compared with each other do without it.
    starts: bool = False

    @classmethod
    def random(cls, rng: Random) -> Form:
        return cls(
            rng.choice(list(IDS)), *rng.choice([(1, 1), (2, 1), (3, 3), (7, 2), (20, 1)]),
            rng.choice(["sync", "sync", "threads"]), rng.random() < 0.3, rng.randrange(3),
            rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.3,
        )  # fmt: skip

    def columns(self, name: str, vertices: Sequence[int]) -> dict[str, pd.Series]:
        """Return the ids of vertices as columns."""
        ids = [IDS[self.ids](vertex) for vertex in vertices]
        if self.ids != "two columns":
            return {name: pd.Series(ids, dtype=self.ids)}
        parts = zip(("str", "int64"), zip(*ids, strict=True) if ids else ((), ()), strict=True)
        return {f"{name}{i}": pd.Series(part, dtype=kind) for i, (kind, part) in enumerate(parts)}

    def option(self, name: str, value: Any) -> Any:
        """Return the value of an option, with ids for vertices."""
        if name in NAMES_VERTICES and isinstance(value, list):
            if not self.frames:
                return [IDS[self.ids](vertex) for vertex in value]
            frame = pd.DataFrame(self.columns("v", value))
            return frame if len(frame.columns) > 1 else frame["v"]
        if name == "pairs" and value is not None:
            sides = zip(*value, strict=True) if value else ((), ())
            named = zip("xy", sides, strict=True)
            return pd.DataFrame(
                {k: s for x, side in named for k, s in self.columns(x, side).items()}
            )
        if name == "timetable":
            sides = (self.columns(x, [row[i] for row in value]) for i, x in enumerate("xy"))
            times = {x: pd.Series([row[i] for row in value], dtype="int64")
                     for i, x in ((2, "leaves"), (3, "arrives"))}  # fmt: skip
            return pd.DataFrame({k: s for side in (*sides, times) for k, s in side.items()})
        if name in WEIGHS_VERTICES and isinstance(value, dict):
            if not self.frames:
                return {IDS[self.ids](vertex): weight for vertex, weight in value.items()}
            weights = pd.Series(list(value.values()), dtype="float64")
            return pd.DataFrame({**self.columns("v", list(value)), "weight": weights})
        if name in ("communities", "previous"):
            labels = pd.Series([label for _, label in value], dtype="int64")
            return pd.DataFrame({**self.columns("v", [v for v, _ in value]), "community": labels})
        return value


@dataclass
class Asker:
    """Makes the calls of a case, and keeps their scripts."""

    form: Form
    other: Form = field(default_factory=Form)
    scripts: list[str] = field(default_factory=list)

    def ask(self, name: str, network: Network, form: Form | None = None, /, **options: Any) -> Any:
        """Return the result of a function of the library, with vertices instead of ids."""
        form = form or self.form
        self.scripts.append(script(name, network, options, form))
        named: dict[str, Any] = {}
        exec(self.scripts[-1], named)
        return _by_vertex(named["found"], form, name)


def script(name: str, network: Network, options: dict[str, Any], form: Form) -> str:
    """Return a program that makes a call."""
    edges = list(network.edges)
    if form.order:
        Random(form.order).shuffle(edges)
    names = "ba" if form.back else "ab"
    how = {"source": list(form.columns(names[0], [])), "target": list(form.columns(names[1], [])),
           "directed": network.directed,
           "weight": "w" if network.weighted else None, "shards": form.shards}  # fmt: skip
    if network.given:
        how["vertices"] = pd.DataFrame(form.columns("v", network.given))
    persist = ".persist()" if form.persisted else ""
    options = {option: form.option(option, value) for option, value in options.items()}
    call = f"graph.{name}({_arguments(options)})"
    if name == "shortest_paths" and "pairs" not in options:
        search, targets = f"{'sssp' if network.weighted else 'bfs'}", options.pop("targets")
        call = f"gf.{name}(graph.{search}({_arguments(options)}), targets={_code(targets)})"
    later = ""
    if form.updated:
        edges, new, gone = _in_two_steps(network, edges)
        batch = {
            key: _table(form, network, rows) for key, rows in (("insert", new), ("delete", gone))
        }
        if (first := _options_before(name, options, form)) is not None:
            # An id in an option may be a vertex only after the update.
            how["vertices"] = pd.DataFrame(form.columns("v", network.vertices))
            call = f"graph.{name}(previous=earlier.{name}({_arguments(first)})"
            call += f"{', ' * bool(options)}{_arguments(options)})"
        later = f"    earlier, graph = graph, graph.update({_arguments(batch)}){persist}"
    frame = _code(_table(form, network, edges))
    lines = ["import dask, dask.dataframe as dd, pandas as pd", "from math import inf, nan",
             "from pandas import Timestamp", "import dask_graphflow as gf"]  # fmt: skip
    if form.shards > 1:
        lines += [
            "from dask_graphflow.graph import partition",
            f"partition.GRAIN = {GRAIN}",
        ]
    return "\n".join([
        *lines, f"edges = {frame}",
        f"edges = dd.from_pandas(edges, npartitions={form.partitions}, sort=False)",
        f"with dask.config.set(scheduler={form.scheduler!r}):",
        f"    graph = gf.Graph(edges, {_arguments(how)}){persist}",
        *([later] if later else []),
        f"    found = {call}.compute()",
    ])  # fmt: skip


def _options_before(name: str, options: dict[str, Any], form: Form) -> dict[str, Any] | None:
    """Return the options of the call before the update whose result is `previous`, or None without one."""
    earlier = ALGORITHMS[name].previous if name in ALGORITHMS else None
    if isinstance(earlier, Previous):
        return options
    # louvain cannot divide earlier communities, so they can be worse than single vertices.
    if not form.starts or name != "leiden" or "previous" in options:
        return None
    # `previous` has one community per vertex, so the call before has one level and one resolution.
    return {
        option: value
        for option, value in options.items()
        if option != "levels" and not (option == "resolution" and isinstance(value, list))
    }


def _table(form: Form, network: Network, edges: Sequence[Edge]) -> pd.DataFrame:
    """Return edges as the frame of a call."""
    ends = [form.columns(end, [edge[i] for edge in edges])
            for i, end in enumerate("ba" if form.back else "ab")]  # fmt: skip
    weight = {"w": pd.Series([w for *_, w in edges], dtype="float64")} if network.weighted else {}
    first, second = ends[::-1] if form.back else ends
    return pd.DataFrame({**first, **second, **weight})


def _in_two_steps(network: Network, edges: list[Edge]) -> tuple[list[Edge], list[Edge], list[Edge]]:
    """Return edges of an earlier graph, those that are inserted later, and those that are deleted."""
    rng, there = Random(len(edges)), {frozenset(edge[:2]) for edge in edges}
    pairs = [tuple(rng.choices(network.vertices, k=2)) for _ in range(3)] if edges else []
    gone = [(a, b, 1.0) for a, b in pairs if frozenset((a, b)) not in there]
    half = len(edges) // 2
    return gone + edges[:half], edges[half:], gone


def _arguments(options: dict[str, Any]) -> str:
    return ", ".join(f"{option}={_code(value)}" for option, value in options.items())


def _code(value: Any) -> str:
    if isinstance(value, pd.DataFrame):
        values = {column: value[column].tolist() for column in value.columns}
        kinds = {column: str(dtype) for column, dtype in value.dtypes.items()}
        return f"pd.DataFrame({values!r}).astype({kinds!r})"
    if isinstance(value, pd.Series):
        return f"pd.Series({value.tolist()!r}, dtype={str(value.dtype)!r})"
    return repr(value)


def _by_vertex(found: pd.DataFrame, form: Form, name: str) -> pd.DataFrame:
    """Return a result with vertices instead of ids, and -1 for null."""
    vertex_of = {IDS[form.ids](vertex): vertex for vertex in range(POOL)}
    columns: dict[str, Any] = {}
    two, names = form.ids == "two columns", list(found.columns)
    for column, after in zip(names, [*names[1:], ""], strict=True):
        stem = column.removesuffix("_0") if two else column
        is_id = stem in ID_COLUMNS or stem.startswith("community")
        if name in NO_IDS or not is_id or (two and after != f"{stem}_1"):
            if not (two and column.endswith("_1") and column[:-2] in columns):
                columns[column] = found[column].to_numpy()
            continue
        values = found[column].tolist()
        if two:
            values = list(zip(values, found[after].tolist(), strict=True))
        null = [pd.isna(value[0] if two else value) for value in values]
        columns[stem] = np.array(
            [-1 if none else vertex_of[v] for v, none in zip(values, null, strict=True)], "int64"
        )
    return pd.DataFrame(columns)


def same(found: Any, expected: Any, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Say whether two lists of rows have the same values; floats may differ by the tolerances."""

    def close(one: Any, other: Any) -> bool:
        if one == other or (one != one and other != other):
            return True
        return isinstance(one, float) and math.isclose(one, other, rel_tol=rtol, abs_tol=atol)

    return len(found) == len(expected) and all(
        len(one) == len(other) and all(map(close, one, other))
        for one, other in zip(found, expected, strict=True)
    )
