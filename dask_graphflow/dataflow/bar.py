"""A progress bar for the supersteps of a run."""

from __future__ import annotations

from functools import partial
from typing import Any

from dask_graphflow.exceptions import OptionError

__all__ = ["Bar"]


class Bar:
    """Shows in a terminal how far a run is; and nothing where there is none, as in a log file.

    Parameters
    ----------
    name : str
        What the run is called.

    Raises
    ------
    OptionError
        tqdm is not installed.
    """

    def __init__(self, name: str) -> None:
        try:
            from tqdm import tqdm
        except ImportError as error:
            raise OptionError(
                "progress=True shows a bar of tqdm's, which is not installed; pip install tqdm, or give "
                "a function that takes a dict"
            ) from error
        # disable=None is tqdm's "only in a terminal".
        self._begin = partial(tqdm, desc=name, unit=" supersteps", dynamic_ncols=True, disable=None)
        self._bar: Any = None

    def __call__(self, step: dict[str, Any] | None) -> None:
        """Show a superstep; or that the run has ended."""
        if step is None:
            if self._bar is not None:
                self._bar.close()
            self._bar = None
            return
        if self._bar is None:
            self._bar = self._begin()
        done = step["superstep"] + 1
        if done <= self._bar.n:
            self._bar.reset()  # after a worker was lost
        how = f"{step['direction']} from {step['frontier']:,} vertices"
        self._bar.set_postfix_str(how, refresh=False)
        self._bar.update(done - self._bar.n)
