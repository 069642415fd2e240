"""cuGraph on one GPU and dask-cugraph on several."""

from __future__ import annotations

from typing import Any

from . import clock

CUGRAPH = "cugraph"
END_TO_END = "cugraph, end to end"
ALGORITHM = "cugraph, algorithm"
DASK_CUGRAPH = "dask-cugraph"


def build(edges: Any) -> Any:
    """Return an undirected cuGraph graph of a cuDF frame of edges."""
    import cugraph

    graph = cugraph.Graph(directed=False)
    graph.from_cudf_edgelist(edges, source="src", destination="dst")
    return graph


def components(graph: Any) -> Any:
    """Return the label frame with the columns vertex and labels."""
    import cugraph

    return cugraph.weakly_connected_components(graph)


def end_to_end(edges: Any) -> Any:
    """Build a graph and find the components; the graph is freed on return."""
    with clock.peer():
        return components(build(edges))


def algorithm(graph: Any) -> Any:
    """Find the components of a built graph."""
    with clock.peer():
        return components(graph)


def start_on_workers() -> None:
    """Set up the communicator that dask-cugraph needs on the workers of the current client."""
    from cugraph.dask.comms import comms

    comms.initialize(p2p=True)


def stop_on_workers() -> None:
    """Shut down the communicator of dask-cugraph."""
    from cugraph.dask.comms import comms

    comms.destroy()


def on_workers(edges: Any) -> Any:
    """Build a graph from a persisted Dask-cuDF frame and find its components; return persisted labels."""
    import cugraph
    import cugraph.dask
    from distributed import wait

    with clock.peer():
        graph = cugraph.Graph(directed=False)
        graph.from_dask_cudf_edgelist(edges, source="src", destination="dst")
        found = cugraph.dask.weakly_connected_components(graph).persist()
        wait(found)
        return found


def search_on_workers(graph: Any, start: int) -> Any:
    """Run a breadth-first search on several GPUs, and return a persisted frame."""
    import cugraph.dask
    from distributed import wait

    with clock.peer():
        found = cugraph.dask.bfs(graph, start).persist()
        wait(found)
        return found


def ranks_on_workers(graph: Any, iterations: int) -> Any:
    """Run PageRank on several GPUs, and return a persisted frame."""
    import cugraph.dask
    from distributed import wait

    with clock.peer():
        how = {"max_iter": iterations, "tol": 1e-30, "fail_on_nonconvergence": False}
        found = cugraph.dask.pagerank(graph, **how)[0].persist()
        wait(found)
        return found
