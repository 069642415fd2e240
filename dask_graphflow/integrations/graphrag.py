"""GraphRAG: the table of communities of its index."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pandas as pd

from dask_graphflow.api.connected_components import connected_components
from dask_graphflow.api.graph import Graph
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.option import Flag
from dask_graphflow.exceptions import OptionError, UnknownColumnError
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.showing.arguments import explained

__all__ = ["create_communities"]

ENDS = ["source", "target"]
# The columns of communities.parquet, and the types of its numbers.
COLUMNS = (
    "id", "human_readable_id", "community", "level", "parent", "children", "title", "entity_ids",
    "relationship_ids", "text_unit_ids", "period", "size",
)  # fmt: skip
NUMBERS = dict.fromkeys(["human_readable_id", "community", "level", "parent", "size"], "int64")


@explained
def create_communities(
    entities: Any,
    relationships: Any,
    *,
    max_cluster_size: int = 10,
    use_lcc: bool = True,
    seed: int = 0,
) -> pd.DataFrame:
    """Return GraphRAG's table of hierarchical communities, from its tables of entities and relationships.

    The table has the columns and types of ``communities.parquet``, as the workflow ``create_communities``
    writes it, so the next workflows and the queries of GraphRAG can read it. The communities and their ids
    are the same in each run.

    Parameters
    ----------
    entities : str, path or DataFrame
        ``entities.parquet``, or a table with its columns ``id`` and ``title``.
    relationships : str, path or DataFrame
        ``relationships.parquet``, or a table with its columns ``id``, ``source``, ``target``,
        ``text_unit_ids`` and, unless all weights are 1, ``weight``. Of several relationships between the
        same entities, the last one has the weight that counts, as in GraphRAG.
    max_cluster_size : int
        Communities with more entities are divided on the next level; 10 by default. A community stays
        larger if a division would lower the modularity.
    use_lcc : bool
        Whether to leave out all entities outside the largest connected component. True by default. GraphRAG
        then also changes titles to upper case; this function does not.
    seed : int
        Chooses among several good solutions; 0 by default.

    Returns
    -------
    pandas.DataFrame
        One row per community, by level. Level 0 is the coarsest, and `parent` is -1 there. A community that
        is not divided has no row on the next level. A community that has no relationship inside has no row,
        as in GraphRAG. `id` depends on the level and the entities alone. `period` is the date of today.

    Raises
    ------
    UnknownColumnError
        A table does not have one of the columns.
    OptionError, WeightError
        An option or a weight is not allowed.

    Notes
    -----
    On each level, the Leiden method divides every community that is too large as a graph of its own. One
    call divides all of them: the weights in each community are scaled so that their sum is 1, and the
    resolution is the number of these communities. The modularity of the whole is then the mean of the
    modularities of the parts.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> entities = pd.DataFrame({"id": ["e1", "e2", "e3", "e4"], "title": ["A", "B", "C", "D"]})
    >>> relationships = pd.DataFrame(
    ...     {
    ...         "id": ["r1", "r2", "r3"],
    ...         "source": ["A", "B", "C"],
    ...         "target": ["B", "C", "D"],
    ...         "weight": [9.0, 1.0, 9.0],
    ...         "text_unit_ids": [["t1"], ["t1", "t2"], ["t3"]],
    ...     }
    ... )
    >>> found = gf.integrations.graphrag.create_communities(entities, relationships)
    >>> found[["community", "level", "parent", "entity_ids", "relationship_ids", "size"]]
       community  level  parent entity_ids relationship_ids  size
    0          0      0      -1   [e1, e2]             [r1]     2
    1          1      0      -1   [e3, e4]             [r3]     2
    """
    check_count("max_cluster_size", max_cluster_size)
    check_count("seed", seed, least=0)
    Flag().check("use_lcc", use_lcc, None)
    entities = _read(entities, "entities", ["id", "title"])
    relationships = _read(relationships, "relationships", ["id", *ENDS, "text_unit_ids"])
    relationships = relationships.astype({"text_unit_ids": object})  # not a list type of Arrow
    edges = _undirected(relationships)
    if use_lcc and len(edges):
        edges = _largest_component(edges)
    members = _hierarchy(edges, max_cluster_size, seed)
    return _table(members, entities, relationships)


def _read(given: Any, role: str, columns: list[str]) -> pd.DataFrame:
    """Return a table in memory that has some columns."""
    if isinstance(given, str | os.PathLike):
        given = pd.read_parquet(given)
    frame = as_frame(given, role)
    if not isinstance(frame, pd.DataFrame):
        raise OptionError(
            f"{role} is a {type(given).__name__}; give {role}.parquet of GraphRAG's output, or a "
            "DataFrame in memory"
        )
    have = [*frame.columns]
    if missing := [name for name in columns if name not in have]:
        raise UnknownColumnError(
            f"{role} does not have the columns {', '.join(map(repr, missing))}, but "
            f"{', '.join(map(repr, have)) or 'none'}; give {role}.parquet of GraphRAG's output, or its rows"
        )
    return frame


def _undirected(relationships: pd.DataFrame) -> pd.DataFrame:
    """Return the last relationship between each two entities, with the smaller title first."""
    edges = relationships[[*ENDS, *({"weight"} & {*relationships.columns})]].copy()
    turned = edges["source"] > edges["target"]
    edges.loc[turned, ENDS] = edges.loc[turned, ENDS[::-1]].to_numpy()
    edges = edges.drop_duplicates(ENDS, keep="last", ignore_index=True)
    return edges if "weight" in edges else edges.assign(weight=1)


def _largest_component(edges: pd.DataFrame) -> pd.DataFrame:
    """Return the edges of the component with most entities."""
    labels = connected_components(edges, source="source", target="target").compute()
    largest = labels["component"].value_counts(sort=False).sort_index().idxmax()
    inside = labels["vertex"][labels["component"] == largest]
    return edges[edges["source"].isin(inside)]


def _hierarchy(edges: pd.DataFrame, most: int, seed: int) -> pd.DataFrame:
    """Return the community of each entity on each level, and its parent."""
    levels = [pd.DataFrame({name: [] for name in ("title", "level", "community", "parent")})]
    divided = pd.Series(-1, index=pd.unique(edges[ENDS].to_numpy().ravel()))
    count = 0
    while len(edges):
        parents = edges["source"].map(divided)
        weight = edges["weight"]
        if count:
            weight = weight / weight.groupby(parents).transform("sum")
        graph = Graph(edges.assign(weight=weight), weight="weight", directed=False)
        found = graph.leiden(resolution=float(parents.nunique()), seed=seed).compute()
        level = pd.DataFrame({"title": found["vertex"], "level": len(levels) - 1})
        level["parent"] = level["title"].map(divided)
        level["community"] = count + pd.factorize(found["community"], sort=True)[0]
        if count:  # those that are in one piece end here
            parts = level.groupby("parent")["community"].transform("nunique")
            level = level[parts > 1]
            level["community"] = count + pd.factorize(level["community"], sort=True)[0]
        levels.append(level)
        count += level["community"].nunique()
        sizes = level.groupby("community")["title"].transform("size")
        divided = level[sizes > most].set_index("title")["community"]
        edges = edges[edges["source"].map(divided) == edges["target"].map(divided)]
    return pd.concat(levels[1:] or levels, ignore_index=True)


def _table(
    members: pd.DataFrame, entities: pd.DataFrame, relationships: pd.DataFrame
) -> pd.DataFrame:
    """Return GraphRAG's table of the communities."""
    members["entity_ids"] = members["title"].map(
        dict(zip(entities["title"], entities["id"], strict=True))
    )
    known = members.dropna(subset=["entity_ids"])
    inside = [
        relationships[["id", "text_unit_ids"]].assign(community=ends[0])[ends[0] == ends[1]]
        for _, level in members.groupby("level")
        for ends in [_communities_of(level, relationships)]
    ]
    within = pd.concat(inside) if inside else relationships.assign(community=0).head(0)
    table = pd.DataFrame(
        {
            "entity_ids": known.groupby("community")["entity_ids"].agg(list),
            "relationship_ids": within.groupby("community")["id"].agg(_sorted),
            "text_unit_ids": within.explode("text_unit_ids")
            .groupby("community")["text_unit_ids"]
            .agg(_sorted),
        }
    ).dropna()
    first = members.drop_duplicates("community").set_index("community")
    table = table.join(first[["level", "parent"]]).rename_axis("community").reset_index()
    table["human_readable_id"] = table["community"]
    table["title"] = "Community " + table["community"].astype(int).astype(str)
    table["size"] = table["entity_ids"].map(len)
    children = table.groupby("parent")["community"].agg(list)
    table["children"] = [children.get(one, []) for one in table["community"]]
    table["id"] = [
        str(uuid5(NAMESPACE_OID, "\n".join([str(int(level)), *sorted(ids)])))
        for level, ids in zip(table["level"], table["entity_ids"], strict=True)
    ]
    table["period"] = datetime.now(UTC).date().isoformat()
    return table[[*COLUMNS]].astype(NUMBERS)


def _communities_of(level: pd.DataFrame, relationships: pd.DataFrame) -> list[pd.Series]:
    """Return the communities of both ends of each relationship."""
    community = level.set_index("title")["community"]
    return [relationships[end].map(community) for end in ENDS]


def _sorted(values: pd.Series) -> list[Any]:
    """Return each value once, in order."""
    return sorted({*values.dropna()})
