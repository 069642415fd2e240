"""Connected components of a stream of edges: forests, links, staging, plans and merging."""
