"""Columns of ids, and the advice of an error about them."""

from __future__ import annotations

import re

import pandas as pd

DAYS = ["2020-01-01", "2020-01-02"]


def loops(values, dtype):
    """Return an edge from each id to itself, for every type of ids."""
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)}).assign(b=lambda df: df["a"])


def advised(error, **names):
    """Run the example at the end of an error's message on these frames; return the result."""
    (example,) = re.findall(r"for example with (\S.*?)(?:; or .*)?$", str(error))
    return eval(example, {"str": str}, names)
