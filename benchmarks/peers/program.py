"""A peer in a separate process: ``python program.py LIBRARY FOLDER`` measures one library.

The process imports nothing from this project, so any Python that has NumPy and the library can run it. It
reads one request per line, a JSON object with "algorithm", "graph" and "options", and answers each with one
line: "seconds", and in "path" the path of the result if there is one to compare. The seconds are those of
the fastest of up to "trials" runs in a row, which end after "enough" seconds. Graphs are made once from the
arrays in the folder. Making them is timed only if the algorithm is "build", or if a request starts from
edges.
"""

from __future__ import annotations

import inspect
import json
import sys
import time
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np


class Library:
    """The common base of all libraries.

    A method named after an algorithm returns two functions: one to time, and one that converts its result
    to the array to compare, or None if there is nothing to compare.
    """

    def __init__(self, folder, workers):
        self.folder, self.workers = Path(folder), workers
        self.graph = cache(lambda name: self.made(*self.load(name)))

    def load(self, graph):
        """Return a graph: number of vertices, sources, targets, weights or None, and direction."""
        arrays = np.load(self.folder / f"{graph}.npz")
        ends = arrays["source"], arrays["target"]
        return int(arrays["vertices"]), *ends, arrays.get("weight"), bool(arrays["directed"])


class Igraph(Library):
    """igraph: C, one thread."""

    def made(self, vertices, source, target, weight, directed):
        import igraph

        made = igraph.Graph(vertices, np.column_stack([source, target]), directed=directed)
        if weight is not None:
            made.es["weight"] = weight
        return made

    def connected_components(self, g):
        return lambda: g.connected_components(mode="weak").membership, np.array

    def bfs(self, g, sources):
        return lambda: g.distances(source=sources[0])[0], np.array

    def sssp(self, g, sources):
        return lambda: g.distances(source=sources[0], weights="weight")[0], np.array

    def core_number(self, g):
        return lambda: g.coreness(), np.array

    def hits(self, g):
        # igraph has separate functions for hubs and authorities.
        return lambda: (g.hub_score(), g.authority_score()), lambda both: np.array(both[1])

    def eigenvector_centrality(self, g):
        return lambda: g.eigenvector_centrality(), np.array

    def betweenness_centrality(self, g, sources):
        return lambda: g.betweenness(sources=sources, weights=_weights(g)), np.array

    def edge_betweenness_centrality(self, g, sources):
        found = partial(g.edge_betweenness, sources=sources, weights=_weights(g))
        return found, lambda scores: np.array([max(scores) / sum(scores)])

    def closeness_centrality(self, g, sources):
        return lambda: g.closeness(sources, weights=_weights(g)), None

    def harmonic_centrality(self, g, sources):
        return lambda: g.harmonic_centrality(sources), None

    def eccentricity(self, g):
        return lambda: g.eccentricity(), lambda found: np.array(found, "int64")

    def diameter(self, g):
        return lambda: g.diameter(), lambda found: np.array([found])

    def simple_cycles(self, g, through, max_length):
        def closed(v, g):
            # The paths to the neighbors of a vertex, which may not be left out for the others.
            return g.get_all_simple_paths(v, g.neighbors(v), maxlen=max_length - 1)

        def found():
            rest, cycles = g, []
            for v in through:
                cycles.append(closed(v, rest))
                rest = rest.copy()
                rest.delete_edges(rest.incident(v))
            return cycles

        # Both directions of a cycle are found.
        return found, lambda cycles: np.array([sum(map(_long, cycles)) / 2])

    def simple_paths(self, g, pairs, max_length):
        def found():
            return [g.get_all_simple_paths(v, to, maxlen=max_length) for v, to in pairs]

        return found, lambda paths: np.array([sum(map(len, paths))])

    def shortest_paths(self, g, pairs):
        found = partial(g.get_shortest_path, weights="weight", output="epath")
        return lambda: [found(*pair) for pair in pairs], partial(_lengths, g)

    def k_shortest_paths(self, g, pairs, k):
        found = partial(g.get_k_shortest_paths, k=k, weights="weight", output="epath")

        def lengths(paths):
            return _lengths(g, [path for several in paths for path in several])

        return lambda: [found(*pair) for pair in pairs], lengths

    def bipartite_projection(self, g):
        sources = np.zeros(g.vcount(), "bool")
        sources[[edge.source for edge in g.es]] = True

        def projected():
            return g.bipartite_projection(types=(~sources).tolist(), which=0)

        return projected, lambda made: np.array([sum(made.es["weight"])])

    def bipartite_matching(self, g):
        targets = np.ones(g.vcount(), "bool")
        targets[[edge.source for edge in g.es]] = False
        types = targets.tolist()
        return lambda: g.maximum_bipartite_matching(types), lambda made: np.array([len(made)])

    def strongly_connected_components(self, g):
        return lambda: g.connected_components(mode="strong").membership, np.array

    def articulation_points(self, g):
        return lambda: g.articulation_points(), lambda points: _marked(points, g.vcount())

    def bridges(self, g):
        return lambda: g.bridges(), lambda edges: np.array([len(edges)])

    def topological_order(self, g):
        return lambda: g.topological_sorting(), lambda order: _ahead(order, *self.load("acyclic"))

    def greedy_color(self, g):
        return lambda: g.vertex_coloring_greedy(), lambda colors: np.array([max(colors) + 1])

    def degrees(self, g):
        return lambda: g.degree(), np.array

    degree_centrality = degrees

    def similarity(self, g, pairs):
        return lambda: g.similarity_jaccard(pairs=pairs), lambda found: np.array([sum(found)])

    def k_core(self, g, k):
        return lambda: g.k_core(k), _edges

    def ego_graph(self, g, centers):
        return lambda: g.induced_subgraph(g.neighborhood(centers[0])), _edges

    def induced_subgraph(self, g, subset):
        return lambda: g.induced_subgraph(subset), _edges

    def triangle_count(self, g):
        def counted():
            # The triangles of a vertex are its clustering times its pairs of neighbors.
            pairs = np.array(g.degree(), "float64")
            pairs *= (pairs - 1) / 2
            return np.rint(np.array(g.transitivity_local_undirected(mode="zero")) * pairs)

        return counted, np.array

    def motif_counts(self, g, size):
        # The numbers of a pattern for all vertices add up to 3 times the number in the graph.
        return lambda: g.motifs_randesu(size), lambda found: np.array([size * found[2]])

    def clustering(self, g):
        return lambda: g.transitivity_local_undirected(mode="zero"), np.array

    def random_walks(self, g, starts, length):
        return lambda: [g.random_walk(v, length) for v in starts], None

    def minimum_spanning_forest(self, g):
        return lambda: g.spanning_tree("weight"), lambda tree: np.array([sum(tree.es["weight"])])

    def minimum_cut(self, g, sources, sinks):
        cut = partial(g.mincut, sources[0], sinks[0], "weight")
        return cut, lambda found: np.array([found.value])

    def label_propagation(self, g):
        def found():
            return g.community_label_propagation().modularity

        return found, lambda modularity: np.array([modularity])

    def louvain(self, g):
        return lambda: g.community_multilevel().modularity, lambda found: np.array([found])

    def leiden(self, g):
        def found():
            return g.community_leiden(objective_function="modularity", n_iterations=2).modularity

        return found, lambda modularity: np.array([modularity])


