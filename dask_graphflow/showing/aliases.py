"""Names that other libraries have for what this one offers.

The tables cover NetworkX, igraph, leidenalg, graph-tool, NetworKit, scikit-network, cuGraph, PyTorch
Geometric, DGL and SciPy. Error messages use them to answer a foreign name with ours.
"""

from __future__ import annotations

_VERTICES = (
    "source source_node source_vertex sources src_node start start_list start_node start_nodes "
    "start_vertex start_vertices starts root roots center centers node nodes node_id node_list "
    "nodelist n nbunch vertex vertex_id vertex_list vertices vid vids s seed_nodes seeds from_node "
    "from_vertex origin origins initial input_nodes landmarks"
)
_DEPTH = (
    "cutoff depth depth_limit hops k_hop limit max_depth max_dist max_distance max_hops maxdist"
)
_PATHS = (
    "all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length all_pairs_dijkstra "
    "all_pairs_dijkstra_path all_pairs_dijkstra_path_length astar_path bellman_ford "
    "bellman_ford_path bellman_ford_path_length delta_stepping dijkstra "
    "dijkstra_path dijkstra_path_length distances floyd_warshall get_shortest_paths johnson "
    "multi_source_dijkstra multi_source_dijkstra_path multi_source_dijkstra_path_length "
    "shortest_distance shortest_path_length single_source_bellman_ford "
    "single_source_bellman_ford_path single_source_bellman_ford_path_length single_source_dijkstra "
    "single_source_dijkstra_path single_source_dijkstra_path_length"
)

