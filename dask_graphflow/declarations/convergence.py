"""The options of iterations that converge, and the error if they do not."""

from __future__ import annotations

from typing import Annotated

from dask_graphflow.exceptions import ConvergenceError
from dask_graphflow.showing.tables import counted

from .number_options import Count, Number
from .option import Choice

MaxIter = Annotated[int, Count()]
Tolerance = Annotated[float, Number(above=0)]
Precision = Annotated[str, Choice(("float64", "float32"))]


def not_converged(
    change: str, tol: float, max_iter: int, instead: str = "a larger max_iter or tol"
) -> ConvergenceError:
    """Return the error for iterations that end before they converge.

    `change` says what still changes, and by how much; it was compared with `tol`. `instead` names the
    options to change.
    """
    return ConvergenceError(
        f"after {counted(max_iter, 'iteration')} {change}, which is not below tol={tol:g}; give {instead}, "
        "or set fail_on_nonconvergence=False to get the result so far"
    )