class Networkit(Library):
    """NetworKit: C++, OpenMP."""

    def __init__(self, folder, workers):
        import networkit

        super().__init__(folder, workers)
        networkit.setNumberOfThreads(workers)
        self.nk = networkit

    def made(self, vertices, source, target, weight, directed):
        ends = source.astype("uint64"), target.astype("uint64")
        edges = ends if weight is None else (weight, ends)
        how = {"weighted": weight is not None, "directed": directed}
        return self.nk.GraphFromCoo(edges, n=vertices, **how)

    def connected_components(self, g):
        made = self.nk.components.ConnectedComponents(g)
        return lambda: made.run(), lambda done: np.array(done.getPartition().getVector())

    def bfs(self, g, sources):
        made = self.nk.distance.BFS(g, sources[0], storePaths=False)
        return lambda: made.run(), lambda done: _distances(done.getDistances())

    def sssp(self, g, sources):
        made = self.nk.distance.Dijkstra(g, sources[0], storePaths=False)
        return lambda: made.run(), lambda done: _distances(done.getDistances())

    def _scores(self, made):
        return lambda: made.run(), lambda done: np.array(done.scores())

    def core_number(self, g):
        return self._scores(self.nk.centrality.CoreDecomposition(g))

    def katz_centrality(self, g, alpha, tol):
        # It scales the scores to length 1 in each iteration before it adds beta, so its scores differ.
        return self.nk.centrality.KatzCentrality(g, alpha, 1.0, tol).run, None

    def eigenvector_centrality(self, g, tol):
        return self._scores(self.nk.centrality.EigenvectorCentrality(g, tol))

    def betweenness_centrality(self, g, sources):
        # It draws the sources itself, so its scores differ.
        return self.nk.centrality.EstimateBetweenness(g, len(sources), parallel=True).run, None

    def closeness_centrality(self, g, sources):
        search = self.nk.distance.SPSP(g, sources)
        return lambda: search.run(), lambda done: _closeness(np.array(done.getDistances()))

    def harmonic_centrality(self, g, sources):
        search = self.nk.distance.SPSP(g, sources)
        return lambda: search.run(), lambda done: _harmonic(np.array(done.getDistances()))

    def diameter(self, g):
        algorithm = self.nk.distance.DiameterAlgo.EXACT
        made = self.nk.distance.Diameter(g, algo=algorithm)
        return lambda: made.run(), lambda done: np.array([done.getDiameter()[0]])

    def eccentricity(self, g):
        value = self.nk.distance.Eccentricity.getValue
        vertices = range(g.numberOfNodes())
        return lambda: [value(g, v)[1] for v in vertices], np.array

    def shortest_paths(self, g, pairs):
        def path(v, to):
            search = self.nk.distance.BidirectionalDijkstra(g, v, to).run()
            return search.getDistance(), search.getPath()

        return lambda: [path(*pair) for pair in pairs], _different_lengths

    def strongly_connected_components(self, g):
        made = self.nk.components.StronglyConnectedComponents(g)
        return lambda: made.run(), lambda done: np.array(done.getPartition().getVector())

    def articulation_points(self, g):
        made = self.nk.components.BiconnectedComponents(g)

        def points(done):
            several = [v for v in g.iterNodes() if len(done.getComponentsOfNode(v)) > 1]
            return _marked(several, g.numberOfNodes())

        return lambda: made.run(), points

    def topological_order(self, g):
        made = self.nk.graphtools.topologicalSort
        return lambda: made(g), lambda order: _ahead(order, *self.load("acyclic"))

    def maximal_independent_set(self, g):
        return lambda: self.nk.independentset.Luby().run(g), None

    def similarity(self, g, pairs):
        made = self.nk.linkprediction.JaccardIndex(g)
        pairs = [tuple(pair) for pair in pairs]
        return lambda: made.runOn(pairs), lambda found: np.array([sum(one for _, one in found)])

    def induced_subgraph(self, g, subset):
        made = self.nk.graphtools.subgraphFromNodes
        return lambda: made(g, subset), lambda found: np.array([found.numberOfEdges()])

    def degree_centrality(self, g):
        return self._scores(self.nk.centrality.DegreeCentrality(g))

    def triangle_count(self, g):
        made = self.nk.centrality.LocalClusteringCoefficient(g, turbo=True)

        def counted(done):
            degrees = self.nk.centrality.DegreeCentrality(g).run().scores()
            pairs = np.array(degrees) * (np.array(degrees) - 1) / 2
            return np.rint(np.array(done.scores()) * pairs)

        return lambda: made.run(), counted

    def clustering(self, g):
        return self._scores(self.nk.centrality.LocalClusteringCoefficient(g, turbo=True))

    def minimum_spanning_forest(self, g):
        made = self.nk.graph.KruskalMSF(g)
        return lambda: made.run(), lambda done: np.array([done.getTotalWeight()])

    def label_propagation(self, g):
        return self._communities(g, self.nk.community.PLP(g))

    def louvain(self, g):
        return self._communities(g, self.nk.community.PLM(g))

    def leiden(self, g):
        return self._communities(g, self.nk.community.ParallelLeiden(g))

    def _communities(self, g, made):
        def modularity(done):
            return np.array([self.nk.community.Modularity().getQuality(done.getPartition(), g)])

        return lambda: made.run(), modularity


