"""The public API: the graph, the functions, their results and estimates."""
