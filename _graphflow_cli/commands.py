"""The commands with their short help, written by ``python3 dev.py generate``."""

# ruff: noqa: E501
# fmt: off

VERSION = '0.2.0'

COMMANDS = {
    'Algorithms': {
        'articulation-points': 'Compute whether each vertex is an articulation point.',
        'betweenness-centrality': 'Compute the betweenness centrality of each vertex.',
        'bfs': 'Compute the distance in edges from the nearest source to each vertex, by breadth-first search.',
        'bridges': 'Compute the bridges of a graph.',
        'closeness-centrality': 'Compute the closeness centrality of each vertex.',
        'clustering': 'Compute the clustering coefficient of each vertex.',
        'community-metrics': 'Compute how large, dense and well separated each community is.',
        'connected-components': 'Compute the connected component of each vertex of an undirected graph.',
        'core-number': 'Compute the core number of each vertex.',
        'degree-centrality': 'Compute the degree centrality of each vertex.',
        'degrees': 'Compute the number of edges that enter and leave each vertex.',
        'edge-betweenness-centrality': 'Compute the betweenness centrality of each edge.',
        'ego-graph': 'Compute the edges between all vertices that are at most --radius edges away from some centers.',
        'eigenvector-centrality': 'Compute the eigenvector centrality of each vertex.',
        'greedy-color': 'Compute a color for each vertex, such that neighbors have different colors.',
        'harmonic-centrality': 'Compute the harmonic centrality of each vertex.',
        'hits': 'Compute the hub score and the authority score of each vertex.',
        'induced-subgraph': 'Compute the edges whose ends are both among some vertices.',
        'k-core': 'Compute the edges of the k-core.',
        'k-shortest-paths': 'Compute the --k shortest paths without repeated vertices between the vertices of each pair.',
        'k-truss': 'Compute the edges of the k-truss.',
        'katz-centrality': 'Compute the Katz centrality of each vertex.',
        'label-propagation': 'Compute the community of each vertex, by label propagation.',
        'leiden': 'Compute the community of each vertex, by the Leiden method. Every community is connected.',
        'louvain': 'Compute the community of each vertex, by the Louvain method.',
        'maximal-independent-set': 'Compute a maximal independent set of the vertices.',
        'minimum-spanning-forest': 'Compute the edges of the minimum spanning forest.',
        'neighbors': 'Compute the edges from some vertices to their neighbors.',
        'pagerank': 'Compute the PageRank of each vertex.',
        'personalized-pagerank': 'Compute the personalized PageRank of the vertices for each source: how near they are to it.',
        'random-walks': 'Compute random walks from some vertices, uniform or biased as in node2vec.',
        'sample-neighbors': 'Compute a random sample of the neighborhood of each seed vertex, hop by hop.',
        'shortest-paths': 'Compute the vertices on the shortest path to each target, or between the vertices of each pair.',
        'similarity': 'Compute how similar pairs of vertices are, by their common neighbors.',
        'sssp': 'Compute the weighted distance from the nearest source to each vertex, by delta-stepping.',
        'strongly-connected-components': 'Compute the strongly connected component of each vertex.',
        'topological-order': 'Compute the generation of each vertex in the topological order of a directed graph without cycles.',
        'triangle-count': 'Compute the number of triangles at each vertex.',
        'truss-number': 'Compute the truss number of each edge.',
    },
    'Other commands': {
        'info': 'Show the columns of the edges in PATHs, and the size and the degrees of their graph.',
        'convert': 'Write the edges in PATHs to a file of another format.',
        'update': 'Add a version to the saved graph in FOLDER: edges are deleted, then others are inserted.',
        'estimate': 'Predict the time and memory of a command on this machine, before it reads any edge.',
        'generate': 'Write the edges of a generated graph, in columns src and dst.',
        'doctor': 'Show what this machine can run, and what to install for more.',
    },
}