class Scipy(Library):
    """SciPy: sparse matrices, one thread."""

    def made(self, vertices, source, target, weight, directed):
        from scipy.sparse import coo_array

        data = np.ones(len(source)) if weight is None else weight
        if not directed:
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
            data = np.tile(data, 2)
        elif weight is not None:
            # A matrix adds up parallel edges, but a shortest path takes the smallest weight.
            order = np.lexsort((data, target, source))
            source, target, data = source[order], target[order], data[order]
            first = np.append(True, (np.diff(source) != 0) | (np.diff(target) != 0))
            source, target, data = source[first], target[first], data[first]
        return coo_array((data, (source, target)), shape=(vertices, vertices)).tocsr()

    def connected_components(self, g):
        from scipy.sparse.csgraph import connected_components

        return lambda: connected_components(g, directed=False)[1], np.array

    def bfs(self, g, sources):
        from scipy.sparse.csgraph import breadth_first_order

        def distances(result):
            order, before = result
            distance = np.full(g.shape[0], np.inf)
            distance[order[0]] = 0
            for vertex in order[1:].tolist():
                distance[vertex] = distance[before[vertex]] + 1
            return distance

        return lambda: breadth_first_order(g, sources[0]), distances

    def sssp(self, g, sources):
        from scipy.sparse.csgraph import dijkstra

        return lambda: dijkstra(g, indices=sources[0]), np.array

    def shortest_paths(self, g, pairs):
        from scipy.sparse.csgraph import dijkstra

        sources, rows = np.unique([v for v, _ in pairs], return_inverse=True)
        targets = [to for _, to in pairs]

        def lengths(found):
            return _different_lengths(zip(found[0][rows, targets].tolist(), targets, strict=True))

        return lambda: dijkstra(g, indices=sources, return_predecessors=True), lengths

    def k_shortest_paths(self, g, pairs, k):
        from scipy.sparse.csgraph import yen

        narrow = g.copy()  # it takes indices of int32 alone
        narrow.indices, narrow.indptr = g.indices.astype("int32"), g.indptr.astype("int32")

        def found():
            return [(length, v) for v, to in pairs for length in yen(narrow, v, to, k)]

        return found, _different_lengths

    def bipartite_projection(self, g):
        from scipy.sparse import triu

        return lambda: triu(g @ g.T, k=1), lambda made: np.array([made.sum()])

    def bipartite_matching(self, g):
        from scipy.sparse.csgraph import maximum_bipartite_matching

        return lambda: maximum_bipartite_matching(g), lambda made: np.array([(made >= 0).sum()])

    def pagerank(self, g, max_iter):
        degrees, turned = g.sum(axis=1), g.T.tocsr()

        def iterate():
            rank = np.full(g.shape[0], 1 / g.shape[0])
            for _ in range(max_iter):
                share = np.divide(rank, degrees, out=np.zeros_like(rank), where=degrees > 0)
                dangling = rank[degrees == 0].sum()
                rank = 0.85 * (turned @ share + dangling / len(rank)) + 0.15 / len(rank)
            return rank

        return iterate, np.array

    def fast_rp(self, g):
        degrees = np.maximum(np.diff(g.indptr), 1.0)

        def compute():
            signs = np.random.default_rng(0).choice([1.0, 0, 0, 0, 0, -1], (len(degrees), 128))
            vectors, total = signs * degrees[:, None] ** -0.5, np.zeros_like(signs)
            for weight in (0, 1, 1):
                vectors = (g @ vectors) / degrees[:, None]
                length = np.linalg.norm(vectors, axis=1, keepdims=True)
                total += weight * vectors / np.where(length == 0, 1, length)

        return compute, None

    def hits(self, g, tol):
        turned = g.T.tocsr()

        def iterate():
            hub = np.full(g.shape[0], 1 / g.shape[0])
            for _ in range(1000):
                authority = turned @ hub
                found = g @ authority
                found /= found.sum()
                if abs(found - hub).sum() < tol:
                    break
                hub = found
            return authority

        return iterate, np.array

    def katz_centrality(self, g, alpha, tol):
        turned = g.T.tocsr()

        def iterate():
            score = np.zeros(g.shape[0])
            for _ in range(1000):
                before, score = score, alpha * (turned @ score) + 1
                if abs(score - before).sum() < tol * len(score):
                    break
            return score

        return iterate, np.array

    def eigenvector_centrality(self, g, tol):
        turned = g.T.tocsr()

        def iterate():
            score = np.full(g.shape[0], 1 / np.sqrt(g.shape[0]))
            for _ in range(1000):
                before, score = score, score + turned @ score
                score /= np.linalg.norm(score)
                if abs(score - before).sum() < tol * len(score):
                    break
            return score

        return iterate, np.array

    def personalized_pagerank(self, g, sources, alpha, tol):
        degrees, turned = g.sum(axis=1), g.T.tocsr()

        def ranked(source):
            restart = np.zeros(g.shape[0])
            restart[source] = 1
            score = restart
            for _ in range(1000):
                before, score = score, alpha * (turned @ (score / degrees)) + (1 - alpha) * restart
                if abs(score - before).sum() < tol * len(score):
                    break
            return score

        return lambda: [ranked(source) for source in sources], _descending

    def minimum_spanning_forest(self, g):
        from scipy.sparse.csgraph import minimum_spanning_tree

        return lambda: minimum_spanning_tree(g), lambda forest: np.array([forest.sum()])

    def minimum_cut(self, g, sources, sinks):
        from scipy.sparse.csgraph import maximum_flow

        found = partial(maximum_flow, g.astype("int32"), sources[0], sinks[0])
        return found, lambda flow: np.array([flow.flow_value])

    def strongly_connected_components(self, g):
        from scipy.sparse.csgraph import connected_components

        return lambda: connected_components(g, connection="strong")[1], np.array

    def degrees(self, g):
        return lambda: np.diff(g.indptr), np.array

    def degree_centrality(self, g):
        return lambda: np.diff(g.indptr) / (g.shape[0] - 1), np.array

    def induced_subgraph(self, g, subset):
        return lambda: g[subset][:, subset], lambda found: np.array([found.nnz // 2])


class Networkx(Library):
    """NetworkX: Python."""

    def made(self, vertices, source, target, weight, directed):
        import networkx

        self.nx = networkx
        made = networkx.DiGraph() if directed else networkx.Graph()
        made.add_nodes_from(range(vertices))
        if weight is None:
            made.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
        else:
            rows = zip(source.tolist(), target.tolist(), weight.tolist(), strict=True)
            made.add_weighted_edges_from(rows)
        return made

    def diameter(self, g):
        def largest():
            parts = map(g.subgraph, self.nx.connected_components(g))
            return max(self.nx.diameter(part, usebounds=True) for part in parts)

        return largest, lambda found: np.array([found])

    def eccentricity(self, g):
        def every():
            parts = map(g.subgraph, self.nx.connected_components(g))
            return {v: far for part in parts for v, far in self.nx.eccentricity(part).items()}

        return every, lambda found: np.array([found[v] for v in g])

    def simple_cycles(self, g, through, max_length):
        def found():
            rest, cycles = g.copy(), []
            for v in through:
                paths = self.nx.all_simple_paths(rest, v, [*rest[v]], max_length - 1)
                cycles.append([*paths])
                rest.remove_node(v)
            return cycles

        return found, lambda cycles: np.array([sum(map(_long, cycles)) / 2])

    def simple_paths(self, g, pairs, max_length):
        def found():
            return [[*self.nx.all_simple_paths(g, v, to, max_length)] for v, to in pairs]

        return found, lambda paths: np.array([sum(map(len, paths))])

    def shortest_paths(self, g, pairs):
        def found():
            return [self.nx.bidirectional_dijkstra(g, v, to) for v, to in pairs]

        return found, _different_lengths

    def k_shortest_paths(self, g, pairs, k):
        def found():
            every = ((v, to, self.nx.shortest_simple_paths(g, v, to, "weight")) for v, to in pairs)
            return [(v, to, [*islice(paths, k)]) for v, to, paths in every]

        def lengths(paths):
            weight = self.nx.path_weight
            return _different_lengths(
                (weight(g, path, "weight"), path) for *_, several in paths for path in several
            )

        return found, lengths

    def bipartite_projection(self, g):
        sources = [v for v in g if g.out_degree(v)]
        project = self.nx.bipartite.weighted_projected_graph
        graph = g.to_undirected()
        return lambda: project(graph, sources), lambda made: np.array([made.size("weight")])


def _long(paths):
    """Return the number of paths with more than one edge."""
    return sum(len(path) > 2 for path in paths)


def _lengths(graph, paths):
    """Return the sum of the different lengths of paths of igraph's, which are lists of edges."""
    weights = np.array(graph.es["weight"])
    return _different_lengths((weights[path].sum(), path) for path in paths if path)


def _different_lengths(found):
    """Return the sum of the different finite lengths of paths; each item begins with a length."""
    lengths = np.unique([length for length, *_ in found])
    return np.array([lengths[lengths < 1e300].sum()])


def _marked(members, vertices):
    """Return which vertices are among some."""
    marked = np.zeros(vertices, "bool")
    marked[members] = True
    return marked


def _ahead(order, vertices, source, target, *_):
    """Return how many edges lead to a vertex that comes later in an order."""
    position = np.empty(vertices, "int64")
    position[order] = np.arange(vertices)
    return np.array([(position[source] < position[target]).sum()])


def _weights(graph):
    """Return the name of the weights of a graph of igraph's, or None."""
    return "weight" if "weight" in graph.es.attributes() else None


def _edges(graph):
    """Return the number of edges of a graph of igraph's."""
    return np.array([graph.ecount()])


def _distances(values):
    distances = np.array(values, "float64")
    return np.where(distances < 1e300, distances, np.inf)


def _closeness(distances):
    """Return the squared number of sources that reach each vertex, divided by the sum of distances."""
    there = distances < 1e300
    reaching = (there & (distances > 0)).sum(axis=0)
    return reaching * reaching / np.maximum(np.where(there, distances, 0).sum(axis=0), 1)


def _descending(scores):
    """Return the scores of each source in descending order, one source after another."""
    return np.concatenate([np.sort(one)[::-1] for one in scores])


def _harmonic(distances):
    """Return the sum of the inverse distances from all sources."""
    with np.errstate(divide="ignore"):
        return np.where((distances > 0) & (distances < 1e300), 1 / distances, 0).sum(axis=0)


LIBRARIES = {"networkit": Networkit, "igraph": Igraph, "scipy": Scipy, "networkx": Networkx}


def answered(library, request):
    """Run a request, and return the answer."""
    algorithm, options = request["algorithm"], request["options"]
    building = 0.0
    if algorithm == "build" or request["from_edges"]:
        loaded = library.load(request["graph"])
        begin = time.perf_counter()
        graph = library.made(*loaded)
        building = time.perf_counter() - begin
    else:
        graph = library.graph(request["graph"])
    if algorithm == "build":
        return {"seconds": building, "path": None}
    method = getattr(library, algorithm)
    names = inspect.signature(method).parameters
    seconds = []
    while not seconds or (len(seconds) < request["trials"] and sum(seconds) < request["enough"]):
        work, result = method(graph, **{name: options[name] for name in options if name in names})
        done = None  # frees the memory of the last one
        begin = time.perf_counter()
        done = work()
        seconds.append(time.perf_counter() - begin)
    answer = {"seconds": building + min(seconds), "path": None}
    if result is not None and request["wanted"]:
        path = library.folder / f"{type(library).__name__}.npy"
        np.save(path, result(done))
        answer["path"] = str(path)
    return answer


def main():
    """Answer requests until there are no more."""
    name, folder, workers = sys.argv[1:]
    library = LIBRARIES[name](folder, int(workers))
    print(
        json.dumps({"version": __import__(name).__version__, "can": ["build", *dir(library)]}),
        flush=True,
    )
    for line in sys.stdin:
        try:
            answer = answered(library, json.loads(line))
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
