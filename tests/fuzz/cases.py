"""A random call: its edges, its options, and the correct answer computed in plain Python."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from oracles.components import connected_components
from oracles.neighborhoods import degrees
from oracles.networks import Network
from oracles.oracle import Outcome, Wrong
from oracles.paths import distances

import dask_graphflow as gf
from dask_graphflow.exceptions import GraphflowError

from .columns import ACCEPTED, FAMILIES, NUMBERS, ODD, Unfit, exact, make, pool

# No type can represent all of these exactly, so a graph uses the weights of one row.
WEIGHTS: list[list[Any]] = [
    [0, 1, 2, 3, 7, 100, 127],
    [0, 1, 7, 127, 2**24 + 1, 2**53 - 1, 2**53 + 1, 2**62, 2**63 - 1],
    [0, 1, 7, Fraction(1, 2), Fraction(3, 4), Fraction(float(np.float32(0.1)))],
    [0, 7, Fraction(1, 2), Fraction(0.1), Fraction(math.nextafter(0.1, 1)), 2**53 + 2],
]


AS_TEXT = {"object", "uuid", "dates"}
LIMITS: list[Any] = [
    *(-math.inf, math.inf, 0, -1, 0.5, 7, 127.5, 128, 1e300),
    *(0.1, math.nextafter(0.1, 1), np.float32(0.1), np.int8(7), np.uint8(3)),
    *(2**53, 2**53 + 1, 2.0**53, 2**62, 2**63 - 1, 2**64),
]


@dataclass
class Case:
    """Edges as Python values, and the forms in which each partition stores them."""

    rng: Random
    family: str
    ids: list[Any]
    edges: list[tuple[Any, Any, Any]]
    cuts: list[int]
    weighted: bool
    forms: list[tuple[str, str, str]] = field(default_factory=list)

    @classmethod
    def random(cls, rng: Random) -> Case:
        """Return a random case."""
        family = rng.choice(["integers"] * 4 + ["text", "times", "times", rng.choice(ODD)])
        ids = pool(family, rng) or [0]
        weights = rng.choice(WEIGHTS)
        edges = [
            (rng.choice(ids), rng.choice(ids), rng.choice(weights))
            for _ in range(rng.choice([0, 1, 3, 8, 20, 40]))
        ]
        if rng.random() < 0.1:
            edges = [(a if rng.random() < 0.8 else None, b, w) for a, b, w in edges]
        if rng.random() < 0.15:
            edges = [(a, b, w if rng.random() < 0.7 else None) for a, b, w in edges]
        count = rng.choice([1, 1, 2, 3, 4])
        cuts = sorted(rng.randint(0, len(edges)) for _ in range(count - 1))
        case = cls(rng, family, ids, edges, [0, *cuts, len(edges)], rng.random() < 0.6)
        mixed = rng.random() < 0.5
        announced = case._forms(0, len(edges))
        for low, high in zip(case.cuts, case.cuts[1:], strict=False):
            case.forms.append(case._forms(low, high) if mixed else announced)
        return case

    def _forms(self, low: int, high: int) -> tuple[str, str, str]:
        """Return forms that can represent the sources, targets and weights of these rows."""
        rows = self.edges[low:high]
        source = self._fitting(FAMILIES[self.family], [a for a, _, _ in rows])
        same = self.rng.random() < 0.7
        fits = FAMILIES[self.family] if not same else (source, *FAMILIES[self.family])
        target = self._fitting(fits, [b for _, b, _ in rows], first=same)
        weight = self._fitting(NUMBERS, [w for _, _, w in rows]) if self.weighted else ""
        return source, target, weight

    def _fitting(self, forms: Sequence[str], values: list[Any], first: bool = False) -> str:
        order = list(forms) if first else self.rng.sample(forms, len(forms))
        for form in order:
            with contextlib.suppress(Unfit):
                make(values, form)
                return form
        raise Unfit(f"no form of {forms} holds {values}")

    @property
    def plain(self) -> bool:
        """Whether all partitions match the metadata, in forms that are always accepted, without nulls."""
        one = len(set(self.forms)) == 1
        ids = {*self.forms[0][:2]} <= ACCEPTED and self.forms[0][0] == self.forms[0][1]
        if self.family != "text" and {"category", "object"} & {*self.forms[0][:2]}:
            return (
                False  # categories of a partition may be of another type, and objects are refused
            )
        if "category" in self.forms[0] and len({*self.cuts}) < len(self.cuts):
            return False  # the type of the categories of an empty partition is unknown
        nulls = any(None in edge for edge in self.edges)
        return one and ids and not nulls and self.forms[0][2] not in ("object", "decimal", "bool")

    def frame(self) -> Any:
        """Return the edges as a Dask DataFrame with the metadata of one of its partitions."""
        parts = [self._part(i, *forms) for i, forms in enumerate(self.forms)]
        if len(parts) == 1 and self.rng.random() < 0.5:
            return parts[0]
        at = self.rng.randrange(len(parts))
        meta = parts[at].iloc[:0]
        if self.family != "text" and {*self.forms[at]} & AS_TEXT:
            raise Unfit("Dask makes text of such columns before the library sees them")
        return lazily(lambda: dd.from_map(_nth, range(len(parts)), args=[parts], meta=meta))

    def _part(self, i: int, source: str, target: str, weight: str) -> pd.DataFrame:
        rows = self.edges[self.cuts[i] : self.cuts[i + 1]]
        found = {
            "a": make([a for a, _, _ in rows], source),
            "b": make([b for _, b, _ in rows], target),
        }
        if self.weighted:
            found["w"] = make([w for _, _, w in rows], weight)
        return pd.DataFrame(found)

    def some(self, count: int, extra: Sequence[Any] = ()) -> tuple[list[Any], pd.Series]:
        """Return some ids, and the same ids as a series of any form that can represent them."""
        chosen = [self.rng.choice([*self.ids, *extra]) for _ in range(count)]
        chosen = list(dict.fromkeys(chosen))
        return chosen, make(chosen, self._fitting(FAMILIES[self.family], chosen))

    def describe(self) -> str:
        """Return a description that is sufficient to reproduce the case."""
        return f"{self.family} {self.forms} cuts={self.cuts} edges={self.edges}"


def lazily(make_frame: Callable[[], Any]) -> Any:
    """Return a Dask DataFrame of types that Dask itself can handle."""
    try:
        return make_frame()
    except NotImplementedError as error:
        raise Unfit(f"Dask: {error}") from error


def _nth(i: int, parts: list[pd.DataFrame]) -> pd.DataFrame:
    return parts[i]


def run(rng: Random) -> Outcome:
    """Make a case and a call on it, and check the answer.

    Raises
    ------
    Wrong
        The answer is wrong, or a valid call was refused.
    Exception
        An error that the library should have replaced by its own.
    """
    try:
        case = Case.random(rng)
    except Unfit:
        return Outcome("unfit")
    question = rng.choices(QUESTIONS, SHARES)[0]
    told: list[str] = []
    try:
        question(case, told)
    except Unfit:
        return Outcome("unfit")
    except GraphflowError as error:
        if case.plain and "may be refused" not in told:
            raise Wrong(f"refused: {told} {case.describe()}") from error
        return Outcome("refused", f"{type(error).__name__}: {error}")
    except BaseException as error:
        error.add_note(f"{question.__name__} {told} {case.describe()}")
        raise
    return Outcome(f"right {question.__name__}")


def _ends(case: Case) -> list[tuple[Any, Any, Any]]:
    return [edge for edge in case.edges if edge[0] is not None and edge[1] is not None]


def _network(
    edges: Sequence[tuple[Any, ...]], given: Iterable[Any] = (), *, directed: bool = False
) -> Network:
    """Return the network of edges, whose weights are 1 if they have none."""
    return Network(tuple((a, b, *(w or [1])) for a, b, *w in edges), tuple(given), directed, True)


def _compare(found: Any, expected: Any) -> None:
    if found != expected:
        raise Wrong(f"found {found}, expected {expected}")


def components(case: Case, told: list[str]) -> None:
    """Check components, sometimes with thresholds and with vertices."""
    rng, edges = case.rng, _ends(case)
    how: dict[str, Any] = {"source": "a", "target": "b", "dropna": rng.random() < 0.5}
    vertices = {v for edge in edges for v in edge[:2]}
    if rng.random() < 0.3:
        chosen, series = case.some(3)
        vertices.update(chosen)
        how["vertices"] = (
            series
            if series.dtype == object or rng.random() < 0.5  # Dask makes text of objects
            else lazily(lambda: dd.from_pandas(series.to_frame("v"), npartitions=2))
        )
        told.append("may be refused")
    limits: list[Any] = [-math.inf]
    if case.weighted and rng.random() < 0.8:
        limits = _limits(rng)
        how |= {"weight": "w", "thresholds": limits}
        if len(limits) == 1 and rng.random() < 0.5:
            how |= {"threshold": limits[0], "thresholds": None}
    told.append(repr(how))
    found = gf.connected_components(case.frame(), **how).compute()
    if "weight" in how and len(limits) != len(found.columns) - 1:
        raise Wrong(f"{len(limits)} thresholds, columns {list(found)}")
    keys = exact(found.iloc[:, 0])
    for column, limit in zip(found.columns[1:], sorted(limits, key=_number), strict=True):
        kept = [(a, b) for a, b, w in edges if "weight" not in how or _reaches(w, limit)]
        expected = connected_components(_network(kept, vertices), {}, None)
        _compare(dict(zip(keys, exact(found[column]), strict=True)), expected)
    _compare(keys, sorted(vertices))


def _number(value: Any) -> Any:
    return (
        value
        if value in (math.inf, -math.inf)
        else Fraction(value.item() if hasattr(value, "item") else value)
    )


def _reaches(weight: Any, limit: Any) -> bool:
    return weight is not None and weight >= _number(limit)


def _limits(rng: Random) -> list[Any]:
    chosen, seen = [], set()
    for value in rng.sample(LIMITS, rng.choice([1, 1, 2, 4])):
        if _number(value) not in seen:
            seen.add(_number(value))
            chosen.append(value)
    return chosen


def seeded(case: Case, told: list[str]) -> None:
    """Check the components of some edges, and then of the others with the first answer as seed."""
    rng, edges = case.rng, _ends(case)
    at = rng.choice(case.cuts)
    first, rest = (Case(rng, case.family, case.ids, some, [0, len(some)], False)
                   for some in (case.edges[:at], case.edges[at:]))  # fmt: skip
    told.append("may be refused")
    for part in (first, rest):
        part.forms = [part._forms(0, len(part.edges))]
    told.append(f"seed {first.forms}, then {rest.forms}")
    how: dict[str, Any] = {"source": "a", "target": "b", "dropna": True}
    seed = gf.connected_components(first.frame(), **how)
    seed = seed.compute() if rng.random() < 0.5 else seed
    found = gf.connected_components(rest.frame(), **how, seed=seed).compute()
    expected = connected_components(_network([edge[:2] for edge in edges]), {}, None)
    _compare(dict(zip(exact(found["vertex"]), exact(found["component"]), strict=True)), expected)


def _graph(case: Case, told: list[str], **how: Any) -> tuple[gf.Graph, bool]:
    directed = case.rng.random() < 0.5
    how |= {"source": "a", "target": "b", "directed": directed, "dropna": True,
            "shards": case.rng.choice([1, 1, 2, 3])}  # fmt: skip
    told.append(repr(how))
    return gf.Graph(case.frame(), **how), directed


def _sources(case: Case, told: list[str]) -> tuple[list[Any], Any]:
    """Return sources as values and as an argument, which may be refused if its form is not the edges'."""
    known = sorted({v for edge in _ends(case) for v in edge[:2]})
    if not known:
        raise Unfit("no vertices")
    chosen = list(dict.fromkeys(case.rng.choice(known) for _ in range(case.rng.choice([1, 2]))))
    form = case.forms[0][0] if case.plain else case._fitting(FAMILIES[case.family], chosen)
    series = make(chosen, form)
    given = series if case.rng.random() < 0.5 else series.tolist()
    told.append(f"sources={given!r}")
    return chosen, given


