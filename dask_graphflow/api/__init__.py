"""What users import: the graph, the functions, their results and estimates."""
