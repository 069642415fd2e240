"""Graphs that are installed with the package, for the examples of the documentation."""

from __future__ import annotations

from pathlib import Path

__all__ = ["debian12_deps"]

BESIDE = Path(__file__).parents[2]
# The folder beside the package, as the wheel installs it and in a checkout.
FOLDERS = (BESIDE / "_graphflow_examples", BESIDE / "examples")


def debian12_deps() -> str:
    """Return the path of a Parquet file with the package dependencies of Debian 12.

    Each of the 313,657 rows says that package ``src`` names package ``dst`` in its field ``kind``: Depends,
    Pre-Depends or Recommends. There are 65,839 packages, and their ids are their names. The file takes
    1.4 MB. It is part of the installed package, so nothing is downloaded.

    Returns
    -------
    str
        The path of the file.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> deps = pd.read_parquet(gf.datasets.debian12_deps())
    >>> deps.columns.tolist(), len(deps)
    (['src', 'dst', 'kind'], 313657)
    """
    return _find("debian12_deps.parquet")


def _find(file: str) -> str:
    """Return the path of an example's file."""
    return str(next(folder / file for folder in FOLDERS if (folder / file).exists()))