#: Names of this library, each with names that others have for it. A word can stand for several of our
#: names; the first one that is allowed in its place is meant.
_FOREIGN = {
    # Options
    "alpha": "d damp damping damping_factor",
    "by_source": "all_pairs per_source",
    "columns": "edge_attr edge_attributes names usecols",
    "communities": "clustering clusters labels membership memberships partition",
    "fanouts": "fanout fanout_vals num_nbrs num_neighbors sizes",
    "max_length": f"{_DEPTH} length length_bound max_path_length",
    "length": "path_length steps walk_length max_depth depth",
    "walks_per_vertex": "n_walks num_paths num_walks number_of_walks walks walks_per_node",
    "p": "return_param return_parameter",
    "q": "in_out_param inout inout_param inout_parameter",
    "max_community_size": "max_cluster_size max_comm_size",
    "max_iter": (
        "iterations iters max_iterations max_iters max_num_iter max_steps maxiter n_iter "
        "n_iterations niter num_iter num_iters number_of_iterations steps"
    ),
    "measure": "kind method metric",
    "normalized": "norm normalize",
    "objective": "metric modularity objective_function partition_type quality quality_function",
    "pairs": "ebunch vertex_pair vertex_pairs",
    "personalization": (
        "pers personalization_vector reset reset_vertices restart teleport teleport_set"
    ),
    "replace": "replacement with_replacement",
    "resolution": "gamma resolution_parameter",
    "seed": "random_seed random_state rng",
    "subset": _VERTICES,
    "sources": _VERTICES,
    "starts": _VERTICES,
    "centers": _VERTICES,
    "seeds": _VERTICES,
    "targets": (
        "dest destination destinations end goal goals sink sinks t target target_node target_nodes "
        "to to_node"
    ),
    "depth_limit": f"{_DEPTH} distance radius",
    "cutoff": f"{_DEPTH} radius",
    "radius": f"{_DEPTH} order",
    "k": "n_samples n_sources num_samples num_sources samples",
    "tol": "eps epsilon stop_threshold threshold tol_aggregation tol_optimization tolerance",
    "top_k": "k n_largest n_top top_n topk topn",
    "weight": (
        "attr capacity cost costs distance distances edata edge_attr edge_attribute edge_attrs "
        "edge_weight edge_weights eweights w weight_col weight_column weights"
    ),
    # How a frame becomes a graph, and how large it is
    "source": "from_ head i source_col source_column src src_col u",
    "target": "destination_col dst dst_col j tail target_col target_column to_ v",
    "directed": "create_using is_directed symmetrize undirected",
    "vertices": "node_list nodelist nodes vertex_list vs",
    "dropna": "drop_na skipna",
    "device": "backend engine gpu use_gpu",
    "shards": "n_parts n_partitions npartitions num_parts num_shards partitions",
    "num_vertices": "n_nodes n_vertices nodes num_nodes number_of_nodes order vcount vertex_count",
    "num_edges": "ecount edge_count m n_edges number_of_edges size",
    "progress": "progress_bar show_progress verbose",
    # Values of options
    "add": "+ plus sum",
    "sum": "add",
    "or": "any bit_or bitwise_or |",
    "min": "minimum",
    "max": "maximum",
    "cpm": "constant_potts constant_potts_model cpmvertexpartition potts",
    "modularity": "modularityvertexpartition rbconfiguration rbconfigurationvertexpartition",
    "sorensen": "dice sorensen_dice",
    # Functions, and members of a graph
    "Graph": (
        "digraph from_edgelist from_pandas from_pandas_edgelist from_scipy_sparse_array "
        "multidigraph multigraph"
    ),
    "articulation_points": "biconnected_components cut_vertices is_biconnected",
    "betweenness_centrality": "betweenness",
    "bipartite_matching": (
        "eppstein_matching hopcroft_karp hopcroft_karp_matching linear_sum_assignment matching "
        "max_bipartite_match max_weight_matching maximum_bipartite_matching maximum_matching "
        "min_weight_full_bipartite_matching minimum_weight_full_matching"
    ),
    "bipartite_projection": "is_bipartite projected_graph sets weighted_projected_graph",
    "bfs": (
        "all_pairs_shortest_path all_pairs_shortest_path_length ancestors bfs_edges bfs_layers "
        "bfs_predecessors bfs_successors bfs_tree "
        "breadth_first_order breadth_first_search descendants descendants_at_distance has_path "
        "single_source_shortest_path single_source_shortest_path_length "
        "single_target_shortest_path single_target_shortest_path_length"
    ),
    "bridges": "bridge_components has_bridges is_branching is_forest is_tree",
    "closeness_centrality": "average_shortest_path_length closeness wiener_index",
    "clustering": (
        "average_clustering local_clustering transitivity transitivity_local_undirected "
        "transitivity_undirected"
    ),
    "community_metrics": "modularity",
    "connected_components": (
        "components concomp is_connected is_weakly_connected label_components "
        "node_connected_component number_connected_components number_weakly_connected_components "
        "weakly_connected_components wcc"
    ),
    "core_number": "coreness kcore_decomposition k_corona k_crust k_shell",
    "degree_centrality": "in_degree_centrality out_degree_centrality",
    "degrees": "degree in_degree in_degrees is_eulerian out_degree out_degrees strength",
    "earliest_arrival": (
        "connection_scan csa earliest_arrival_path foremost_path latest_departure "
        "shortest_temporal_path temporal_paths temporally_reachable_nodes time_respecting_paths"
    ),
    "eccentricity": "center periphery radius",
    "edge_betweenness_centrality": "edge_betweenness",
    "ego_graph": "neighborhood",
    "eigenvector_centrality": "eigenvector",
    "fast_rp": "embedding embeddings fast_random_projection fastrp node_embedding node_embeddings",
    "greedy_color": "color coloring sequential_vertex_coloring vertex_coloring_greedy",
    "harmonic_centrality": "global_efficiency harmonic",
    "hits": "authority_score hub_score",
    "induced_subgraph": "subgraph",
    "shortest_paths": "bidirectional_dijkstra bidirectional_shortest_path",
    "k_shortest_paths": "get_k_shortest_paths shortest_simple_paths yen yens",
    "katz_centrality": "katz",
    "label_propagation": (
        "asyn_lpa_communities community_label_propagation label_propagation_communities lpa plp"
    ),
    "leiden": "community_leiden leiden_communities parallelleiden",
    "louvain": "best_partition community_multilevel louvain_communities multilevel plm",
    "maximal_independent_set": "independent_set max_independent_vertex_set",
    "maximum_flow": (
        "dinitz edge_connectivity edge_disjoint_paths edmonds_karp max_flow maxflow maxflow_value "
        "maximum_flow_value preflow_push push_relabel shortest_augmenting_path"
    ),
    "minimum_cut": "min_cut mincut mincut_value minimum_cut_value minimum_edge_cut st_mincut",
    "minimum_spanning_forest": (
        "maximum_spanning_edges maximum_spanning_tree min_spanning_tree minimum_spanning_edges "
        "minimum_spanning_tree mst spanning_tree"
    ),
    "motif_counts": "graphlet_degree_vector graphlets motifs motifs_randesu motifs_randesu_no",
    "neighbors": "predecessors successors",
    "personalized_pagerank": "ppr random_walk_with_restart",
    "random_walks": "generate_random_paths node2vec random_walk uniform_random_walks",
    "read_edges": "read_csv read_edgelist read_parquet read_weighted_edgelist",
    "sample_neighbors": "neighbor_sample uniform_neighbor_sample",
    "save": "to_parquet write write_edgelist",
    "similarity": (
        "adamic_adar adamic_adar_index jaccard jaccard_coefficient overlap similarity_jaccard "
        "preferential_attachment sorensen vertex_similarity"
    ),
    "simple_cycles": "all_simple_cycles cycles elementary_circuits elementary_cycles",
    "simple_paths": "all_paths all_simple_paths get_all_simple_paths",
    "sssp": _PATHS,
    "strongly_connected_components": (
        "attracting_components is_attracting_component is_semiconnected is_strongly_connected "
        "number_attracting_components number_strongly_connected_components scc"
    ),
    "to_scipy": "adjacency adjacency_matrix get_adjacency_sparse",
    "topological_order": (
        "is_arborescence is_dag is_directed_acyclic_graph topological_generations topological_sort "
        "topological_sorting"
    ),
    "triangle_count": "triangles",
}

#: What to do about options that have no counterpart.
_SENTENCES = {
    "a call uses all threads of the cluster, or of this process unless dask.config.set(num_workers=...) "
    "sets their number": "n_jobs n_threads n_workers nthreads num_threads num_workers threads workers",
    "the result has all rows, so select those of your vertices": (
        "nbunch node nodes u vertex vertex_list vid vids"
    ),
    "it ends by itself, so leave out a limit": (
        "iterations max_iterations max_level max_levels n_iter n_iterations num_iter"
    ),
    "there is one implementation of it, so leave this out": "flavor",
    "its communities maximize modularity, and gf.leiden also has objective='cpm'": (
        "objective_function partition_type"
    ),
    "to follow edges backwards, exchange source= and target=": "mode reverse reversed transpose",
}


def _inverted(table: dict[str, str]) -> dict[str, list[str]]:
    """Return the keys of a table by the words in its values."""
    found: dict[str, list[str]] = {}
    for key, words in table.items():
        for word in words.split():
            found.setdefault(word, []).append(key)
    return found


ALIASES = _inverted(_FOREIGN)
SENTENCES = {word: sentence for word, (sentence,) in _inverted(_SENTENCES).items()}
