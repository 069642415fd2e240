"""Saved graphs: a folder with a manifest, and files of arrays per range of vertices."""
