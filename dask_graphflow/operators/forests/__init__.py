"""Forests: trees into which edges join vertices, and the components, blocks and spanning trees they give."""