def searched(case: Case, told: list[str]) -> None:
    """Check the number of hops from some sources."""
    sources, given = _sources(case, told)
    graph, directed = _graph(case, told)
    found = graph.bfs(given).compute()
    network = _network([edge[:2] for edge in _ends(case)], directed=directed)
    reach = distances(network, sources)
    _compare(dict(zip(exact(found["vertex"]), exact(found["distance"]), strict=True)), reach)
    before = dict(zip(exact(found["vertex"]), exact(found["predecessor"]), strict=True))
    for vertex, parent in before.items():
        if (parent is None) != (vertex in sources) or (
            parent is not None and reach[parent] != reach[vertex] - 1
        ):
            raise Wrong(f"predecessor {parent} of {vertex}: {before}")


def cheapest(case: Case, told: list[str]) -> None:
    """Check shortest paths, with parallel edges kept, added up or reduced to the minimum."""
    if not case.weighted:
        raise Unfit("no weights")
    if any(w is None for *_, w in case.edges) or any(
        f[2] in ("object", "decimal", "bool") for f in case.forms
    ):
        told.append("may be refused")
    multi = case.rng.choice(["keep", "sum", "min"])
    edges = _ends(case)
    total = sum(w for *_, w in edges if w is not None)
    whole = all(w is None or isinstance(w, int) for *_, w in edges)
    if not whole or total >= 2**53:
        told.append("may be refused")
    sources, given = _sources(case, told)
    graph, directed = _graph(case, told, weight="w", multi=multi)
    found = graph.sssp(given).compute()
    if any(w is None for *_, w in edges):
        raise Wrong("a missing weight was taken")
    grouped: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    for a, b, w in edges:
        grouped[(a, b) if directed or a <= b else (b, a)].append(w)
    pick: dict[str, Callable[[list[Any]], list[Any]]] = {
        "keep": list, "sum": lambda w: [sum(w)], "min": lambda w: [min(w)]}  # fmt: skip
    reduced = [(a, b, w) for (a, b), ws in grouped.items() for w in pick[multi](ws)]
    reach = distances(_network(reduced, directed=directed), sources, hops=False)
    reached = dict(zip(exact(found["vertex"]), exact(found["distance"]), strict=True))
    if set(reached) != set(reach):
        raise Wrong(f"reached {reached}, expected {reach}")
    tolerance = 0 if whole and total < 2**53 else Fraction(1, 10**5)
    for vertex, distance in reach.items():
        if abs(Fraction(reached[vertex]) - distance) > tolerance * max(abs(distance), 1):
            raise Wrong(f"distances {reached}, expected {reach}")


