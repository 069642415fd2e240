"""The vertices of shortest paths: from the result of a search, and between the vertices of pairs."""
