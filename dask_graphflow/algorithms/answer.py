"""What an algorithm returns; see :mod:`dask_graphflow.runtime.answer`."""

from dask_graphflow.runtime.answer import Answer, Labels, LabelTypes, OrNull

__all__ = ["Answer", "LabelTypes", "Labels", "OrNull"]