def counted(case: Case, told: list[str]) -> None:
    """Check degrees."""
    graph, directed = _graph(case, told)
    found = graph.degrees().compute()
    network = _network([edge[:2] for edge in _ends(case)], directed=directed)
    expected = {v: np.atleast_1d(of).tolist() for v, of in degrees(network, {}, None).items()}
    keys = exact(found["vertex"])
    _compare(keys, sorted(expected))
    counts = found.iloc[:, 1:].to_numpy().tolist()
    _compare(dict(zip(keys, counts, strict=True)), expected)


def ranked(case: Case, told: list[str]) -> None:
    """Check ranks or labels by comparing them with those of the same graph with ids 0, 1, 2, ..."""
    graph, directed = _graph(case, told)
    name, column = case.rng.choice([("pagerank", "pagerank"), ("label_propagation", "label")])
    found = getattr(graph, name)().compute()
    edges = _ends(case)
    order = sorted({v for edge in edges for v in edge[:2]})
    number = {v: i for i, v in enumerate(order)}
    plain = pd.DataFrame(
        {"a": [number[a] for a, *_ in edges], "b": [number[b] for _, b, _ in edges]}, dtype="int64"
    )
    same = getattr(gf.Graph(plain, source="a", target="b", directed=directed), name)().compute()
    _compare(exact(found["vertex"]), [order[i] for i in same["vertex"]])
    values = same[column].tolist()
    labels = exact(found[column]) if column == "label" else found[column].tolist()
    _compare(labels, [order[i] for i in values] if column == "label" else values)


QUESTIONS = (components, seeded, searched, cheapest, counted, ranked)
SHARES = (4, 1, 2, 2, 1, 1)
