"""`integrations.graphrag.create_communities` beside GraphRAG's own workflow, and read by GraphRAG."""

from __future__ import annotations

import asyncio
import itertools

import dask.dataframe as dd
import networkx as nx
import pandas as pd
import pyarrow as pa
import pytest

import dask_graphflow as gf

workflow = pytest.importorskip("graphrag.index.workflows.create_communities")

from graphrag.data_model.dfs import communities_typed  # noqa: E402
from graphrag.data_model.schemas import COMMUNITIES_FINAL_COLUMNS  # noqa: E402
from graphrag.query.indexer_adapters import read_indexer_communities  # noqa: E402

create_communities = gf.integrations.graphrag.create_communities
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the real libraries

GRAPHS = {
    "miserables": nx.les_miserables_graph(),
    "caves": nx.relaxed_caveman_graph(30, 12, 0.2, seed=1),
    "hubs": nx.barabasi_albert_graph(400, 3, seed=1),
    "clique": nx.complete_graph(25),
    "components": nx.disjoint_union_all([nx.path_graph(40), nx.cycle_graph(5), nx.star_graph(15)]),
}


def tables(graph):
    """Return entities and relationships in GraphRAG's columns."""
    graph = nx.relabel_nodes(graph, {one: str(one).upper() for one in graph})
    edges = [(s, t, float(data.get("weight", 1))) for s, t, data in graph.edges(data=True)]
    relationships = pd.DataFrame(edges, columns=["source", "target", "weight"])
    relationships["id"] = [f"r{at:04}" for at in range(len(edges))]
    relationships["text_unit_ids"] = [[f"t{at % 7}", f"t{at % 3}"] for at in range(len(edges))]
    entities = pd.DataFrame({"title": [*graph], "type": "PERSON"})
    entities["id"] = [f"e{at:04}" for at in range(len(entities))]
    return entities, relationships


class Rows(list):
    """A table of GraphRAG in memory."""

    async def __aiter__(self):
        for row in [*self]:
            yield row

    async def write(self, row):
        self.append(row)


def theirs(entities, relationships, *, max_cluster_size=10, use_lcc=True):
    """Return the table that GraphRAG's workflow writes."""
    written, read = Rows(), Rows(entities.to_dict("records"))
    options = {"max_cluster_size": max_cluster_size, "use_lcc": use_lcc, "seed": 1}
    asyncio.run(workflow.create_communities(written, read, relationships.copy(), **options))
    return pd.DataFrame(written)


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]


def test_the_table_has_the_columns_and_types_of_graphrag(graph, tmp_path):
    ours, expected = (make(*tables(graph)) for make in (create_communities, theirs))
    ours.to_parquet(tmp_path / "ours.parquet")
    expected.to_parquet(tmp_path / "theirs.parquet")
    ours, expected = (pd.read_parquet(tmp_path / f"{one}.parquet") for one in ("ours", "theirs"))
    assert [*ours] == COMMUNITIES_FINAL_COLUMNS
    pd.testing.assert_series_equal(ours.dtypes, expected.dtypes)
    for column in ("entity_ids", "relationship_ids", "text_unit_ids", "children"):
        kinds = {type(one) for values in ours[column] for one in values}
        assert kinds <= {type(one) for values in expected[column] for one in values} | {int}


@pytest.mark.parametrize("use_lcc", [True, False])
def test_level_0_is_a_partition_as_good_as_that_of_graphrag(graph, use_lcc):
    entities, relationships = tables(graph)
    title = dict(zip(entities.id, entities.title, strict=True))
    named = nx.from_pandas_edgelist(relationships, edge_attr="weight")
    if use_lcc:
        named = named.subgraph(max(nx.connected_components(named), key=len))
    quality = []
    for make in (create_communities, theirs):
        table = make(entities, relationships, use_lcc=use_lcc)
        parts = [{title[one] for one in ids} for ids in table.entity_ids[table.level == 0]]
        alone = {*named}.difference(*parts)
        quality.append(nx.community.modularity(named, [*parts, *({one} for one in alone)]))
    assert quality[0] >= 0.97 * quality[1]


@pytest.mark.parametrize("most", [3, 10])
def test_each_level_divides_the_communities_that_are_too_large(graph, most):
    entities, relationships = tables(graph)
    table = create_communities(entities, relationships, max_cluster_size=most).set_index(
        "community"
    )
    named = nx.from_pandas_edgelist(relationships)
    title = dict(zip(entities.id, entities.title, strict=True))
    ends = relationships.set_index("id")[["source", "target"]]
    for community, row in table.iterrows():
        inside = {title[one] for one in row.entity_ids}
        assert row["size"] == len(inside)
        assert nx.is_connected(named.subgraph(inside))
        expected = ends.index[ends.source.isin(inside) & ends.target.isin(inside)]
        assert row.relationship_ids == [*expected]
        texts = relationships.text_unit_ids[relationships.id.isin(expected)]
        assert row.text_unit_ids == sorted({*itertools.chain.from_iterable(texts)})
        assert row.children == [*table.index[table.parent == community]]
        assert row.human_readable_id == community
        assert row.title == f"Community {community}"
        if row.parent >= 0:
            above = table.loc[row.parent]
            assert above.level == row.level - 1
            assert above["size"] > most
            assert {*row.entity_ids} < {*above.entity_ids}
    for _, level in table.groupby("level"):
        every = [*itertools.chain.from_iterable(level.entity_ids)]
        assert len(every) == len({*every})
    leaves = table[table.children.map(len) == 0]
    assert not table.id.duplicated().any()
    if graph is GRAPHS["clique"]:
        assert len(table) == 1
    elif graph is not GRAPHS["components"]:
        assert (leaves["size"] <= max(most, 12)).all()


