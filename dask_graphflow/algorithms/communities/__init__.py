"""The steps of Louvain and Leiden: move vertices, refine communities, and aggregate them to vertices."""
