"""Forests: trees into which edges join vertices; components, blocks and spanning trees follow from them."""