def test_one_division_is_that_of_each_community_alone():
    entities, relationships = tables(GRAPHS["hubs"])
    table = create_communities(entities, relationships)
    title = dict(zip(entities.id, entities.title, strict=True))
    named = nx.from_pandas_edgelist(relationships, edge_attr="weight")
    for row in table[(table.level == 0) & (table["size"] > 10)].itertuples():
        inside = named.subgraph([title[one] for one in row.entity_ids])
        below = table[table.parent == row.community].entity_ids
        parts = [{title[one] for one in ids} for ids in below]
        parts += [{one} for one in {*inside}.difference(*parts)]
        alone = gf.leiden(nx.to_pandas_edgelist(inside), weight="weight", directed=False).compute()
        expected = [{*one} for _, one in alone.groupby("community").vertex]
        found, wanted = (nx.community.modularity(inside, one) for one in (parts, expected))
        assert found == pytest.approx(wanted, abs=0.05)
        assert found > 0.9 * wanted


@pytest.mark.parametrize("form", ["paths", "arrow", "shuffled"])
def test_the_rows_and_ids_are_the_same_for_every_form_of_the_tables(form, tmp_path):
    given = tables(GRAPHS["miserables"])
    expected = create_communities(*given)
    if form == "paths":
        given = [tmp_path / "entities.parquet", str(tmp_path / "relationships.parquet")]
        for path, table in zip(given, tables(GRAPHS["miserables"]), strict=True):
            table.to_parquet(path)
    elif form == "arrow":
        given = [pa.Table.from_pandas(table) for table in given]
    else:
        given = [table.sample(frac=1, random_state=1) for table in given]
    pd.testing.assert_frame_equal(create_communities(*given), expected)


def test_the_last_of_several_relationships_has_the_weight():
    entities, relationships = tables(GRAPHS["miserables"])
    turned = relationships.rename(columns={"source": "target", "target": "source"})
    heavy = turned.assign(weight=100.0, id="x" + turned.id)
    found = create_communities(entities, pd.concat([heavy, relationships]))
    expected = create_communities(entities, relationships)
    assert [*found.entity_ids] == [*expected.entity_ids]
    sizes = found.relationship_ids.map(len)
    assert [*sizes] == [*(2 * expected.relationship_ids.map(len))]
    without = create_communities(entities, relationships.drop(columns="weight"))
    ones = create_communities(entities, relationships.assign(weight=1.0))
    assert [*without.entity_ids] == [*ones.entity_ids]


def test_graphrag_reads_the_table_with_its_reports():
    table = create_communities(*tables(GRAPHS["hubs"]))
    typed = communities_typed(table.copy())
    pd.testing.assert_frame_equal(typed, table)
    reports = pd.DataFrame({"community": table.community})
    read = read_indexer_communities(table, reports)
    assert [one.id for one in read] == [*table.id]
    assert [int(one.parent) for one in read] == [*table.parent]


def test_communities_of_unknown_entities_or_without_relationships_have_no_row():
    relationships = pd.DataFrame(
        {
            "id": ["r1", "r2"],
            "source": ["A", "C"],
            "target": ["B", "C"],
            "weight": [1.0, 0.0],
            "text_unit_ids": [["t"], []],
        }
    )
    entities = pd.DataFrame({"id": ["a", "z"], "title": ["A", "Z"]})
    found = create_communities(entities, relationships, use_lcc=False)
    assert [*found.entity_ids] == [["a"]]
    none = create_communities(entities, relationships[:0])
    assert len(none) == 0
    assert [*none] == [*found]
    assert none.dtypes["community"] == found.dtypes["community"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_cluster_size": 0}, gf.exceptions.OptionError, "1 or more"),
        ({"seed": None}, gf.exceptions.OptionError, "whole number"),
        ({"use_lcc": "yes"}, gf.exceptions.OptionError, "use_lcc"),
        ({"max_community_size": 5}, gf.exceptions.ArgumentError, "max_cluster_size"),
    ],
)
def test_an_option_that_is_not_allowed_raises(options, error, message):
    with pytest.raises(error, match=message):
        create_communities(*tables(GRAPHS["miserables"]), **options)


def test_a_table_without_a_column_raises():
    entities, relationships = tables(GRAPHS["miserables"])
    with pytest.raises(gf.exceptions.UnknownColumnError, match=r"relationships\.parquet"):
        create_communities(entities, relationships.drop(columns="text_unit_ids"))
    with pytest.raises(gf.exceptions.UnknownColumnError, match=r"entities\.parquet"):
        create_communities(entities.drop(columns="title"), relationships)
    with pytest.raises(gf.exceptions.OptionError, match="in memory"):
        create_communities(dd.from_pandas(entities, npartitions=2), relationships)
    with pytest.raises(gf.exceptions.WeightError):
        create_communities(entities, relationships.assign(weight=-1.0))
