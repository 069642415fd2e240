"""The fuzzer finds no fault in its first cases.

It goes on for longer, and prints each fault as soon as it finds it, with::

    python -m pytest tests/fuzz -k random_calls -s --minutes 20

``--seed N`` begins with case N, and ``--cases N`` ends after N cases.
"""

from __future__ import annotations

import itertools
from functools import partial

import oracles
import pytest
from oracles.networks import Asker, Form, Network

from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.operators.view import GraphView

from . import fuzz, graph_cases, relations
from .columns import FAMILIES, NUMBERS, Unfit, exact, make

CASES = 30
KINDS = {"answers": graph_cases.answers, "changes": graph_cases.changes}


def right(results):
    return sum(count for name, count in results["outcomes"].items() if name.startswith("right"))


def test_random_calls_are_right_or_refused_by_a_named_error(request):
    minutes, seed, cases = map(request.config.getoption, ("minutes", "seed", "cases"))
    results = fuzz(minutes or 5, seed, cases or (None if minutes else CASES))
    for name, count in sorted(results["outcomes"].items()):
        print(f"{count:8,}  {name}")
    assert [found["told"] for found in results["findings"]] == []
    assert results["cases"]
    assert right(results) > results["cases"] / 3 or cases  # it must not refuse everything


@pytest.mark.parametrize("kind", KINDS)
def test_calls_on_random_graphs_are_right_and_a_planted_fault_is_found(kind, monkeypatch):
    found = partial(fuzz, minutes=5, first=0, kinds={KINDS[kind]: 1})
    results = found(most=CASES)
    assert [case["told"] for case in results["findings"]] == []
    assert right(results) > CASES / 2
    monkeypatch.setattr(graph_cases, "PATIENCE", 1.0)
    monkeypatch.setattr(oracles, "ORACLES", {"core_number": oracles.ORACLES["core_number"]})
    monkeypatch.setattr(relations, "draw", lambda rng: ("repeated", "core_number"))
    monkeypatch.setattr(GraphView, "simple", property(lambda graph: graph.undirected))
    told = found(most=8)["findings"][0]["told"]
    named = {}
    exec(told.partition("To reproduce:")[2], named)
    assert "core" in named["found"]


@pytest.mark.parametrize("starts", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("leiden", {}),
        ("leiden", {"levels": 2}),
        ("leiden", {"resolution": [1.0, 0.5], "levels": 2}),
        ("louvain", {"levels": 2}),
        ("louvain", {"previous": [(0, 1)]}),
        ("clustering", {}),
    ],
)
def test_an_updated_graph_gives_the_calls_only_earlier_results_that_are_allowed(
    name, options, starts
):
    network = Network(((0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 3, 1.0)), directed=False)
    asker = Asker(Form(updated=True, starts=starts))
    assert len(asker.ask(name, network, **options)) == 4
    starts_earlier = name == "clustering" or (name == "leiden" and starts)
    assert ("previous=earlier." in asker.scripts[0]) == starts_earlier


def test_every_function_has_an_oracle_and_a_rule():
    assert {*ALGORITHMS, "shortest_paths"} == oracles.ORACLES.keys() == relations.RULES.keys()


@pytest.mark.parametrize("form", sorted({*itertools.chain(*FAMILIES.values()), *NUMBERS}))
def test_every_form_of_edges_has_exactly_the_given_values(form):
    tried = [[1, 2], ["a", "b"], [0, 86_400 * 10**9], [False, True]]
    held = 0
    for values in tried:
        try:
            held += exact(make(values, form)) == values
        except Unfit:
            continue
    assert held


def test_a_form_that_cannot_hold_the_values_refuses_them():
    for values, form in [
        ([300], "int8"),
        ([-1], "UInt64"),
        ([2**53 + 1], "float64"),
        ([2], "bool"),
    ]:
        with pytest.raises(Unfit):
            make(values, form)
